import { pathToFileURL } from 'node:url';
import type { PDFDocumentProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { resolveBuiltFile } from '../../../base/built-files.ts';
import { getErrorMessage } from '../../../base/errors.ts';

export interface PageRange {
  /** Counted from 1, inclusive. */
  readonly first: number;
  readonly last: number;
}

export const MAX_PAGES = 20;

/** Parses `3`, `1-5` or `10-`; a string describes the problem. */
export function parsePages(written: string): PageRange | string {
  const match = /^\s*(\d{1,6})\s*(?:(-)\s*(\d{1,6})?\s*)?$/.exec(written);
  const first = Number(match?.[1]);
  const last = match?.[2] === undefined ? first : Number(match[3] ?? first + MAX_PAGES - 1);
  if (match === null || first < 1 || last < first) {
    return `expected "pages" to be a page or a range of pages such as "3" or "1-5", found ${JSON.stringify(written)}`;
  }
  if (last - first < MAX_PAGES) return { first, last };
  return `expected "pages" to be at most ${MAX_PAGES} pages, found ${last - first + 1} (${JSON.stringify(written)})`;
}

/** Extracts the text of pages; a string says why there is none. Throws when aborted. */
export async function readPdfText(
  bytes: Uint8Array,
  range: PageRange,
  signal: AbortSignal,
): Promise<{ pages: { number: number; text: string }[]; totalPages: number } | string> {
  const { getDocument, VerbosityLevel } = await loadPdfjs();
  signal.throwIfAborted();
  const task = getDocument({
    // A copy, because the library detaches the buffer.
    data: Uint8Array.from(bytes),
    isEvalSupported: false,
    disableFontFace: true,
    useSystemFonts: false,
    verbosity: VerbosityLevel.ERRORS,
    ...resolveCharacterMaps(),
  });
  const done = new AbortController();
  try {
    const reading = task.promise.then((document) => readPages(document, range));
    const read = await Promise.race([reading, waitForAbort(signal, done.signal)]);
    signal.throwIfAborted();
    return read;
  } catch (error) {
    signal.throwIfAborted();
    return describePdfError(error);
  } finally {
    done.abort();
    // Not awaited, because an interrupted task may never settle.
    void task.destroy();
  }
}

function waitForAbort(signal: AbortSignal, done: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(''), { once: true, signal: done });
  });
}

type Pdfjs = typeof import('pdfjs-dist/legacy/build/pdf.mjs');

/** The build copies the parts that read text; the package is ten times as large, and asks for a canvas. */
function loadPdfjs(): Promise<Pdfjs>;
async function loadPdfjs(): Promise<unknown> {
  const pdfjs: unknown = await import(pathToFileURL(resolveBuiltFile('pdfjs/pdf.mjs')).href);
  return pdfjs;
}

/** Without these maps, Chinese, Japanese and Korean texts are lost. */
function resolveCharacterMaps() {
  return {
    cMapUrl: resolveBuiltFile('pdfjs/cmaps/'),
    cMapPacked: true,
    standardFontDataUrl: resolveBuiltFile('pdfjs/standard_fonts/'),
  };
}

async function readPages(document: PDFDocumentProxy, range: PageRange) {
  const totalPages = document.numPages;
  if (range.first > totalPages) {
    const pages = totalPages === 1 ? '1 page' : `${totalPages} pages`;
    return `it has ${pages}, and page ${range.first} was asked for`;
  }
  const pages = [];
  for (let number = range.first; number <= Math.min(range.last, totalPages); number++) {
    pages.push({ number, text: await readPage(document, number) });
  }
  return { pages, totalPages };
}

async function readPage(document: PDFDocumentProxy, number: number): Promise<string> {
  const page = await document.getPage(number);
  const { items } = await page.getTextContent();
  const pieces = items.map((item) => {
    if (!('str' in item)) return '';
    return item.hasEOL ? `${item.str}\n` : item.str;
  });
  page.cleanup();
  return pieces.join('').trim();
}

function describePdfError(error: unknown): string {
  const name = error instanceof Error ? error.name : '';
  if (name === 'PasswordException') return 'it is protected by a password';
  if (name === 'InvalidPDFException') return 'it is damaged or not a PDF document';
  return getErrorMessage(error);
}

import path from 'node:path';
import type { ImageBlock } from '../../sessions/messages.ts';
import { defineTool } from './define-tool.ts';
import { MAX_WHOLE_BYTES, sayBytes } from './files/changeable-file.ts';
import { findImage, type ImageHead } from './files/image.ts';
import {
  numberLines,
  selectLines,
  selectLinesOfFile,
  type LineRange,
  type LineWindow,
} from './files/line-window.ts';
import { lookInto, sayDirectory, sayMissing } from './files/look-into.ts';
import { cellImages, cellsText, parseNotebook, showCell } from './files/notebook.ts';
import { MOST_PAGES, parsePages, readPdfText, type PageRange } from './files/pdf-text.ts';
import { decodeText, withPlainLineEnds } from './files/text-file.ts';
import { readPath, type ToolPath } from './files/tool-path.ts';
import { failedOutput, type RunningCall, type ToolOutput } from './tool.ts';
import type { Workbench } from './workbench.ts';

const DEFAULT_LINES = 2000;
const MAX_SHOWN_BYTES = 256 * 1024;
const MAX_PDF_BYTES = 20 * 1024 * 1024;
// What the services take: 5 MB as base64, and 8000 pixels to a side.
const MAX_IMAGE_BYTES = 3_932_160;
const MAX_IMAGE_SIDE = 8000;

interface ReadInput {
  readonly file: ToolPath;
  readonly offset: number | null;
  readonly limit: number | null;
  readonly pages: { readonly written: string; readonly range: PageRange } | null;
}

export const readTool = defineTool<ReadInput>({
  name: 'Read',
  description: `Reads a file.

- file_path may be absolute or relative to the current directory.
- Text comes with line numbers (a number, an arrow, the line), at most ${DEFAULT_LINES} lines from the start; give offset (the first line, counted from 1) and limit for another part. Lines longer than 2000 characters are cut.
- Pictures (PNG, JPEG, GIF, WebP) are shown to you. Of PDF documents you get the text, at most ${MOST_PAGES} pages at a time: choose them with pages, such as "1-5". Of Jupyter notebooks you get all cells with their outputs.
- It reads files only; for a directory use Glob, or ls with Bash.
- Several files can be read at once by several calls in one answer.`,
  schema: {
    type: 'object',
    properties: {
      file_path: { type: 'string', description: 'The file to read' },
      offset: { type: 'integer', minimum: 0, description: 'The first line to read' },
      limit: { type: 'integer', minimum: 1, description: 'How many lines to read' },
      pages: { type: 'string', description: 'Pages of a PDF document, such as "3" or "1-5"' },
    },
    required: ['file_path'],
    additionalProperties: false,
  },
  kind: 'read',
  read(given, bench) {
    const pages = given.optionalText('pages');
    const range = pages === null || pages === '' ? null : parsePages(pages);
    if (typeof range === 'string') return range;
    return {
      file: readPath(given, 'file_path', bench),
      offset: given.optionalCount('offset'),
      limit: given.optionalPositiveInteger('limit'),
      pages: pages === null || range === null ? null : { written: pages, range },
    };
  },
  toHookInput: ({ file, offset, limit, pages }) => ({
    file_path: file.absolute,
    ...(offset === null ? {} : { offset }),
    ...(limit === null ? {} : { limit }),
    ...(pages === null ? {} : { pages: pages.written }),
  }),
  run: readAny,
});

async function readAny(
  input: ReadInput,
  bench: Workbench,
  { signal }: RunningCall,
): Promise<ToolOutput> {
  const file = input.file.absolute;
  const found = lookInto(file, isPdfName(file) ? MAX_PDF_BYTES : MAX_WHOLE_BYTES);
  if (found.is === 'absent') return failedOutput(sayMissing(file, bench.cwd()));
  if (found.is === 'directory') return failedOutput(sayDirectory(file));
  if (found.is === 'unreadable') return failedOutput(`Cannot read ${file}: ${found.why}.`);
  if (found.is === 'large') return readLarge(input, found.size, signal);
  const output = await readBytes(input, found.bytes, signal);
  if (output.success) bench.files.remember(file, found.bytes);
  return output;
}

function isPdfName(file: string): boolean {
  return path.extname(file).toLowerCase() === '.pdf';
}

async function readLarge(input: ReadInput, size: number, signal: AbortSignal): Promise<ToolOutput> {
  const file = input.file.absolute;
  if (isPdfName(file)) {
    const sizes = `${sayBytes(size)}, at most ${sayBytes(MAX_PDF_BYTES)}`;
    return failedOutput(`${file} is too large a PDF document to read (${sizes}).`);
  }
  if (input.offset === null && input.limit === null) {
    return failedOutput(sayTooMuch(size, MAX_WHOLE_BYTES));
  }
  const window = await selectLinesOfFile(file, rangeOf(input), signal);
  return window === null ? failedOutput(sayBinary(file)) : textOutput(input, window);
}

function sayTooMuch(size: number, limit: number): string {
  return `File content (${sayBytes(size)}) exceeds maximum allowed size (${sayBytes(limit)}). Use offset and limit to read a part of the file, or Grep to search it.`;
}

function sayBinary(file: string): string {
  return `${file} is a binary file, which this tool cannot show. Use a program in Bash that knows its format, such as file or xxd.`;
}

async function readBytes(
  input: ReadInput,
  bytes: Buffer,
  signal: AbortSignal,
): Promise<ToolOutput> {
  const image = findImage(bytes);
  if (image !== null) return imageOutput(input.file, bytes, image);
  if (bytes.toString('latin1', 0, 5) === '%PDF-') return readPdf(input, bytes, signal);
  const content = decodeText(bytes);
  if (content === null) return failedOutput(sayBinary(input.file.absolute));
  const text = withPlainLineEnds(content.text);
  const isNotebook = path.extname(input.file.absolute).toLowerCase() === '.ipynb';
  const notebook = isNotebook ? notebookOutput(input.file, text) : null;
  return notebook ?? textOutput(input, selectLines(text, rangeOf(input)));
}

function rangeOf({ offset, limit }: ReadInput): LineRange {
  return { start: Math.max(offset ?? 1, 1), limit: limit ?? DEFAULT_LINES };
}

function textOutput({ file }: ReadInput, window: LineWindow): ToolOutput {
  const content = window.lines.join('\n');
  const size = Buffer.byteLength(content);
  if (size > MAX_SHOWN_BYTES) return failedOutput(sayTooMuch(size, MAX_SHOWN_BYTES));
  const response = {
    type: 'text',
    file: {
      filePath: file.written,
      content,
      numLines: window.lines.length,
      startLine: window.start,
      totalLines: window.totalLines,
    },
  };
  return { response, text: shownText(content, window), success: true };
}

function shownText(content: string, window: LineWindow): string {
  const { lines, start, totalLines } = window;
  if (lines.length === 0) {
    return warn(
      `the file exists but is shorter than the provided offset (${start}). The file has ${totalLines} lines.`,
    );
  }
  if (content === '' && totalLines === 1) {
    return warn('the file exists but the contents are empty.');
  }
  const last = start + lines.length - 1;
  const more = `\n\n(Lines ${start} to ${last} of ${totalLines}. Use offset and limit to read others.)`;
  return numberLines(window) + (last < totalLines ? more : '');
}

function warn(warning: string): string {
  return `Warning: ${warning}`;
}

function imageOutput(file: ToolPath, bytes: Buffer, { mediaType, size }: ImageHead): ToolOutput {
  const tooLarge = sayTooLargeImage(bytes.length, size);
  if (tooLarge !== null) return failedOutput(`Cannot show ${file.absolute}: ${tooLarge}.`);
  const base64 = bytes.toString('base64');
  const dimensions = size === null ? {} : { dimensions: dimensionsOf(size) };
  const image: ImageBlock = {
    type: 'image',
    source: { type: 'base64', media_type: mediaType, data: base64 },
  };
  return {
    response: {
      type: 'image',
      file: { base64, type: mediaType, originalSize: bytes.length, ...dimensions },
    },
    text: `The picture ${file.written} (${mediaType}, ${sayBytes(bytes.length)}).`,
    success: true,
    images: [image],
  };
}

function sayTooLargeImage(length: number, size: ImageHead['size']): string | null {
  if (length > MAX_IMAGE_BYTES) {
    return `the picture is too large (${sayBytes(length)}, at most ${sayBytes(MAX_IMAGE_BYTES)}); make a smaller copy with a program in Bash`;
  }
  if (size === null || Math.max(size.width, size.height) <= MAX_IMAGE_SIDE) return null;
  return `the picture has ${size.width} × ${size.height} pixels, at most ${MAX_IMAGE_SIDE} to a side; make a smaller copy with a program in Bash`;
}

function dimensionsOf({ width, height }: { width: number; height: number }): object {
  return {
    originalWidth: width,
    originalHeight: height,
    displayWidth: width,
    displayHeight: height,
  };
}

async function readPdf(
  { file, pages }: ReadInput,
  bytes: Buffer,
  signal: AbortSignal,
): Promise<ToolOutput> {
  const range = pages?.range ?? { first: 1, last: MOST_PAGES };
  const read = await readPdfText(bytes, range, signal);
  if (typeof read === 'string') return failedOutput(`Cannot read ${file.absolute}: ${read}.`);
  const shown = read.pages.map(({ number, text }) => {
    const said = text === '' ? '(no text on this page)' : text;
    return `--- Page ${number} of ${read.totalPages} ---\n${said}`;
  });
  const isRest = pages === null && read.totalPages > MOST_PAGES;
  const more = isRest ? ['(Use pages to read the others.)'] : [];
  const text = [...shown, ...more].join('\n\n');
  const size = Buffer.byteLength(text);
  if (size > MAX_SHOWN_BYTES) {
    return failedOutput(
      `The text of these pages (${sayBytes(size)}) exceeds maximum allowed size (${sayBytes(MAX_SHOWN_BYTES)}). Use pages to read fewer.`,
    );
  }
  const base64 = bytes.toString('base64');
  const response = { filePath: file.written, base64, originalSize: bytes.length };
  return { response: { type: 'pdf', file: response }, text, success: true };
}

/** Null when it is none, so that its text can be seen. */
function notebookOutput(file: ToolPath, text: string): ToolOutput | null {
  const notebook = parseNotebook(text);
  if (typeof notebook === 'string') return null;
  const cells = notebook.cells.map((cell, index) => showCell(cell, index, notebook.language));
  const shown = cellsText(cells);
  const size = Buffer.byteLength(shown);
  if (size > MAX_SHOWN_BYTES) {
    return failedOutput(
      `Notebook content (${sayBytes(size)}) exceeds maximum allowed size (${sayBytes(MAX_SHOWN_BYTES)}). Use Bash with jq to read a part of it: jq '.cells[:20]' ${JSON.stringify(file.absolute)}`,
    );
  }
  const images = cellImages(cells);
  return {
    response: { type: 'notebook', file: { filePath: file.written, cells } },
    text: shown === '' ? warn('the notebook exists but has no cells.') : shown,
    success: true,
    ...(images.length === 0 ? {} : { images }),
  };
}

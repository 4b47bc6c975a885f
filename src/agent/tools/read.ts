import path from 'node:path';
import { dropUndefined } from '../../base/defined.ts';
import type { ImageBlock } from '../../sessions/messages.ts';
import { defineTool } from './define-tool.ts';
import { formatBytes } from './files/editable-file.ts';
import { parseImageHead, type ImageHead } from './files/image.ts';
import {
  numberLines,
  selectLines,
  readLines,
  type LineRange,
  type LineWindow,
} from './files/line-window.ts';
import {
  MAX_WHOLE_BYTES,
  readPath,
  formatIsDirectory,
  formatMissingFile,
  parsePathField,
  type ToolPath,
} from './files/read-path.ts';
import { listCellImages, formatCells, parseNotebook, toCellView } from './files/notebook.ts';
import { MAX_PAGES, parsePages, readPdfText, type PageRange } from './files/pdf-text.ts';
import { decodeText, normalizeLineEnds } from './files/text-file.ts';
import { createFailedOutput, type RunningCall, type ToolOutput } from './tool.ts';
import type { ToolContext } from './tool-context.ts';

const DEFAULT_LINES = 2000;
const MAX_SHOWN_BYTES = 256 * 1024;
const MAX_PDF_BYTES = 20 * 1024 * 1024;
// Limits of the services: 5 MB as base64, 8000 pixels per side.
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
- Pictures (PNG, JPEG, GIF, WebP) are shown to you. Of PDF documents you get the text, at most ${MAX_PAGES} pages at a time: choose them with pages, such as "1-5". Of Jupyter notebooks you get all cells with their outputs.
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
  parse(fields, context) {
    const pages = fields.optionalText('pages');
    const range = pages === null || pages === '' ? null : parsePages(pages);
    if (typeof range === 'string') return range;
    return {
      file: parsePathField(fields, 'file_path', context),
      offset: fields.optionalCount('offset'),
      limit: fields.optionalPositiveInteger('limit'),
      pages: pages === null || range === null ? null : { written: pages, range },
    };
  },
  toHookInput: ({ file, offset, limit, pages }) => ({
    file_path: file.absolute,
    ...dropUndefined({
      offset: offset ?? undefined,
      limit: limit ?? undefined,
      pages: pages?.written,
    }),
  }),
  run: readFile,
});

async function readFile(
  input: ReadInput,
  context: ToolContext,
  { signal }: RunningCall,
): Promise<ToolOutput> {
  const file = input.file.absolute;
  const found = readPath(file, isPdfName(file) ? MAX_PDF_BYTES : MAX_WHOLE_BYTES);
  if (found.is === 'absent') return createFailedOutput(formatMissingFile(file, context.cwd()));
  if (found.is === 'directory') return createFailedOutput(formatIsDirectory(file));
  if (found.is === 'unreadable') return createFailedOutput(`Cannot read ${file}: ${found.why}.`);
  if (found.is === 'large') return readLarge(input, found.size, signal);
  const output = await readBytes(input, found.bytes, signal);
  if (output.success) context.readFiles.markRead(file, found.bytes);
  return output;
}

function isPdfName(file: string): boolean {
  return path.extname(file).toLowerCase() === '.pdf';
}

async function readLarge(input: ReadInput, size: number, signal: AbortSignal): Promise<ToolOutput> {
  const file = input.file.absolute;
  if (isPdfName(file)) {
    const sizes = `${formatBytes(size)}, at most ${formatBytes(MAX_PDF_BYTES)}`;
    return createFailedOutput(`${file} is too large a PDF document to read (${sizes}).`);
  }
  if (input.offset === null && input.limit === null) {
    return createFailedOutput(formatTooLarge(size, MAX_WHOLE_BYTES));
  }
  const window = await readLines(file, toLineRange(input), signal);
  return window === null ? createFailedOutput(formatBinary(file)) : createTextOutput(input, window);
}

function formatTooLarge(size: number, limit: number): string {
  return `File content (${formatBytes(size)}) exceeds maximum allowed size (${formatBytes(limit)}). Use offset and limit to read a part of the file, or Grep to search it.`;
}

function formatBinary(file: string): string {
  return `${file} is a binary file, which this tool cannot show. Use a program in Bash that knows its format, such as file or xxd.`;
}

async function readBytes(
  input: ReadInput,
  bytes: Buffer,
  signal: AbortSignal,
): Promise<ToolOutput> {
  const image = parseImageHead(bytes);
  if (image !== null) return createImageOutput(input.file, bytes, image);
  if (bytes.toString('latin1', 0, 5) === '%PDF-') return readPdf(input, bytes, signal);
  const content = decodeText(bytes);
  if (content === null) return createFailedOutput(formatBinary(input.file.absolute));
  const text = normalizeLineEnds(content.text);
  const isNotebook = path.extname(input.file.absolute).toLowerCase() === '.ipynb';
  const notebook = isNotebook ? createNotebookOutput(input.file, text) : null;
  return notebook ?? createTextOutput(input, selectLines(text, toLineRange(input)));
}

function toLineRange({ offset, limit }: ReadInput): LineRange {
  return { start: Math.max(offset ?? 1, 1), limit: limit ?? DEFAULT_LINES };
}

function createTextOutput({ file }: ReadInput, window: LineWindow): ToolOutput {
  const content = window.lines.join('\n');
  const size = Buffer.byteLength(content);
  if (size > MAX_SHOWN_BYTES) return createFailedOutput(formatTooLarge(size, MAX_SHOWN_BYTES));
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
  return { response, text: formatLines(content, window), success: true };
}

function formatLines(content: string, window: LineWindow): string {
  const { lines, start, totalLines } = window;
  if (lines.length === 0) {
    return formatWarning(
      `the file exists but is shorter than the provided offset (${start}). The file has ${totalLines} lines.`,
    );
  }
  if (content === '' && totalLines === 1) {
    return formatWarning('the file exists but the contents are empty.');
  }
  const last = start + lines.length - 1;
  const more = `\n\n(Lines ${start} to ${last} of ${totalLines}. Use offset and limit to read others.)`;
  return numberLines(window) + (last < totalLines ? more : '');
}

function formatWarning(warning: string): string {
  return `Warning: ${warning}`;
}

function createImageOutput(
  file: ToolPath,
  bytes: Buffer,
  { mediaType, size }: ImageHead,
): ToolOutput {
  const tooLarge = checkImageSize(bytes.length, size);
  if (tooLarge !== null) return createFailedOutput(`Cannot show ${file.absolute}: ${tooLarge}.`);
  const base64 = bytes.toString('base64');
  const dimensions = size === null ? {} : { dimensions: toDimensions(size) };
  const image: ImageBlock = {
    type: 'image',
    source: { type: 'base64', media_type: mediaType, data: base64 },
  };
  return {
    response: {
      type: 'image',
      file: { base64, type: mediaType, originalSize: bytes.length, ...dimensions },
    },
    text: `The picture ${file.written} (${mediaType}, ${formatBytes(bytes.length)}).`,
    success: true,
    images: [image],
  };
}

function checkImageSize(length: number, size: ImageHead['size']): string | null {
  if (length > MAX_IMAGE_BYTES) {
    return `the picture is too large (${formatBytes(length)}, at most ${formatBytes(MAX_IMAGE_BYTES)}); make a smaller copy with a program in Bash`;
  }
  if (size === null || Math.max(size.width, size.height) <= MAX_IMAGE_SIDE) return null;
  return `the picture has ${size.width} × ${size.height} pixels, at most ${MAX_IMAGE_SIDE} to a side; make a smaller copy with a program in Bash`;
}

function toDimensions({ width, height }: { width: number; height: number }): object {
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
  const range = pages?.range ?? { first: 1, last: MAX_PAGES };
  const read = await readPdfText(bytes, range, signal);
  if (typeof read === 'string') return createFailedOutput(`Cannot read ${file.absolute}: ${read}.`);
  const pageTexts = read.pages.map(({ number, text }) => {
    const pageText = text === '' ? '(no text on this page)' : text;
    return `--- Page ${number} of ${read.totalPages} ---\n${pageText}`;
  });
  const isRest = pages === null && read.totalPages > MAX_PAGES;
  const more = isRest ? ['(Use pages to read the others.)'] : [];
  const text = [...pageTexts, ...more].join('\n\n');
  const size = Buffer.byteLength(text);
  if (size > MAX_SHOWN_BYTES) {
    return createFailedOutput(
      `The text of these pages (${formatBytes(size)}) exceeds maximum allowed size (${formatBytes(MAX_SHOWN_BYTES)}). Use pages to read fewer.`,
    );
  }
  const base64 = bytes.toString('base64');
  const response = { filePath: file.written, base64, originalSize: bytes.length };
  return { response: { type: 'pdf', file: response }, text, success: true };
}

/** Null when the file is not a valid notebook; its text is shown then. */
function createNotebookOutput(file: ToolPath, text: string): ToolOutput | null {
  const notebook = parseNotebook(text);
  if (typeof notebook === 'string') return null;
  const cells = notebook.cells.map((cell, index) => toCellView(cell, index, notebook.language));
  const cellText = formatCells(cells);
  const size = Buffer.byteLength(cellText);
  if (size > MAX_SHOWN_BYTES) {
    return createFailedOutput(
      `Notebook content (${formatBytes(size)}) exceeds maximum allowed size (${formatBytes(MAX_SHOWN_BYTES)}). Use Bash with jq to read a part of it: jq '.cells[:20]' ${JSON.stringify(file.absolute)}`,
    );
  }
  const images = listCellImages(cells);
  return {
    response: { type: 'notebook', file: { filePath: file.written, cells } },
    text: cellText === '' ? formatWarning('the notebook exists but has no cells.') : cellText,
    success: true,
    ...dropUndefined({ images: images.length === 0 ? undefined : images }),
  };
}

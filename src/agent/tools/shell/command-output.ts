import { truncateText } from '../../../base/json.ts';
import type { BoundedOutput } from '../../../process/bounded-output.ts';
import type { SavedOutput, SpillFile } from './spill-file.ts';
import { stripVTControlCharacters } from 'node:util';
import { type Clock, systemClock } from '../../../base/clock.ts';

/** How much of a command's output is shown as it is. */
export const MAX_SHOWN_CHARACTERS = 30_000;
/** Enough for that many characters at the beginning and at the end, whatever they are. */
export const MAX_KEPT_BYTES = MAX_SHOWN_CHARACTERS * 4 * 2;

export interface CommandOutput {
  /** Everything, or the beginning. */
  readonly stdout: string;
  /** Null when `stdout` is everything. */
  readonly cut: CutOutput | null;
}

interface CutOutput {
  readonly end: string;
  readonly totalBytes: number;
  readonly spilled: SavedOutput | null;
}

export function captureOutput(kept: BoundedOutput, spill: SpillFile): CommandOutput {
  const head = toPlainText(kept.text);
  const text = trimOutput(head);
  if (!kept.truncated && text.length <= MAX_SHOWN_CHARACTERS) {
    spill.discard();
    return { stdout: text, cut: null };
  }
  const end = kept.truncated ? toPlainText(kept.tail).trimEnd() : text;
  const { totalBytes } = kept;
  return {
    stdout: truncateText(text, MAX_SHOWN_CHARACTERS),
    cut: { end, totalBytes, spilled: spill.finish() },
  };
}

const NO_OUTPUT = '(Bash completed with no output)';

/** What the model is shown of a command that ended well. */
export function formatOutput({ stdout, cut }: CommandOutput): string {
  if (cut === null) return stdout === '' ? NO_OUTPUT : stdout;
  if (cut.spilled === null) return formatBothEnds(stdout, cut, MAX_SHOWN_CHARACTERS / 2);
  const preview = formatPreview(stdout);
  return [
    '<persisted-output>',
    `Output too large (${formatByteCount(cut.totalBytes)}). ${formatSavedTo(cut.spilled)}`,
    '',
    `Preview (first ${formatByteCount(MAX_PREVIEW_CHARACTERS)}):`,
    preview,
    '...',
    '</persisted-output>',
  ].join('\n');
}

/** What the model is shown of a command that failed: mostly the end says why. */
export function formatFailedOutput({ stdout, cut }: CommandOutput): string {
  if (cut === null) return stdout;
  if (cut.spilled === null) return formatBothEnds(stdout, cut, MAX_SHOWN_CHARACTERS / 2);
  return `${formatBothEnds(stdout, cut, MAX_FAILURE_END)}\n${formatSavedTo(cut.spilled)}`;
}

const MAX_FAILURE_END = 5000;
const MAX_PREVIEW_CHARACTERS = 2000;

function formatSavedTo({ path, bytes, isWhole }: SavedOutput): string {
  if (isWhole) return `Full output saved to: ${path}`;
  return `The first ${formatByteCount(bytes)} were saved to: ${path}`;
}

function formatBothEnds(stdout: string, { end, totalBytes }: CutOutput, length: number): string {
  const left = `... [output of ${formatByteCount(totalBytes)} cut here] ...`;
  return `${truncateText(stdout, length)}\n\n${left}\n\n${takeLast(end, length)}`;
}

/** A text as long as may be shown, its beginning and its end when it is longer. */
export function truncateOutput(text: string): string {
  if (text.length <= MAX_SHOWN_CHARACTERS) return text;
  const cut = { end: text, totalBytes: Buffer.byteLength(text), spilled: null };
  return formatBothEnds(text, cut, MAX_SHOWN_CHARACTERS / 2);
}

function takeLast(text: string, length: number): string {
  const last = text.slice(-length);
  const startsInPair = /^[\uDC00-\uDFFF]/.test(last);
  return startsInPair ? last.slice(1) : last;
}

/** Ends with a line when that leaves enough. */
function formatPreview(stdout: string): string {
  const preview = truncateText(stdout, MAX_PREVIEW_CHARACTERS);
  const lineEnd = preview.lastIndexOf('\n');
  return lineEnd > MAX_PREVIEW_CHARACTERS / 2 ? preview.slice(0, lineEnd) : preview;
}

function formatByteCount(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  if (bytes < 1024 ** 2) return `${formatAmount(bytes / 1024)}KB`;
  return bytes < 1024 ** 3
    ? `${formatAmount(bytes / 1024 ** 2)}MB`
    : `${formatAmount(bytes / 1024 ** 3)}GB`;
}

function formatAmount(amount: number): string {
  return amount.toFixed(1).replace(/\.0$/, '');
}

/** What a terminal would show of a program's output: no colours, no bytes that mean nothing. */
export function toPlainText(output: string): string {
  const lines = stripVTControlCharacters(output).split('\n').map(removeOverwritten);
  return lines.join('\n').replaceAll(UNREADABLE, '\uFFFD');
}

// Control characters, and what decoding made of bytes that are no text; one stands for many.
const UNREADABLE = /(?:[^\P{Cc}\t\n]|\uFFFD)+/gu;

/** A progress bar writes one line again and again; what it wrote last counts. */
function removeOverwritten(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === '\r') end -= 1;
  return line.slice(line.lastIndexOf('\r', end - 1) + 1, end);
}

/** Without the empty lines around it. */
export function trimOutput(text: string): string {
  return text.replace(/^(?:[^\S\n]*\n)+/, '').trimEnd();
}

const EVERY_MS = 500;
const LOOKED_AT_BYTES = 4096;
const MAX_LINE_CHARACTERS = 200;

/** Tells the last line of output now and then, the first at once. */
export function createProgress(
  tell: (line: string) => void,
  clock: Pick<Clock, 'elapsed'> = systemClock,
): (chunk: Buffer) => void {
  let toldAt = -EVERY_MS;
  return (chunk) => {
    const now = clock.elapsed();
    if (now - toldAt < EVERY_MS) return;
    const line = getLastLine(chunk);
    if (line === '') return;
    toldAt = now;
    tell(line);
  };
}

function getLastLine(chunk: Buffer): string {
  const text = toPlainText(chunk.subarray(-LOOKED_AT_BYTES).toString('utf8')).trimEnd();
  return truncateText(text.slice(text.lastIndexOf('\n') + 1).trim(), MAX_LINE_CHARACTERS);
}

import { truncateText } from '../../../base/json.ts';
import type { BoundedOutput } from '../../../process/bounded-output.ts';
import { plainText, trimOutput } from './plain-text.ts';
import type { Spilled, SpillFile } from './spill-file.ts';

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
  readonly spilled: Spilled | null;
}

export function captureOutput(kept: BoundedOutput, spill: SpillFile): CommandOutput {
  const head = plainText(kept.text);
  const text = trimOutput(head);
  if (!kept.truncated && text.length <= MAX_SHOWN_CHARACTERS) {
    spill.discard();
    return { stdout: text, cut: null };
  }
  const end = kept.truncated ? plainText(kept.tail).trimEnd() : text;
  const { totalBytes } = kept;
  return {
    stdout: truncateText(text, MAX_SHOWN_CHARACTERS),
    cut: { end, totalBytes, spilled: spill.finish() },
  };
}

const NO_OUTPUT = '(Bash completed with no output)';

/** What the model is shown of a command that ended well. */
export function shownOutput({ stdout, cut }: CommandOutput): string {
  if (cut === null) return stdout === '' ? NO_OUTPUT : stdout;
  if (cut.spilled === null) return bothEnds(stdout, cut, MAX_SHOWN_CHARACTERS / 2);
  const preview = previewOf(stdout);
  return [
    '<persisted-output>',
    `Output too large (${sayBytes(cut.totalBytes)}). ${sayPlace(cut.spilled)}`,
    '',
    `Preview (first ${sayBytes(MAX_PREVIEW_CHARACTERS)}):`,
    preview,
    '...',
    '</persisted-output>',
  ].join('\n');
}

/** What the model is shown of a command that failed: mostly the end says why. */
export function shownFailure({ stdout, cut }: CommandOutput): string {
  if (cut === null) return stdout;
  if (cut.spilled === null) return bothEnds(stdout, cut, MAX_SHOWN_CHARACTERS / 2);
  return `${bothEnds(stdout, cut, MAX_FAILURE_END)}\n${sayPlace(cut.spilled)}`;
}

const MAX_FAILURE_END = 5000;
const MAX_PREVIEW_CHARACTERS = 2000;

function sayPlace({ path, bytes, isWhole }: Spilled): string {
  if (isWhole) return `Full output saved to: ${path}`;
  return `The first ${sayBytes(bytes)} were saved to: ${path}`;
}

function bothEnds(stdout: string, { end, totalBytes }: CutOutput, length: number): string {
  const left = `... [output of ${sayBytes(totalBytes)} cut here] ...`;
  return `${truncateText(stdout, length)}\n\n${left}\n\n${lastOf(end, length)}`;
}

/** A text as long as may be shown, its beginning and its end when it is longer. */
export function shortened(text: string): string {
  if (text.length <= MAX_SHOWN_CHARACTERS) return text;
  const cut = { end: text, totalBytes: Buffer.byteLength(text), spilled: null };
  return bothEnds(text, cut, MAX_SHOWN_CHARACTERS / 2);
}

function lastOf(text: string, length: number): string {
  const last = text.slice(-length);
  const startsInPair = /^[\uDC00-\uDFFF]/.test(last);
  return startsInPair ? last.slice(1) : last;
}

/** Ends with a line when that leaves enough. */
function previewOf(stdout: string): string {
  const preview = truncateText(stdout, MAX_PREVIEW_CHARACTERS);
  const lineEnd = preview.lastIndexOf('\n');
  return lineEnd > MAX_PREVIEW_CHARACTERS / 2 ? preview.slice(0, lineEnd) : preview;
}

function sayBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  if (bytes < 1024 ** 2) return `${rounded(bytes / 1024)}KB`;
  return bytes < 1024 ** 3 ? `${rounded(bytes / 1024 ** 2)}MB` : `${rounded(bytes / 1024 ** 3)}GB`;
}

function rounded(amount: number): string {
  return amount.toFixed(1).replace(/\.0$/, '');
}

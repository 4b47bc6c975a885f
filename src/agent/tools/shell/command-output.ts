import { StringDecoder } from 'node:string_decoder';
import { truncateText } from '../../../base/json.ts';
import { type BoundedOutput, OutputCollector } from '../../../process/bounded-output.ts';
import { stripVTControlCharacters } from 'node:util';
import { type Clock, systemClock } from '../../../base/clock.ts';
import { randomUUID } from 'node:crypto';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import { createPrivateDirectory } from '../../../base/files.ts';

/** The longest output shown in full. */
export const MAX_SHOWN_CHARACTERS = 30_000;
/** Enough bytes for that many characters at both ends in any encoding. */
export const MAX_KEPT_BYTES = MAX_SHOWN_CHARACTERS * 4 * 2;

export interface CommandOutput {
  /** All output, or its beginning. */
  readonly stdout: string;
  /** Null when `stdout` is complete. */
  readonly cut: {
    readonly end: string;
    readonly totalBytes: number;
    readonly spilled: SavedOutput | null;
  } | null;
}

export function captureOutput(output: BoundedOutput, spill: SpillFile): CommandOutput {
  const text = trimOutput(toPlainText(output.text));
  if (!output.truncated && text.length <= MAX_SHOWN_CHARACTERS) {
    spill.discard();
    return { stdout: text, cut: null };
  }
  const end = output.truncated ? toPlainText(output.tail).trimEnd() : text;
  const { totalBytes } = output;
  return {
    stdout: truncateText(text, MAX_SHOWN_CHARACTERS),
    cut: { end, totalBytes, spilled: spill.finish() },
  };
}

/** Truncates a long text, and names the file with the whole text. */
export function limitText(text: string, spillDirectory: string | null): string {
  if (text.length <= MAX_SHOWN_CHARACTERS) return text;
  const bytes = Buffer.from(text);
  const bounded = new OutputCollector(MAX_KEPT_BYTES);
  const spill = new SpillFile(spillDirectory, MAX_SHOWN_CHARACTERS);
  bounded.push(bytes);
  spill.push(bytes);
  return formatOutput(captureOutput(bounded.result(), spill));
}

const NO_OUTPUT = '(Bash completed with no output)';

/** The output of a successful command, for the model. */
export function formatOutput({ stdout, cut }: CommandOutput): string {
  if (cut === null) return stdout === '' ? NO_OUTPUT : stdout;
  if (cut.spilled === null) {
    return formatBothEnds(stdout, cut.end, cut.totalBytes, MAX_SHOWN_CHARACTERS / 2);
  }
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

/**
 * The output of a failed command, for the model; its end is kept, because it usually explains the failure.
 */
export function formatFailedOutput({ stdout, cut }: CommandOutput): string {
  if (cut === null) return stdout;
  if (cut.spilled === null) {
    return formatBothEnds(stdout, cut.end, cut.totalBytes, MAX_SHOWN_CHARACTERS / 2);
  }
  return `${formatBothEnds(stdout, cut.end, cut.totalBytes, MAX_FAILURE_END)}\n${formatSavedTo(cut.spilled)}`;
}

const MAX_FAILURE_END = 5000;
const MAX_PREVIEW_CHARACTERS = 2000;

/** Where output was saved, and how much of it. */
export function formatSavedTo({ path, bytes, isWhole }: SavedOutput): string {
  if (isWhole) return `Full output saved to: ${path}`;
  return `The first ${formatByteCount(bytes)} were saved to: ${path}`;
}

function formatBothEnds(start: string, end: string, totalBytes: number, length: number): string {
  const omission = `... [output of ${formatByteCount(totalBytes)} cut here] ...`;
  return `${truncateText(start, length)}\n\n${omission}\n\n${truncateStart(end, length)}`;
}

/** Truncates the middle of a long text. */
export function truncateOutput(text: string): string {
  if (text.length <= MAX_SHOWN_CHARACTERS) return text;
  return formatBothEnds(text, text, Buffer.byteLength(text), MAX_SHOWN_CHARACTERS / 2);
}

function truncateStart(text: string, length: number): string {
  const last = text.slice(-length);
  const startsInPair = /^[\uDC00-\uDFFF]/.test(last);
  return startsInPair ? last.slice(1) : last;
}

/** Ends at a line end when that keeps more than half. */
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

/** A program's output without colors and unprintable bytes, as a terminal would show it. */
export function toPlainText(output: string): string {
  const lines = stripVTControlCharacters(output).split('\n').map(removeOverwritten);
  return lines.join('\n').replaceAll(UNREADABLE, '\uFFFD');
}

// Control characters and undecodable bytes; one replacement per run.
const UNREADABLE = /(?:[^\P{Cc}\t\n]|\uFFFD)+/gu;

/** A progress bar rewrites one line with \r; only the last state is kept. */
function removeOverwritten(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === '\r') end -= 1;
  return line.slice(line.lastIndexOf('\r', end - 1) + 1, end);
}

/** Removes empty lines at both ends. */
export function trimOutput(text: string): string {
  return text.replace(/^(?:[^\S\n]*\n)+/, '').trimEnd();
}

const EVERY_MS = 500;
const LOOKED_AT_BYTES = 4096;
const MAX_LINE_CHARACTERS = 200;

/**
 * Reports the last complete line of output at most every 500 ms, the first one at once. Only complete lines
 * and whole words, because a part of a secret is not recognized as one.
 */
export function createProgress(
  report: (line: string) => void,
  clock: Pick<Clock, 'elapsed'> = systemClock,
): (chunk: Buffer) => void {
  let reportedAt = -EVERY_MS;
  const decoder = new StringDecoder('utf8');
  let recent = '';
  return (chunk) => {
    recent = (recent + decoder.write(chunk.subarray(-LOOKED_AT_BYTES))).slice(-LOOKED_AT_BYTES);
    const now = clock.elapsed();
    if (now - reportedAt < EVERY_MS) return;
    const line = findLastLine(recent);
    if (line === '') return;
    reportedAt = now;
    report(line);
  };
}

const KEY_BEGINS = '-----BEGIN';
const KEY_ENDS = '-----END';

/** Empty while no line is complete, or inside of a key, whose lines look like any other text. */
function findLastLine(recent: string): string {
  const end = Math.max(recent.lastIndexOf('\n'), recent.lastIndexOf('\r'));
  const complete = recent.slice(0, end + 1);
  if (complete.lastIndexOf(KEY_BEGINS) > complete.lastIndexOf(KEY_ENDS)) return '';
  const text = toPlainText(complete).trimEnd();
  const start = text.lastIndexOf('\n') + 1;
  // The beginning of such a line is lost.
  if (start === 0 && recent.length >= LOOKED_AT_BYTES) return '';
  const line = text.slice(start).trim();
  if (line.length <= MAX_LINE_CHARACTERS) return line;
  return truncateText(line, MAX_LINE_CHARACTERS).replace(/\S*$/u, '').trimEnd();
}

export interface SavedOutput {
  readonly path: string;
  readonly bytes: number;
  /** Whether the file contains all output. */
  readonly isWhole: boolean;
}

const MIB = 1024 * 1024;
/** Keeps an endless command from filling the disk. */
const MAX_FILE_BYTES = 64 * MIB;

/** Buffers output and writes it to a file once it exceeds a limit. */
export class SpillFile {
  readonly #directory: string | null;
  readonly #fromBytes: number;
  readonly #maxBytes: number;
  readonly #path: string;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #descriptor: number | null = null;
  #bytes = 0;
  #isWhole = true;
  #hasFile = false;

  /** Without a directory nothing is written. `fromBytes` is the size from which a file is written. */
  constructor(directory: string | null, fromBytes: number, maxBytes = MAX_FILE_BYTES) {
    this.#directory = directory;
    this.#fromBytes = fromBytes;
    this.#maxBytes = maxBytes;
    this.#path = path.join(directory ?? '', `b${randomUUID().slice(0, 8)}.txt`);
  }

  push(chunk: Buffer): void {
    if (this.#directory === null) return;
    if (this.#descriptor !== null || !this.#isWhole) return this.#write(chunk);
    this.#waiting.push(chunk);
    this.#waitingBytes += chunk.length;
    if (this.#waitingBytes > this.#fromBytes) this.#open(this.#directory);
  }

  #open(directory: string): void {
    const waiting = Buffer.concat(this.#waiting);
    this.#waiting = [];
    try {
      createPrivateDirectory(directory);
      this.#descriptor = openSync(this.#path, 'wx', 0o600);
      this.#hasFile = true;
    } catch {
      this.#isWhole = false;
    }
    this.#write(waiting);
  }

  // Synchronous, so that a program that writes faster than the disk has to wait.
  #write(chunk: Buffer): void {
    if (this.#descriptor === null || !this.#isWhole) return;
    const room = this.#maxBytes - this.#bytes;
    this.#isWhole = chunk.length <= room;
    try {
      for (let at = 0, end = Math.min(room, chunk.length); at < end;) {
        const written = writeSync(this.#descriptor, chunk, at, end - at);
        at += written;
        this.#bytes += written;
      }
      if (!this.#isWhole) writeSync(this.#descriptor, this.#formatCut());
    } catch {
      this.#isWhole = false;
    }
  }

  #formatCut(): string {
    const limit = formatByteCount(this.#maxBytes);
    return `\n[output cut here: at most ${limit} of it are kept (setting bash.maxOutputBytes)]\n`;
  }

  /** What is saved now; null when the output is short or could not be written. */
  get saved(): SavedOutput | null {
    if (!this.#hasFile) return null;
    return { path: this.#path, bytes: this.#bytes, isWhole: this.#isWhole };
  }

  /** Closes the file and returns what is saved. */
  finish(): SavedOutput | null {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
    return this.saved;
  }

  /** Call instead of `finish` when the file is not needed. */
  discard(): void {
    if (this.finish() !== null) rmSync(this.#path, { force: true });
  }
}

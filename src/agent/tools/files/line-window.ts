import { open } from 'node:fs/promises';
import { truncateText } from '../../../base/json.ts';
import { OPEN_FLAGS } from './read-path.ts';

export interface LineRange {
  /** Counted from 1. */
  readonly start: number;
  readonly limit: number;
}

/** A range of lines. A text with a final line end has an empty last line, as Claude Code counts. */
export interface LineWindow {
  readonly lines: readonly string[];
  readonly start: number;
  readonly totalLines: number;
}

export function selectLines(text: string, range: LineRange): LineWindow {
  const all = text.split('\n');
  const first = range.start - 1;
  return {
    lines: all.slice(first, first + range.limit).map(truncateLine),
    start: range.start,
    totalLines: all.length,
  };
}

const MAX_LINE_CHARACTERS = 2000;
const MAX_LINE_BYTES = MAX_LINE_CHARACTERS * 4;

function truncateLine(line: string): string {
  return line.length > MAX_LINE_CHARACTERS
    ? `${truncateText(line, MAX_LINE_CHARACTERS)}... [truncated]`
    : line;
}

/** The line format of Claude Code's Read. */
export function numberLines({ lines, start }: Pick<LineWindow, 'lines' | 'start'>): string {
  return lines.map((line, index) => `${String(start + index).padStart(6)}→${line}`).join('\n');
}

const LINE_FEED = 0x0a;

/** Reads lines of a file that is too large for memory; null when it is not text. */
export async function readLines(
  file: string,
  range: LineRange,
  signal: AbortSignal,
): Promise<LineWindow | null> {
  const collector = new LineCollector(range);
  const handle = await open(file, OPEN_FLAGS);
  for await (const chunk of handle.createReadStream({ signal })) {
    if (!Buffer.isBuffer(chunk) || chunk.includes(0)) return null;
    collector.add(chunk);
  }
  return collector.finish();
}

class LineCollector {
  readonly #range: LineRange;
  readonly #lines: string[] = [];
  #line = 1;
  #pieces: Buffer[] = [];

  constructor(range: LineRange) {
    this.#range = range;
  }

  add(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, from)) {
      if (this.#isInRange()) appendPiece(this.#pieces, chunk.subarray(from, at));
      this.#endLine();
      this.#line += 1;
      from = at + 1;
    }
    if (this.#isInRange()) appendPiece(this.#pieces, chunk.subarray(from));
  }

  finish(): LineWindow {
    this.#endLine();
    return { lines: this.#lines, start: this.#range.start, totalLines: this.#line };
  }

  #isInRange(): boolean {
    const { start, limit } = this.#range;
    return this.#line >= start && this.#line < start + limit;
  }

  #endLine(): void {
    if (this.#isInRange()) this.#lines.push(joinPieces(this.#pieces));
    this.#pieces = [];
  }
}

/** Keeps no more bytes of a line than can be shown. */
function appendPiece(pieces: Buffer[], piece: Buffer): void {
  const room = MAX_LINE_BYTES - pieces.reduce((sum, { length }) => sum + length, 0);
  if (room > 0) pieces.push(Buffer.from(piece.subarray(0, room)));
}

function joinPieces(pieces: readonly Buffer[]): string {
  return truncateLine(Buffer.concat(pieces).toString('utf8').replace(/\r$/, ''));
}

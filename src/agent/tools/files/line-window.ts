import { open } from 'node:fs/promises';
import { truncateText } from '../../../base/json.ts';
import { OPEN_FLAGS } from './look-into.ts';

export interface LineRange {
  /** Counted from 1. */
  readonly start: number;
  readonly limit: number;
}

/** Some lines of a file. A text that ends in a line end has an empty last line, as Claude counts. */
export interface LineWindow {
  readonly lines: readonly string[];
  readonly start: number;
  readonly totalLines: number;
}

export function selectLines(text: string, range: LineRange): LineWindow {
  const all = text.split('\n');
  const first = range.start - 1;
  return {
    lines: all.slice(first, first + range.limit).map(cutLine),
    start: range.start,
    totalLines: all.length,
  };
}

const LONGEST_LINE = 2000;
const MOST_BYTES_OF_LINE = LONGEST_LINE * 4;

function cutLine(line: string): string {
  return line.length > LONGEST_LINE ? `${truncateText(line, LONGEST_LINE)}... [truncated]` : line;
}

/** As Claude shows lines to the model. */
export function numberLines({ lines, start }: Pick<LineWindow, 'lines' | 'start'>): string {
  return lines.map((line, index) => `${String(start + index).padStart(6)}→${line}`).join('\n');
}

const LINE_FEED = 0x0a;

/** Selects lines of a file that is too large to be held; null when it is not text. */
export async function selectLinesOfFile(
  file: string,
  range: LineRange,
  signal: AbortSignal,
): Promise<LineWindow | null> {
  const collector = createLineCollector(range);
  const handle = await open(file, OPEN_FLAGS);
  for await (const chunk of handle.createReadStream({ signal })) {
    if (!Buffer.isBuffer(chunk) || chunk.includes(0)) return null;
    collector.add(chunk);
  }
  return collector.finish();
}

interface LineCollector {
  add(chunk: Buffer): void;
  finish(): LineWindow;
}

function createLineCollector({ start, limit }: LineRange): LineCollector {
  const lines: string[] = [];
  let line = 1;
  let pieces: Buffer[] = [];
  const isWanted = (): boolean => line >= start && line < start + limit;
  const endLine = (): void => {
    if (isWanted()) lines.push(lineOf(pieces));
    pieces = [];
  };
  return {
    add(chunk) {
      let from = 0;
      for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, from)) {
        if (isWanted()) keep(pieces, chunk.subarray(from, at));
        endLine();
        line += 1;
        from = at + 1;
      }
      if (isWanted()) keep(pieces, chunk.subarray(from));
    },
    finish() {
      endLine();
      return { lines, start, totalLines: line };
    },
  };
}

/** Keeps only as much of a line as can be shown. */
function keep(pieces: Buffer[], piece: Buffer): void {
  const room = MOST_BYTES_OF_LINE - pieces.reduce((sum, { length }) => sum + length, 0);
  if (room > 0) pieces.push(Buffer.from(piece.subarray(0, room)));
}

function lineOf(pieces: readonly Buffer[]): string {
  return cutLine(Buffer.concat(pieces).toString('utf8').replace(/\r$/, ''));
}

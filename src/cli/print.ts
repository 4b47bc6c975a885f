import { stderr, stdout } from 'node:process';
import colors from 'picocolors';

/** Where a command's words go: answers to stdout, everything about them to stderr. */
export interface Printer {
  readonly isTerminal: boolean;
  out(text: string): void;
  /** One JSON document. */
  json(value: unknown): void;
  note(text: string): void;
  /** Shows a line that the next one replaces; null removes it. Does nothing without a terminal. */
  progress(text: string | null): void;
}

export function createPrinter(): Printer {
  let isLineShown = false;
  const clear = (): void => {
    if (isLineShown) stderr.write('\r\u001B[2K');
    isLineShown = false;
  };
  return {
    isTerminal: stderr.isTTY === true,
    out(text) {
      clear();
      stdout.write(`${text}\n`);
    },
    json(value) {
      clear();
      stdout.write(`${JSON.stringify(value, null, 2)}\n`);
    },
    note(text) {
      clear();
      stderr.write(`${text}\n`);
    },
    progress(text) {
      if (stderr.isTTY !== true) return;
      clear();
      if (text === null) return;
      stderr.write(colors.dim(text));
      isLineShown = true;
    },
  };
}

/** Columns padded to the widest cell; the last one is left as it is. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, visibleLength(cell));
    });
  }
  return rows.map((row) => row.map((cell, at) => pad(cell, at, { row, widths })).join('  ').trimEnd()).join('\n');
}

function pad(
  cell: string,
  column: number,
  { row, widths }: { row: readonly string[]; widths: readonly number[] },
): string {
  if (column === row.length - 1) return cell;
  return cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - visibleLength(cell)));
}

const COLOUR_CODES = new RegExp(`${String.fromCodePoint(0x1b)}\\[\\d+m`, 'gu');

function visibleLength(text: string): number {
  return text.replaceAll(COLOUR_CODES, '').length;
}

/** A name that may hold line breaks or control characters, safe to print on one line. */
export function oneLine(text: string): string {
  return /[\p{Cc}]/u.test(text) ? JSON.stringify(text) : text;
}

export function indent(text: string, by = '    '): string {
  return text
    .split('\n')
    .map((line) => (line === '' ? line : by + line))
    .join('\n');
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

export function milliseconds(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toFixed(1)} s`;
  return ms >= 10 ? `${Math.round(ms)} ms` : `${ms.toFixed(1)} ms`;
}

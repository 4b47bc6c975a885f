import { configureColors, colors, hasColors } from './colors.ts';
import { openOutput } from './stdio.ts';

/** Where a command's words go: answers to stdout, everything about them to stderr. */
export interface Printer {
  /** Whether a person sees what goes to stderr. */
  readonly isTerminal: boolean;
  /** Whether a person sees what goes to stdout. */
  readonly isStdoutTerminal: boolean;
  out(text: string): void;
  /** One JSON document. */
  json(value: unknown): void;
  /** One JSON document of many, on a line of its own. */
  jsonLine(value: unknown): void;
  note(text: string): void;
  /** Has the terminal tell the person, also when they look elsewhere. Does nothing without one. */
  notify(text: string): void;
  /** Shows a line that the next one replaces; null removes it. Does nothing without a terminal. */
  progress(text: string | null): void;
}

/** `onLost` hears of an answer that could not be written. */
export function createPrinter(
  env: Readonly<Record<string, string | undefined>>,
  onLost: (error: unknown) => void,
): Printer {
  const stdout = openOutput(1, onLost);
  const stderr = openOutput(2, () => undefined);
  configureColors(stdout.isTerminal, env);
  let isLineShown = false;
  const clear = (): void => {
    if (isLineShown) stderr.write('\r\u001B[2K');
    isLineShown = false;
  };
  return {
    isTerminal: stderr.isTerminal,
    isStdoutTerminal: stdout.isTerminal,
    out(text) {
      clear();
      stdout.write(`${escapeTerminalText(text)}\n`);
    },
    json(value) {
      clear();
      stdout.write(`${serializeJson(value, 2)}\n`);
    },
    jsonLine(value) {
      clear();
      stdout.write(`${serializeJson(value)}\n`);
    },
    note(text) {
      clear();
      stderr.write(`${escapeTerminalText(text)}\n`);
    },
    notify(text) {
      if (!stderr.isTerminal) return;
      const words = toOneLine(toPrintable(text));
      // Some terminals know the one, some the other, and the rest ignore both.
      stderr.write(`\u001B]9;${words}\u0007\u001B]777;notify;Hookline;${words}\u0007`);
    },
    progress(text) {
      if (!stderr.isTerminal) return;
      clear();
      if (text === null) return;
      stderr.write(colors.dim(toPrintable(text)));
      isLineShown = true;
    },
  };
}

// Bold, dim and the six colours that are used here, and what ends them.
const OWN_COLOR = `${String.fromCodePoint(0x1b)}\\[(?:1|2|22|3[1-6]|39)m`;
const CONTROL_CHARACTERS = String.raw`[\p{Cc}\p{Bidi_Control}]`;

// Making an expression with classes of characters takes longer than most texts take to print.
const PLAIN = /^[\t\n\u0020-\u007E]*$/;

/**
 * Text as it may reach a terminal. Hooks and repositories choose much of what is printed, and must
 * not move the cursor, hide lines or reverse the reading direction.
 */
export function escapeTerminalText(text: string): string {
  if (PLAIN.test(text)) return text;
  const ownColourOrSteering = new RegExp(`${OWN_COLOR}|${CONTROL_CHARACTERS}`, 'gu');
  return text.replaceAll('\r\n', '\n').replaceAll(ownColourOrSteering, (found) => {
    if (found === '\n' || found === '\t') return found;
    return found.length > 1 && hasColors() ? found : toPrintable(found);
  });
}

/** Text of others on its own lines: unlike what is harmless it brings no colours of its own. */
export function escapeForeignText(text: string): string {
  if (PLAIN.test(text)) return text;
  const steering = new RegExp(CONTROL_CHARACTERS, 'gu');
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll(steering, (found) =>
      found === '\n' || found === '\t' ? found : toPrintable(found),
    );
}

/** JSON leaves some characters alone that steer a terminal; escaped they mean the same. */
function serializeJson(value: unknown, indentation?: number): string {
  return JSON.stringify(value, null, indentation).replaceAll(
    /[\u007F-\u009F\p{Bidi_Control}]/gu,
    (character) => `\\u${toCodePoint(character).padStart(4, '0')}`,
  );
}

/** Text of others on one line, with everything in it made visible that a reader could not see. */
export function toPrintable(text: string): string {
  return text
    .replaceAll('\n', String.raw`\n`)
    .replaceAll(/[^\P{C}\t]/gu, (character) => `\\u{${toCodePoint(character)}}`);
}

/** Text of others: what its first line says, and the rest below it, further in. */
export function toPrintableLines(text: string, by = '    '): string {
  const [first = '', ...rest] = text.trimEnd().split(/\r?\n/u).map(toPrintable);
  return [first, ...rest.map((line) => indent(line, by))].join('\n');
}

function toCodePoint(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16);
}

/** Columns padded to the widest cell; the last one is left as it is. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    row.slice(0, -1).forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, measureWidth(cell));
    });
  }
  return rows
    .map((row) =>
      row
        .map((cell, at) => padCell(cell, at, { row, widths }))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function padCell(
  cell: string,
  column: number,
  { row, widths }: { row: readonly string[]; widths: readonly number[] },
): string {
  if (column === row.length - 1) return cell;
  return cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - measureWidth(cell)));
}

const COLOR_CODES = new RegExp(`${String.fromCodePoint(0x1b)}\\[\\d+m`, 'gu');

function measureWidth(text: string): number {
  return text.replaceAll(COLOR_CODES, '').length;
}

/** A name that may hold line breaks or invisible characters, safe to print on one line. */
export function toOneLine(text: string): string {
  const isClean = PLAIN.test(text) ? !/[\t\n]/.test(text) : !/\p{C}/u.test(text);
  return isClean ? text : toPrintable(JSON.stringify(text));
}

export function indent(text: string, by = '    '): string {
  return text
    .split('\n')
    .map((line) => (line === '' ? line : by + line))
    .join('\n');
}

export function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

export function formatDuration(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toFixed(1)} s`;
  return ms >= 10 ? `${Math.round(ms)} ms` : `${ms.toFixed(1)} ms`;
}

/** A moment as a person's own clock and calendar say it: `2026-11-16 14:05`; `?` when it is not known. */
export function formatLocalTime(ms: number): string {
  const date = new Date(ms);
  if (ms === 0 || Number.isNaN(date.getTime())) return '?';
  const day = [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(padTwoDigits).join('-');
  return `${day} ${[date.getHours(), date.getMinutes()].map(padTwoDigits).join(':')}`;
}

function padTwoDigits(number: number): string {
  return String(number).padStart(2, '0');
}

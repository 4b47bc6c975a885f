import { chooseColors, colors, hasColors } from './colors.ts';
import { openOutput } from './output.ts';

/** Where a command's words go: answers to stdout, everything about them to stderr. */
export interface Printer {
  /** Whether a person sees what goes to stderr. */
  readonly isTerminal: boolean;
  /** Whether a person sees what goes to stdout. */
  readonly isAnswerShown: boolean;
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
  chooseColors(stdout.isTerminal, env);
  let isLineShown = false;
  const clear = (): void => {
    if (isLineShown) stderr.write('\r\u001B[2K');
    isLineShown = false;
  };
  return {
    isTerminal: stderr.isTerminal,
    isAnswerShown: stdout.isTerminal,
    out(text) {
      clear();
      stdout.write(`${harmless(text)}\n`);
    },
    json(value) {
      clear();
      stdout.write(`${jsonText(value, 2)}\n`);
    },
    jsonLine(value) {
      clear();
      stdout.write(`${jsonText(value)}\n`);
    },
    note(text) {
      clear();
      stderr.write(`${harmless(text)}\n`);
    },
    notify(text) {
      if (!stderr.isTerminal) return;
      const words = oneLine(printable(text));
      // Some terminals know the one, some the other, and the rest ignore both.
      stderr.write(`\u001B]9;${words}\u0007\u001B]777;notify;Hookline;${words}\u0007`);
    },
    progress(text) {
      if (!stderr.isTerminal) return;
      clear();
      if (text === null) return;
      stderr.write(colors.dim(printable(text)));
      isLineShown = true;
    },
  };
}

// Bold, dim and the six colours that are used here, and what ends them.
const OWN_COLOUR = `${String.fromCodePoint(0x1b)}\\[(?:1|2|22|3[1-6]|39)m`;
const STEERING = String.raw`[\p{Cc}\p{Bidi_Control}]`;

// Making an expression with classes of characters takes longer than most texts take to print.
const PLAIN = /^[\t\n\u0020-\u007E]*$/;

/**
 * Text as it may reach a terminal. Hooks and repositories choose much of what is printed, and must
 * not move the cursor, hide lines or reverse the reading direction.
 */
export function harmless(text: string): string {
  if (PLAIN.test(text)) return text;
  const ownColourOrSteering = new RegExp(`${OWN_COLOUR}|${STEERING}`, 'gu');
  return text.replaceAll('\r\n', '\n').replaceAll(ownColourOrSteering, (found) => {
    if (found === '\n' || found === '\t') return found;
    return found.length > 1 && hasColors() ? found : printable(found);
  });
}

/** Text of others on its own lines: unlike what is harmless it brings no colours of its own. */
export function plainText(text: string): string {
  if (PLAIN.test(text)) return text;
  const steering = new RegExp(STEERING, 'gu');
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll(steering, (found) => (found === '\n' || found === '\t' ? found : printable(found)));
}

/** JSON leaves some characters alone that steer a terminal; escaped they mean the same. */
function jsonText(value: unknown, indentation?: number): string {
  return JSON.stringify(value, null, indentation).replaceAll(
    /[\u007F-\u009F\p{Bidi_Control}]/gu,
    (character) => `\\u${codeOf(character).padStart(4, '0')}`,
  );
}

/** Text of others on one line, with everything in it made visible that a reader could not see. */
export function printable(text: string): string {
  return text
    .replaceAll('\n', String.raw`\n`)
    .replaceAll(/[^\P{C}\t]/gu, (character) => `\\u{${codeOf(character)}}`);
}

/** Text of others: what its first line says, and the rest below it, further in. */
export function printableLines(text: string, by = '    '): string {
  const [first = '', ...rest] = text.trimEnd().split(/\r?\n/u).map(printable);
  return [first, ...rest.map((line) => indent(line, by))].join('\n');
}

function codeOf(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16);
}

/** Columns padded to the widest cell; the last one is left as it is. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    row.slice(0, -1).forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, visibleLength(cell));
    });
  }
  return rows
    .map((row) =>
      row
        .map((cell, at) => pad(cell, at, { row, widths }))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
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

/** A name that may hold line breaks or invisible characters, safe to print on one line. */
export function oneLine(text: string): string {
  const isClean = PLAIN.test(text) ? !/[\t\n]/.test(text) : !/\p{C}/u.test(text);
  return isClean ? text : printable(JSON.stringify(text));
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

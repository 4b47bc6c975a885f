import { configureColors, colors, hasColors } from './colors.ts';
import { fstatSync, writeSync } from 'node:fs';
import { getErrorCode } from '../../base/errors.ts';

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

/** One of the two places where a program's words go. */
interface Output {
  /** Whether a person sees it. */
  readonly isTerminal: boolean;
  write(text: string): void;
}

/**
 * Writes at once where no terminal is, because loading Node's streams takes longer than most commands
 * do. What cannot be written is told to `onLost`, which must not throw.
 */
function openOutput(descriptor: 1 | 2, onLost: (error: unknown) => void): Output {
  const isTerminal = isCharacterDevice(descriptor) && getStream(descriptor).isTTY;
  let stream: NodeJS.WriteStream | null = isTerminal ? openStream(descriptor, onLost) : null;
  return {
    isTerminal,
    write(text) {
      if (stream !== null) {
        writeTo(stream, text);
        return;
      }
      const left = writeSynchronously(descriptor, Buffer.from(text), onLost);
      if (left === null) return;
      stream = openStream(descriptor, onLost);
      writeTo(stream, left);
    },
  };
}

/** What a pipe that is full for the moment did not take; null when nothing is left to do. */
function writeSynchronously(
  descriptor: number,
  text: Buffer,
  onLost: (error: unknown) => void,
): Buffer | null {
  let left = text;
  try {
    while (left.length > 0) left = left.subarray(writeSync(descriptor, left));
    return null;
  } catch (error) {
    if (getErrorCode(error) === 'EAGAIN') return left;
    onLost(error);
    return null;
  }
}

/** With the method of its class: its own may have been put there to turn others away. */
function writeTo(stream: NodeJS.WriteStream, text: string | Buffer): void {
  const own: unknown = Object.getPrototypeOf(stream);
  const write: unknown = typeof own === 'object' && own !== null ? Reflect.get(own, 'write') : null;
  if (typeof write === 'function') Reflect.apply(write, stream, [text]);
}

let isRedirected = false;

/**
 * Leaves stdout to what is written with `openOutput`: what plugins write there, also with `console` and
 * after their session has ended, goes to stderr. For good, because nothing unloads a plugin.
 */
export function redirectStdout(): void {
  if (isRedirected) return;
  isRedirected = true;
  const { stdout, stderr } = process;
  stdout.write = stderr.write.bind(stderr);
}

function isCharacterDevice(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isCharacterDevice();
  } catch {
    // Closed by whoever started us; the first word will say so.
    return false;
  }
}

function getStream(descriptor: 1 | 2): NodeJS.WriteStream {
  return descriptor === 1 ? process.stdout : process.stderr;
}

function openStream(descriptor: 1 | 2, onLost: (error: unknown) => void): NodeJS.WriteStream {
  const stream = getStream(descriptor);
  stream.on('error', onLost);
  return stream;
}

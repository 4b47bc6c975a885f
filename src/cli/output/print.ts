import { configureColors, colors, hasColors } from './colors.ts';
import { fstatSync, writeSync } from 'node:fs';
import { getErrorCode } from '../../base/errors.ts';

/** Where a command prints: results to stdout, everything else to stderr. */
export interface Printer {
  /** Whether stderr is a terminal. */
  readonly isTerminal: boolean;
  /** Whether stdout is a terminal. */
  readonly isStdoutTerminal: boolean;
  /** Whether nobody reads stdout any more, or it could not be written. */
  isStdoutClosed(): boolean;
  out(text: string): void;
  /** Prints one JSON document. */
  json(value: unknown): void;
  /** Prints one line of JSON. */
  jsonLine(value: unknown): void;
  note(text: string): void;
  /** Shows a desktop notification through the terminal. Does nothing without one. */
  notify(text: string): void;
  /** Shows a line that the next one replaces; null removes it. Does nothing without a terminal. */
  progress(text: string | null): void;
}

/** `onLost` receives the error of a result that could not be written. */
export function createPrinter(
  env: Readonly<Record<string, string | undefined>>,
  onLost: (error: unknown) => void,
): Printer {
  let isClosed = false;
  const stdout = openOutput(1, (error) => {
    isClosed = true;
    onLost(error);
  });
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
    isStdoutClosed: () => isClosed,
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
      const message = toOneLine(toPrintable(text));
      // Terminals support one of the two sequences and ignore the other.
      stderr.write(`\u001B]9;${message}\u0007\u001B]777;notify;Hookline;${message}\u0007`);
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

// Bold, dim and the six colors in use, and their resets.
const OWN_COLOR = `${String.fromCodePoint(0x1b)}\\[(?:1|2|22|3[1-6]|39)m`;
// Also what fonts draw as nothing: fillers, variation selectors, tags.
const CONTROL_CHARACTERS = String.raw`[\p{Cc}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\u2800]`;

// The fast path, because compiling Unicode classes takes longer than printing most texts.
const PLAIN = /^[\t\n\u0020-\u007E]*$/;

/**
 * Escapes control characters. Much of the output comes from hooks and repositories, which must not move the
 * cursor, hide lines or reverse the reading direction.
 */
export function escapeTerminalText(text: string): string {
  if (PLAIN.test(text)) return text;
  const ownColourOrSteering = new RegExp(`${OWN_COLOR}|${CONTROL_CHARACTERS}`, 'gu');
  return text.replaceAll('\r\n', '\n').replaceAll(ownColourOrSteering, (found) => {
    if (found === '\n' || found === '\t') return found;
    return found.length > 1 && hasColors() ? found : toPrintable(found);
  });
}

/** Escapes foreign text of several lines, including its colors. */
export function escapeForeignText(text: string): string {
  if (PLAIN.test(text)) return text;
  const steering = new RegExp(CONTROL_CHARACTERS, 'gu');
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll(steering, (found) =>
      found === '\n' || found === '\t' ? found : toPrintable(found),
    );
}

/** Escapes characters that are valid in JSON but control a terminal. */
export function serializeJson(value: unknown, indentation?: number): string {
  return JSON.stringify(value, null, indentation).replaceAll(
    /[\u007F-\u009F\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\u2800]/gu,
    escapeJsonCharacter,
  );
}

/** Characters beyond the first plane are two in JSON. */
function escapeJsonCharacter(character: string): string {
  return Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');
}

/** Escapes foreign text to one line and makes invisible characters visible. */
export function toPrintable(text: string): string {
  return text
    .replaceAll('\n', String.raw`\n`)
    .replaceAll(UNPRINTABLE, (character) => `\\u{${toCodePoint(character)}}`);
}

const UNPRINTABLE = /[^\P{C}\t]|[\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Escapes foreign text and indents all lines but the first. */
export function toPrintableLines(text: string, by = '    '): string {
  const [first = '', ...rest] = text.trimEnd().split(/\r?\n/u).map(toPrintable);
  return [first, ...rest.map((line) => indent(line, by))].join('\n');
}

function toCodePoint(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16);
}

/** Pads columns to the widest cell, except the last one. */
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
        .map((cell, at) => (at === row.length - 1 ? cell : padCell(cell, widths[at] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function padCell(cell: string, width: number): string {
  return cell + ' '.repeat(Math.max(0, width - measureWidth(cell)));
}

const COLOR_CODES = new RegExp(`${String.fromCodePoint(0x1b)}\\[\\d+m`, 'gu');

function measureWidth(text: string): number {
  return text.replaceAll(COLOR_CODES, '').length;
}

/** Quotes a name that contains line breaks or invisible characters. */
const NOT_CLEAN = /[\p{C}\p{Default_Ignorable_Code_Point}\u2800]/u;

export function toOneLine(text: string): string {
  const isClean = PLAIN.test(text) ? !/[\t\n]/.test(text) : !NOT_CLEAN.test(text);
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

/** Local date and time: `2026-11-16 14:05`; `?` when unknown. */
export function formatLocalTime(ms: number): string {
  const date = new Date(ms);
  if (ms === 0 || Number.isNaN(date.getTime())) return '?';
  const day = [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(padTwoDigits).join('-');
  return `${day} ${[date.getHours(), date.getMinutes()].map(padTwoDigits).join(':')}`;
}

function padTwoDigits(number: number): string {
  return String(number).padStart(2, '0');
}

/** One of stdout and stderr. */
interface Output {
  readonly isTerminal: boolean;
  write(text: string): void;
}

/**
 * Writes synchronously unless it is a terminal, because loading Node's streams takes longer than most
 * commands. `onLost` receives write errors and must not throw.
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
      const unwritten = writeSynchronously(descriptor, Buffer.from(text), onLost);
      if (unwritten === null) return;
      stream = openStream(descriptor, onLost);
      writeTo(stream, unwritten);
    },
  };
}

/** Returns the part that a full pipe did not accept; null when done. */
function writeSynchronously(
  descriptor: number,
  text: Buffer,
  onLost: (error: unknown) => void,
): Buffer | null {
  let unwritten = text;
  try {
    while (unwritten.length > 0) unwritten = unwritten.subarray(writeSync(descriptor, unwritten));
    return null;
  } catch (error) {
    if (getErrorCode(error) === 'EAGAIN') return unwritten;
    onLost(error);
    return null;
  }
}

/** Calls the prototype's method, because redirectStdout replaces the instance's. */
function writeTo(stream: NodeJS.WriteStream, text: string | Buffer): void {
  const own: unknown = Object.getPrototypeOf(stream);
  const write: unknown = typeof own === 'object' && own !== null ? Reflect.get(own, 'write') : null;
  if (typeof write === 'function') Reflect.apply(write, stream, [text]);
}

let isRedirected = false;

/**
 * Reserves stdout for `openOutput`: what plugins print there goes to stderr, even after their session.
 * Never undone, because plugins are never unloaded.
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
    // A closed descriptor fails at the first write.
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

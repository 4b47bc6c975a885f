/** A stretch of a text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** How lines may be compared, the strictest first. Models forget blanks at the ends of lines. */
const READINGS: readonly ((line: string) => string)[] = [
  (line) => line,
  (line) => line.trimEnd(),
  (line) => line.trim(),
];

/** Where whole lines stand, at best after `from`; the first place counts. Null when they are nowhere. */
export function findLines(text: string, sought: readonly string[], from: number): Span | null {
  const lines = text.split('\n');
  const first = lineAt(text, from);
  for (const read of READINGS) {
    const wanted = sought.map(read);
    const found = lines.map(read);
    const at = indexOfRun(found, wanted, first) ?? indexOfRun(found, wanted, 0);
    if (at !== null) return spanOf(lines, at, sought.length);
  }
  return null;
}

/** Where the line of this number, from 1, begins; the end of the text when it has fewer lines. */
export function startOfLine(text: string, line: number): number {
  let at = 0;
  for (let passed = 1; passed < line; passed++) {
    const next = text.indexOf('\n', at);
    if (next === -1) return text.length;
    at = next + 1;
  }
  return at;
}

/** More lines round a stretch until it stands only once in the text. */
export function widenUntilUnique(text: string, span: Span): Span {
  let { start, end } = span;
  while (!isUnique(text, start, end) && (start > 0 || end < text.length)) {
    start = start <= 1 ? 0 : text.lastIndexOf('\n', start - 2) + 1;
    const next = text.indexOf('\n', end);
    end = next === -1 ? text.length : next + 1;
  }
  return { start, end };
}

function isUnique(text: string, start: number, end: number): boolean {
  const sought = text.slice(start, end);
  return sought !== '' && text.indexOf(sought) === text.lastIndexOf(sought);
}

/** The line that begins at an offset or next after it, from 0. */
function lineAt(text: string, offset: number): number {
  const before = text.slice(0, offset);
  const lines = before.split('\n').length - 1;
  return before === '' || before.endsWith('\n') ? lines : lines + 1;
}

function indexOfRun(
  lines: readonly string[],
  wanted: readonly string[],
  from: number,
): number | null {
  for (let at = from; at + wanted.length <= lines.length; at++) {
    if (wanted.every((line, offset) => lines[at + offset] === line)) return at;
  }
  return null;
}

function spanOf(lines: readonly string[], first: number, count: number): Span {
  const lengthOf = (part: readonly string[]): number =>
    part.reduce((sum, line) => sum + line.length + 1, 0);
  const start = lengthOf(lines.slice(0, first));
  return { start, end: start + lengthOf(lines.slice(first, first + count)) - 1 };
}

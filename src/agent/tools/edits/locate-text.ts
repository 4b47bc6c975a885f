/** A stretch of a text. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** How lines may be compared, the strictest first. Models forget blanks at the ends of lines. */
const NORMALIZERS: readonly ((line: string) => string)[] = [
  (line) => line,
  (line) => line.trimEnd(),
  (line) => line.trim(),
];

/** Where whole lines stand, at best after `from`; the first place counts. Null when they are nowhere. */
export function findLines(text: string, sought: readonly string[], from: number): Span | null {
  const lines = text.split('\n');
  const first = findLineIndex(text, from);
  for (const read of NORMALIZERS) {
    const wanted = sought.map(read);
    const found = lines.map(read);
    const at = findRun(found, wanted, first) ?? findRun(found, wanted, 0);
    if (at !== null) return computeSpan(lines, at, sought.length);
  }
  return null;
}

/** Where the line of this number, from 1, begins; the end of the text when it has fewer lines. */
export function findLineStart(text: string, line: number): number {
  let at = 0;
  for (let passed = 1; passed < line; passed++) {
    const next = text.indexOf('\n', at);
    if (next === -1) return text.length;
    at = next + 1;
  }
  return at;
}

/**
 * As many more lines round a stretch as it takes to stand only once in the text. What is wider than
 * a unique stretch is unique, too, so few widths must be looked for.
 */
export function widenUntilUnique(text: string, span: Span): Span {
  let narrow = span;
  let count = 1;
  while (!isUnique(text, narrow)) {
    const wider = listWiderSpans(text, narrow, count);
    const widest = wider.at(-1);
    if (widest === undefined) return narrow;
    if (isUnique(text, widest)) return findFirstUnique(text, wider) ?? widest;
    narrow = widest;
    count *= 2;
  }
  return narrow;
}

/** Up to here searching as Node.js does is faster, however often the text nearly holds it. */
const MAX_NATIVE_SEARCH = 256;

function isUnique(text: string, span: Span): boolean {
  const { start, end } = span;
  if (end - start > MAX_NATIVE_SEARCH) return !isRepeated(text, span);
  const sought = text.slice(start, end);
  return sought !== '' && text.indexOf(sought) === start && !text.includes(sought, start + 1);
}

/**
 * Whether a stretch stands in the text twice, by Knuth, Morris and Pratt: Node.js begins anew at each
 * place where a long stretch nearly stands, which in a file of equal lines is everywhere.
 */
function isRepeated(text: string, span: Span): boolean {
  const borders = computeBorders(text, span);
  const { length } = borders;
  const sought = { text, start: span.start, borders };
  let found = 0;
  let matched = 0;
  for (let at = 0; at < text.length && found < 2; at++) {
    matched = extendMatch(sought, at, matched);
    if (matched < length) continue;
    found += 1;
    matched = borders[length - 1] ?? 0;
  }
  return found > 1;
}

/** For each beginning of a stretch, how much of it is also its end. */
function computeBorders(text: string, { start, end }: Span): Int32Array {
  const borders = new Int32Array(end - start);
  const sought = { text, start, borders };
  let border = 0;
  for (let at = 1; at < borders.length; at++) {
    border = extendMatch(sought, start + at, border);
    borders[at] = border;
  }
  return borders;
}

interface Sought {
  readonly text: string;
  readonly start: number;
  readonly borders: Int32Array;
}

/** How much of the stretch ends at a place, when so much of it ended right before. */
function extendMatch({ text, start, borders }: Sought, at: number, before: number): number {
  const character = text.charCodeAt(at);
  let matched = before;
  while (matched > 0 && text.charCodeAt(start + matched) !== character) {
    matched = borders[matched - 1] ?? 0;
  }
  return text.charCodeAt(start + matched) === character ? matched + 1 : matched;
}

/** Each a line wider on both sides than the one before; fewer where the text ends. */
function listWiderSpans(text: string, span: Span, count: number): readonly Span[] {
  const spans: Span[] = [];
  let { start, end } = span;
  while (spans.length < count && (start > 0 || end < text.length)) {
    start = start <= 1 ? 0 : text.lastIndexOf('\n', start - 2) + 1;
    const next = text.indexOf('\n', end);
    end = next === -1 ? text.length : next + 1;
    spans.push({ start, end });
  }
  return spans;
}

/** Of stretches that grow, the last of which is unique. */
function findFirstUnique(text: string, spans: readonly Span[]): Span | undefined {
  let low = 0;
  let high = spans.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    const span = spans[middle];
    if (span !== undefined && isUnique(text, span)) high = middle;
    else low = middle + 1;
  }
  return spans[high];
}

/** The line that begins at an offset or next after it, from 0. */
function findLineIndex(text: string, offset: number): number {
  const before = text.slice(0, offset);
  const lines = before.split('\n').length - 1;
  return before === '' || before.endsWith('\n') ? lines : lines + 1;
}

function findRun(lines: readonly string[], wanted: readonly string[], from: number): number | null {
  for (let at = from; at + wanted.length <= lines.length; at++) {
    if (wanted.every((line, offset) => lines[at + offset] === line)) return at;
  }
  return null;
}

function computeSpan(lines: readonly string[], first: number, count: number): Span {
  const lengthOf = (part: readonly string[]): number =>
    part.reduce((sum, line) => sum + line.length + 1, 0);
  const start = lengthOf(lines.slice(0, first));
  return { start, end: start + lengthOf(lines.slice(first, first + count)) - 1 };
}

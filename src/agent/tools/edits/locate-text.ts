export interface Span {
  readonly start: number;
  readonly end: number;
}

/** How lines are compared, strictest first: models often drop white space at line ends. */
const NORMALIZERS: readonly ((line: string) => string)[] = [
  (line) => line,
  (line) => line.trimEnd(),
  (line) => line.trim(),
];

/** Finds whole lines, preferably after `from`; the first match counts. */
export function findLines(text: string, sought: readonly string[], from: number): Span | null {
  const lines = text.split('\n');
  const first = findLineIndex(text, from);
  for (const read of NORMALIZERS) {
    const soughtLines = sought.map(read);
    const fileLines = lines.map(read);
    const at = findRun(fileLines, soughtLines, first) ?? findRun(fileLines, soughtLines, 0);
    if (at !== null) return computeSpan(lines, at, sought.length);
  }
  return null;
}

/** The offset of a line number counted from 1; the end of the text when it has fewer lines. */
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
 * Widens a span by whole lines until its text is unique. A superset of a unique span is unique, so a binary
 * search over widths suffices.
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

/** Up to this length the native search is faster in every case. */
const MAX_NATIVE_SEARCH = 256;

function isUnique(text: string, span: Span): boolean {
  const { start, end } = span;
  if (end - start > MAX_NATIVE_SEARCH) return !isRepeated(text, span);
  const sought = text.slice(start, end);
  return sought !== '' && text.indexOf(sought) === start && !text.includes(sought, start + 1);
}

/**
 * Whether the text of a span occurs twice (Knuth-Morris-Pratt). The native search is quadratic for a long
 * text that almost matches at every line.
 */
function isRepeated(text: string, span: Span): boolean {
  const borders = computeBorders(text, span);
  const { length } = borders;
  let found = 0;
  let matched = 0;
  for (let at = 0; at < text.length && found < 2; at++) {
    matched = extendMatch(text, span.start, borders, at, matched);
    if (matched < length) continue;
    found += 1;
    matched = borders[length - 1] ?? 0;
  }
  return found > 1;
}

/** The border table of Knuth-Morris-Pratt. */
function computeBorders(text: string, { start, end }: Span): Int32Array {
  const borders = new Int32Array(end - start);
  let border = 0;
  for (let at = 1; at < borders.length; at++) {
    border = extendMatch(text, start, borders, start + at, border);
    borders[at] = border;
  }
  return borders;
}

/** The length of the match that ends at `at`, given the length of the match before it. */
function extendMatch(
  text: string,
  start: number,
  borders: Int32Array,
  at: number,
  before: number,
): number {
  const character = text.charCodeAt(at);
  let matched = before;
  while (matched > 0 && text.charCodeAt(start + matched) !== character) {
    matched = borders[matched - 1] ?? 0;
  }
  return text.charCodeAt(start + matched) === character ? matched + 1 : matched;
}

/** Each span is one line wider on both sides than the one before; fewer where the text ends. */
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

/** Binary search over growing spans, the last of which is unique. */
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

/** The index, from 0, of the line that starts at or after an offset. */
function findLineIndex(text: string, offset: number): number {
  const before = text.slice(0, offset);
  const lines = before.split('\n').length - 1;
  return before === '' || before.endsWith('\n') ? lines : lines + 1;
}

function findRun(
  lines: readonly string[],
  soughtLines: readonly string[],
  from: number,
): number | null {
  for (let at = from; at + soughtLines.length <= lines.length; at++) {
    if (soughtLines.every((line, offset) => lines[at + offset] === line)) return at;
  }
  return null;
}

function computeSpan(lines: readonly string[], first: number, count: number): Span {
  const computeLength = (part: readonly string[]): number =>
    part.reduce((sum, line) => sum + line.length + 1, 0);
  const start = computeLength(lines.slice(0, first));
  return { start, end: start + computeLength(lines.slice(first, first + count)) - 1 };
}

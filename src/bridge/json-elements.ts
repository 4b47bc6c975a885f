/** A part of a text, from the first byte to the one after the last. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface ArrayScan {
  /** The elements that are whole, without the white space around them. */
  readonly elements: readonly Span[];
  /** Where the closing bracket stands; null when there is none, because the text is torn. */
  readonly closedAt: number | null;
  /** What stands behind the last whole element of a torn text; null without such a rest. */
  readonly rest: Span | null;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/**
 * Finds the elements of a JSON array by its brackets and strings, without parsing them: each keeps its exact bytes, and
 * a broken one does not take the others with it. Null when the text is no array.
 */
export function scanArray(bytes: Uint8Array): ArrayScan | null {
  const first = skipWhiteSpace(bytes, hasByteOrderMark(bytes) ? 3 : 0);
  if (bytes[first] !== OPENING_BRACKET) return null;
  const elements: Span[] = [];
  let start = first + 1;
  let depth = 0;
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = findStringEnd(bytes, at);
    else if (byte === OPENING_BRACE || byte === OPENING_BRACKET) depth++;
    else if (byte === CLOSING_BRACE || (byte === CLOSING_BRACKET && depth > 0)) depth--;
    else if (depth === 0 && (byte === COMMA || byte === CLOSING_BRACKET)) {
      addTrimmed(elements, bytes, { start, end: at });
      if (byte === CLOSING_BRACKET) return { elements, closedAt: at, rest: null };
      start = at + 1;
    }
  }
  const rest: Span[] = [];
  addTrimmed(rest, bytes, { start, end: bytes.length });
  return { elements, closedAt: null, rest: rest[0] ?? null };
}

/** The offset of the closing quote, or the last one of a text that ends before it. */
function findStringEnd(bytes: Uint8Array, quote: number): number {
  let at = quote + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}

function addTrimmed(elements: Span[], bytes: Uint8Array, { start, end }: Span): void {
  let last = end;
  while (last > start && isWhiteSpace(bytes[last - 1])) last--;
  const first = skipWhiteSpace(bytes, start);
  if (first < last) elements.push({ start: first, end: last });
}

function skipWhiteSpace(bytes: Uint8Array, from: number): number {
  let at = from;
  while (isWhiteSpace(bytes[at])) at++;
  return at;
}

/** Zeros count, too: they stand where a system lost its power while it wrote. */
function isWhiteSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09 || byte === 0;
}

export function hasByteOrderMark(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

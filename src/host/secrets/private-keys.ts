import type { TextRange } from './named-secrets.ts';

const BEGINNINGS = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const ENDINGS = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
/** The largest key that is in use has a fifth of it. */
const MAX_KEY = 64 * 1024;
// Words of base64 after line ends, which may be escaped.
const BODY = /(?:(?:\s|\\[rn]){1,8}[A-Za-z0-9+/=]{1,2000}(?=[\s\\"'`]|$))*/y;

/** Finds private keys, also ones that lack their beginning or end. */
export function findPrivateKeys(text: string): TextRange[] {
  if (!text.includes('PRIVATE KEY')) return [];
  const endings = [...text.matchAll(ENDINGS)].map(({ index, 0: { length } }) => index + length);
  const keys: [number, number][] = [];
  let next = 0;
  for (const match of text.matchAll(BEGINNINGS)) {
    const start = match.index;
    while ((endings[next] ?? Number.POSITIVE_INFINITY) < start) {
      keys.push(findHeadlessKey(text, endings[next] ?? 0));
      next += 1;
    }
    const end = endings[next];
    const isWhole = end !== undefined && end - start <= MAX_KEY;
    keys.push([start, isWhole ? end : findBodyEnd(text, start + match[0].length)]);
    if (isWhole) next += 1;
  }
  return [...keys, ...endings.slice(next).map((end) => findHeadlessKey(text, end))];
}

function findBodyEnd(text: string, from: number): number {
  BODY.lastIndex = from;
  return from + (BODY.exec(text)?.[0].length ?? 0);
}

const MAX_LINE = 130;
const LAST_LINE = /(?<![^\s\\n])[A-Za-z0-9+/=]{1,120}(?:\s|\\[rn]){1,4}$/;

/** The lines of base64 before an end without a beginning. */
function findHeadlessKey(text: string, end: number): [number, number] {
  let start = text.lastIndexOf('-----END', end);
  while (start > 0 && end - start < MAX_KEY) {
    const line = LAST_LINE.exec(text.slice(Math.max(0, start - MAX_LINE), start));
    if (line === null) break;
    start -= line[0].length;
  }
  return [start, end];
}

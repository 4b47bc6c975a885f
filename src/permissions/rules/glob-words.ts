/** Whether the shell may replace the word by others. */
export function isGlob(word: string): boolean {
  return /[*?]|\[[^\]]+\]|\{[^}]*(?:,|\.\.)[^}]*\}|[@+!]\(/.test(word);
}

/** The words that braces make of one, or null when there are more than `limit`. */
export function expandBraces(word: string, limit: number): readonly string[] | null {
  const brace = findBrace(word);
  if (brace === null) return [word];
  if (brace.choices.length > limit) return null;
  const ends = expandBraces(word.slice(brace.end + 1), limit);
  if (ends === null) return null;
  const start = word.slice(0, brace.start);
  const words: string[] = [];
  for (const choice of brace.choices) {
    const middles = expandBraces(choice, limit);
    if (middles === null || words.length + middles.length * ends.length > limit) return null;
    for (const middle of middles) words.push(...ends.map((end) => start + middle + end));
  }
  return words;
}

interface Brace {
  readonly start: number;
  readonly end: number;
  readonly choices: readonly string[];
}

/** The first `{a,b}` or `{a..b}`; braces without choices are text, in which others may follow. */
function findBrace(word: string): Brace | null {
  for (let start = word.indexOf('{'); start !== -1; start = word.indexOf('{', start + 1)) {
    const brace = readBrace(word, start);
    if (brace !== null) return brace;
  }
  return null;
}

function readBrace(word: string, start: number): Brace | null {
  const choices: string[] = [];
  let depth = 0;
  let from = start + 1;
  for (let at = start; at < word.length; at += 1) {
    const sign = word[at];
    if (sign === '{') depth += 1;
    if (sign === ',' && depth === 1) {
      choices.push(word.slice(from, at));
      from = at + 1;
    }
    if (sign !== '}') continue;
    depth -= 1;
    if (depth > 0) continue;
    const last = word.slice(from, at);
    if (choices.length > 0) return { start, end: at, choices: [...choices, last] };
    const sequence = listSequence(last);
    return sequence === null ? null : { start, end: at, choices: sequence };
  }
  return null;
}

const MAX_SEQUENCE = 1000;

/** `1..3` → 1, 2, 3; `a..c` → a, b, c. Steps are taken one by one, which errs towards too many. */
function listSequence(text: string): readonly string[] | null {
  const [, first, last] = /^(-?\d+|[a-z])\.\.(-?\d+|[a-z])(?:\.\.-?\d+)?$/i.exec(text) ?? [];
  if (first === undefined || last === undefined) return null;
  const isNumber = /\d$/.test(first) && /\d$/.test(last);
  const [from, to] = isNumber
    ? [Number(first), Number(last)]
    : [first.charCodeAt(0), last.charCodeAt(0)];
  const low = Math.min(from, to);
  const length = Math.min(Math.abs(from - to) + 1, MAX_SEQUENCE + 1);
  const width = Math.max(first.length, last.length);
  return Array.from({ length }, (_, index) => low + index).flatMap((each) =>
    isNumber ? [String(each), String(each).padStart(width, '0')] : [String.fromCharCode(each)],
  );
}

/**
 * The literal texts of a pattern for file names, with wildcards between them; one when it has none.
 * Every bracket and every `@(…)` counts as any text, which errs towards matching.
 */
export function splitWildcards(pattern: string): readonly string[] {
  const pieces = [''];
  for (let at = 0; at < pattern.length; at += 1) {
    const end = findWildcardEnd(pattern, at);
    if (end === null) pieces[pieces.length - 1] += pattern[at] ?? '';
    else {
      pieces.push('');
      at = end;
    }
  }
  return pieces;
}

/** The last character of the wildcard that begins at a position, or null when none begins there. */
function findWildcardEnd(pattern: string, at: number): number | null {
  const sign = pattern[at] ?? '';
  if (/[?*+@!]/.test(sign) && pattern[at + 1] === '(') {
    const end = findClosing(pattern, at + 1);
    if (end !== null) return end;
  }
  if (sign === '*' || sign === '?') return at;
  return sign === '[' ? findBracketEnd(pattern, at) : null;
}

function findClosing(pattern: string, start: number): number | null {
  let depth = 0;
  for (let at = start; at < pattern.length; at += 1) {
    if (pattern[at] === '(') depth += 1;
    if (pattern[at] === ')') depth -= 1;
    if (depth === 0) return at;
  }
  return null;
}

/** `]` as the first character of a bracket, and in `[:alpha:]`, does not end it. */
function findBracketEnd(pattern: string, start: number): number | null {
  const bracket = /\[[!^]?\]?(?:\[:[a-z]*:\]|\[\.[^\]]*\.\]|\[=[^\]]*=\]|[^\]])*\]/y;
  bracket.lastIndex = start;
  return bracket.test(pattern) ? bracket.lastIndex - 1 : null;
}

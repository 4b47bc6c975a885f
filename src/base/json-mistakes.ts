import { stripByteOrderMark } from './json.ts';

/** Explains for a person why a text is no JSON: where, and what is probably meant. `error` is of `parseJson`. */
export function explainJsonError(text: string, error: string): string {
  const clean = stripByteOrderMark(text);
  if (clean.trim() === '') return 'it is empty';
  const offset = Number(/at position (\d+)/.exec(error)?.[1] ?? clean.trimEnd().length);
  const { line, column } = locateOffset(clean, offset);
  const guess = findJsonMistake(clean, offset);
  const what = guess ?? error.replace(/ in JSON at position.*$/s, '');
  return `line ${line}, column ${column}: ${what}`;
}

/** The place of an offset, counted from 1. */
export function locateOffset(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/** Guesses what went wrong at the place where a parser gave up; null without an idea. */
export function findJsonMistake(text: string, offset: number): string | null {
  const before = text.slice(0, offset);
  const after = text.slice(offset);
  return (
    guessQuote(before, after) ??
    guessWord(after) ??
    guessComma(before, after) ??
    guessEnd(before, after)
  );
}

function guessQuote(before: string, after: string): string | null {
  // `"matcher: "Bash"`: the parser took `matcher: ` for a string.
  const unclosed = /"([\w.$-]+)\s*:\s*"?$/.exec(before)?.[1];
  if (unclosed !== undefined && /^[^\s"]/.test(after)) return `missing quote after ${unclosed}`;
  const swallowed = /^"([\w.$-]+)\s*:\s*"/.exec(after)?.[1];
  if (swallowed !== undefined) return `missing quote after ${swallowed}`;
  const unopened = /^([\w.$-]+)"\s*:/.exec(after)?.[1];
  if (unopened !== undefined) return `missing quote before ${unopened}`;
  if (after.startsWith("'")) return 'single quotes; JSON has double quotes';
  if (/^[“”]/.test(after)) return 'typographic quotes; JSON has straight ones (")';
  const bare = /^([A-Za-z_$][\w$-]*)\s*:/.exec(after)?.[1];
  if (bare !== undefined) return `missing quotes around ${bare}`;
  return /"[^"\n]*$/.test(
    before
      .split('\n')
      .at(-1)
      ?.replaceAll(/"(?:[^"\\]|\\.)*"/g, '') ?? '',
  )
    ? 'missing quote at the end of a string'
    : null;
}

const FOREIGN_WORDS: Readonly<Record<string, string>> = {
  True: 'true',
  False: 'false',
  None: 'null',
  undefined: 'null',
  NaN: 'a number',
};

function guessWord(after: string): string | null {
  const word = /^[A-Za-z]+/.exec(after)?.[0] ?? '';
  const meant = FOREIGN_WORDS[word];
  if (meant !== undefined) return `${word} is not JSON; write ${meant}`;
  return word === '' ? null : `missing quotes around ${word}`;
}

function guessComma(before: string, after: string): string | null {
  if (/[,[{]\s*$/.test(before) && after.startsWith(',')) return 'one comma too many';
  if (/,\s*$/.test(before) && /^[}\]]/.test(after)) return 'a comma after the last element';
  const isValueEnd = /["\]}\dels]\s*$/.test(before);
  if (!isValueEnd || !/^["[{\dtfn-]/.test(after)) return null;
  const isInObject = listOpenBrackets(before).at(-1) === '}';
  const isKey = isInObject && /[{,]\s*"(?:[^"\\]|\\.)*"\s*$/.test(before);
  return isKey ? 'missing colon after the key' : 'missing comma before this';
}

function guessEnd(before: string, after: string): string | null {
  const open = listOpenBrackets(before);
  if (after.trim() === '') {
    return open.length === 0 ? null : `missing ${open.toReversed().join('')} at the end`;
  }
  const expected = open.at(-1);
  const isCloser = /^[}\]]/.test(after);
  if (isCloser && expected === undefined) return `one ${after[0]} too many`;
  return isCloser && expected !== after[0] ? `${expected} expected instead of ${after[0]}` : null;
}

/** The brackets that would close what is open, outermost first. */
function listOpenBrackets(text: string): readonly string[] {
  const open: string[] = [];
  for (const character of text.replaceAll(/"(?:[^"\\\n]|\\.)*"/g, '""')) {
    if (character === '{') open.push('}');
    else if (character === '[') open.push(']');
    else if (character === '}' || character === ']') open.pop();
  }
  return open;
}

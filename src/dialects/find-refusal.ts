import { stripVTControlCharacters } from 'node:util';
import { findClosestName } from '../base/did-you-mean.ts';
import { isRecord } from '../base/json.ts';
import { type Part, parseLocatedJson } from '../base/located-json.ts';

/**
 * Finds a refusal in output that cannot be read as an answer for sure: an array around it, two answers,
 * a misspelt key, colour codes, another dialect's form. Returns the text that refuses, or null.
 */
export function findRefusal(output: string): string | null {
  const text = cleanOutput(output).slice(0, MOST_SEARCHED_CHARACTERS);
  for (const [, name, value] of text.matchAll(PAIR)) {
    if (name !== undefined && value !== undefined && isRefusingField(name, value)) {
      return `"${name}": ${value}`;
    }
  }
  return null;
}

/**
 * Finds a field of one object, not of the objects in it, that refuses in some agent's format; also in a
 * list of words.
 */
export function findRefusingField(fields: Readonly<Record<string, unknown>>): string | null {
  for (const [name, value] of Object.entries(fields)) {
    const words: readonly unknown[] = Array.isArray(value) ? value : [value];
    const word = words
      .filter(isScalar)
      .map(String)
      .find((each) => isRefusingField(name, each));
    if (word !== undefined) return `${JSON.stringify(name)}: ${word}`;
  }
  return null;
}

/** A refusal in an object where nobody looks for one. */
export interface NestedRefusal {
  /** The names that lead to it: `data.decision`. */
  readonly place: string;
  /** The outermost of them. */
  readonly container: string;
  /** What refuses: `"decision": block`. */
  readonly text: string;
}

/** Names under which programs put an answer, and no agent looks for one. */
const WRAPPERS: ReadonlySet<string> = new Set(
  'answer body data decision hook hookoutput hookresponse hookresult json output response result results return ruling value verdict'.split(
    ' ',
  ),
);
/** Names of a payload: a hook may print its own, in which anything can stand. */
const PAYLOAD_FIELDS = ['hook_event_name', 'hookName', 'tool_input', 'toolInput'];
const MOST_WRAPPERS = 4;

/** Finds a refusal in objects and lists under the names of answers: `hookSpecificOutput` in any spelling, and wrappers. */
export function findNestedRefusal(
  fields: Readonly<Record<string, unknown>>,
  depth = 0,
): NestedRefusal | null {
  if (depth > MOST_WRAPPERS || PAYLOAD_FIELDS.some((name) => Object.hasOwn(fields, name))) {
    return null;
  }
  for (const [container, value] of Object.entries(fields)) {
    if (!isContainer(container)) continue;
    const inner: readonly unknown[] = Array.isArray(value) ? value : [value];
    for (const each of inner.filter(isRecord)) {
      const text = findRefusingField(each);
      const nested = text === null ? findNestedRefusal(each, depth + 1) : null;
      if (text !== null) return { place: `${container}.${text}`, container, text };
      if (nested !== null) return { ...nested, container, place: `${container}.${nested.place}` };
    }
  }
  return null;
}

function isContainer(name: string): boolean {
  return WRAPPERS.has(normalizeName(name)) || isSpecificOutput(name);
}

/** Whether a name is, or was meant to be, `hookSpecificOutput`. */
export function isSpecificOutput(name: string): boolean {
  const plain = normalizeName(name);
  return plain === SPECIFIC_OUTPUT || findClosestName(plain, [SPECIFIC_OUTPUT]) !== null;
}

const SPECIFIC_OUTPUT = 'hookspecificoutput';

const MOST_SEARCHED_CHARACTERS = 1024 * 1024;

/** `"decision": "block"`, also with other quotes, escaped quotes, and none. */
const PAIR =
  /(?<![\w-])([A-Za-z_][\w-]{0,40})[ \t]{0,9}\\{0,9}["'`]?\s{0,99}[:=]\s{0,99}\\{0,9}["'`]?([A-Za-z]{1,20}|[01](?![\d.]))(?![\w-])/g;

/** Removes what terminals and other encodings add: colour codes, and the zero bytes of UTF-16. */
export function cleanOutput(output: string): string {
  return stripVTControlCharacters(output.replaceAll(/[\0\uFEFF\uFFFD]/g, ''));
}

/** Whether the output is text in another encoding than UTF-8, which has a zero byte in every letter. */
export function isUtf16(output: string): boolean {
  return output.includes('\0');
}

const RULINGS = new Set([
  'decision',
  'permissiondecision',
  'permission',
  'behavior',
  'behaviour',
  'effect',
  'verdict',
  'action',
]);
const REFUSING_WORD =
  /^(?:den(?:y|ied|ies)|block(?:ed|s)?|reject(?:ed|s)?|refused?|forbid(?:den)?|disallow(?:ed)?|cancel(?:led)?)$/;
const REFUSING_WHEN_TRUE = new Set(['cancel', 'block', 'deny', 'reject', 'refuse', 'skip']);
const REFUSING_WHEN_FALSE = new Set([
  'continue',
  'shouldcontinue',
  'ok',
  'allow',
  'allowed',
  'approve',
  'approved',
]);
const TRUE_WORDS = new Set(['true', '1', 'yes', 'on']);
const FALSE_WORDS = new Set(['false', '0', 'no', 'off']);

function isRefusingField(writtenName: string, writtenValue: string): boolean {
  const name = normalizeName(writtenName);
  const value = writtenValue.trim().toLowerCase();
  if (REFUSING_WORD.test(value)) return isRulingName(name);
  if (REFUSING_WHEN_TRUE.has(name)) return TRUE_WORDS.has(value);
  return REFUSING_WHEN_FALSE.has(name) && FALSE_WORDS.has(value);
}

function isRulingName(name: string): boolean {
  return RULINGS.has(name) || findClosestName(name, ['decision', 'permissiondecision']) !== null;
}

/** `Permission_Decision` and `permissionDecision` are one name. */
function normalizeName(name: string): string {
  return name
    .trim()
    .replaceAll(/[_\s-]/g, '')
    .toLowerCase();
}

function isScalar(value: unknown): boolean {
  return ['string', 'boolean', 'number'].includes(typeof value);
}

/**
 * Finds a key that the object, or one of the objects under the listed keys, has twice: which of the two
 * the author means is unknown. JSON parsers silently keep the last one.
 */
export function findRepeatedKey(json: string, inside: readonly string[]): string | null {
  const root = parseLocatedJson(json);
  return 'why' in root ? null : findRepeatedKeyIn(root, inside);
}

function findRepeatedKeyIn({ repeated, fields }: Part, inside: readonly string[]): string | null {
  const [first] = repeated;
  if (first !== undefined) return first;
  for (const name of inside) {
    const part = fields?.get(name);
    const found = part === undefined ? null : findRepeatedKeyIn(part, inside);
    if (found !== null) return found;
  }
  return null;
}

const MOST_ARRAYS = 8;

/** Whether a JSON value that is no object may stand for an answer: a word, or an array that holds one. */
export function canHoldAnswer(value: unknown, depth = 0): boolean {
  if (typeof value === 'string' || isRecord(value)) return true;
  if (!Array.isArray(value)) return false;
  return depth === MOST_ARRAYS || value.some((each) => canHoldAnswer(each, depth + 1));
}

import { isDeepStrictEqual } from 'node:util';
import { getErrorMessage } from '../base/errors.ts';
import { isRecord, parseJson, getTypeName } from '../base/json.ts';
import { escapePattern } from '../base/text.ts';

/** One difference between the expected and the found value; `found` is undefined for nothing. */
export interface Difference {
  /** Such as `outcomes[0].status`. */
  readonly path: string;
  readonly expected: unknown;
  readonly found: unknown;
}

/** Placeholders for values that differ between machines, such as `$WORKSPACE`. */
export type Placeholders = ReadonlyMap<string, string>;

/**
 * Finds where `found` is not as expected. Objects are subsets, arrays are compared entry by entry,
 * and an object of operators (`includes`, `matches`, `json`, `any`) matches many values.
 */
export function findDifferences(
  expected: unknown,
  found: unknown,
  placeholders: Placeholders = new Map(),
): readonly Difference[] {
  return compare(expected, found, { path: '', placeholders });
}

export function formatDifference({ path, expected, found }: Difference): string {
  return `${path}: expected ${formatValue(expected)}, found ${formatValue(found)}`;
}

/** Finds why an expectation can never hold, or null. */
export function findExpectationProblem(expected: unknown, path: string): string | null {
  const problem = findOperatorProblem(expected);
  if (problem !== null) return `${path}: ${problem}`;
  if (isOperator(expected) && !('json' in expected)) return null;
  const members = Array.isArray(expected)
    ? expected.map((each: unknown, index): [string, unknown] => [`${path}[${index}]`, each])
    : Object.entries(isRecord(expected) ? expected : {}).map(([key, each]): [string, unknown] => [
        `${path}.${key}`,
        each,
      ]);
  for (const [place, member] of members) {
    const inside = findExpectationProblem(member, place);
    if (inside !== null) return inside;
  }
  return null;
}

/** Replaces every placeholder; the longest matching name wins. */
export function fillPlaceholders(text: string, placeholders: Placeholders): string {
  const names = [...placeholders.keys()].toSorted((one, other) => other.length - one.length);
  return names.reduce(
    (filled, name) => filled.replaceAll(name, () => placeholders.get(name) ?? name),
    text,
  );
}

const OPERATORS = new Set(['includes', 'matches', 'json', 'any']);

/** Whether an object has only operators. */
export function isOperator(expected: unknown): expected is Readonly<Record<string, unknown>> {
  if (!isRecord(expected)) return false;
  const keys = Object.keys(expected);
  return keys.length > 0 && keys.every((key) => OPERATORS.has(key));
}

function findOperatorProblem(expected: unknown): string | null {
  if (!isOperator(expected)) return null;
  const { includes, matches, any } = expected;
  if ('any' in expected && any !== true) return '"any" should be true';
  if ('includes' in expected && !toList(includes).every((text) => typeof text === 'string')) {
    return `"includes" should be a text or an array of texts, found ${getTypeName(includes)}`;
  }
  return 'matches' in expected ? findPatternProblem(matches) : null;
}

function findPatternProblem(pattern: unknown): string | null {
  if (typeof pattern !== 'string') {
    return `"matches" should be a regular expression as text, found ${getTypeName(pattern)}`;
  }
  try {
    RegExp(pattern, 'u');
    return null;
  } catch (error) {
    return `"matches" is not a regular expression: ${getErrorMessage(error)}`;
  }
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

interface Place {
  readonly path: string;
  readonly placeholders: Placeholders;
}

function compare(expected: unknown, found: unknown, place: Place): readonly Difference[] {
  if (isOperator(expected)) return compareOperator(expected, found, place);
  if (Array.isArray(expected)) return compareArray(expected, found, place);
  if (isRecord(expected)) return compareRecord(expected, found, place);
  const isEqual =
    typeof expected === 'string'
      ? listSpellings(expected, place).includes(String(found)) && typeof found === 'string'
      : isDeepStrictEqual(expected, found);
  return isEqual ? [] : [{ path: place.path, expected, found }];
}

function compareArray(
  expected: readonly unknown[],
  found: unknown,
  place: Place,
): readonly Difference[] {
  if (!Array.isArray(found) || found.length !== expected.length) {
    return [{ path: place.path, expected, found }];
  }
  return expected.flatMap((each, index) =>
    compare(each, found[index], { ...place, path: `${place.path}[${index}]` }),
  );
}

function compareRecord(
  expected: Readonly<Record<string, unknown>>,
  found: unknown,
  place: Place,
): readonly Difference[] {
  if (!isRecord(found)) return [{ path: place.path, expected, found }];
  return Object.entries(expected).flatMap(([key, each]) =>
    compare(each, found[key], { ...place, path: place.path === '' ? key : `${place.path}.${key}` }),
  );
}

function compareOperator(
  operator: Readonly<Record<string, unknown>>,
  found: unknown,
  place: Place,
): readonly Difference[] {
  const difference = { path: place.path, expected: operator, found };
  if ('any' in operator && found === undefined) return [difference];
  const { includes, matches } = operator;
  const texts = 'includes' in operator ? toList(includes) : [];
  const fits =
    texts.every((text) => hasText(found, String(text), place)) &&
    (typeof matches !== 'string' || isMatch(found, matches, place));
  if (!fits) return [difference];
  if (!('json' in operator)) return [];
  const parsed = parseJson(typeof found === 'string' ? found : '');
  return parsed.ok ? compare(operator['json'], parsed.value, place) : [difference];
}

function hasText(found: unknown, text: string, place: Place): boolean {
  return (
    typeof found === 'string' && listSpellings(text, place).some((each) => found.includes(each))
  );
}

function isMatch(found: unknown, pattern: string, { placeholders }: Place): boolean {
  const literal = new Map([...placeholders].map(([name, value]) => [name, escapePattern(value)]));
  // `$HOME` in a pattern means the directory: a `$` before a name can match nothing.
  return (
    typeof found === 'string' && new RegExp(fillPlaceholders(pattern, literal), 'u').test(found)
  );
}

/** `$HOME` may also be literal text, in a command for example. */
function listSpellings(text: string, { placeholders }: Place): readonly string[] {
  return [text, fillPlaceholders(text, placeholders)];
}

const SHOWN_LIMIT = 400;

function formatValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  const json = JSON.stringify(value) ?? getTypeName(value);
  return json.length <= SHOWN_LIMIT ? json : `${json.slice(0, SHOWN_LIMIT)} … (${json.length})`;
}

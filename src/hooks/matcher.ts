import type * as re2js from 're2js';
import { requirePackage } from '../base/built-files.ts';
import { HooklineError, getErrorMessage } from '../base/errors.ts';

/** A compiled matcher. `fits` is tried with every name that the subject has. */
export interface Matcher {
  readonly text: string;
  readonly kind: 'all' | 'list' | 'pattern';
  /** What the user should know about this matcher, or null. */
  readonly note: string | null;
  fits(names: readonly string[]): boolean;
}

/**
 * Decides whether a pattern that the linear-time engine rejects is safe to run natively, and, in
 * `otherwise`, whether names that it may not be run on count as fitting. Without `otherwise` an unsafe
 * pattern is refused, and names too long for a safe one do not fit.
 */
export type PatternScreen = (
  pattern: RegExp,
) =>
  | { readonly safe: true; readonly otherwise?: boolean }
  | { readonly safe: false; readonly why: string; readonly otherwise?: boolean };

/** Which texts are lists of exact names. */
export interface ListRule {
  readonly characters: RegExp;
  readonly separator: RegExp;
}

const refuseAll: PatternScreen = () => ({ safe: false, why: 'no screen for it is set up' });

const NAME_LISTS: ListRule = { characters: /^[\w\- ,|]*$/u, separator: /[|,]/u };

/**
 * Compiles a matcher once: nothing or `*` fits all, names joined by `|` or `,` are an exact list,
 * anything else is an unanchored regular expression. Throws `MATCHER_INVALID` for what cannot run safely.
 */
export function compileMatcher(
  text: string | undefined,
  screen = refuseAll,
  lists = NAME_LISTS,
): Matcher {
  if (text === undefined || text === '' || text === '*') return createAllMatcher(text ?? '');
  if (lists.characters.test(text)) return createListMatcher(text, lists.separator);
  return createPatternMatcher(text, screen);
}

function createAllMatcher(text: string): Matcher {
  return { text, kind: 'all', note: null, fits: () => true };
}

function createListMatcher(text: string, separator: RegExp): Matcher {
  const names = text.split(separator).map((name) => name.trim());
  const listedNames = new Set(names.filter((name) => name !== ''));
  // A plain loop: of a thousand matchers for one event nearly all are lists.
  const fits = (subjects: readonly string[]): boolean => {
    for (const name of subjects) if (listedNames.has(name)) return true;
    return false;
  };
  return { text, kind: 'list', note: null, fits };
}

function createPatternMatcher(text: string, screen: PatternScreen): Matcher {
  const native = parseNative(text);
  if (isPlainlyFast(text)) return createTestMatcher(text, null, createBoundedTest(native));
  const linear = compileLinear(text);
  if (linear.ok) return createTestMatcher(text, null, linear.test);
  const verdict = screen(native);
  const { otherwise = false } = verdict;
  if (verdict.safe) {
    return createTestMatcher(text, 'runs on the backtracking engine, screened', (name) =>
      name.length <= MAX_SCREENED_NAME ? native.test(name) : otherwise,
    );
  }
  const problem = `needs a backtracking engine (${linear.error}) and could hang: ${verdict.why}`;
  if (verdict.otherwise !== undefined) {
    const note = `${problem}; it is not run and counts as matching ${otherwise ? 'everything' : 'nothing'}`;
    return createTestMatcher(text, note, () => otherwise);
  }
  throw new HooklineError('MATCHER_INVALID', {
    message: `the matcher ${JSON.stringify(text)} ${problem}`,
    hint: 'Write it without look-around and back-references, or as a list of names such as "Edit|Write".',
  });
}

/** A text that is no JavaScript pattern must never match, even if another engine accepts it. */
function parseNative(text: string): RegExp {
  try {
    return new RegExp(text);
  } catch (error) {
    throw new HooklineError('MATCHER_INVALID', {
      message: `the matcher ${JSON.stringify(text)} is not a regular expression: ${getErrorMessage(error)}`,
      hint: 'Use a list of names such as "Edit|Write", or a valid regular expression.',
    });
  }
}

const MAX_SCREENED_NAME = 1000;
const MAX_PLAIN_NAME = 200;
const MAX_PLAIN_PATTERN = 500;
const PLAIN_PATTERN = /^(?:[\w\-^$|.*+?: ,/]|\((?!\?)|\)(?![*+?{]))*$/u;

/** Loading the linear engine takes longer than most dispatches, and most patterns cannot blow up. */
function isPlainlyFast(text: string): boolean {
  if (text.length > MAX_PLAIN_PATTERN || !PLAIN_PATTERN.test(text)) return false;
  return countMatches(text, /[*+?]/g) <= 2 && countMatches(text, /\(/g) <= 1;
}

function countMatches(text: string, sign: RegExp): number {
  return text.match(sign)?.length ?? 0;
}

/** Two repetitions are at worst cubic, so that only a short name is tried natively. */
function createBoundedTest(native: RegExp): (name: string) => boolean {
  let linear: ReturnType<typeof compileLinear> | null = null;
  return (name) => {
    if (name.length <= MAX_PLAIN_NAME) return native.test(name);
    linear ??= compileLinear(native.source);
    return linear.ok && linear.test(name);
  };
}

type Linear =
  | { readonly ok: true; readonly test: (name: string) => boolean }
  | { readonly ok: false; readonly error: string };

// Both engines accept these, with different meanings.
const AMBIGUOUS = /\\[ACEQPapz]|\\x\{|\[\^?\]|\[:/u;

/** Compiles a regular expression for the engine whose time grows only with the text. */
export function compileLinear(text: string): Linear {
  if (AMBIGUOUS.test(text)) return { ok: false, error: 'its escapes mean something else there' };
  try {
    const pattern = loadLinearEngine().RE2JS.compile(text);
    return { ok: true, test: (name) => pattern.matcher(name).find() };
  } catch (error) {
    return { ok: false, error: getErrorMessage(error) };
  }
}

/** Synchronous, because matchers are compiled during discovery; lists never load it. */
export function loadLinearEngine(): typeof re2js {
  return requirePackage('re2js');
}

function createTestMatcher(
  text: string,
  note: string | null,
  test: (name: string) => boolean,
): Matcher {
  const cachedTest = createCachedTest(test);
  return { text, kind: 'pattern', note, fits: (names) => names.some(cachedTest) };
}

const MAX_REMEMBERED = 256;

/** Cached, because a session tests the same few names again and again. */
function createCachedTest(test: (name: string) => boolean): (name: string) => boolean {
  const results = new Map<string, boolean>();
  return (name) => {
    const answer = results.get(name);
    if (answer !== undefined) return answer;
    if (name.length > MAX_PLAIN_NAME) return test(name);
    if (results.size >= MAX_REMEMBERED) results.clear();
    const result = test(name);
    results.set(name, result);
    return result;
  };
}

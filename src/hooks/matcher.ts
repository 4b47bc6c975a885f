import { RE2JS } from 're2js';
import { HooklineError, messageOf } from '../base/errors.ts';

/** A compiled matcher. `fits` is tried with every name that the subject has. */
export interface Matcher {
  readonly text: string;
  readonly kind: 'all' | 'list' | 'pattern';
  /** What a person should know about this matcher, or null. */
  readonly note: string | null;
  fits(names: readonly string[]): boolean;
}

/** Says whether a pattern that the linear-time engine rejects is safe to run natively. */
export type PatternScreen = (pattern: RegExp) => { safe: true } | { safe: false; why: string };

const refuseAll: PatternScreen = () => ({ safe: false, why: 'no screen for it is set up' });

const LIST_CHARACTERS = /^[\w\- ,|]*$/u;

/**
 * Compiles a matcher once: nothing or `*` fits all, names joined by `|` or `,` are an exact list,
 * anything else is an unanchored regular expression. Throws `MATCHER_INVALID` for what cannot run safely.
 */
export function compileMatcher(text: string | undefined, screen = refuseAll): Matcher {
  if (text === undefined || text === '' || text === '*') return matchAll(text ?? '');
  if (LIST_CHARACTERS.test(text)) return matchList(text);
  return matchPattern(text, screen);
}

function matchAll(text: string): Matcher {
  return { text, kind: 'all', note: null, fits: () => true };
}

function matchList(text: string): Matcher {
  const wanted = new Set(
    text
      .split(/[|,]/u)
      .map((name) => name.trim())
      .filter((name) => name !== ''),
  );
  return {
    text,
    kind: 'list',
    note: null,
    fits: (names) => names.some((name) => wanted.has(name)),
  };
}

function matchPattern(text: string, screen: PatternScreen): Matcher {
  const linear = tryLinear(text);
  if (linear.ok) {
    const { pattern } = linear;
    return patternMatcher(text, null, (name) => pattern.matcher(name).find());
  }
  const native = parseNative(text);
  const verdict = screen(native);
  if (!verdict.safe) {
    throw new HooklineError('MATCHER_INVALID', {
      message: `the matcher ${JSON.stringify(text)} needs a backtracking engine (${linear.error}) and could hang: ${verdict.why}`,
      hint: 'Write it without look-around and back-references, or as a list of names such as "Edit|Write".',
    });
  }
  return patternMatcher(text, 'runs on the backtracking engine, screened', (name) =>
    native.test(name),
  );
}

function tryLinear(text: string): { ok: true; pattern: RE2JS } | { ok: false; error: string } {
  try {
    return { ok: true, pattern: RE2JS.compile(text) };
  } catch (error) {
    return { ok: false, error: messageOf(error) };
  }
}

function parseNative(text: string): RegExp {
  try {
    return new RegExp(text, 'u');
  } catch {
    return parseLooseNative(text);
  }
}

// Hook authors write patterns that only the non-Unicode grammar accepts, such as `\-`.
function parseLooseNative(text: string): RegExp {
  try {
    return new RegExp(text);
  } catch (error) {
    throw new HooklineError('MATCHER_INVALID', {
      message: `the matcher ${JSON.stringify(text)} is not a regular expression: ${messageOf(error)}`,
      hint: 'Use a list of names such as "Edit|Write", or a valid regular expression.',
    });
  }
}

function patternMatcher(
  text: string,
  note: string | null,
  test: (name: string) => boolean,
): Matcher {
  return { text, kind: 'pattern', note, fits: (names) => names.some((name) => test(name)) };
}

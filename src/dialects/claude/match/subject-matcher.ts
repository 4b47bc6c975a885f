import { systemClock } from '../../../base/clock.ts';
import { isHooklineError } from '../../../base/errors.ts';
import { findVocabulary } from '../../../tool-vocabularies/tool-views.ts';
import type { HookEvent } from '../../../hooks/facts.ts';
import {
  compileMatcher,
  type ListRule,
  type Matcher,
  type PatternScreen,
} from '../../../hooks/matcher.ts';
import type { Entry } from '../entry.ts';
import { type ClaudeEvent, isGate, CLAUDE_EVENTS } from '../events.ts';
import { requirePackage } from '../../../base/built-files.ts';
import { EVENTS } from '../../../hooks/events.ts';

export interface SubjectMatcher {
  readonly matcher: Matcher;
  /** Returns why it does not match, or null. */
  readonly explainMismatch: (event: HookEvent, names: readonly string[]) => string | null;
}

const MAX_KNOWN = 5000;
const matchersByKey = new Map<string, SubjectMatcher | string>();

/**
 * Gets the compiled matcher of an entry, or a sentence about why it can never match. Entries with the
 * same matcher share it, so that it is compiled once and tried once per event.
 */
export function getSubjectMatcher(
  { event, matcher, source }: Entry,
  budget: CompileBudget,
): SubjectMatcher | string {
  const key = `${event} ${source.isCline} ${matcher ?? ''}`;
  const shared = matchersByKey.get(key);
  if (shared !== undefined) return shared;
  if (matchersByKey.size >= MAX_KNOWN) matchersByKey.clear();
  const patternsOn = source.isCline ? 'every name' : 'claude names';
  // A repository may contain thousands of slow patterns; the user's own are few and not limited.
  if (
    source.place === 'workspace' &&
    matcher !== undefined &&
    budget.isSpent() &&
    !isPlain(matcher)
  ) {
    const uncompiled = createUncompiledMatcher(
      matcher,
      event,
      'comes after too many others that take long to compile',
    );
    return createSubjectMatcher(uncompiled, event, patternsOn);
  }
  const compiled = budget.spend(() => compileSubjectMatcher(matcher, event, patternsOn));
  matchersByKey.set(key, compiled);
  return compiled;
}

const BUDGET_MS = 2000;

/** The time that one discovery may spend on compiling patterns of workspaces. */
export class CompileBudget {
  #spentMs = 0;

  isSpent(): boolean {
    return this.#spentMs > BUDGET_MS;
  }

  spend<Result>(work: () => Result): Result {
    const startedAt = systemClock.elapsed();
    try {
      return work();
    } finally {
      this.#spentMs += systemClock.elapsed() - startedAt;
    }
  }
}

function compileSubjectMatcher(
  text: string | undefined,
  event: ClaudeEvent,
  patternsOn: 'claude names' | 'every name',
): SubjectMatcher | string {
  const matcher = tryMatcher(text, event);
  return typeof matcher === 'string' ? matcher : createSubjectMatcher(matcher, event, patternsOn);
}

function createSubjectMatcher(
  matcher: Matcher,
  event: ClaudeEvent,
  patternsOn: 'claude names' | 'every name',
): SubjectMatcher {
  const isOnClaudeNames =
    patternsOn === 'claude names' && matcher.kind === 'pattern' && isToolEvent(event);
  const selectNames = isOnClaudeNames ? filterClaudeNames : (names: readonly string[]) => names;
  return { matcher, explainMismatch: createMismatchFinder(matcher, selectNames) };
}

// These events match file names and error classes, in which commas and dashes are plain characters.
const NARROW_LISTS: ListRule = { characters: /^[\w|]*$/u, separator: /\|/u };

/** Compiles a matcher; a sentence about why it can never match on failure. */
function tryMatcher(text: string | undefined, event: ClaudeEvent): Matcher | string {
  if (!hasSubject(event)) return createIgnoredMatcher(text);
  if (text !== undefined && text.length > MAX_PATTERN && !isPlain(text)) {
    return createUncompiledMatcher(text, event, `is longer than ${MAX_PATTERN} characters`);
  }
  try {
    const isNarrow = event === 'FileChanged' || event === 'StopFailure';
    return compileMatcher(text, createPatternScreen(event), isNarrow ? NARROW_LISTS : undefined);
  } catch (error) {
    if (isHooklineError(error)) return `${error.message}; it never matches`;
    throw error;
  }
}

const MAX_PATTERN = 20_000;

/** Whether it is a list of names, which is cheap to compile. */
function isPlain(text: string): boolean {
  return /^[\w\- ,|*]*$/.test(text);
}

/** Treated like a pattern that could hang: a guard then runs at each event rather than never. */
function createUncompiledMatcher(text: string, event: ClaudeEvent, why: string): Matcher {
  const isFit = isGate(event);
  const note = `${why}; it is not run and counts as matching ${isFit ? 'everything' : 'nothing'}`;
  return { text, kind: 'pattern', note, fits: () => isFit };
}

function createIgnoredMatcher(text: string | undefined): Matcher {
  const isAll = text === undefined || text === '' || text === '*';
  return { text: text ?? '', kind: isAll ? 'all' : 'list', note: null, fits: () => true };
}

/** Remembers the last names, because consecutive entries are checked against the same names. */
function createMismatchFinder(
  matcher: Matcher,
  selectNames: (names: readonly string[]) => readonly string[],
): SubjectMatcher['explainMismatch'] {
  if (matcher.kind === 'all') return () => null;
  const mismatch = `matcher ${JSON.stringify(matcher.text)} does not match `;
  let lastNames: readonly string[] | null = null;
  let lastWhy: string | null = null;
  return (_event, names) => {
    if (names === lastNames) return lastWhy;
    const isMatch = matcher.fits(selectNames(names));
    lastNames = names;
    const why = isMatch ? null : mismatch + (names[0] ?? 'anything here');
    // Returns the identical string object, which callers compare faster than an equal copy.
    if (why !== lastWhy) lastWhy = why;
    return lastWhy;
  };
}

// All handlers of one dispatch get the same array, so it can be the key of a cache.
const claudeNamesByNames = new WeakMap<readonly string[], readonly string[]>();

function filterClaudeNames(names: readonly string[]): readonly string[] {
  const cached = claudeNamesByNames.get(names);
  if (cached !== undefined) return cached;
  const claudeNames = names.filter((name) => {
    const vocabulary = findVocabulary(name);
    return vocabulary === 'claude' || vocabulary === null;
  });
  claudeNamesByNames.set(names, claudeNames);
  return claudeNames;
}

const MAX_STEPS = 5000;
// The number of steps limits the work; the timeout is generous for busy machines.
const TIMEOUT_MS = 2000;

/**
 * Accepts only patterns with little backtracking. A guard with a rejected pattern runs at each event
 * rather than never.
 */
export function createPatternScreen(event: ClaudeEvent): PatternScreen {
  const otherwise = isGate(event);
  return (pattern) => {
    const why = findDanger(pattern);
    return why === null ? { safe: true, otherwise } : { safe: false, why, otherwise };
  };
}

function findDanger(pattern: RegExp): string | null {
  try {
    const limits = { maxSteps: MAX_STEPS, timeout: TIMEOUT_MS };
    const { safe, error } = requirePackage('redos-detector').isSafe(pattern, limits);
    return safe ? null : DANGERS[error];
  } catch {
    return 'it could not be checked';
  }
}

const DANGERS = {
  hitMaxScore: 'it can backtrack too often',
  hitMaxSteps: 'it is too complex to be checked',
  timedOut: 'checking it takes too long',
} as const;

const TOOL_EVENTS: readonly ClaudeEvent[] = [
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'PermissionRequest',
  'PermissionDenied',
];

/** Whether an event is about a tool call: its matcher is tried on tool names, and it may have an `if`. */
export function isToolEvent(event: ClaudeEvent): boolean {
  return TOOL_EVENTS.includes(event);
}

/** Whether the event has a value that matchers are tried on. */
export function hasSubject(event: ClaudeEvent): boolean {
  return isToolEvent(event) || EVENTS[CLAUDE_EVENTS[event].event].subject !== null;
}

const COMPACTION = ['manual', 'auto'];

/** The possible values of an event's subject, for events with a fixed set. */
export const SUBJECT_VALUES: Readonly<Partial<Record<ClaudeEvent, readonly string[]>>> = {
  SessionStart: ['startup', 'resume', 'clear', 'compact', 'fork'],
  Setup: ['init', 'maintenance'],
  SessionEnd: ['clear', 'resume', 'logout', 'prompt_input_exit', 'other'],
  PreCompact: COMPACTION,
  PostCompact: COMPACTION,
  ConfigChange: [
    'user_settings',
    'project_settings',
    'local_settings',
    'policy_settings',
    'skills',
  ],
  InstructionsLoaded: [
    'session_start',
    'nested_traversal',
    'path_glob_match',
    'include',
    'compact',
  ],
  DirectoryAdded: ['slash_command', 'register_repo_root'],
  StopFailure: [
    'rate_limit',
    'overloaded',
    'authentication_failed',
    'oauth_org_not_allowed',
    'account_on_hold',
    'verification_required',
    'billing_error',
    'invalid_request',
    'model_not_found',
    'server_error',
    'max_output_tokens',
    'cloud_credential_error',
    'unknown',
  ],
  Notification: [
    'permission_prompt',
    'idle_prompt',
    'auth_success',
    'elicitation_dialog',
    'elicitation_url_dialog',
    'elicitation_complete',
    'elicitation_response',
    'agent_needs_input',
    'agent_completed',
  ],
};

import type { Entry, Limited } from '../entry.ts';
import type { ClaudeEvent, HandlerType } from '../events.ts';

const OF_EVENT: Partial<Record<ClaudeEvent, number>> = {
  UserPromptSubmit: 30_000,
  MessageDisplay: 10_000,
};
/** Of a type that has none of its own; that of commands is a setting. */
const USUAL_TIMEOUT_MS = 600_000;
const OF_TYPE: Partial<Record<HandlerType, number>> = { prompt: 30_000, agent: 60_000 };

const SESSION_END_MS = 1500;
const SESSION_END_MAX_MS = 60_000;
// A longer delay makes setTimeout fire at once.
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Reads the `timeout` field of a handler, in seconds. Values such as 10000 are read as milliseconds,
 * because many configurations mistake the unit.
 */
export function readTimeout(written: number | undefined): {
  readonly timeoutMs: number | null;
  readonly note: string | null;
} {
  if (written === undefined) return { timeoutMs: null, note: null };
  if (written < 1000 || written % 500 !== 0) {
    return { timeoutMs: Math.min(written * 1000, LONGEST_MS), note: null };
  }
  const note = `timeout ${written} is read as milliseconds; it is given in seconds: write ${written / 1000}`;
  return { timeoutMs: Math.min(written, LONGEST_MS), note };
}

/** The limits that entries do not write themselves. */
export interface TimeLimits {
  /** Of a command without a `timeout`. */
  readonly commandTimeoutMs: number;
  /** The time that all SessionEnd handlers share. */
  readonly sessionEndMs: number;
}

/** Gives each entry the limit that it has written, or else the default one. */
export function applyTimeLimits(
  entries: readonly Entry[],
  limits: TimeLimits,
): readonly Limited<Entry>[] {
  return entries.map((entry) => {
    const timeoutMs = entry.timeoutMs ?? getDefaultTimeout(entry, limits);
    return {
      ...entry,
      timeoutMs:
        entry.event === 'SessionEnd' ? Math.min(timeoutMs, limits.sessionEndMs) : timeoutMs,
    };
  });
}

/** Nobody waits for an async command, so that the short limit of its event is not for it. */
function getDefaultTimeout(entry: Entry, { commandTimeoutMs }: TimeLimits): number {
  const { event, type } = entry;
  if (type !== 'command') return OF_TYPE[type] ?? OF_EVENT[event] ?? USUAL_TIMEOUT_MS;
  const ofEvent = entry.async ? LONGEST_MS : (OF_EVENT[event] ?? LONGEST_MS);
  return Math.min(commandTimeoutMs, ofEvent);
}

/**
 * Computes the time that all SessionEnd handlers share, which the longest `timeout` that one of these
 * entries writes raises. Entries of plugins do not raise it.
 */
export function computeSessionEndBudget(
  entries: readonly Entry[],
  env: Readonly<Record<string, string | undefined>>,
): number {
  const written = entries.map(({ event, timeoutMs }) =>
    event === 'SessionEnd' ? (timeoutMs ?? 0) : 0,
  );
  const raised = Math.min(Math.max(SESSION_END_MS, ...written), SESSION_END_MAX_MS);
  const configuredMs = Number(env['CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS'] ?? '');
  const isUsable = Number.isFinite(configuredMs) && configuredMs > 0;
  return isUsable ? Math.min(configuredMs, LONGEST_MS) : raised;
}

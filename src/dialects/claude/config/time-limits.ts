import type { Entry } from '../entry.ts';
import type { ClaudeEvent, HandlerType } from '../events.ts';

const USUAL_SECONDS = 600;
const OF_EVENT: Partial<Record<ClaudeEvent, number>> = { UserPromptSubmit: 30, MessageDisplay: 10 };
const OF_TYPE: Partial<Record<HandlerType, number>> = { prompt: 30, agent: 60 };

const SESSION_END_MS = 1500;
const SESSION_END_MAX_MS = 60_000;
// A longer delay makes setTimeout fire at once.
const LONGEST_MS = 2 ** 31 - 1;

/** Resolves the time limit of a handler; `written` is its `timeout` field. */
export function resolveTimeLimit(
  written: number | undefined,
  handler: { readonly event: ClaudeEvent; readonly type: HandlerType; readonly isAsync: boolean },
): { readonly timeoutMs: number; readonly note: string | null } {
  if (written !== undefined) return readTimeout(written);
  const { event, type, isAsync } = handler;
  const seconds = isAsync ? USUAL_SECONDS : (OF_TYPE[type] ?? OF_EVENT[event] ?? USUAL_SECONDS);
  return { timeoutMs: seconds * 1000, note: null };
}

/** Reads values such as 10000 as milliseconds, because many configurations mistake the unit. */
function readTimeout(written: number) {
  if (written < 1000 || written % 500 !== 0) {
    return { timeoutMs: Math.min(written * 1000, LONGEST_MS), note: null };
  }
  const note = `timeout ${written} is read as milliseconds; it is given in seconds: write ${written / 1000}`;
  return { timeoutMs: Math.min(written, LONGEST_MS), note };
}

/**
 * Computes the time that all SessionEnd handlers share. `longest` is the longest `timeout` for
 * SessionEnd in settings files, 0 without one; plugins do not raise it.
 */
export function computeSessionEndBudget(
  longest: number,
  env: Readonly<Record<string, string | undefined>>,
): number {
  const raised = Math.min(Math.max(SESSION_END_MS, longest), SESSION_END_MAX_MS);
  const configuredMs = Number(env['CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS'] ?? '');
  const isUsable = Number.isFinite(configuredMs) && configuredMs > 0;
  return isUsable ? Math.min(configuredMs, LONGEST_MS) : raised;
}

/** Limits the timeout of each SessionEnd handler to the shared budget. */
export function limitSessionEnd(entries: readonly Entry[], budgetMs: number): readonly Entry[] {
  return entries.map((entry) =>
    entry.event === 'SessionEnd' && entry.timeoutMs > budgetMs
      ? { ...entry, timeoutMs: budgetMs }
      : entry,
  );
}

import { randomUUID } from 'node:crypto';
import { dropUndefined } from '../base/defined.ts';
import { isHooklineError, getErrorMessage } from '../base/errors.ts';
import { isRefusal } from '../hooks/decision.ts';
import type { FiredEvent } from '../hooks/facts.ts';
import type { ToolUseBlock } from '../sessions/messages.ts';
import type { Agent } from './agent.ts';
import { formatContexts, joinReasons } from './conversation/hook-messages.ts';
import { formatAbortReason } from './loop/ending.ts';
import { fireNotification } from './loop/background-events.ts';
import { runTurns, type TurnsEnd } from './loop/turns.ts';
import { type ModelFailure, NO_USAGE } from './models/model.ts';
import type { RunEnding, RunResult } from './runtime-event.ts';
import { createTurn } from './session-context.ts';

/**
 * Runs an accepted prompt, or the task of a sub-agent, to its end; the only place where RunStart and RunEnd
 * are fired. Whatever happens, RunEnd is fired once. The prompt is null when there is only a call to finish that an earlier
 * run left undecided.
 */
export async function run(
  agent: Agent,
  prompt: string | null,
  deferred: ToolUseBlock | null,
  signal: AbortSignal,
): Promise<RunResult> {
  const { session } = agent;
  const runId = randomUUID();
  const startedAt = session.clock.elapsed();
  resetCounts(agent);
  Object.assign(agent, {
    runId,
    status: 'running',
    lastError: null,
    lastFailure: null,
  } satisfies Partial<Agent>);
  agent.emit({ type: 'run-start', runId, prompt: prompt ?? '' });
  const end = await runToEnd(agent, prompt, deferred, signal);
  agent.lastFailure = end.failure;
  const result: RunResult = {
    ...buildResult(agent, end),
    runId,
    durationMs: Math.round(session.clock.elapsed() - startedAt),
  };
  await fireRunEnd(agent, result, end.failure);
  const isMain = agent.facts.parentId === null;
  if (isMain) storeEnd(agent, result);
  emitEnd(agent, result);
  if (isMain) notifyOfEnd(agent, result);
  return result;
}

/** The user of a run that takes this long is notified of its end. */
const LONG_RUN_MS = 10_000;
const DONE = 'The agent is done';

/** As in Cline, hooks are notified after each TaskComplete, however short the run was. */
function notifyOfEnd(agent: Agent, { status, ending, durationMs }: RunResult): void {
  if (status !== 'aborted' && durationMs >= LONG_RUN_MS) {
    agent.emit({ type: 'notification', text: DONE });
  }
  if (ending === 'done') {
    fireNotification(agent, { type: 'task_complete', message: DONE, waiting: false });
  }
}

/** The result of a prompt that never became a run: hooks refused or stopped it, or it was aborted before. */
export async function endWithoutRun(
  agent: Agent,
  ending: 'refused' | 'stopped_by_hook' | 'aborted' | 'failed',
  reason: string,
): Promise<RunResult> {
  resetCounts(agent);
  const unstarted = {
    ...buildResult(agent, createEnd(ending, reason)),
    runId: randomUUID(),
    durationMs: 0,
  };
  // Hooks of RunEnd expect every abort, whether or not the run had begun.
  if (ending === 'aborted') await fireRunEnd(agent, unstarted, null);
  storeEnd(agent, unstarted);
  emitEnd(agent, unstarted);
  return unstarted;
}

/** The result of a prompt that a command answered without the model. */
export function endWithReply(agent: Agent, reply: string): RunResult {
  resetCounts(agent);
  const answered = {
    ...buildResult(agent, {
      ending: 'done',
      text: reply,
      reason: null,
      failure: null,
      deferred: null,
    }),
    runId: randomUUID(),
    durationMs: 0,
  };
  agent.emit({ type: 'reply', text: reply, isAll: true });
  emitEnd(agent, answered);
  return answered;
}

function emitEnd(agent: Agent, result: RunResult): void {
  agent.status = result.status;
  agent.lastError = result.reason;
  agent.emit({ type: 'run-end', result });
}

async function fireRunEnd(
  agent: Agent,
  result: RunResult,
  failure: ModelFailure | null,
): Promise<void> {
  // Only a closed engine rejects; the result must not be lost with it.
  await agent.fire(createRunEndEvent(result, failure)).catch(() => undefined);
}

function resetCounts(agent: Agent): void {
  agent.turn = createTurn(0);
  agent.usage = NO_USAGE;
  agent.costUsd = 0;
  agent.denials.length = 0;
  agent.isHeldByHook = false;
  agent.stopGuard.reset();
  agent.loopGuard.reset();
}

async function runToEnd(
  agent: Agent,
  prompt: string | null,
  deferred: ToolUseBlock | null,
  signal: AbortSignal,
): Promise<TurnsEnd> {
  try {
    const { refusal, contexts } = await startRun(agent, prompt ?? '', signal);
    if (refusal !== null) return createEnd('refused', refusal);
    return await runTurns(agent, prompt, deferred, contexts, signal);
  } catch (error) {
    if (signal.aborted) return createEnd('aborted', formatAbortReason(signal));
    return createEnd('failed', formatRunError(error));
  }
}

/** The refusal says why the run does not begin; it is null when the run does. */
async function startRun(agent: Agent, prompt: string, signal: AbortSignal) {
  const verdict = await agent.fire({ name: 'RunStart', prompt }, signal);
  const contexts = formatContexts(verdict, { event: 'RunStart', subject: null });
  if (verdict.stop !== null) return { refusal: verdict.stop.reason, contexts };
  const isRefused = isRefusal(verdict.effect);
  return { refusal: isRefused ? joinReasons(verdict) : null, contexts };
}

function createEnd(ending: RunEnding, reason: string): TurnsEnd {
  return { ending, text: '', reason, failure: null, deferred: null };
}

/** An error in a run is its result: it must not end the session. */
export function formatRunError(error: unknown): string {
  return isHooklineError(error) ? error.message : `this is a bug: ${getErrorMessage(error)}`;
}

const COMPLETED: readonly RunEnding[] = [
  'done',
  'tool_deferred',
  'stopped_by_hook',
  'max_turns',
  'loop',
];

function buildResult(agent: Agent, end: TurnsEnd): Omit<RunResult, 'runId' | 'durationMs'> {
  const { session, usage, costUsd, turn } = agent;
  const { ending, deferred } = end;
  return {
    sessionId: session.sessionId,
    status: toStatus(ending),
    ending,
    text: end.text,
    reason: end.reason,
    ...(ENDED_BY_HOOKS.includes(ending) && agent.refusingHooks.length > 0
      ? { endedByHooks: agent.refusingHooks }
      : {}),
    iterations: turn.iteration,
    usage,
    costUsd: costUsd === null ? null : roundCost(costUsd),
    denials: [...agent.denials],
    deferred:
      deferred === null ? null : { id: deferred.id, name: deferred.name, input: deferred.input },
  };
}

const ENDED_BY_HOOKS: readonly RunEnding[] = ['refused', 'stopped_by_hook'];

/** Sums of floating-point numbers have meaningless last digits. */
function roundCost(dollars: number): number {
  return Math.round(dollars * 1e9) / 1e9;
}

function toStatus(ending: RunEnding): RunResult['status'] {
  if (ending === 'aborted') return 'aborted';
  return COMPLETED.includes(ending) ? 'completed' : 'failed';
}

function createRunEndEvent(result: RunResult, failure: ModelFailure | null): FiredEvent<'RunEnd'> {
  const { status, reason, text, ending } = result;
  return {
    name: 'RunEnd',
    status,
    ending,
    ...dropUndefined({
      reason: reason ?? undefined,
      lastText: text === '' ? undefined : text,
      error: status === 'failed' ? { name: 'Error', message: reason ?? '' } : undefined,
      errorClass: failure === null ? undefined : (CLAUDE_CLASSES[failure.class] ?? failure.class),
      errorDetails: failure?.details,
    }),
  };
}

/** Claude Code's error classes, as observed. */
const CLAUDE_CLASSES: Readonly<Partial<Record<ModelFailure['class'], string>>> = {
  overloaded: 'server_error',
  invalid_request: 'unknown',
  unreachable: 'unknown',
  protocol: 'unknown',
  aborted: 'unknown',
};

/** The run has ended either way: a full disk must not change its result. */
function storeEnd(agent: Agent, result: RunResult): void {
  try {
    writeEnd(agent, result);
  } catch (error) {
    agent.emit({ type: 'notice', level: 'error', text: getErrorMessage(error) });
  }
}

function writeEnd(agent: Agent, { status, ending, reason, deferred }: RunResult): void {
  if (ending === 'tool_deferred' && deferred !== null) {
    agent.conversation.defer({ type: 'tool_use', ...deferred });
  }
  if (status === 'completed' && ending === 'done') return;
  if (reason !== null) agent.conversation.note(status === 'failed' ? 'error' : 'info', reason);
}

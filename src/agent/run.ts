import { randomUUID } from 'node:crypto';
import { isHooklineError, getErrorMessage } from '../base/errors.ts';
import { isRefusal } from '../hooks/decision.ts';
import type { FiredEvent } from '../hooks/facts.ts';
import type { ToolUseBlock } from '../sessions/messages.ts';
import type { Agent } from './agent.ts';
import { formatContexts, joinReasons } from './conversation/hook-messages.ts';
import { abortedBecause } from './loop/ending.ts';
import { notify } from './loop/notify.ts';
import { runTurns, type TurnsEnd } from './loop/turns.ts';
import { type ModelFailure, NO_USAGE } from './models/model.ts';
import type { Ending, RunResult } from './runtime-event.ts';

export interface RunRequest {
  /** Null when there is only something to be finished that an earlier run left. */
  readonly prompt: string | null;
  readonly deferred: ToolUseBlock | null;
  readonly signal: AbortSignal;
}

/**
 * From an accepted prompt to its end; the only place where RunStart and RunEnd are fired. Whatever
 * happens, RunEnd is fired once.
 */
export async function run(agent: Agent, request: RunRequest): Promise<RunResult> {
  const { world } = agent;
  const runId = randomUUID();
  const startedAt = world.clock.elapsed();
  resetCounts(agent);
  agent.tell({ type: 'run-start', runId, prompt: request.prompt ?? '' });
  const end = await runToEnd(agent, request);
  const result: RunResult = {
    ...resultOf(agent, end),
    runId,
    durationMs: Math.round(world.clock.elapsed() - startedAt),
  };
  await fireRunEnd(agent, result, end.failure);
  noteEnd(agent, result);
  agent.tell({ type: 'run-end', result });
  if (result.durationMs >= LONG_RUN_MS && result.status !== 'aborted') {
    notify(agent, { type: 'agent_completed', message: 'The agent is done', waiting: false });
  }
  return result;
}

/** Whoever started a run that takes this long looks at something else by now. */
const LONG_RUN_MS = 10_000;

/** Of a prompt that never became a run: hooks refused or stopped it, or the person aborted before. */
export async function endWithoutRun(
  agent: Agent,
  ending: 'refused' | 'stopped_by_hook' | 'aborted' | 'failed',
  reason: string,
): Promise<RunResult> {
  resetCounts(agent);
  const unstarted = {
    ...resultOf(agent, endedBy(ending, reason)),
    runId: randomUUID(),
    durationMs: 0,
  };
  // Whoever asked for the abort waits to hear of it, whether or not anything had begun.
  if (ending === 'aborted') await fireRunEnd(agent, unstarted, null);
  noteEnd(agent, unstarted);
  agent.tell({ type: 'run-end', result: unstarted });
  return unstarted;
}

/** Of a prompt that was answered without the model. */
export function endWithReply(agent: Agent, reply: string): RunResult {
  resetCounts(agent);
  const answered = {
    ...resultOf(agent, {
      ending: 'done',
      text: reply,
      reason: null,
      failure: null,
      deferred: null,
    }),
    runId: randomUUID(),
    durationMs: 0,
  };
  agent.tell({ type: 'reply', text: reply, isAll: true });
  agent.tell({ type: 'run-end', result: answered });
  return answered;
}

async function fireRunEnd(
  agent: Agent,
  result: RunResult,
  failure: ModelFailure | null,
): Promise<void> {
  // Only an engine that is closed already refuses; the result must not be lost with it.
  await agent.fire(runEnd(result, failure)).catch(() => undefined);
}

function resetCounts(agent: Agent): void {
  agent.iteration = 0;
  agent.usage = NO_USAGE;
  agent.costUsd = 0;
  agent.denials.length = 0;
  agent.isKeptFromEnding = false;
  agent.stopGuard.reset();
  agent.loopGuard.reset();
}

async function runToEnd(agent: Agent, request: RunRequest): Promise<TurnsEnd> {
  const { prompt, deferred, signal } = request;
  try {
    const { refusal, contexts } = await startRun(agent, prompt ?? '', signal);
    if (refusal !== null) return endedBy('refused', refusal);
    return await runTurns(agent, { prompt, deferred, contexts }, signal);
  } catch (error) {
    if (signal.aborted) return endedBy('aborted', abortedBecause(signal));
    return endedBy('failed', whatWentWrong(error));
  }
}

interface StartedRun {
  /** Why it does not begin; null when it does. */
  readonly refusal: string | null;
  readonly contexts: readonly string[];
}

async function startRun(agent: Agent, prompt: string, signal: AbortSignal): Promise<StartedRun> {
  const verdict = await agent.fire({ name: 'RunStart', prompt }, signal);
  const contexts = formatContexts(verdict, { event: 'RunStart', subject: null });
  if (verdict.stop !== null) return { refusal: verdict.stop.reason, contexts };
  const isRefused = isRefusal(verdict.effect);
  return { refusal: isRefused ? joinReasons(verdict, 'a hook refused the run') : null, contexts };
}

function endedBy(ending: Ending, reason: string): TurnsEnd {
  return { ending, text: '', reason, failure: null, deferred: null };
}

/** Nothing that goes wrong in a run may take the session down with it. */
export function whatWentWrong(error: unknown): string {
  return isHooklineError(error) ? error.message : `this is a bug: ${getErrorMessage(error)}`;
}

const COMPLETED: readonly Ending[] = [
  'done',
  'tool_deferred',
  'stopped_by_hook',
  'max_turns',
  'loop',
];

function resultOf(agent: Agent, end: TurnsEnd): Omit<RunResult, 'runId' | 'durationMs'> {
  const { world, usage, costUsd, iteration } = agent;
  const { ending, deferred } = end;
  return {
    sessionId: world.sessionId,
    status: statusOf(ending),
    ending,
    text: end.text,
    reason: end.reason,
    iterations: iteration,
    usage,
    costUsd: costUsd === null ? null : rounded(costUsd),
    denials: [...agent.denials],
    deferred:
      deferred === null ? null : { id: deferred.id, name: deferred.name, input: deferred.input },
  };
}

/** Sums of fractions have digits that mean nothing. */
function rounded(dollars: number): number {
  return Math.round(dollars * 1e9) / 1e9;
}

function statusOf(ending: Ending): RunResult['status'] {
  if (ending === 'aborted') return 'aborted';
  return COMPLETED.includes(ending) ? 'completed' : 'failed';
}

function runEnd(result: RunResult, failure: ModelFailure | null): FiredEvent<'RunEnd'> {
  const { status, reason, text, ending } = result;
  return {
    name: 'RunEnd',
    status,
    ending,
    ...(reason === null ? {} : { reason }),
    ...(text === '' ? {} : { lastText: text }),
    ...(status === 'failed' ? { error: { name: 'Error', message: reason ?? '' } } : {}),
    ...(failure === null ? {} : { errorClass: CLAUDE_CLASSES[failure.class] ?? failure.class }),
    ...(failure?.details === undefined ? {} : { errorDetails: failure.details }),
  };
}

/** What Claude Code was seen to call them. */
const CLAUDE_CLASSES: Readonly<Partial<Record<ModelFailure['class'], string>>> = {
  overloaded: 'server_error',
  invalid_request: 'unknown',
  unreachable: 'unknown',
  protocol: 'unknown',
  aborted: 'unknown',
};

/** The run is over either way: a disk that is full now must not make it look otherwise. */
function noteEnd(agent: Agent, result: RunResult): void {
  try {
    writeEnd(agent, result);
  } catch (error) {
    agent.tell({ type: 'notice', level: 'error', text: getErrorMessage(error) });
  }
}

function writeEnd(agent: Agent, { status, ending, reason, deferred }: RunResult): void {
  if (ending === 'tool_deferred' && deferred !== null) {
    agent.conversation.defer({ type: 'tool_use', ...deferred });
  }
  if (status === 'completed' && ending === 'done') return;
  if (reason !== null) agent.conversation.note(status === 'failed' ? 'error' : 'info', reason);
}

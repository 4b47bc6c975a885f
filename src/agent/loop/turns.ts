import {
  getToolCalls,
  getMessageText,
  createUserMessage,
  type ToolUseBlock,
} from '../../sessions/messages.ts';
import type { Agent } from '../agent.ts';
import { compact, isContextFull, isTooLong } from './compaction.ts';
import { formatAbortReason, checkEnd } from './ending.ts';
import { runModelTurn } from './model-turn.ts';
import type { ModelFailure } from '../models/model.ts';
import type { RunEnding } from '../runtime-event.ts';
import { addPrompt, deliverPending, formatUndelivered } from './steering.ts';
import { type BatchEnd, runBatch } from './tool-batch.ts';

/** How an agent's turns ended. */
export interface TurnsEnd {
  readonly ending: RunEnding;
  /** The last text of the model. */
  readonly text: string;
  readonly reason: string | null;
  readonly failure: ModelFailure | null;
  readonly deferred: ToolUseBlock | null;
}

/**
 * Runs model requests and tool calls in turn until the agent is done or must end. The prompt is null
 * when there is only a call to finish that an earlier run left undecided; the texts of RunStart hooks
 * follow the prompt.
 */
export async function runTurns(
  agent: Agent,
  prompt: string | null,
  deferred: ToolUseBlock | null,
  contexts: readonly string[],
  signal: AbortSignal,
): Promise<TurnsEnd> {
  const state: TurnState = { lastText: '', isCompacted: false };
  try {
    const leftover = deferred === null ? [] : [deferred];
    // The undecided call comes first: a call and its result must stand together.
    for (const call of leftover) {
      const end = toTurnsEnd(await runBatch(agent, [call], signal), state);
      if (end === null) continue;
      if (prompt !== null) {
        agent.emit({ type: 'notice', level: 'warning', text: formatUndelivered(prompt) });
      }
      return end;
    }
    if (prompt !== null) addPrompt(agent, prompt);
    agent.pendingContext.push(...contexts);
    for (;;) {
      // An aborted call has a result like any other, and the model is not asked about it.
      signal.throwIfAborted();
      const end = await runTurn(agent, state, signal);
      if (end !== null) return end;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    return createEnd('aborted', state, formatAbortReason(signal));
  }
}

/** Kept outside of the turn, so that an aborted turn still has the model's last text. */
interface TurnState {
  lastText: string;
  /** Whether the conversation was compacted because the service found it too long, without an answer since. */
  isCompacted: boolean;
}

/** The end, or null when there is a further turn. */
async function runTurn(
  agent: Agent,
  state: TurnState,
  signal: AbortSignal,
): Promise<TurnsEnd | null> {
  const { maxTurns } = agent.session.limits;
  if (agent.turn.iteration >= maxTurns) {
    return createEnd(
      'max_turns',
      state,
      `the limit of ${maxTurns === 1 ? 'one turn' : `${maxTurns} turns`} was reached`,
    );
  }
  const stopped =
    (await deliverPending(agent, signal)) ??
    (isContextFull(agent) ? await compactBeforeTurn(agent, signal) : null);
  if (stopped !== null) return createEnd('stopped_by_hook', state, stopped);
  const turn = await runModelTurn(agent, signal);
  if (turn.kind === 'failed') return handleFailure(agent, turn.failure, state, signal);
  if (turn.kind === 'stopped') return createEnd('stopped_by_hook', state, turn.reason);
  state.isCompacted = false;
  const text = getMessageText(turn.message);
  if (text !== '') state.lastText = text;
  const calls = getToolCalls(turn.message);
  if (calls.length > 0) return toTurnsEnd(await runBatch(agent, calls, signal), state);
  if (turn.end.finishReason === 'length') {
    agent.conversation.add(createUserMessage(CUT), { isMeta: true });
    return null;
  }
  if (agent.steering.length > 0) return null;
  const end = await checkEnd(agent, state.lastText, signal);
  // The user may have steered the agent while hooks were asked.
  const isSteered = agent.steering.length > 0 && end.reason === null;
  return end.goesOn || isSteered ? null : createEnd('done', state, end.reason);
}

const CUT = 'Your answer was cut at its longest length. Go on right where it ended.';

function toTurnsEnd(batch: BatchEnd, state: TurnState): TurnsEnd | null {
  switch (batch.kind) {
    case 'go-on':
      return null;
    case 'done':
      return { ...createEnd('done', state, null), text: batch.text };
    case 'stop':
      return createEnd('stopped_by_hook', state, batch.reason);
    case 'loop':
      return createEnd('loop', state, batch.reason);
    case 'deferred':
      return { ...createEnd('tool_deferred', state, null), deferred: batch.call };
  }
}

/** Returns why a hook ends the run because of a steering message, or null. */
async function compactBeforeTurn(agent: Agent, signal: AbortSignal): Promise<string | null> {
  const problem = await compact(agent, 'auto', null, signal);
  if (problem === null) return deliverPending(agent, signal);
  agent.emit({ type: 'notice', level: 'warning', text: problem });
  return null;
}

/** A conversation that the service finds too long is compacted once, and sent again. */
async function handleFailure(
  agent: Agent,
  failure: ModelFailure,
  state: TurnState,
  signal: AbortSignal,
): Promise<TurnsEnd | null> {
  if (failure.class === 'aborted' || signal.aborted) {
    return createEnd('aborted', state, formatAbortReason(signal));
  }
  if (isTooLong(failure) && !state.isCompacted && agent.conversation.messages.length > 1) {
    const problem = await compact(agent, 'auto', null, signal);
    state.isCompacted = true;
    if (problem === null) return null;
    agent.emit({ type: 'notice', level: 'warning', text: problem });
  }
  return { ...createEnd('model_failed', state, failure.message), failure };
}

function createEnd(ending: RunEnding, { lastText }: TurnState, reason: string | null): TurnsEnd {
  return { ending, text: lastText, reason, failure: null, deferred: null };
}

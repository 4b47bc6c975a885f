import {
  getToolCalls,
  getMessageText,
  createUserMessage,
  type ToolUseBlock,
} from '../../sessions/messages.ts';
import type { Agent } from '../agent.ts';
import { compact, isFull, isTooLong } from './compaction.ts';
import { abortedBecause, mayEnd } from './ending.ts';
import { askModelOnce } from './model-turn.ts';
import type { ModelFailure } from '../models/model.ts';
import type { Ending } from '../runtime-event.ts';
import { addPrompt, deliverWaiting } from './steering.ts';
import { type BatchEnd, runBatch } from './tool-batch.ts';

/** How an agent's turns came to an end. */
export interface TurnsEnd {
  readonly ending: Ending;
  /** The last words. */
  readonly text: string;
  readonly reason: string | null;
  readonly failure: ModelFailure | null;
  readonly deferred: ToolUseBlock | null;
}

export interface TurnsRequest {
  /** Null when there is only something to be finished. */
  readonly prompt: string | null;
  /** A call that an earlier run left undecided. */
  readonly deferred: ToolUseBlock | null;
  /** What hooks say now that the run begins; it follows the prompt. */
  readonly contexts: readonly string[];
}

/** Request and calls, again and again, until the agent is done or must end. */
export async function runTurns(
  agent: Agent,
  { prompt, deferred, contexts }: TurnsRequest,
  signal: AbortSignal,
): Promise<TurnsEnd> {
  const words: Words = { last: '', isShortened: false };
  try {
    const left = deferred === null ? [] : [deferred];
    // What was left undecided comes first: a call and its result must stand together.
    for (const call of left) {
      const end = endOfBatch(await runBatch(agent, [call], signal), words);
      if (end === null) continue;
      if (prompt !== null) agent.tell({ type: 'notice', level: 'warning', text: unheard(prompt) });
      return end;
    }
    if (prompt !== null) addPrompt(agent, prompt);
    agent.waiting.push(...contexts);
    for (;;) {
      // An aborted call has ended like any other; no model is asked what to do with it.
      signal.throwIfAborted();
      const end = await runTurn(agent, words, signal);
      if (end !== null) return end;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    return ended('aborted', words, abortedBecause(signal));
  }
}

function unheard(prompt: string): string {
  return `the run ended before the agent could be told: ${prompt}`;
}

/** Kept outside the turn, so that an abort in the middle still knows what was said. */
interface Words {
  last: string;
  /** The conversation was summed up because the service found it too long, and nothing was said since. */
  isShortened: boolean;
}

/** The end, or null when there is a further turn. */
async function runTurn(agent: Agent, words: Words, signal: AbortSignal): Promise<TurnsEnd | null> {
  const { maxTurns } = agent.world.limits;
  if (agent.iteration >= maxTurns) {
    return ended(
      'max_turns',
      words,
      `the limit of ${maxTurns === 1 ? 'one turn' : `${maxTurns} turns`} was reached`,
    );
  }
  const stopped =
    (await deliverWaiting(agent, signal)) ?? (isFull(agent) ? await makeRoom(agent, signal) : null);
  if (stopped !== null) return ended('stopped_by_hook', words, stopped);
  const turn = await askModelOnce(agent, signal);
  if (turn.kind === 'failed') return afterFailure(agent, turn.failure, { words, signal });
  if (turn.kind === 'stopped') return ended('stopped_by_hook', words, turn.reason);
  words.isShortened = false;
  const text = getMessageText(turn.message);
  if (text !== '') words.last = text;
  const calls = getToolCalls(turn.message);
  if (calls.length > 0) return endOfBatch(await runBatch(agent, calls, signal), words);
  if (turn.end.finishReason === 'length') {
    agent.conversation.add(createUserMessage(CUT), { isMeta: true });
    return null;
  }
  if (agent.steering.length > 0) return null;
  const end = await mayEnd(agent, words.last, signal);
  // Something may have been said while hooks were asked.
  const isSpokenTo = agent.steering.length > 0 && end.reason === null;
  return end.goesOn || isSpokenTo ? null : ended('done', words, end.reason);
}

const CUT = 'Your answer was cut at its longest length. Go on right where it ended.';

function endOfBatch(batch: BatchEnd, words: Words): TurnsEnd | null {
  switch (batch.kind) {
    case 'go-on':
      return null;
    case 'done':
      return { ...ended('done', words, null), text: batch.text };
    case 'stop':
      return ended('stopped_by_hook', words, batch.reason);
    case 'loop':
      return ended('loop', words, batch.reason);
    case 'deferred':
      return { ...ended('tool_deferred', words, null), deferred: batch.call };
  }
}

/** A string says why a hook ends the run because of what was said meanwhile. */
async function makeRoom(agent: Agent, signal: AbortSignal): Promise<string | null> {
  const problem = await compact(agent, { trigger: 'auto', instructions: null }, signal);
  if (problem === null) return deliverWaiting(agent, signal);
  agent.tell({ type: 'notice', level: 'warning', text: problem });
  return null;
}

/** A conversation that the service finds too long is summed up once, and asked again. */
async function afterFailure(
  agent: Agent,
  failure: ModelFailure,
  { words, signal }: { words: Words; signal: AbortSignal },
): Promise<TurnsEnd | null> {
  if (failure.class === 'aborted' || signal.aborted) {
    return ended('aborted', words, abortedBecause(signal));
  }
  if (isTooLong(failure) && !words.isShortened && agent.conversation.messages.length > 1) {
    const problem = await compact(agent, { trigger: 'auto', instructions: null }, signal);
    words.isShortened = true;
    if (problem === null) return null;
    agent.tell({ type: 'notice', level: 'warning', text: problem });
  }
  return { ...ended('model_failed', words, failure.message), failure };
}

function ended(ending: Ending, { last }: Words, reason: string | null): TurnsEnd {
  return { ending, text: last, reason, failure: null, deferred: null };
}

import { dropUndefined } from '../../base/defined.ts';
import { isRefusal } from '../../hooks/decision.ts';
import {
  getMessageText,
  type AssistantBlock,
  type AssistantMessage,
} from '../../sessions/messages.ts';
import type { Agent } from '../agent.ts';
import type {
  ModelChunk,
  ModelEnd,
  ModelFailure,
  ModelRequest,
  ModelToolActivity,
} from '../models/model.ts';
import { computeCost } from '../models/prices.ts';
import { streamWithRetries } from '../models/retry.ts';
import { parseAnswerChange, parseRequestChanges } from '../conversation/hook-changes.ts';
import { joinReasons } from '../conversation/hook-messages.ts';
import { createTurn } from '../session-context.ts';

/** The result of one model request. */
export type ModelTurn =
  | { readonly kind: 'answered'; readonly message: AssistantMessage; readonly end: ModelEnd }
  | { readonly kind: 'stopped'; readonly reason: string }
  | { readonly kind: 'failed'; readonly failure: ModelFailure };

/** Makes one request; the only place where ModelRequest, ModelResponse and MessageDisplay are fired. */
export async function runModelTurn(agent: Agent, signal: AbortSignal): Promise<ModelTurn> {
  agent.turn = createTurn(agent.turn.iteration + 1);
  agent.emit({ type: 'turn-start', iteration: agent.turn.iteration });
  const request = buildRequest(agent);
  const before = await agent.fire({ name: 'ModelRequest', request }, signal);
  if (isRefusal(before.effect) || before.stop !== null) {
    const reason = before.stop?.reason ?? joinReasons(before);
    return { kind: 'stopped', reason };
  }
  const { changed, problems } = parseRequestChanges(before.changes);
  for (const text of problems) agent.emit({ type: 'notice', level: 'warning', text });
  const changedRequest = { ...request, ...changed };
  const finalRequest =
    (await agent.session.shapeRequest?.(changedRequest, signal)) ?? changedRequest;
  agent.turn.effort = finalRequest.effort ?? null;
  const end = await streamFilledAnswer(agent, finalRequest, signal);
  if (end.type === 'failure') return { kind: 'failed', failure: end.failure };
  return handleAnswer(agent, end, signal);
}

function buildRequest(agent: Agent): ModelRequest {
  const { conversation, session, tools, systemPrompt } = agent;
  return {
    system: systemPrompt(),
    messages: conversation.toModelMessages(),
    tools: session.listSpecs(tools),
    ...dropUndefined({ effort: session.effort ?? undefined }),
  };
}

/** Repeats a request whose answer has nothing in it, as often as the session wants that; then it has failed. */
async function streamFilledAnswer(agent: Agent, request: ModelRequest, signal: AbortSignal) {
  const { emptyAnswerRetries } = agent.session.limits;
  let answer = await streamAnswer(agent, request, signal);
  if (emptyAnswerRetries === undefined) return answer;
  for (let attempt = 0; answer.type === 'end' && isEmptyAnswer(agent, request, answer); attempt++) {
    agent.recordUsage(answer.usage);
    const failure = createEmptyAnswerFailure(agent, attempt + 1);
    if (attempt === emptyAnswerRetries) return { type: 'failure', failure } as const;
    agent.emit({ type: 'retry-start', failure, waitMs: 0, discardsOutput: false });
    answer = await streamAnswer(agent, request, signal);
  }
  return answer;
}

/** A model may have nothing to add to the result of a tool; a scripted answer is meant as it is written. */
function isEmptyAnswer(
  { model }: Agent,
  { messages }: ModelRequest,
  { content, finishReason }: ModelEnd,
): boolean {
  if (model.provider === 'scripted' || finishReason === 'length') return false;
  const followsResult =
    messages.at(-1)?.content.some(({ type }) => type === 'tool_result') === true;
  return !followsResult && content.every(isBlank);
}

function isBlank(block: AssistantBlock): boolean {
  if (block.type === 'text') return block.text.trim() === '';
  return block.type === 'thinking' && block.thinking.trim() === '';
}

function createEmptyAnswerFailure({ model }: Agent, attempts: number): ModelFailure {
  const times = attempts === 1 ? '' : ` ${attempts} times in a row`;
  return {
    class: 'protocol',
    message: `${model.provider} returned an empty answer for ${model.id}${times}.`,
    status: null,
    isRetryable: false,
    retryAfterMs: null,
  };
}

async function streamAnswer(agent: Agent, request: ModelRequest, signal: AbortSignal) {
  for await (const chunk of streamFromModel(agent, request, signal)) {
    if (chunk.type === 'end' || chunk.type === 'failure') return chunk;
    emitChunk(agent, chunk);
  }
  const message = `${agent.model.provider} ended its answer without saying so`;
  const failure = { class: 'protocol', message, status: null } as const;
  return {
    type: 'failure',
    failure: { ...failure, isRetryable: true, retryAfterMs: null },
  } as const;
}

function emitChunk(
  agent: Agent,
  chunk: Exclude<ModelChunk, { readonly type: 'end' | 'failure' }>,
): void {
  const { turn } = agent;
  switch (chunk.type) {
    case 'input-delta': {
      const { id: callId, name: tool, text } = chunk;
      return agent.emit({ type: 'input-delta', callId, tool, text });
    }
    case 'model-tool': {
      const { activity } = chunk;
      const isSame = ({ toolCallId }: ModelToolActivity): boolean =>
        toolCallId === activity.toolCallId;
      const before = turn.modelTools.find(isSame);
      const all = { ...before, ...activity };
      turn.modelTools = [...turn.modelTools.filter((each) => !isSame(each)), all];
      if (before === undefined) agent.emit({ type: 'model-tool', phase: 'start', activity: all });
      if ('output' in activity) agent.emit({ type: 'model-tool', phase: 'end', activity: all });
      return;
    }
    case 'text-delta':
      turn.text += chunk.text;
      return agent.emit(chunk);
    case 'thinking-delta':
      turn.thinking += chunk.text;
      return agent.emit(chunk);
    case 'media':
      return agent.emit(chunk);
  }
}

/** Streams the model's answer, with retries; each retry is emitted. */
export function streamFromModel(
  agent: Agent,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncIterable<ModelChunk> {
  const { model, session, emit } = agent;
  return streamWithRetries(model, request, {
    signal,
    ...dropUndefined({ wait: session.wait }),
    onRetry({ failure, delayMs, discardsOutput }) {
      // A compaction is retried, too; the answer before it is complete and stays.
      const isAnswering = agent.turn.finishReason === null;
      if (discardsOutput && isAnswering) {
        Object.assign(agent.turn, { text: '', thinking: '', modelTools: [] });
      }
      emit({ type: 'retry-start', failure, waitMs: Math.round(delayMs), discardsOutput });
    },
  });
}

async function handleAnswer(agent: Agent, end: ModelEnd, signal: AbortSignal): Promise<ModelTurn> {
  const { finishReason, usage } = end;
  agent.recordUsage(usage);
  agent.contextTokens =
    usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens + usage.outputTokens;
  const costUsd = computeCost(usage, agent.model.prices);
  agent.lastUsage = costUsd === null ? usage : { ...usage, costUsd };
  const { turn, lastUsage } = agent;
  turn.finishReason = finishReason;
  agent.emit({ type: 'turn-end', iteration: turn.iteration, finishReason, usage: lastUsage });
  const { verdict, message } = await fireModelResponse(agent, end, signal);
  await fireMessageDisplay(agent, message, signal);
  if (isRefusal(verdict.effect) || verdict.stop !== null) {
    const reason = verdict.stop?.reason ?? joinReasons(verdict);
    return { kind: 'stopped', reason };
  }
  return { kind: 'answered', message, end };
}

/** Hooks may change the answer; it is stored also when an abort ends them. */
async function fireModelResponse(agent: Agent, end: ModelEnd, signal: AbortSignal) {
  const { content, finishReason } = end;
  let message: AssistantMessage = { role: 'assistant', content };
  try {
    const verdict = await agent.fire(
      { name: 'ModelResponse', response: message, finishReason },
      signal,
    );
    const { answer, problem } = parseAnswerChange(message, verdict.changes);
    if (problem !== null) agent.emit({ type: 'notice', level: 'warning', text: problem });
    message = answer;
    return { verdict, message };
  } finally {
    if (message.content.length > 0) {
      agent.conversation.add(message, { model: agent.model.id, usage: toUsageFields(end) });
    }
  }
}

function toUsageFields({ usage }: ModelEnd): Readonly<Record<string, number>> {
  return {
    input_tokens: usage.inputTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
    output_tokens: usage.outputTokens,
  };
}

/** Hooks may change what the user sees; model and transcript keep the original. */
async function fireMessageDisplay(
  agent: Agent,
  message: AssistantMessage,
  signal: AbortSignal,
): Promise<void> {
  const text = getMessageText(message);
  const { facts, promptId, turn } = agent;
  const speaker = facts.parentId === null ? (promptId ?? facts.id) : facts.id;
  const messageId = `${speaker}-${turn.iteration}`;
  let displayText = text;
  if (text !== '') {
    const { changes } = await agent.fire(
      { name: 'MessageDisplay', text, messageId, index: 0, isFinal: true },
      signal,
    );
    if (typeof changes['display'] === 'string') displayText = changes['display'];
  }
  agent.emit({ type: 'message-end', messageId, message, shown: displayText });
}

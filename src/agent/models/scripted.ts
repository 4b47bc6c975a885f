import {
  getToolCalls,
  type AssistantBlock,
  type Message,
  type ToolUseBlock,
  type UserBlock,
} from '../../sessions/messages.ts';
import type {
  Model,
  ModelChunk,
  ModelEnd,
  ModelFailure,
  ModelRequest,
  Prices,
  Usage,
} from './model.ts';

/** One answer of a scripted model. */
export interface ScriptTurn {
  readonly thinking?: string;
  readonly text?: string;
  readonly tools?: readonly ScriptCall[];
  /** Missing token counts are estimated from the text length. */
  readonly usage?: Partial<Usage>;
  /** The model fails after emitting the turn's text. */
  readonly failure?: ScriptFailure;
}

export interface ScriptCall {
  readonly name: string;
  /** A string stands for arguments that are not valid JSON. */
  readonly input: unknown;
  readonly id?: string;
}

export interface ScriptFailure {
  readonly class: ModelFailure['class'];
  readonly message?: string;
  readonly status?: number;
  readonly retryable?: boolean;
}

export interface ScriptedOptions {
  readonly id?: string;
  readonly contextTokens?: number;
  readonly prices?: Prices | null;
}

/**
 * A model that answers each request with the next turn; sub-agents and hooks that use the same model take
 * turns, too. Fails when no turn is left.
 */
export function createScriptedModel(
  turns: readonly ScriptTurn[],
  options: ScriptedOptions = {},
): Model {
  let nextTurn = 0;
  let lastCall = 0;
  return {
    provider: 'scripted',
    id: options.id ?? 'scripted',
    contextTokens: options.contextTokens ?? 200_000,
    prices: options.prices === undefined ? FREE : options.prices,
    async *stream(request, signal) {
      const turn = turns[nextTurn];
      if (turn === undefined) {
        yield createFailure({ class: 'invalid_request', message: formatTooShort(turns.length) });
        return;
      }
      nextTurn += 1;
      const calls = numberCalls(turn.tools ?? [], Math.max(lastCall, findLastCall(request)));
      lastCall = calls.lastCall;
      yield* streamTurn(turn, createAnswer(turn, calls.blocks, request), signal);
    },
  };
}

const FREE: Prices = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

function formatTooShort(count: number): string {
  const turns = count === 1 ? '1 turn' : `${count} turns`;
  return `The script has ${turns} and was asked for more; add a turn to it.`;
}

/** Call numbers continue in a resumed session, so that ids stay unique. */
function numberCalls(
  calls: readonly ScriptCall[],
  lastUsed: number,
): { readonly blocks: readonly ToolUseBlock[]; readonly lastCall: number } {
  let lastCall = lastUsed;
  const blocks = calls.map(({ name, input, id }): ToolUseBlock => {
    if (id === undefined) lastCall += 1;
    return { type: 'tool_use', id: id ?? `call_${lastCall}`, name, input };
  });
  return { blocks, lastCall };
}

function findLastCall({ messages }: ModelRequest): number {
  return messages.reduce((last, message) => Math.max(last, measureMessage(message).lastCall), 0);
}

function createAnswer(
  turn: ScriptTurn,
  calls: readonly ToolUseBlock[],
  request: ModelRequest,
): ModelEnd {
  const { thinking = '', text = '' } = turn;
  const content: AssistantBlock[] = [];
  if (thinking !== '') content.push({ type: 'thinking', thinking });
  if (text !== '') content.push({ type: 'text', text });
  content.push(...calls);
  return {
    type: 'end',
    content,
    finishReason: calls.length > 0 ? 'tool-calls' : 'stop',
    usage: { ...estimateUsage(request, content), ...turn.usage },
  };
}

async function* streamTurn(
  turn: ScriptTurn,
  answer: ModelEnd,
  signal: AbortSignal,
): AsyncGenerator<ModelChunk, void, undefined> {
  for (const chunk of listDeltas(answer)) {
    if (signal.aborted) break;
    yield chunk;
  }
  if (signal.aborted) {
    yield createFailure({ class: 'aborted', message: 'The request was aborted.' });
  } else if (turn.failure !== undefined) yield createFailure(turn.failure);
  else yield answer;
}

function listDeltas({ content }: ModelEnd): readonly ModelChunk[] {
  return content.flatMap((block): readonly ModelChunk[] => {
    switch (block.type) {
      case 'thinking':
        return splitWords(block.thinking).map((text) => ({ type: 'thinking-delta', text }));
      case 'text':
        return splitWords(block.text).map((text) => ({ type: 'text-delta', text }));
      case 'tool_use':
        return [{ type: 'input-delta', id: block.id, name: block.name, text: formatInput(block) }];
    }
  });
}

function splitWords(text: string): readonly string[] {
  return text.split(/(?<=\s)(?=\S)/);
}

function formatInput({ input }: ToolUseBlock): string {
  return typeof input === 'string' ? input : JSON.stringify(input ?? {});
}

const RETRYABLE: readonly ModelFailure['class'][] = [
  'rate_limit',
  'overloaded',
  'server_error',
  'unreachable',
  'protocol',
];

function createFailure(failure: ScriptFailure): ModelChunk {
  return {
    type: 'failure',
    failure: {
      class: failure.class,
      message: failure.message ?? `The script says that the model fails with ${failure.class}.`,
      status: failure.status ?? null,
      isRetryable: failure.retryable ?? RETRYABLE.includes(failure.class),
      retryAfterMs: null,
    },
  };
}

function estimateUsage(request: ModelRequest, answer: readonly AssistantBlock[]): Usage {
  const asked = request.messages.reduce((sum, message) => sum + measureMessage(message).length, 0);
  return {
    inputTokens: estimateTokens(request.system.length + asked),
    outputTokens: estimateTokens(JSON.stringify(answer).length),
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
  };
}

function estimateTokens(characters: number): number {
  return Math.ceil(characters / 4);
}

interface Measure {
  readonly length: number;
  /** The highest call number, 0 when there are none. */
  readonly lastCall: number;
}

// Cached per message, so that a long conversation is measured once.
const measures = new WeakMap<Message, Measure>();

function measureMessage(message: Message): Measure {
  const known = measures.get(message);
  if (known !== undefined) return known;
  const numbers = getToolCalls(message).map(({ id }) => Number(/^call_(\d+)$/.exec(id)?.[1] ?? 0));
  const measure = {
    length: message.content.reduce((sum, block) => sum + computeLength(block), 0),
    lastCall: Math.max(0, ...numbers),
  };
  measures.set(message, measure);
  return measure;
}

function computeLength(block: AssistantBlock | UserBlock): number {
  switch (block.type) {
    case 'text':
      return block.text.length;
    case 'thinking':
      return block.thinking.length;
    case 'image':
      return block.source.data.length;
    case 'tool_use':
      return JSON.stringify(block.input ?? null).length;
    case 'tool_result':
      return typeof block.content === 'string'
        ? block.content.length
        : block.content.reduce((sum, each) => sum + computeLength(each), 0);
  }
}

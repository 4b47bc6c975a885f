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
  /** Tokens that are not named are estimated from the length of the text. */
  readonly usage?: Partial<Usage>;
  /** The model fails instead of answering, after the text that the turn has. */
  readonly failure?: ScriptFailure;
}

export interface ScriptCall {
  readonly name: string;
  /** A text stands for arguments that are no JSON. */
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
 * A model that answers with the given turns, one for each request, whoever asks: sub-agents and
 * hooks that ask the same model take the next turns. Asked once more than it has turns, it fails.
 */
export function scripted(turns: readonly ScriptTurn[], options: ScriptedOptions = {}): Model {
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
        yield failed({ class: 'invalid_request', message: tooShort(turns.length) });
        return;
      }
      nextTurn += 1;
      const calls = numberedCalls(turn.tools ?? [], Math.max(lastCall, lastCallOf(request)));
      lastCall = calls.lastCall;
      yield* play(turn, answerOf(turn, calls.blocks, request), signal);
    },
  };
}

const FREE: Prices = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

function tooShort(count: number): string {
  const turns = count === 1 ? '1 turn' : `${count} turns`;
  return `The script has ${turns} and was asked for more; add a turn to it.`;
}

/** Calls are numbered on, also in a resumed session, so that no two have the same id. */
function numberedCalls(
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

function lastCallOf({ messages }: ModelRequest): number {
  return messages.reduce((last, message) => Math.max(last, measureOf(message).lastCall), 0);
}

function answerOf(
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
    usage: { ...estimatedUsage(request, content), ...turn.usage },
  };
}

async function* play(
  turn: ScriptTurn,
  answer: ModelEnd,
  signal: AbortSignal,
): AsyncGenerator<ModelChunk, void, undefined> {
  for (const chunk of deltasOf(answer)) {
    if (signal.aborted) break;
    yield chunk;
  }
  if (signal.aborted) yield failed({ class: 'aborted', message: 'The request was aborted.' });
  else if (turn.failure !== undefined) yield failed(turn.failure);
  else yield answer;
}

function deltasOf({ content }: ModelEnd): readonly ModelChunk[] {
  return content.flatMap((block): readonly ModelChunk[] => {
    switch (block.type) {
      case 'thinking':
        return words(block.thinking).map((text) => ({ type: 'thinking-delta', text }));
      case 'text':
        return words(block.text).map((text) => ({ type: 'text-delta', text }));
      case 'tool_use':
        return [{ type: 'input-delta', id: block.id, name: block.name, text: inputText(block) }];
    }
  });
}

function words(text: string): readonly string[] {
  return text.split(/(?<=\s)(?=\S)/);
}

function inputText({ input }: ToolUseBlock): string {
  return typeof input === 'string' ? input : JSON.stringify(input ?? {});
}

const RETRYABLE: readonly ModelFailure['class'][] = [
  'rate_limit',
  'overloaded',
  'server_error',
  'unreachable',
  'protocol',
];

function failed(failure: ScriptFailure): ModelChunk {
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

function estimatedUsage(request: ModelRequest, answer: readonly AssistantBlock[]): Usage {
  const asked = request.messages.reduce((sum, message) => sum + measureOf(message).length, 0);
  return {
    inputTokens: tokensIn(request.system.length + asked),
    outputTokens: tokensIn(JSON.stringify(answer).length),
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
  };
}

function tokensIn(characters: number): number {
  return Math.ceil(characters / 4);
}

interface Measure {
  readonly length: number;
  /** The highest number of a call in it, 0 when it has none. */
  readonly lastCall: number;
}

// A long conversation is measured once, not again with every request.
const measures = new WeakMap<Message, Measure>();

function measureOf(message: Message): Measure {
  const known = measures.get(message);
  if (known !== undefined) return known;
  const numbers = getToolCalls(message).map(({ id }) => Number(/^call_(\d+)$/.exec(id)?.[1] ?? 0));
  const measure = {
    length: message.content.reduce((sum, block) => sum + lengthOf(block), 0),
    lastCall: Math.max(0, ...numbers),
  };
  measures.set(message, measure);
  return measure;
}

function lengthOf(block: AssistantBlock | UserBlock): number {
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
        : block.content.reduce((sum, each) => sum + lengthOf(each), 0);
  }
}

import { randomUUID } from 'node:crypto';
import {
  NO_USAGE,
  type FinishReason,
  type ModelChunk,
  type ModelEnd,
  type ModelToolActivity,
  type Usage,
} from '../../../agent/models/model.ts';
import { dropUndefined } from '../../../base/defined.ts';
import { isRecord, parseJson } from '../../../base/json.ts';
import { type AssistantBlock, isMedia, type MediaBlock } from '../../../sessions/messages.ts';

type Chunk = Readonly<Record<string, unknown>>;

/** A block of the answer while its chunks arrive. */
type Draft =
  | { readonly type: 'text' | 'thinking'; text: string; signature: string | null }
  | MediaBlock
  | CallDraft;

interface CallDraft {
  readonly type: 'call';
  readonly id: string;
  name: string;
  /** All parts of its input, one after the other. */
  text: string;
  /** The last part that may be the whole input so far: some services say all of it again each time. */
  lastWhole: string;
  metadata: Record<string, unknown> | null;
}

/** Builds an answer from the chunks of a handler's stream. */
export class HandlerAnswer {
  readonly #drafts: Draft[] = [];
  /** Calls by the keys under which further parts of them arrive. */
  readonly #calls = new Map<string, CallDraft>();
  #lastCall: CallDraft | null = null;
  #usage: Usage | null = null;
  #end: Chunk | null = null;
  #size = 0;

  get isDone(): boolean {
    return this.#end !== null;
  }

  get hasUsage(): boolean {
    return this.#usage !== null;
  }

  /** The length of the answer so far, in characters. */
  get size(): number {
    return this.#size;
  }

  /** Returns what the chunk adds for readers of the stream; null when the chunk is unknown. */
  add(chunk: unknown): readonly ModelChunk[] | null {
    if (!isRecord(chunk)) return null;
    switch (chunk['type']) {
      case 'text':
        return typeof chunk['text'] === 'string' ? this.#write('text', chunk['text']) : null;
      case 'reasoning':
        return this.#addThought(chunk);
      case 'tool_calls':
        return this.#addCallPart(chunk['tool_call']);
      case 'media':
        return this.#addMedia(chunk['media']);
      case 'model_tool':
        return readActivity(chunk['activity']);
      case 'usage':
        this.#usage = addUsageChunk(this.#usage, chunk);
        return [];
      case 'done':
        this.#end = chunk;
        return [];
      default:
        return null;
    }
  }

  /** Why the handler failed, in its own words; null when it did not. */
  findFailure(): unknown {
    if (this.#end?.['success'] !== false) return null;
    return this.#end['failure'] ?? this.#end['error'] ?? 'it says that it failed, and not why';
  }

  /** Returns the whole answer, or a sentence about what is wrong with it. */
  createEnd(): ModelEnd | string {
    const nameless = this.#drafts.find((draft) => draft.type === 'call' && draft.name === '');
    if (nameless !== undefined) return 'it called a tool without naming it';
    if (this.#drafts.length === 0 && this.#end === null) return 'it ended without an answer';
    const content = this.#drafts.map(toBlock);
    const hasCalls = content.some(({ type }) => type === 'tool_use');
    return {
      type: 'end',
      content,
      finishReason: toFinishReason(this.#end?.['incompleteReason'], hasCalls),
      usage: this.#usage ?? NO_USAGE,
    };
  }

  #write(type: 'text' | 'thinking', text: string): readonly ModelChunk[] {
    if (text === '') return [];
    const last = this.#drafts.at(-1);
    if (last?.type === type) last.text += text;
    else this.#drafts.push({ type, text, signature: null });
    this.#size += text.length;
    return [{ type: `${type}-delta`, text }];
  }

  /** A signature may arrive after its thought, in a separate chunk. */
  #addThought({ reasoning, signature }: Chunk): readonly ModelChunk[] | null {
    if (typeof reasoning !== 'string') return null;
    const deltas = this.#write('thinking', reasoning);
    const thought = this.#drafts.findLast((draft) => draft.type === 'thinking');
    if (typeof signature === 'string' && thought?.type === 'thinking') {
      thought.signature = signature;
    }
    return deltas;
  }

  #addMedia(media: unknown): readonly ModelChunk[] | null {
    if (!isMedia(media)) return null;
    const block: MediaBlock = { type: 'media', media };
    this.#drafts.push(block);
    return [block];
  }

  /** Parts of a call have its id or its index in common; one without either continues the last call. */
  #addCallPart(toolCall: unknown): readonly ModelChunk[] | null {
    const part = readCallPart(toolCall);
    if (part === null) return null;
    const existing = part.keys
      .map((key) => this.#calls.get(key))
      .find((draft) => draft !== undefined);
    const continued = part.keys.length === 0 && part.name === '' ? this.#lastCall : null;
    const draft = existing ?? continued ?? this.#beginCall(part.id);
    for (const key of part.keys) this.#calls.set(key, draft);
    this.#lastCall = draft;
    if (part.name !== '') draft.name = part.name;
    if (part.metadata !== null) draft.metadata = part.metadata;
    draft.text = part.isWhole ? part.text : draft.text + part.text;
    if (part.text.trimStart().startsWith('{')) draft.lastWhole = part.text;
    this.#size += part.text.length;
    if (part.text === '') return [];
    return [{ type: 'input-delta', id: draft.id, name: draft.name, text: part.text }];
  }

  #beginCall(id: string | null): CallDraft {
    const draft: CallDraft = {
      type: 'call',
      id: id ?? `call_${randomUUID()}`,
      name: '',
      text: '',
      lastWhole: '',
      metadata: null,
    };
    this.#drafts.push(draft);
    return draft;
  }
}

/** `keys` are what parts of the same call have in common. */
function readCallPart(toolCall: unknown) {
  if (!isRecord(toolCall) || !isRecord(toolCall['function'])) return null;
  const { call_id: callId, index, metadata } = toolCall;
  const { id: innerId, name, arguments: input } = toolCall['function'];
  const id = [callId, innerId].find((each) => typeof each === 'string' && each !== '');
  const isWhole = isRecord(input);
  return {
    id: typeof id === 'string' ? id : null,
    keys: [
      ...(typeof id === 'string' ? [`id ${id}`] : []),
      ...(typeof index === 'number' ? [`place ${index}`] : []),
    ],
    name: typeof name === 'string' ? name : '',
    text: isWhole ? JSON.stringify(input) : readText(input),
    isWhole,
    metadata: isRecord(metadata) ? metadata : null,
  };
}

/** Null for what is not a call that a service makes. */
function readActivity(activity: unknown): readonly ModelChunk[] | null {
  if (!isRecord(activity)) return null;
  const { toolCallId, toolName, execution, input, output, isError } = activity;
  if (typeof toolCallId !== 'string' || typeof toolName !== 'string') return null;
  if (execution !== 'client' && execution !== 'provider') return null;
  const read: ModelToolActivity = {
    toolCallId,
    toolName,
    execution,
    ...dropUndefined({ input }),
    ...('output' in activity ? { output } : {}),
    ...(isError === true ? { isError } : {}),
  };
  return [{ type: 'model-tool', activity: read }];
}

function readText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Tokens from a cache are part of the input, unless there are more of them than of it. */
function addUsageChunk(before: Usage | null, chunk: Chunk): Usage {
  const cacheReadTokens = readAmount(chunk['cacheReadTokens']);
  const cacheWriteTokens = readAmount(chunk['cacheWriteTokens']);
  const input = readAmount(chunk['inputTokens']);
  const cached = cacheReadTokens + cacheWriteTokens;
  const cost = chunk['totalCost'];
  const isPriced = typeof cost === 'number' && Number.isFinite(cost) && cost >= 0;
  const costUsd = isPriced ? cost + (before?.costUsd ?? 0) : before?.costUsd;
  return {
    inputTokens: (before?.inputTokens ?? 0) + (input >= cached ? input - cached : input),
    outputTokens: (before?.outputTokens ?? 0) + readAmount(chunk['outputTokens']),
    cacheReadTokens: (before?.cacheReadTokens ?? 0) + cacheReadTokens,
    cacheWriteTokens: (before?.cacheWriteTokens ?? 0) + cacheWriteTokens,
    ...dropUndefined({ costUsd }),
  };
}

function readAmount(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;
}

function toFinishReason(incomplete: unknown, hasCalls: boolean): FinishReason {
  const why = readText(incomplete).replaceAll('_', '-');
  if (/^(?:max-(?:output-)?tokens|length)$/.test(why)) return 'length';
  if (why === 'content-filter') return why;
  if (hasCalls) return 'tool-calls';
  return why === '' ? 'stop' : 'other';
}

function toBlock(draft: Draft): AssistantBlock {
  if (draft.type === 'call') {
    const { id, name, metadata } = draft;
    const call = { type: 'tool_use', id, name, input: parseInput(draft) } as const;
    return metadata === null ? call : { ...call, metadata };
  }
  if (draft.type === 'media') return draft;
  const { type, text, signature } = draft;
  if (type === 'text') return { type, text };
  return { type, thinking: text, ...(signature === null ? {} : { signature }) };
}

function parseInput({ text, lastWhole }: CallDraft): unknown {
  if (text.trim() === '') return {};
  const joined = parseJson(text);
  if (joined.ok) return joined.value;
  const whole = parseJson(lastWhole);
  return whole.ok ? whole.value : text;
}

import { randomUUID } from 'node:crypto';
import {
  NO_USAGE,
  type FinishReason,
  type ModelChunk,
  type ModelEnd,
  type Usage,
} from '../../../agent/models/model.ts';
import { isRecord, parseJson } from '../../../base/json.ts';
import type { AssistantBlock } from '../../../sessions/messages.ts';

/** Puts an answer together from the chunks of a handler's stream. */
export interface HandlerAnswer {
  /** What the chunk adds for whoever reads along; null when it is no chunk that is known. */
  add(chunk: unknown): readonly ModelChunk[] | null;
  /** The handler said that it is done; a sentence says why it failed. */
  done(): { readonly failed: unknown } | null;
  hasUsage(): boolean;
  /** How much was said so far, in characters. */
  size(): number;
  /** The whole answer, or a sentence about what is wrong with it. */
  finished(): ModelEnd | string;
}

type Chunk = Readonly<Record<string, unknown>>;

export function createHandlerAnswer(): HandlerAnswer {
  const drafts: Draft[] = [];
  const calls = createCalls(drafts);
  let usage: Usage | null = null;
  let end: Chunk | null = null;
  let size = 0;

  const write = (type: WrittenDraft['type'], text: string): readonly ModelChunk[] => {
    if (text === '') return [];
    const last = drafts.at(-1);
    if (last?.type === type) last.text += text;
    else drafts.push({ type, text, signature: null });
    size += text.length;
    return [{ type: `${type}-delta`, text }];
  };
  const think = ({ reasoning, signature }: Chunk): readonly ModelChunk[] | null => {
    if (typeof reasoning !== 'string') return null;
    const deltas = write('thinking', reasoning);
    if (typeof signature === 'string') applySignature(drafts, signature);
    return deltas;
  };
  const call = (chunk: Chunk): readonly ModelChunk[] | null => {
    const delta = calls.add(chunk['tool_call']);
    if (delta === null) return null;
    size += delta.text.length;
    return delta.text === '' ? [] : [delta];
  };
  return {
    add(chunk) {
      if (!isRecord(chunk)) return null;
      switch (chunk['type']) {
        case 'text':
          return typeof chunk['text'] === 'string' ? write('text', chunk['text']) : null;
        case 'reasoning':
          return think(chunk);
        case 'tool_calls':
          return call(chunk);
        case 'usage':
          usage = addUsageChunk(usage, chunk);
          return [];
        case 'done':
          end = chunk;
          return [];
        default:
          return null;
      }
    },
    done: () => (end === null ? null : { failed: findFailure(end) }),
    hasUsage: () => usage !== null,
    size: () => size,
    finished: () => createEnd(drafts, { end, usage }),
  };
}

type Draft = WrittenDraft | CallDraft;

interface WrittenDraft {
  readonly type: 'text' | 'thinking';
  text: string;
  signature: string | null;
}

interface CallDraft {
  readonly type: 'call';
  readonly id: string;
  name: string;
  text: string;
}

/** It may come after the thought, in a chunk of its own. */
function applySignature(drafts: readonly Draft[], signature: string): void {
  const thought = drafts.findLast((draft) => draft.type === 'thinking');
  if (thought?.type === 'thinking') thought.signature = signature;
}

type InputDelta = Extract<ModelChunk, { type: 'input-delta' }>;

interface Calls {
  add(given: unknown): InputDelta | null;
}

/** Parts of a call belong together by its id or its place; without either, to the call before them. */
function createCalls(drafts: Draft[]): Calls {
  const known = new Map<string, CallDraft>();
  let last: CallDraft | null = null;
  const begin = (id: string | null): CallDraft => {
    const draft: CallDraft = {
      type: 'call',
      id: id ?? `call_${randomUUID()}`,
      name: '',
      text: '',
    };
    drafts.push(draft);
    return draft;
  };
  return {
    add(given) {
      const part = readCall(given);
      if (part === null) return null;
      const found = part.keys.map((key) => known.get(key)).find((draft) => draft !== undefined);
      const goesOn = part.keys.length === 0 && part.name === '' ? last : null;
      const draft = found ?? goesOn ?? begin(part.id);
      for (const key of part.keys) known.set(key, draft);
      last = draft;
      if (part.name !== '') draft.name = part.name;
      draft.text = part.isWhole ? part.text : draft.text + part.text;
      return { type: 'input-delta', id: draft.id, name: draft.name, text: part.text };
    },
  };
}

interface CallPart {
  readonly id: string | null;
  /** By which parts of the same call are known. */
  readonly keys: readonly string[];
  readonly name: string;
  readonly text: string;
  readonly isWhole: boolean;
}

function readCall(given: unknown): CallPart | null {
  if (!isRecord(given) || !isRecord(given['function'])) return null;
  const { call_id: callId, index } = given;
  const { id: innerId, name, arguments: input } = given['function'];
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
  };
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
    ...(costUsd === undefined ? {} : { costUsd }),
  };
}

function readAmount(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;
}

function findFailure(end: Chunk): unknown {
  if (end['success'] !== false) return null;
  return end['failure'] ?? end['error'] ?? 'it says that it failed, and not why';
}

interface Finishing {
  readonly end: Chunk | null;
  readonly usage: Usage | null;
}

function createEnd(drafts: readonly Draft[], { end, usage }: Finishing): ModelEnd | string {
  const nameless = drafts.find((draft) => draft.type === 'call' && draft.name === '');
  if (nameless !== undefined) return 'it called a tool without naming it';
  if (drafts.length === 0 && end === null) return 'it ended without an answer';
  const content = drafts.map(toBlock);
  const hasCalls = content.some(({ type }) => type === 'tool_use');
  return {
    type: 'end',
    content,
    finishReason: toFinishReason(end?.['incompleteReason'], hasCalls),
    usage: usage ?? NO_USAGE,
  };
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
    return { type: 'tool_use', id: draft.id, name: draft.name, input: parseInput(draft.text) };
  }
  const { type, text, signature } = draft;
  if (type === 'text') return { type, text };
  return { type, thinking: text, ...(signature === null ? {} : { signature }) };
}

function parseInput(text: string): unknown {
  if (text.trim() === '') return {};
  const parsed = parseJson(text);
  return parsed.ok ? parsed.value : text;
}

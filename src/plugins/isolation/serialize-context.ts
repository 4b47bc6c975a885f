import { isRecord } from '../../base/json.ts';
import { isStandardSchema, toJsonSchema } from '../contract/input-schema.ts';
import { getSharedMessages } from '../contract/snapshot.ts';
import { addToCache, type SentChange, type SentLists } from './wire/list-delta-cache.ts';
import { serializeValue } from './wire/serialize.ts';
import type { ContextForm, ListedForm, RequestForm } from './wire/protocol.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Serializes the arguments of hooks, tools and listeners; of conversations, only new messages are sent. */
export class ContextSerializer {
  readonly #lists: SentLists;
  readonly #sentTexts = new Map<string, SentText>();

  constructor(lists: SentLists) {
    this.#lists = lists;
  }

  /** Serializes the argument of a hook or a tool. */
  serialize(context: object): ContextForm {
    const { snapshot, result, request, tool, signal, ...rest }: Fields = { ...context };
    const agent = readAgentId(snapshot);
    const isRunResult = isRecord(result) && getSharedMessages(result) !== null;
    const fields = {
      ...rest,
      ...('tool' in context ? { tool: serializeTool(tool) } : {}),
      ...('result' in context && !isRunResult ? { result } : {}),
    };
    const lists = this.#lists;
    return {
      fields: serializeValue(fields),
      ...(isRecord(snapshot) ? { snapshot: serializeList(snapshot, agent, lists) } : {}),
      ...(isRunResult ? { result: serializeList(result, agent, lists) } : {}),
      ...(isRecord(request) ? { request: serializeRequest(request, agent, lists) } : {}),
      ...(signal instanceof AbortSignal ? { signal: serializeSignal(signal) } : {}),
    };
  }

  /** Serializes the argument of a listener. */
  serializeEvent(event: object): ContextForm {
    if (!isContinuation(event, this.#sentTexts)) return this.serialize(event);
    const { accumulatedText: _known, ...rest }: Fields = { ...event };
    return { ...this.serialize(rest), continues: true };
  }
}

function readAgentId(snapshot: unknown): string {
  const agent = isRecord(snapshot) ? snapshot['agentId'] : undefined;
  return typeof agent === 'string' ? agent : '';
}

function serializeList(owner: Fields, agent: string, lists: SentLists): ListedForm {
  const shared = getSharedMessages(owner);
  const fields: Record<string, unknown> = {};
  // `messages` is sent as a list change instead.
  for (const key of Object.keys(owner)) if (key !== 'messages') fields[key] = owner[key];
  const messages =
    shared === null
      ? computeFieldChange(owner['messages'], `said by ${agent}`, lists)
      : lists.recordGrowth(`said by ${agent}`, shared);
  return { fields: serializeValue(fields), messages };
}

function computeFieldChange(value: unknown, list: string, lists: SentLists): SentChange {
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  return lists.recordChange(list, items);
}

function serializeRequest(request: Fields, agent: string, lists: SentLists): RequestForm {
  const { messages, tools, signal, ...rest } = request;
  return {
    fields: serializeValue(rest),
    messages: computeFieldChange(messages, `asked by ${agent}`, lists),
    tools: computeFieldChange(tools, `tools of ${agent}`, lists),
    ...(signal instanceof AbortSignal ? { signal: serializeSignal(signal) } : {}),
  };
}

function serializeSignal(signal: AbortSignal): NonNullable<ContextForm['signal']> {
  return signal.aborted ? { reason: serializeValue(signal.reason) } : {};
}

/** The tool as the model gets it, without its function. */
function serializeTool(tool: unknown): unknown {
  if (!isRecord(tool) || typeof tool['execute'] !== 'function') return tool;
  const { execute: _work, inputSchema, ...rest } = tool;
  const isAuthored = isStandardSchema(inputSchema);
  return { ...rest, inputSchema: isAuthored ? readSchema(inputSchema, tool['name']) : inputSchema };
}

function readSchema(schema: Parameters<typeof toJsonSchema>[0], name: unknown): unknown {
  try {
    return toJsonSchema(schema, String(name));
  } catch {
    // The problem of the schema was reported when the tool was registered.
    return { type: 'object' };
  }
}

interface SentText {
  readonly iteration: unknown;
  readonly length: number;
}

/** A text delta contains all text before it, which the other side can accumulate itself. */
function isContinuation(event: object, sentTexts: Map<string, SentText>): boolean {
  const { type, text, accumulatedText, iteration, snapshot }: Fields = { ...event };
  if (typeof text !== 'string' || typeof accumulatedText !== 'string') return false;
  const stream = findTextStream(type, snapshot);
  const before = sentTexts.get(stream);
  addToCache(sentTexts, stream, { iteration, length: accumulatedText.length });
  if (before === undefined || before.iteration !== iteration) return false;
  return before.length + text.length === accumulatedText.length;
}

/** The key of the text that deltas belong to; the same on both sides. */
export function findTextStream(type: unknown, snapshot: unknown): string {
  return `${String(type)} of ${readAgentId(snapshot)}`;
}

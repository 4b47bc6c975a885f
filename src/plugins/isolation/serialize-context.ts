import { isRecord } from '../../base/json.ts';
import { isStandardSchema, toJsonSchema } from '../contract/input-schema.ts';
import { getSharedMessages } from '../contract/snapshot.ts';
import { addToCache, type SentChange, type SentLists } from './wire/list-delta-cache.ts';
import { serializeValue } from './wire/serialize.ts';
import type { ContextForm, ListedForm, RequestForm } from './wire/protocol.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Serializes what hooks, tools and listeners are called with: of conversations only what is new. */
export class ContextSerializer {
  readonly #lists: SentLists;
  readonly #spoken = new Map<string, Spoken>();

  constructor(lists: SentLists) {
    this.#lists = lists;
  }

  /** The argument of a hook or a tool. */
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

  /** The argument of a listener. */
  serializeEvent(event: object): ContextForm {
    if (!isContinuation(event, this.#spoken)) return this.serialize(event);
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
  // Whoever reads `messages` has them copied.
  for (const key of Object.keys(owner)) if (key !== 'messages') fields[key] = owner[key];
  const messages =
    shared === null
      ? computeFieldChange(owner['messages'], `said by ${agent}`, lists)
      : lists.growth(`said by ${agent}`, shared);
  return { fields: serializeValue(fields), messages };
}

function computeFieldChange(given: unknown, list: string, lists: SentLists): SentChange {
  const items: readonly unknown[] = Array.isArray(given) ? given : [];
  return lists.change(list, items);
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

/** As a model is told of it: what makes it work stays here. */
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
    // Whoever registered it was told.
    return { type: 'object' };
  }
}

interface Spoken {
  readonly iteration: unknown;
  readonly length: number;
}

/** Pieces of text carry all that was said before them, which the other side can put together itself. */
function isContinuation(event: object, spoken: Map<string, Spoken>): boolean {
  const { type, text, accumulatedText, iteration, snapshot }: Fields = { ...event };
  if (typeof text !== 'string' || typeof accumulatedText !== 'string') return false;
  const stream = findTextStream(type, snapshot);
  const before = spoken.get(stream);
  addToCache(spoken, stream, { iteration, length: accumulatedText.length });
  if (before === undefined || before.iteration !== iteration) return false;
  return before.length + text.length === accumulatedText.length;
}

/** Whose words of which kind they are; the same on both sides. */
export function findTextStream(type: unknown, snapshot: unknown): string {
  return `${String(type)} of ${readAgentId(snapshot)}`;
}

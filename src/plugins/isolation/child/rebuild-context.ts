import { isRecord } from '../../../base/json.ts';
import { findTextStream } from '../serialize-context.ts';
import {
  computeChange,
  isSame,
  isUnchanged,
  type KnownList,
  type KnownLists,
  addToCache,
} from '../wire/list-delta-cache.ts';
import { serializeValue, deserializeValue } from '../wire/serialize.ts';
import type {
  ContextForm,
  ListChanges,
  ListedForm,
  PackedChange,
  RequestChanges,
  RequestForm,
} from '../wire/protocol.ts';

type Fields = Record<string, unknown>;

/** Rebuilds the arguments of hooks, tools and listeners. */
export class ContextRebuilder {
  readonly #lists: KnownLists;
  readonly #texts = new Map<string, string>();

  constructor(lists: KnownLists) {
    this.#lists = lists;
  }

  /** `request` is the request in the context, which a hook may change in place; null when there is none. */
  rebuild(
    form: ContextForm,
    signal: AbortSignal | null,
  ): { readonly context: Fields; readonly request: RebuiltRequest | null } {
    const lists = this.#lists;
    const context: Fields = readFields(deserializeValue(form.fields));
    if (form.snapshot !== undefined) context['snapshot'] = rebuildList(form.snapshot, lists);
    if (form.result !== undefined) context['result'] = rebuildList(form.result, lists);
    const request =
      form.request === undefined ? null : new RebuiltRequest(form.request, lists, signal);
    if (request !== null) context['request'] = request.object;
    if (form.signal !== undefined) context['signal'] = signal;
    addSpoken(context, form.continues === true, this.#texts);
    return { context, request };
  }
}

function readFields(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

/** The messages are copied when they are first read. */
function rebuildList({ fields, messages }: ListedForm, lists: KnownLists): Fields {
  const list = lists.applyChange(messages);
  const object = readFields(deserializeValue(fields));
  defineLazyField(object, 'messages', () => copyValue(list));
  return object;
}

function copyValue({ items, length }: KnownList): unknown {
  return structuredClone(items.slice(0, length));
}

/** Defines a field that is created when it is first read; the returned function says whether it was. */
function defineLazyField(object: Fields, key: string, make: () => unknown): () => boolean {
  let value: unknown;
  let isMade = false;
  Object.defineProperty(object, key, {
    enumerable: true,
    configurable: true,
    get() {
      if (!isMade) value = make();
      isMade = true;
      return value;
    },
    set(newValue: unknown) {
      isMade = true;
      value = newValue;
    },
  });
  return () => isMade;
}

/** A request that a hook may change in place. */
class RebuiltRequest {
  readonly object: Fields = {};
  readonly #before: Fields;
  readonly #messages: KnownList;
  readonly #tools: KnownList;
  /** Whether a lazily created field was read or replaced. */
  readonly #touched = new Map<string, () => boolean>();

  constructor(form: RequestForm, lists: KnownLists, signal: AbortSignal | null) {
    this.#messages = lists.applyChange(form.messages);
    this.#tools = lists.applyChange(form.tools);
    this.#before = readFields(deserializeValue(form.fields));
    for (const [key, value] of Object.entries(this.#before)) {
      if (typeof value !== 'object' || value === null) this.object[key] = value;
      else this.#defineLazily(key, () => structuredClone(value));
    }
    this.#defineLazily('messages', () => copyValue(this.#messages));
    this.#defineLazily('tools', () => copyValue(this.#tools));
    if (form.signal !== undefined) this.object['signal'] = signal;
  }

  /** Collects the changes since the request was rebuilt. */
  collectChanges(): RequestChanges {
    const set: Fields = {};
    const { object } = this;
    for (const key of Object.keys(object)) {
      if (key === 'signal' || !this.#wasTouched(key)) continue;
      const value = object[key];
      const isList = (key === 'messages' || key === 'tools') && Array.isArray(value);
      if (!isList && !this.#isUnchanged(key, value)) set[key] = value;
    }
    const keys = [...Object.keys(this.#before), 'messages', 'tools'];
    const lists = ['messages', 'tools'].filter((key) => this.#wasTouched(key));
    return {
      set: serializeValue(set),
      removed: keys.filter((key) => !Object.hasOwn(object, key)),
      lists: this.listChanges(Object.fromEntries(lists.map((key) => [key, object[key]]))),
    };
  }

  /** Lists that a hook returned or changed, as changes of those in the request. */
  listChanges(owner: unknown): ListChanges {
    if (!isRecord(owner)) return {};
    const messages = listChange(owner['messages'], this.#messages);
    const tools = listChange(owner['tools'], this.#tools);
    return {
      ...(messages === null ? {} : { messages }),
      ...(tools === null ? {} : { tools }),
    };
  }

  #defineLazily(key: string, make: () => unknown): void {
    this.#touched.set(key, defineLazyField(this.object, key, make));
  }

  #wasTouched(key: string): boolean {
    return this.#touched.get(key)?.() ?? true;
  }

  #isUnchanged(key: string, value: unknown): boolean {
    return Object.hasOwn(this.#before, key) && isSame(this.#before[key], value);
  }
}

function listChange(list: unknown, before: KnownList): PackedChange | null {
  if (!Array.isArray(list)) return null;
  const change = serializeChange(before, list);
  return change.isUnchanged ? null : change.change;
}

export function serializeChange({ items, length }: KnownList, list: readonly unknown[]) {
  const change = computeChange(items.slice(0, length), list);
  const { start, end, between } = change;
  return {
    change: { start, end, between: serializeValue(between) },
    isUnchanged: isUnchanged(change, length),
  };
}

/** Accumulates the text of deltas, where it was not sent. */
function addSpoken(event: Fields, isContinued: boolean, texts: Map<string, string>): void {
  const { type, text, accumulatedText, snapshot } = event;
  if (typeof text !== 'string') return;
  const stream = findTextStream(type, snapshot);
  if (isContinued) event['accumulatedText'] = (texts.get(stream) ?? '') + text;
  const whole = isContinued ? event['accumulatedText'] : accumulatedText;
  if (typeof whole === 'string') addToCache(texts, stream, whole);
}

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

/** What a hook, a tool or a listener is called with, made again here. */
export interface Told {
  readonly context: Fields;
  /** Null when there is none. */
  readonly request: ToldRequest | null;
}

/** A request that a hook may change in place. */
export interface ToldRequest {
  readonly object: Fields;
  /** What was changed in it since. */
  changes(): RequestChanges;
  /** Lists in what a hook returned, as changes of those in the request. */
  listsIn(result: unknown): ListChanges;
}

export interface Telling {
  tell(form: ContextForm, signal: AbortSignal | null): Told;
}

export function createTelling(lists: KnownLists): Telling {
  const spoken = new Map<string, string>();
  return {
    tell(form, signal) {
      const context: Fields = readFields(deserializeValue(form.fields));
      if (form.snapshot !== undefined) context['snapshot'] = rebuildList(form.snapshot, lists);
      if (form.result !== undefined) context['result'] = rebuildList(form.result, lists);
      const request =
        form.request === undefined ? null : rebuildRequest(form.request, lists, signal);
      if (request !== null) context['request'] = request.object;
      if (form.signal !== undefined) context['signal'] = signal;
      addSpoken(context, form.continues === true, spoken);
      return { context, request };
    },
  };
}

function readFields(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

/** The messages are copied only for whoever looks at them. */
function rebuildList({ fields, messages }: ListedForm, lists: KnownLists): Fields {
  const known = lists.applyChange(messages);
  const object = readFields(deserializeValue(fields));
  defineLazyField(object, 'messages', () => copyValue(known));
  return object;
}

function copyValue({ items, length }: KnownList): unknown {
  return structuredClone(items.slice(0, length));
}

/** A field that is made when it is first looked at; says whether anybody did. */
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
    set(given: unknown) {
      isMade = true;
      value = given;
    },
  });
  return () => isMade;
}

function rebuildRequest(
  form: RequestForm,
  lists: KnownLists,
  signal: AbortSignal | null,
): ToldRequest {
  const known = {
    messages: lists.applyChange(form.messages),
    tools: lists.applyChange(form.tools),
  };
  const given = readFields(deserializeValue(form.fields));
  const object: Fields = {};
  const looked = new Map<string, () => boolean>();
  const lend = (key: string, make: () => unknown): void =>
    void looked.set(key, defineLazyField(object, key, make));
  for (const [key, value] of Object.entries(given)) {
    if (typeof value === 'object' && value !== null) lend(key, () => structuredClone(value));
    else object[key] = value;
  }
  lend('messages', () => copyValue(known.messages));
  lend('tools', () => copyValue(known.tools));
  if (form.signal !== undefined) object['signal'] = signal;
  const wasTouched = (key: string): boolean => looked.get(key)?.() ?? true;
  return {
    object,
    changes: () => collectChanges(object, { given, known, wasTouched }),
    listsIn: (result) => (isRecord(result) ? listChanges(result, known) : {}),
  };
}

interface Known {
  readonly messages: KnownList;
  readonly tools: KnownList;
}

interface Before {
  readonly given: Fields;
  readonly known: Known;
  readonly wasTouched: (key: string) => boolean;
}

function collectChanges(object: Fields, { given, known, wasTouched }: Before): RequestChanges {
  const set: Fields = {};
  for (const key of Object.keys(object)) {
    if (key === 'signal' || !wasTouched(key)) continue;
    const value = object[key];
    const isList = (key === 'messages' || key === 'tools') && Array.isArray(value);
    if (!isList && !(Object.hasOwn(given, key) && isSame(given[key], value))) set[key] = value;
  }
  const before = [...Object.keys(given), 'messages', 'tools'];
  const touched = Object.fromEntries(
    ['messages', 'tools'].filter(wasTouched).map((key) => [key, object[key]]),
  );
  return {
    set: serializeValue(set),
    removed: before.filter((key) => !Object.hasOwn(object, key)),
    lists: listChanges(touched, known),
  };
}

/** Those that are lists and say something else than what was given. */
function listChanges(owner: Readonly<Record<string, unknown>>, known: Known): ListChanges {
  const messages = listChange(owner['messages'], known.messages);
  const tools = listChange(owner['tools'], known.tools);
  return {
    ...(messages === null ? {} : { messages }),
    ...(tools === null ? {} : { tools }),
  };
}

function listChange(list: unknown, known: KnownList): PackedChange | null {
  if (!Array.isArray(list)) return null;
  const change = serializeChange(known, list);
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

/** What was said so far is put together here, where it did not come with the piece. */
function addSpoken(event: Fields, isContinued: boolean, spoken: Map<string, string>): void {
  const { type, text, accumulatedText, snapshot } = event;
  if (typeof text !== 'string') return;
  const stream = findTextStream(type, snapshot);
  if (isContinued) event['accumulatedText'] = (spoken.get(stream) ?? '') + text;
  const whole = isContinued ? event['accumulatedText'] : accumulatedText;
  if (typeof whole === 'string') addToCache(spoken, stream, whole);
}

import { isRecord } from '../../base/json.ts';
import { changed } from './wire/list-change.ts';
import { unpack } from './wire/portable.ts';
import type { AnswerForm, PackedChange, RequestChanges } from './wire/protocol.ts';

/** The list as the other side left it; what it did not touch is the same. */
export function changedBy(given: readonly unknown[], change: PackedChange): unknown[] {
  const between = unpack(change.between);
  return changed(given, { ...change, between: Array.isArray(between) ? between : [] });
}

/** Does to a request here what a hook did to its copy there. */
export function changeRequest(request: object, { set, removed, lists }: RequestChanges): void {
  const { messages, tools } = lists;
  if (messages !== undefined) setList(request, 'messages', messages);
  if (tools !== undefined) setList(request, 'tools', tools);
  const fields = unpack(set);
  if (isRecord(fields)) Object.assign(request, fields);
  for (const key of removed) Reflect.deleteProperty(request, key);
}

function setList(owner: object, key: string, change: PackedChange): void {
  Reflect.set(owner, key, changedBy(listIn(owner, key), change));
}

function listIn(owner: object, key: string): readonly unknown[] {
  const list: unknown = Reflect.get(owner, key);
  return Array.isArray(list) ? list : [];
}

/** What a hook returned, with the lists that it made of those in the request. */
export function resultOf({ value, lists = {} }: AnswerForm, request: unknown): unknown {
  const result = unpack(value);
  if (!isRecord(result) || !isRecord(request)) return result;
  const { messages, tools } = lists;
  return {
    ...result,
    ...(messages === undefined
      ? {}
      : { messages: changedBy(listIn(request, 'messages'), messages) }),
    ...(tools === undefined ? {} : { tools: changedBy(listIn(request, 'tools'), tools) }),
  };
}

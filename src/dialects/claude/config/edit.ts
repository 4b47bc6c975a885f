import { findNodeAtLocation, getNodeValue, type JSONPath, type Node } from 'jsonc-parser';
import { HooklineError, invariant } from '../../../base/errors.ts';
import { isRecord, stripByteOrderMark } from '../../../base/json.ts';
import type { BrokenEntry, Entry, Source } from '../entry.ts';
import type { ClaudeEvent } from '../events.ts';
import { formatEntryText } from './entry-text.ts';
import { appendNode, getLineNumber, parseDocument, removeNode } from '../../../base/edit-json.ts';

/** Identifies a handler by its line, or by the entry that was read from there. */
export type EntryAddress =
  | (Pick<BrokenEntry, 'line'> & { readonly event: ClaudeEvent })
  | (Pick<Entry, 'event' | 'line' | 'text'> & {
      readonly source: Pick<Source, 'kind' | 'isCline'>;
    });

/** Removes a handler, and the group and event that would be empty without it. */
export function removeEntry(text: string, address: EntryAddress): string {
  const { mark, body } = splitMark(text);
  const root = parse(body);
  const node = findNodeAtLocation(root, widen(root, findHandler(root, body, address)));
  invariant(node !== undefined, 'a handler that was found has a node');
  return mark + removeNode(body, node.parent?.type === 'property' ? node.parent : node);
}

/** Adds a handler to the group with the same matcher, or to a new one. An empty text becomes a whole file. */
export function addEntry(
  text: string,
  event: ClaudeEvent,
  added: {
    readonly matcher: string | undefined;
    readonly handler: Readonly<Record<string, unknown>>;
  },
): string {
  const { mark, body } = splitMark(text);
  const { matcher, handler } = added;
  if (body.trim() === '') {
    return `${JSON.stringify({ hooks: { [event]: [createGroup(matcher, [handler])] } }, null, 2)}\n`;
  }
  const hooks = findObject(parseObject(body), 'hooks');
  if (hooks === undefined) {
    const value = { [event]: [createGroup(matcher, [handler])] };
    return mark + appendNode(body, parseObject(body), { key: 'hooks', value });
  }
  const groups = findNodeAtLocation(hooks, [event]);
  const group = createGroup(matcher, [handler]);
  if (groups === undefined) return mark + appendNode(body, hooks, { key: event, value: [group] });
  if (groups.type !== 'array') {
    throw createEditError(`"${event}": expected an array of matcher groups, found ${groups.type}`);
  }
  const same = groups.children?.find((each) => hasMatcher(each, matcher));
  const handlers = same === undefined ? undefined : findNodeAtLocation(same, ['hooks']);
  return handlers === undefined
    ? mark + appendNode(body, groups, { value: group })
    : mark + appendNode(body, handlers, { value: handler });
}

function splitMark(text: string): { readonly mark: string; readonly body: string } {
  const body = stripByteOrderMark(text);
  return { mark: text.slice(0, text.length - body.length), body };
}

function createGroup(
  matcher: string | undefined,
  hooks: readonly unknown[],
): Record<string, unknown> {
  return matcher === undefined ? { hooks } : { matcher, hooks };
}

function hasMatcher(group: Node, matcher: string | undefined): boolean {
  const value: unknown = getNodeValue(group);
  return isRecord(value) && value['matcher'] === matcher && Array.isArray(value['hooks']);
}

function parseObject(body: string): Node {
  const root = parse(body);
  if (root.type === 'object') return root;
  throw createEditError(`expected an object with "hooks", found ${root.type}`);
}

function findObject(parent: Node, name: string): Node | undefined {
  const node = findNodeAtLocation(parent, [name]);
  if (node === undefined || node.type === 'object') return node;
  throw createEditError(`"${name}": expected an object of events, found ${node.type}`);
}

function findHandler(root: Node, body: string, address: EntryAddress): JSONPath {
  const { event, line } = address;
  const matching = listHandlers(root, event)
    .filter(({ node }) => isOnLine(node, line, body))
    .filter(({ handler, matcher }) => isSame(address, { handler, matcher }));
  const [first, ...others] = matching;
  if (first === undefined) {
    throw createEditError(
      `expected this handler of ${event} at line ${line}, found no such handler there`,
    );
  }
  if (others.length > 0 && !('text' in address)) {
    throw createEditError(
      `expected one handler of ${event} at line ${line}, found ${matching.length}`,
    );
  }
  return first.path;
}

interface Written {
  readonly handler: unknown;
  readonly matcher: string | undefined;
}

interface Located extends Written {
  readonly node: Node;
  readonly path: JSONPath;
}

function listHandlers(root: Node, event: ClaudeEvent): Located[] {
  const groups = findNodeAtLocation(root, ['hooks', event])?.children ?? [];
  return groups.flatMap((group, groupIndex) => {
    const matcher: unknown = findNodeAtLocation(group, ['matcher'])?.value;
    const handlers = findNodeAtLocation(group, ['hooks'])?.children ?? [];
    return handlers.map((node, index) => {
      const handler: unknown = getNodeValue(node);
      const path = ['hooks', event, groupIndex, 'hooks', index];
      return { node, path, handler, matcher: typeof matcher === 'string' ? matcher : undefined };
    });
  });
}

/** A line may have several handlers, so the line alone does not identify one. */
function isSame(address: EntryAddress, { handler, matcher }: Written): boolean {
  if (!('text' in address)) return true;
  const { event, source, text } = address;
  return formatEntryText({ event, matcher, agentType: undefined, handler }, source) === text;
}

function isOnLine(node: Node, line: number, body: string): boolean {
  const first = getLineNumber(body, node.offset);
  return line >= first && line <= getLineNumber(body, node.offset + node.length);
}

/** Widens the path to the outermost node that would be empty without the handler. */
function widen(root: Node, path: JSONPath): JSONPath {
  const isAlone = (list: JSONPath) => findNodeAtLocation(root, list)?.children?.length === 1;
  const [hooks, event, group] = path;
  if (hooks === undefined || event === undefined || group === undefined) return path;
  if (!isAlone([hooks, event, group, 'hooks'])) return path;
  return isAlone([hooks, event]) ? [hooks, event] : [hooks, event, group];
}

function parse(body: string): Node {
  const root = parseDocument(body);
  if (typeof root !== 'number') return root;
  throw createEditError(`expected JSON, found an error at line ${getLineNumber(body, root)}`);
}

function createEditError(message: string): HooklineError {
  return new HooklineError('CONFIG_INVALID', {
    message,
    hint: 'Mend the file by hand; nothing was changed.',
  });
}

import { findNodeAtLocation, getNodeValue, type JSONPath, type Node } from '../../../base/jsonc.ts';
import { HooklineError, invariant } from '../../../base/errors.ts';
import { isRecord, stripByteOrderMark } from '../../../base/json.ts';
import type { Source } from '../entry.ts';
import { type ClaudeEvent, isClaudeEvent } from '../events.ts';
import { formatEntryText, readWrittenEntry, formatEntry } from './entry-text.ts';
import { appendNode, getLineNumber, parseDocument, removeNode } from '../../../base/edit-json.ts';
import type { RemovedEntry } from '../../dialect.ts';
import type { DiscoveredUnit } from '../../discovery.ts';

/** Identifies a handler by its line, or by the entry that was read from there. */
export interface EntryAddress {
  readonly event: ClaudeEvent;
  readonly line: number;
  /** The text that trust covers, and its source; a broken entry has neither. */
  readonly text?: string;
  readonly source?: Pick<Source, 'kind' | 'isCline'>;
}

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
    .filter(({ handler, matcher }) => isSame(address, handler, matcher));
  const [first, ...others] = matching;
  if (first === undefined) {
    throw createEditError(
      `expected this handler of ${event} at line ${line}, found no such handler there`,
    );
  }
  if (others.length > 0 && address.text === undefined) {
    throw createEditError(
      `expected one handler of ${event} at line ${line}, found ${matching.length}`,
    );
  }
  return first.path;
}

function listHandlers(root: Node, event: ClaudeEvent) {
  const groups = findNodeAtLocation(root, ['hooks', event])?.children ?? [];
  return groups.flatMap((group, groupIndex) => {
    const matcher: unknown = findNodeAtLocation(group, ['matcher'])?.value;
    const handlers = findNodeAtLocation(group, ['hooks'])?.children ?? [];
    return handlers.map((node, index) => {
      const handler: unknown = getNodeValue(node);
      const path: JSONPath = ['hooks', event, groupIndex, 'hooks', index];
      return { node, path, handler, matcher: typeof matcher === 'string' ? matcher : undefined };
    });
  });
}

/** A line may have several handlers, so the line alone does not identify one. */
function isSame(
  { event, text, source }: EntryAddress,
  handler: unknown,
  matcher: string | undefined,
): boolean {
  if (text === undefined || source === undefined) return true;
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
  if (typeof root !== 'string') return root;
  throw createEditError(root);
}

function createEditError(message: string): HooklineError {
  return new HooklineError('CONFIG_INVALID', {
    message,
    hint: 'Fix the file by hand; nothing was changed.',
  });
}

/** Removes an entry from its settings file; comments and other entries stay. */
export function removeClaudeEntry(unit: DiscoveredUnit, text: string): RemovedEntry | null {
  const { line } = unit;
  const address = line === null ? null : findAddress(unit, line);
  if (line === null || address === null) return null;
  const entry = readWrittenEntry(unit);
  return {
    text: removeEntry(text, address),
    entry: entry === null ? (text.split('\n')[line - 1] ?? '') : formatEntry(entry),
  };
}

/** An invalid entry is identified by its line only. */
function findAddress(unit: DiscoveredUnit, line: number): EntryAddress | null {
  const entry = readWrittenEntry(unit);
  if (entry === null) {
    return isClaudeEvent(unit.eventName) ? { event: unit.eventName, line } : null;
  }
  const { event, matcher, handler, source } = entry;
  const text = formatEntryText({ event, matcher, agentType: undefined, handler }, source);
  return { event, line, source, text };
}

import { appendNode, getLineNumber, parseDocument, removeNode } from '../base/edit-json.ts';
import { HooklineError } from '../base/errors.ts';
import { isRecord, stripByteOrderMark } from '../base/json.ts';
import { getNodeValue, type JSONPath, type Node } from '../base/jsonc.ts';

/** A command in the array of an event, alone or in a group with a matcher. */
export interface WrittenEntry {
  readonly event: string;
  readonly command: string;
  readonly matcher: string | null;
  /** The object that has the command. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly line: number;
  /** The path from the root of the file to that object. */
  readonly path: JSONPath;
}

export type IsEntryMeant = (entry: WrittenEntry) => boolean;

/** Lists all commands below a container of events; throws when the text is not JSON. */
export function listEntries(text: string, container: readonly string[]): readonly WrittenEntry[] {
  const { body } = splitMark(text);
  if (body.trim() === '') return [];
  const root = parse(body);
  const events = findNode(root, [...container]);
  if (events?.type !== 'object') return [];
  return listProperties(events).flatMap(([event, list]) =>
    (list.type === 'array' ? (list.children ?? []) : []).flatMap((item, index) =>
      listCommands(body, event, item, [...container, event, index]),
    ),
  );
}

function listProperties(node: Node): readonly (readonly [string, Node])[] {
  return (node.children ?? []).flatMap(({ children = [] }) => {
    const key: unknown = children[0]?.value;
    const value = typeof key === 'string' ? findNode(node, [key]) : undefined;
    return typeof key === 'string' && value !== undefined && value === children[1]
      ? [[key, value]]
      : [];
  });
}

/** The keys of Copilot's format for other shells come last, so that one entry is found once. */
const COMMAND_KEYS = ['command', 'bash', 'powershell'];

function listCommands(
  body: string,
  event: string,
  item: Node,
  path: JSONPath,
): readonly WrittenEntry[] {
  const value: unknown = getNodeValue(item);
  if (!isRecord(value)) return [];
  const matcher = typeof value['matcher'] === 'string' ? value['matcher'] : null;
  const handlers = findNode(item, ['hooks'])?.children ?? [];
  const inGroup = handlers.map((node, index) => ({ node, at: [...path, 'hooks', index] }));
  return [{ node: item, at: path }, ...inGroup].flatMap(({ node, at }) => {
    const fields: unknown = getNodeValue(node);
    if (!isRecord(fields)) return [];
    const command = COMMAND_KEYS.map((key) => fields[key]).find((each) => typeof each === 'string');
    if (command === undefined) return [];
    return [{ event, command, matcher, fields, line: getLineNumber(body, node.offset), path: at }];
  });
}

/**
 * Adds an entry at the end of each event's array, and creates what is missing. The text of a new file is
 * the whole skeleton.
 */
export function addEntries(
  text: string | null,
  container: readonly string[],
  entries: Readonly<Record<string, unknown>>,
  skeleton: Readonly<Record<string, unknown>> = {},
): string {
  const { mark, body } = splitMark(text ?? '');
  if (body.trim() === '') return mark + formatNewFile(container, entries, skeleton);
  let edited = body;
  for (const [event, entry] of Object.entries(entries)) {
    edited = addEntry(edited, [...container, event], entry);
  }
  return mark + edited;
}

function formatNewFile(
  container: readonly string[],
  entries: Readonly<Record<string, unknown>>,
  skeleton: Readonly<Record<string, unknown>>,
): string {
  const lists = Object.entries(entries).map(([event, entry]): [string, unknown] => [
    event,
    [entry],
  ]);
  const events: Record<string, unknown> = Object.fromEntries(lists);
  const nested = container.reduceRight<Record<string, unknown>>(
    (value, key) => ({ [key]: value }),
    events,
  );
  return `${JSON.stringify({ ...skeleton, ...nested }, null, 2)}\n`;
}

/** Descends as far as there are objects, and appends the rest there. */
function addEntry(body: string, keys: readonly string[], entry: unknown): string {
  let node = parse(body);
  for (const [index, key] of keys.entries()) {
    if (node.type !== 'object') throw createShapeError(keys.slice(0, index), 'an object', node);
    const next = findNode(node, [key]);
    if (next === undefined) {
      const value = keys
        .slice(index + 1)
        .reduceRight<unknown>((inner, name) => ({ [name]: inner }), [entry]);
      return appendNode(body, node, { key, value });
    }
    node = next;
  }
  if (node.type !== 'array') throw createShapeError(keys, 'an array', node);
  return appendNode(body, node, { value: entry });
}

/**
 * Removes entries, then groups and arrays that became empty by it. Those below `keptKeys`, which were empty
 * before, stay.
 */
export function removeEntries(
  text: string,
  container: readonly string[],
  isMeant: IsEntryMeant,
  keptKeys: ReadonlySet<string> = new Set(),
): string {
  const { mark, body } = splitMark(text);
  let edited = body;
  for (;;) {
    // One at a time, because each removal moves the others.
    const entry = listEntries(edited, container).findLast((each) => isMeant(each));
    if (entry === undefined) return mark + edited;
    const node = findNode(parse(edited), widen(edited, entry.path, container, keptKeys));
    if (node === undefined) return mark + edited;
    edited = removeNode(edited, node.parent?.type === 'property' ? node.parent : node);
  }
}

/** Widens the path to the outermost node that would be empty without the entry. */
function widen(
  body: string,
  path: JSONPath,
  container: readonly string[],
  keptKeys: ReadonlySet<string>,
): JSONPath {
  const root = parse(body);
  const isAlone = (list: JSONPath): boolean => findNode(root, list)?.children?.length === 1;
  const item = path.slice(0, container.length + 2);
  if (path.length > item.length && !isAlone(path.slice(0, -1))) return path;
  let widened = item;
  while (widened.length > 1) {
    const parent = widened.slice(0, -1);
    if (!isAlone(parent) || keptKeys.has(formatKey(parent))) break;
    widened = parent;
  }
  return widened;
}

/** Finds the node that counts: of a key that is written twice, agents read the last. */
function findNode(root: Node, path: JSONPath): Node | undefined {
  let node: Node | undefined = root;
  for (const key of path) {
    node =
      typeof key === 'number'
        ? node?.children?.[key]
        : node?.children?.findLast(({ children }) => children?.[0]?.value === key)?.children?.[1];
  }
  return node;
}

/** A path as a key of a set. */
function formatKey(path: JSONPath): string {
  return JSON.stringify(path);
}

/** Lists the containers that a text has, which a removal must leave although they become empty. */
export function listContainerKeys(text: string, container: readonly string[]): ReadonlySet<string> {
  const { body } = splitMark(text);
  if (body.trim() === '') return new Set();
  const root = parse(body);
  const outer = container.map((_, index) => container.slice(0, index + 1));
  const events = findNode(root, [...container]);
  const inner = (events === undefined ? [] : listProperties(events)).map(([event]) => [
    ...container,
    event,
  ]);
  const present = [...outer, ...inner].filter((path) => findNode(root, path) !== undefined);
  return new Set(present.map((path) => formatKey(path)));
}

/** Reads the value of a settings file; null when it is not a JSON object. */
export function readSettingsValue(text: string): Readonly<Record<string, unknown>> | null {
  const root = parseDocument(stripByteOrderMark(text));
  const value: unknown = typeof root === 'string' ? null : getNodeValue(root);
  return isRecord(value) ? value : null;
}

/** Throws when a text cannot be edited: it is neither empty nor a JSON object. */
export function checkSettingsText(text: string): void {
  const { body } = splitMark(text);
  if (body.trim() === '') return;
  const root = parse(body);
  if (root.type !== 'object') throw createShapeError([], 'an object', root);
}

function splitMark(text: string): { readonly mark: string; readonly body: string } {
  const body = stripByteOrderMark(text);
  return { mark: text.slice(0, text.length - body.length), body };
}

function parse(body: string): Node {
  const root = parseDocument(body);
  if (typeof root !== 'string') return root;
  throw createEditError(root);
}

function createShapeError(
  keys: readonly string[],
  expected: string,
  { type }: Node,
): HooklineError {
  const place = keys.length === 0 ? 'the file' : keys.map((key) => JSON.stringify(key)).join('.');
  return createEditError(`${place}: expected ${expected}, found ${type}`);
}

function createEditError(message: string): HooklineError {
  return new HooklineError('CONFIG_INVALID', {
    message,
    hint: 'Fix the file by hand; nothing was changed.',
  });
}

import { findNodeAtLocation, type Node } from '../base/jsonc.ts';
import { HooklineError } from '../base/errors.ts';
import { stripByteOrderMark } from '../base/json.ts';
import { appendNode, parseDocument, removeNode } from '../base/edit-json.ts';

const SERVERS = 'mcpServers';

/** Adds a server to the text of a file; comments and all other entries stay. An empty text becomes a file. */
export function addServer(
  text: string,
  name: string,
  entry: Readonly<Record<string, unknown>>,
): string {
  const { mark, body } = splitMark(text);
  if (body.trim() === '') {
    return `${JSON.stringify({ [SERVERS]: { [name]: entry } }, null, 2)}\n`;
  }
  const root = parseObject(body);
  const servers = findServersIn(root);
  if (servers === null) {
    return mark + appendNode(body, root, { key: SERVERS, value: { [name]: entry } });
  }
  if (findNodeAtLocation(servers, [name]) !== undefined) {
    throw createEditError(`MCP server ${JSON.stringify(name)} already exists`, 'Remove it first.');
  }
  return mark + appendNode(body, servers, { key: name, value: entry });
}

/** The text without a server; null when it has none of this name. */
export function removeServer(text: string, name: string): string | null {
  const { mark, body } = splitMark(text);
  if (body.trim() === '') return null;
  const servers = findServersIn(parseObject(body));
  const property = servers === null ? undefined : findNodeAtLocation(servers, [name])?.parent;
  return property === undefined ? null : mark + removeNode(body, property);
}

function splitMark(text: string): { readonly mark: string; readonly body: string } {
  const body = stripByteOrderMark(text);
  return { mark: text.slice(0, text.length - body.length), body };
}

function parseObject(body: string): Node {
  const root = parseDocument(body);
  if (typeof root === 'string') throw createEditError(root, BY_HAND);
  if (root.type === 'object') return root;
  throw createEditError(`expected an object with "${SERVERS}", found ${root.type}`, BY_HAND);
}

function findServersIn(root: Node): Node | null {
  const servers = findNodeAtLocation(root, [SERVERS]);
  if (servers === undefined) return null;
  if (servers.type === 'object') return servers;
  throw createEditError(`"${SERVERS}": expected an object, found ${servers.type}`, BY_HAND);
}

const BY_HAND = 'Fix it by hand first; it was not changed.';

function createEditError(message: string, hint: string): HooklineError {
  return new HooklineError('CONFIG_INVALID', { message, hint });
}

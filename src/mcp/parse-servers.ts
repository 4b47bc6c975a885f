import type {
  BrokenServer,
  ConfiguredServers,
  ServerEndpoint,
  ServerConfig,
} from './server-config.ts';
import { formatCanonicalJson } from '../base/json.ts';
import {
  createFieldReader,
  type FieldReader,
  TEXT,
  TEXT_RECORD,
  TEXTS,
  describePart,
  type Part,
} from '../base/located-json.ts';

/** Whose servers they are, and what goes before their names. */
export interface ServerOrigin extends Pick<
  ServerConfig,
  'source' | 'file' | 'place' | 'root' | 'variables'
> {
  /** `plugin:formatter:` of a plugin, else empty. */
  readonly prefix: string;
  /** Why a server of this name shall not be used, or null. */
  readonly whyOff: (name: string) => string | null;
}

/** Reads `mcpServers`; an entry that is wrong costs its neighbours nothing. */
export function parseServers(part: Part, origin: ServerOrigin): ConfiguredServers {
  if (part.fields === null) {
    const why = `"mcpServers": expected an object of servers, found ${describePart(part)}`;
    return { servers: [], broken: [{ name: '', file: origin.file, line: part.line, why }] };
  }
  const read = [...part.fields].map(([name, entry]) => parseServer(name, entry, origin));
  return {
    servers: read.filter((each) => 'endpoint' in each),
    broken: read.filter((each) => 'why' in each),
  };
}

function parseServer(name: string, entry: Part, origin: ServerOrigin): ServerConfig | BrokenServer {
  const { prefix, whyOff, ...whose } = origin;
  const broken = (line: number, why: string): BrokenServer => ({
    name: `${prefix}${name}`,
    file: origin.file,
    line,
    why: `the MCP server ${JSON.stringify(name)}: ${why}`,
  });
  if (name.trim() === '') return broken(entry.line, 'expected a name');
  if (entry.fields === null) {
    return broken(entry.line, `expected an object, found ${describePart(entry)}`);
  }
  const endpoint = parseReached(entry);
  if ('why' in endpoint) return broken(endpoint.line, endpoint.why);
  return {
    ...whose,
    name: `${prefix}${name}`,
    line: entry.line,
    endpoint,
    text: formatCanonicalJson({ source: origin.source, mcpServer: name, entry: entry.value }),
    timeoutMs: timeoutOf(entry),
    whyOff: isDisabled(entry) ? 'its entry says "disabled"' : whyOff(name),
  };
}

function isDisabled(entry: Part): boolean {
  return (
    entry.fields?.get('disabled')?.value === true || entry.fields?.get('enabled')?.value === false
  );
}

const MANY_SECONDS = 1000;

/** In milliseconds, as Claude counts; Cline counts in seconds, and nobody means less than a second. */
function timeoutOf(entry: Part): number | null {
  const value = entry.fields?.get('timeout')?.value;
  if (typeof value !== 'number' || !(value > 0)) return null;
  return value < MANY_SECONDS ? value * 1000 : value;
}

type Fault = { readonly line: number; readonly why: string };

const HTTP_TYPES = ['http', 'streamable-http', 'streamableHttp', 'streamable_http'];

function parseReached(entry: Part): ServerEndpoint | Fault {
  // Cline's newer form says in an object of its own how a server is reached.
  const inner = entry.fields?.get('transport');
  const said = inner === undefined || inner.fields === null ? entry : inner;
  const fields = createFieldReader(said);
  const type = fields.find('type', TEXT) ?? fields.find('transport', TEXT) ?? usualType(fields);
  const endpoint = reachedAs(type, fields);
  const [fault] = fields.faults;
  if (fault !== undefined) return fault;
  return endpoint ?? { line: said.line, why: unknownType(type) };
}

function usualType(fields: FieldReader): string {
  return fields.has('url') && !fields.has('command') ? 'http' : 'stdio';
}

function reachedAs(type: string, fields: FieldReader): ServerEndpoint | null {
  if (type === 'stdio') {
    return {
      type: 'stdio',
      command: fields.require('command', FILLED, ''),
      args: fields.find('args', TEXTS) ?? [],
      env: fields.find('env', TEXT_RECORD) ?? {},
      cwd: fields.find('cwd', TEXT) ?? null,
    };
  }
  if (!HTTP_TYPES.includes(type)) return null;
  return {
    type: 'http',
    url: fields.require('url', ADDRESS, ''),
    headers: fields.find('headers', TEXT_RECORD) ?? {},
  };
}

function unknownType(type: string): string {
  const found = type === 'sse' ? '"sse", which "http" has replaced' : JSON.stringify(type);
  return `"type": expected "stdio" or "http", found ${found}`;
}

const FILLED = {
  expected: 'a program',
  fits: (value: unknown): value is string => typeof value === 'string' && value.trim() !== '',
};

const ADDRESS = {
  expected: 'an http or https address',
  fits: (value: unknown): value is string =>
    typeof value === 'string' && (/^https?:\/\//i.test(value) || value.includes('${')),
};

import {
  type BrokenServer,
  type ConfiguredServers,
  NO_SERVERS,
  type ServerConfig,
  type ServerEndpoint,
  type ServerSource,
} from './server-config.ts';
import { formatCanonicalJson } from '../base/json.ts';
import {
  type Fault,
  FieldReader,
  TEXT,
  TEXT_RECORD,
  TEXTS,
  describePart,
  type Part,
} from '../base/located-json.ts';

/** The file that configures the servers, and the prefix of their names. */
export interface ServerOrigin extends Pick<
  ServerConfig,
  'source' | 'file' | 'place' | 'root' | 'variables'
> {
  /** `plugin:formatter:` of a plugin, else empty. */
  readonly prefix: string;
  /** Why a server of this name must not be used, or null. */
  readonly whyOff: (name: string) => string | null;
}

/** Creates the origin of servers that belong to no workspace and no plugin. */
export function createServerOrigin(
  file: string,
  source: ServerSource,
  place: ServerConfig['place'],
): ServerOrigin {
  return { source, file, place, root: null, variables: {}, prefix: '', whyOff: () => null };
}

/** Creates the result for a file that cannot be used as a whole. */
export function createBrokenFile(file: string, why: string, line = 1): ConfiguredServers {
  return { servers: [], broken: [{ name: '', file, line, why }] };
}

/** Parses the `mcpServers` of an object, which is a whole file or a section of one. */
export function parseServersIn(section: Part, origin: ServerOrigin): ConfiguredServers {
  if (section.fields === null) {
    return createBrokenFile(origin.file, `expected an object, found ${describePart(section)}`);
  }
  const part = section.fields.get('mcpServers');
  return part === undefined ? NO_SERVERS : parseServers(part, origin);
}

/** Parses `mcpServers`; an invalid entry does not affect the others. */
export function parseServers(part: Part, origin: ServerOrigin): ConfiguredServers {
  if (part.fields === null) {
    const why = `"mcpServers": expected an object of servers, found ${describePart(part)}`;
    return { servers: [], broken: [{ name: '', file: origin.file, line: part.line, why }] };
  }
  const parsed = [...part.fields].map(([name, entry]) => parseServer(name, entry, origin));
  return {
    servers: parsed.filter((each) => 'endpoint' in each),
    broken: parsed.filter((each) => 'why' in each),
  };
}

function parseServer(name: string, entry: Part, origin: ServerOrigin): ServerConfig | BrokenServer {
  const { prefix, whyOff, ...originFields } = origin;
  const createBroken = (line: number, why: string): BrokenServer => ({
    name: `${prefix}${name}`,
    file: origin.file,
    line,
    why: `the MCP server ${JSON.stringify(name)}: ${why}`,
  });
  if (name.trim() === '') return createBroken(entry.line, 'expected a name');
  if (entry.fields === null) {
    return createBroken(entry.line, `expected an object, found ${describePart(entry)}`);
  }
  const endpoint = parseEndpointPart(entry);
  if ('why' in endpoint) return createBroken(endpoint.line, endpoint.why);
  return {
    ...originFields,
    name: `${prefix}${name}`,
    line: entry.line,
    endpoint,
    text: formatCanonicalJson({ source: origin.source, mcpServer: name, entry: entry.value }),
    timeoutMs: parseTimeout(entry),
    whyOff: isDisabled(entry) ? 'its entry says "disabled"' : whyOff(name),
  };
}

function isDisabled(entry: Part): boolean {
  return (
    entry.fields?.get('disabled')?.value === true || entry.fields?.get('enabled')?.value === false
  );
}

const MANY_SECONDS = 1000;

/** Claude configures milliseconds and Cline seconds; less than a second is never meant. */
function parseTimeout(entry: Part): number | null {
  const value = entry.fields?.get('timeout')?.value;
  if (typeof value !== 'number' || !(value > 0)) return null;
  return value < MANY_SECONDS ? value * 1000 : value;
}

const HTTP_TYPES = ['http', 'streamable-http', 'streamableHttp', 'streamable_http'];

function parseEndpointPart(entry: Part): ServerEndpoint | Fault {
  // Cline's newer form has the endpoint in a nested object.
  const inner = entry.fields?.get('transport');
  const endpointPart = inner === undefined || inner.fields === null ? entry : inner;
  const fields = new FieldReader(endpointPart);
  const type =
    fields.find('type', TEXT) ?? fields.find('transport', TEXT) ?? inferEndpointType(fields);
  const endpoint = parseEndpoint(type, fields);
  const [fault] = fields.faults;
  if (fault !== undefined) return fault;
  return endpoint ?? { line: endpointPart.line, why: describeUnknownType(type) };
}

function inferEndpointType(fields: FieldReader): string {
  return fields.has('url') && !fields.has('command') ? 'http' : 'stdio';
}

function parseEndpoint(type: string, fields: FieldReader): ServerEndpoint | null {
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

function describeUnknownType(type: string): string {
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

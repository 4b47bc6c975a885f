import path from 'node:path';
import { isRecord, getTypeName } from '../../../base/json.ts';
import { readReason } from '../../../plugins/serialize/plain-value.ts';
import type { AgentExtensionMcpServer } from '../../../plugins/contract/plugin.ts';
import type { OnIssue } from '../../../plugins/plugin-issue.ts';
import type { ActivePlugin } from '../../../plugins/loaded-plugin.ts';
import {
  describeEndpoint,
  type ServerEndpoint,
  type ServerConfig,
  toWireName,
} from '../../../mcp/server-config.ts';

export interface PluginServerOptions {
  /** The directory of a plugin, by its name; null for an object of the embedding program. */
  readonly findDirectory: (plugin: string) => string | null;
  /** The environment for values that plugins refer to by name. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The names of configured servers, which plugins cannot take. */
  readonly reservedNames: readonly string[];
}

/**
 * Reads the MCP servers that plugins registered, ready to be started. An invalid one is left out and
 * reported.
 */
export function readPluginServers(
  active: readonly ActivePlugin[],
  options: PluginServerOptions,
  onIssue: OnIssue,
): readonly ServerConfig[] {
  const owners = new Map(
    options.reservedNames.map((name) => [toWireName(name), 'a configured server']),
  );
  return active.flatMap(({ name: plugin, contributions }) =>
    contributions.mcpServers.flatMap((server) => {
      const config = readSafely(server, plugin, options);
      const problem = typeof config === 'string' ? config : explainClash(config, owners);
      if (typeof config !== 'string' && problem === null) {
        owners.set(toWireName(config.name), `a server of the plugin ${plugin}`);
        return [config];
      }
      const message = `the MCP server ${JSON.stringify(server.name)} is left out: ${problem}`;
      onIssue({ plugin, phase: 'mcp', level: 'warning', message });
      return [];
    }),
  );
}

/** Names of tools contain the server's normalized name, so names that normalize alike conflict. */
function explainClash({ name }: ServerConfig, owners: ReadonlyMap<string, string>): string | null {
  const owner = owners.get(toWireName(name));
  return owner === undefined ? null : `${owner} has this name`;
}

/** Getters of foreign objects may throw. */
function readSafely(
  server: AgentExtensionMcpServer,
  plugin: string,
  options: PluginServerOptions,
): ServerConfig | string {
  try {
    return readServer({ ...server }, plugin, options);
  } catch (error) {
    return `it cannot be read: ${readReason(error)}`;
  }
}

/** A string is the problem of the server. */
function readServer(
  { name: written, transport, env }: Readonly<Record<string, unknown>>,
  plugin: string,
  { findDirectory, env: hostEnv }: PluginServerOptions,
): ServerConfig | string {
  const name = typeof written === 'string' ? written.trim() : '';
  if (name === '') return 'expected "name" to be a text that is not empty';
  if (!isRecord(transport)) {
    return `expected "transport" to be an object, ${describeFound(transport)}`;
  }
  const directory = findDirectory(plugin);
  const endpoint = readTransport(transport, env, directory, hostEnv);
  if (typeof endpoint === 'string') return endpoint;
  return {
    name,
    source: 'plugin',
    file: directory ?? `plugin ${plugin}`,
    line: 1,
    place: 'given',
    root: null,
    endpoint,
    // Without the values of variables, some of which are secrets.
    text: JSON.stringify([plugin, name, endpoint.type, describeEndpoint(endpoint)]),
    timeoutMs: null,
    whyOff: null,
    variables: {},
    isLiteral: true,
  };
}

function describeFound(value: unknown): string {
  return `found ${value === undefined ? 'nothing' : getTypeName(value)}`;
}

type Fields = Readonly<Record<string, unknown>>;

function readTransport(
  transport: Fields,
  env: unknown,
  directory: string | null,
  hostEnv: PluginServerOptions['env'],
): ServerEndpoint | string {
  switch (transport['type']) {
    case 'stdio':
      return readProgram(transport, env, directory, hostEnv);
    case 'streamableHttp':
      return env === undefined ? readService(transport) : '"env" is for a "stdio" transport only';
    case 'sse':
      return 'its transport is "sse", which Hookline does not speak; most services that have it answer to "streamableHttp", too';
    default:
      return `expected "transport.type" to be "stdio" or "streamableHttp", found ${JSON.stringify(transport['type']) ?? 'nothing'}`;
  }
}

function readProgram(
  { command, args = [], cwd, env: inside }: Fields,
  beside: unknown,
  directory: string | null,
  hostEnv: PluginServerOptions['env'],
): ServerEndpoint | string {
  if (!isFilled(command)) {
    return `expected "transport.command" to be a text, ${describeFound(command)}`;
  }
  if (!isTexts(args)) return 'expected "transport.args" to be a list of texts';
  if (cwd !== undefined && !isFilled(cwd)) {
    return `expected "transport.cwd" to be a text, ${describeFound(cwd)}`;
  }
  const inner = readVariables('transport.env', inside, hostEnv);
  if (typeof inner === 'string') return inner;
  const outer = readVariables('env', beside, hostEnv);
  if (typeof outer === 'string') return outer;
  return {
    type: 'stdio',
    command,
    args: [...args],
    env: { ...inner, ...outer },
    cwd: resolveDirectory(cwd, directory),
  };
}

/** By default a server runs in the directory of its plugin. */
function resolveDirectory(cwd: string | undefined, directory: string | null): string | null {
  if (cwd === undefined) return directory;
  return directory === null ? cwd : path.resolve(directory, cwd);
}

function readService({ url, headers = {} }: Fields): ServerEndpoint | string {
  if (!isFilled(url)) return `expected "transport.url" to be a text, ${describeFound(url)}`;
  if (!/^https?:$/u.test(readProtocol(url))) {
    return `expected "transport.url" to be an address of http or https, found ${JSON.stringify(url)}`;
  }
  if (!isTextRecord(headers)) return 'expected "transport.headers" to be texts by name';
  return { type: 'http', url: url.trim(), headers: { ...headers } };
}

function readProtocol(url: string): string {
  return URL.canParse(url.trim()) ? new URL(url.trim()).protocol : '';
}

/** Each value is a text, or a reference: `{ fromEnv, value, required }`. */
function readVariables(
  place: string,
  variables: unknown,
  env: PluginServerOptions['env'],
): Record<string, string> | string {
  if (variables === undefined) return {};
  if (!isRecord(variables)) {
    return `expected "${place}" to be an object, ${describeFound(variables)}`;
  }
  const values: Record<string, string> = {};
  for (const [name, written] of Object.entries(variables)) {
    if (typeof written === 'string') {
      values[name] = written;
      continue;
    }
    const reference = readReference(written);
    if (reference === null) {
      return `expected "${place}.${name}" to be a text or { fromEnv, value, required }, ${describeFound(written)}`;
    }
    const { fromEnv = name, value, required } = reference;
    const envValue = env[fromEnv];
    const settled = envValue === undefined || envValue === '' ? value : envValue;
    if (settled !== undefined) values[name] = settled;
    else if (required === true) return `it needs the variable ${fromEnv}, which is not set`;
  }
  return values;
}

function readReference(written: unknown) {
  if (!isRecord(written)) return null;
  const { fromEnv, value, required } = written;
  if (value !== undefined && typeof value !== 'string') return null;
  if (required !== undefined && typeof required !== 'boolean') return null;
  if (fromEnv !== undefined && typeof fromEnv !== 'string') return null;
  const variable = fromEnv?.trim() ?? '';
  return { fromEnv: variable === '' ? undefined : variable, value, required };
}

function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function isTextRecord(value: unknown): value is Readonly<Record<string, string>> {
  return isRecord(value) && Object.values(value).every((each) => typeof each === 'string');
}

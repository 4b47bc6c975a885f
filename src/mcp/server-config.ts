/** An MCP server as configured, with variables not yet expanded. */
export interface ServerConfig {
  /** As it is configured; of a plugin `plugin:<plugin>:<server>`. */
  readonly name: string;
  /** Who configured it, as hooks get it. */
  readonly source: ServerSource;
  readonly file: string;
  /** Counted from 1, in that file. */
  readonly line: number;
  /** Where it is configured: by the user, in the workspace, or by the caller. */
  readonly place: 'home' | 'workspace' | 'given';
  /** The real path of its workspace root; null for the user's own. */
  readonly root: string | null;
  readonly endpoint: ServerEndpoint;
  /** The entry, independent of formatting, which trust binds. */
  readonly text: string;
  /** The time limit of a call; null for the host's default. */
  readonly timeoutMs: number | null;
  /** Why it is disabled, or null. */
  readonly whyOff: string | null;
  /** Values for `${NAME}` that override the environment. */
  readonly variables: Readonly<Record<string, string>>;
  /** Set when `${NAME}` in it is not expanded, because a program and not a file provided it. */
  readonly isLiteral?: true;
}

export type ServerSource = 'user' | 'project' | 'local' | 'plugin' | 'dynamic' | 'managed';

export type ServerEndpoint = StdioServer | HttpServer;

/** A program that speaks MCP on its standard input and output. */
interface StdioServer {
  readonly type: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Null for the directory that the session starts in. */
  readonly cwd: string | null;
}

/** A server that speaks streamable HTTP. */
interface HttpServer {
  readonly type: 'http';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** An invalid entry. */
export interface BrokenServer {
  readonly name: string;
  readonly file: string;
  readonly line: number;
  /** What was expected and what was found. */
  readonly why: string;
}

/** The servers in configuration files. */
export interface ConfiguredServers {
  readonly servers: readonly ServerConfig[];
  readonly broken: readonly BrokenServer[];
}

export const NO_SERVERS: ConfiguredServers = { servers: [], broken: [] };

/** Joins the servers of several files, in this order. */
export function mergeServers(all: readonly ConfiguredServers[]): ConfiguredServers {
  return {
    servers: all.flatMap(({ servers }) => servers),
    broken: all.flatMap(({ broken }) => broken),
  };
}

/** Converts a server's name for the names of its tools: `my srv` → `my_srv`. */
export function toWireName(name: string): string {
  return name.replaceAll(/[^\w-]/g, '_');
}

/** The command line or URL, for display. */
export function describeEndpoint(endpoint: ServerEndpoint): string {
  if (endpoint.type === 'stdio') return [endpoint.command, ...endpoint.args].join(' ');
  return endpoint.url;
}

type ServerVariables = Readonly<Record<string, string | undefined>>;

/**
 * Expands `${NAME}` and `${NAME:-default}` in the fields of an entry. `missing` are the variables without
 * a value and a default.
 */
export function expandServer(
  { endpoint, variables, isLiteral }: Pick<ServerConfig, 'endpoint' | 'variables' | 'isLiteral'>,
  env: ServerVariables,
): { readonly endpoint: ServerEndpoint; readonly missing: readonly string[] } {
  if (isLiteral === true) return { endpoint, missing: [] };
  const missing = new Set<string>();
  const values = { ...env, ...variables };
  const expand = (text: string): string => expandText(text, values, (name) => missing.add(name));
  const expandAll = (texts: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, expand(text)]));
  const expanded: ServerEndpoint =
    endpoint.type === 'stdio'
      ? {
          type: 'stdio',
          command: expand(endpoint.command),
          args: endpoint.args.map(expand),
          env: expandAll(endpoint.env),
          cwd: endpoint.cwd === null ? null : expand(endpoint.cwd),
        }
      : { type: 'http', url: expand(endpoint.url), headers: expandAll(endpoint.headers) };
  return { endpoint: expanded, missing: [...missing] };
}

const VARIABLE = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

function expandText(
  text: string,
  values: ServerVariables,
  onMissing: (name: string) => void,
): string {
  return text.replaceAll(VARIABLE, (whole, name: string, fallback: string | undefined) => {
    const value = values[name];
    if (value !== undefined && (value !== '' || fallback === undefined)) return value;
    if (fallback !== undefined) return fallback;
    onMissing(name);
    return whole;
  });
}

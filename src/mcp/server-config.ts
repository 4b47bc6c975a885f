/** How an MCP server is reached, as somebody wrote it down; its variables are not filled in. */
export interface ServerConfig {
  /** As it is configured; of a plugin `plugin:<plugin>:<server>`. */
  readonly name: string;
  /** Who configured it, in the words that hooks are told. */
  readonly source: ServerSource;
  readonly file: string;
  /** Counted from 1, in that file. */
  readonly line: number;
  /** Whose it is: the person's own, the workspace's, or one that the caller named. */
  readonly place: 'home' | 'workspace' | 'given';
  /** The workspace root it belongs to, real path; null for the person's own. */
  readonly root: string | null;
  readonly endpoint: ServerEndpoint;
  /** The entry, the same however it is laid out: what trust binds. */
  readonly text: string;
  /** How long one call may take; null leaves it to the host. */
  readonly timeoutMs: number | null;
  /** Why it shall not be used, or null. */
  readonly whyOff: string | null;
  /** What stands for `${NAME}` in it before the environment is asked. */
  readonly variables: Readonly<Record<string, string>>;
  /** Set when nothing in it stands for anything else: a program gave it, and nobody wrote it down. */
  readonly isLiteral?: true;
}

export type ServerSource = 'user' | 'project' | 'local' | 'plugin' | 'dynamic' | 'managed';

export type ServerEndpoint = StdioServer | HttpServer;

/** A program that speaks on its standard input and output. */
interface StdioServer {
  readonly type: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Null means where the session begins. */
  readonly cwd: string | null;
}

/** A service that speaks streamable http. */
interface HttpServer {
  readonly type: 'http';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** An entry that cannot be used as it is written. */
export interface BrokenServer {
  readonly name: string;
  readonly file: string;
  readonly line: number;
  /** What was expected and what was found. */
  readonly why: string;
}

/** What files say about servers. */
export interface ConfiguredServers {
  readonly servers: readonly ServerConfig[];
  readonly broken: readonly BrokenServer[];
}

export const NO_SERVERS: ConfiguredServers = { servers: [], broken: [] };

/** The name of a server in the names of its tools: `my srv` → `my_srv`. */
export function toWireName(name: string): string {
  return name.replaceAll(/[^\w-]/g, '_');
}

/** What a person is shown of how it is reached. */
export function describeEndpoint(endpoint: ServerEndpoint): string {
  if (endpoint.type === 'stdio') return [endpoint.command, ...endpoint.args].join(' ');
  return endpoint.url;
}

type ServerVariables = Readonly<Record<string, string | undefined>>;

interface ExpandedServer {
  readonly endpoint: ServerEndpoint;
  /** Variables that are named without a default and not set. */
  readonly missing: readonly string[];
}

/** Fills in `${NAME}` and `${NAME:-default}` wherever an entry may have them. */
export function expandServer(
  { endpoint, variables, isLiteral }: Pick<ServerConfig, 'endpoint' | 'variables' | 'isLiteral'>,
  env: ServerVariables,
): ExpandedServer {
  if (isLiteral === true) return { endpoint, missing: [] };
  const missing = new Set<string>();
  const known = { ...env, ...variables };
  const fill = (text: string): string => fillText(text, known, (name) => missing.add(name));
  const fillAll = (texts: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, fill(text)]));
  const filled: ServerEndpoint =
    endpoint.type === 'stdio'
      ? {
          type: 'stdio',
          command: fill(endpoint.command),
          args: endpoint.args.map(fill),
          env: fillAll(endpoint.env),
          cwd: endpoint.cwd === null ? null : fill(endpoint.cwd),
        }
      : { type: 'http', url: fill(endpoint.url), headers: fillAll(endpoint.headers) };
  return { endpoint: filled, missing: [...missing] };
}

const VARIABLE = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

function fillText(text: string, known: ServerVariables, miss: (name: string) => void): string {
  return text.replaceAll(VARIABLE, (whole, name: string, otherwise: string | undefined) => {
    const value = known[name];
    if (value !== undefined && (value !== '' || otherwise === undefined)) return value;
    if (otherwise !== undefined) return otherwise;
    miss(name);
    return whole;
  });
}

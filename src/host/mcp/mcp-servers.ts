import type { SlashCommand } from '../../agent/instructions/commands.ts';
import type { Tool } from '../../agent/tools/tool.ts';
import { truncateText } from '../../base/json.ts';
import type { McpAnswer, McpCall } from '../../dialects/claude-config/ports.ts';
import { parseAnswer, joinTexts } from '../../mcp/answer.ts';
import type {
  ConnectionState,
  ServerConnection,
  ConnectionOptions,
} from '../../mcp/server-connection.ts';
import {
  type BrokenServer,
  type ServerConfig,
  expandServer,
  type ServerEndpoint,
} from '../../mcp/server-config.ts';
import type { OpenedHooks } from '../open-hooks.ts';
import {
  type FoundServer,
  type FoundServers,
  findServers,
  formatServerLocation,
  formatTrustCommand,
  listOwnServerChanges,
} from './find-servers.ts';
import { DynamicServers, type AddedServers } from './dynamic-servers.ts';
import {
  createPromptCommand,
  createResourceTools,
  createToolFactory,
  type NamedConnection,
} from './server-tools.ts';
import path from 'node:path';
import { type Environment, PROVIDER_KEYS } from '../../process/environment.ts';
import { hookEnvironment } from '../hook-set.ts';

interface McpServersOptions {
  readonly opened: OpenedHooks;
  /** Files or JSON texts with further servers. */
  readonly given: readonly string[];
  readonly notice: (text: string) => void;
}

/** A configured server and what became of it. */
export interface McpStatus {
  readonly config: ServerConfig;
  /** `unused` when another one of its name stands before it. */
  readonly state: ConnectionState['kind'] | 'withheld' | 'unused';
  readonly why: string;
  readonly tools: readonly string[];
}

export interface McpReport {
  readonly statuses: readonly McpStatus[];
  /** Entries that cannot be used as they are written. */
  readonly broken: readonly BrokenServer[];
}

/** The MCP servers of one host, shared by its sessions. */
export interface McpServers {
  /** Starts what may start and is not started; done when all that is under way. */
  start(): Promise<void>;
  /** Done when each is connected or has failed, which takes no longer than a start may. */
  waitUntilSettled(): Promise<void>;
  tools(): readonly Tool[];
  commands(): readonly SlashCommand[];
  /** Calls a tool for a hook; null when no such server is connected. */
  call(call: McpCall, signal: AbortSignal): Promise<McpAnswer | null>;
  /** The names of all that are configured, whether they may start or not. */
  names(): readonly string[];
  /** Brings further ones, which need nobody's trust, for as long as whoever brings them stays. */
  add(servers: readonly ServerConfig[]): AddedServers;
  /** Every configured server, once they are settled. */
  report(): Promise<McpReport>;
  close(): Promise<void>;
}

interface Started extends NamedConnection {
  readonly config: ServerConfig;
  readonly settled: Promise<void>;
}

const MAX_HOOK_CHARACTERS = 1_000_000;

export function createMcpServers(request: McpServersOptions): McpServers {
  return new HostMcpServers(request);
}

class HostMcpServers implements McpServers {
  readonly #request: McpServersOptions;
  readonly #started = new Map<string, Started>();
  readonly #told = new Set<string>();
  readonly #agentTools = createToolFactory((text) => this.#tellOnce(text));
  readonly #resourceTools = createResourceTools(() =>
    this.#connections().filter(({ hasResources }) => hasResources),
  );
  readonly #guests = this.#createGuests();
  #found: FoundServers = { servers: [], broken: [] };
  #starting: Promise<void> | null = null;
  #isClosed = false;

  constructor(request: McpServersOptions) {
    this.#request = request;
  }

  start(): Promise<void> {
    this.#starting = this.#start();
    return this.#starting;
  }

  async #start(): Promise<void> {
    const { opened, given } = this.#request;
    this.#found = findServers(opened, given);
    const { servers, broken } = this.#found;
    for (const each of broken) this.#tellOnce(`${formatServerLocation(each, opened)}: ${each.why}`);
    for (const text of withheldNotices(servers, opened)) this.#tellOnce(text);
    for (const text of listOwnServerChanges(servers, opened)) this.#tellOnce(text);
    const startable = firstOfEachName(servers);
    // Who has no server never loads what speaks to them.
    if (startable.length === 0) return;
    const { ServerConnection: Connection } = await import('../../mcp/server-connection.ts');
    for (const server of startable) this.#connect(server, Connection);
  }

  #connect(server: FoundServer, Connection: typeof ServerConnection): void {
    const { opened, notice } = this.#request;
    const { config } = server;
    const known = this.#started.get(config.name);
    // One that failed may be there by now.
    if (known !== undefined) void known.connection.open();
    if (this.#isClosed || known !== undefined) return;
    const connection = new Connection({
      name: config.name,
      prepare: () => prepareConnection(server, opened),
      ...readTimeLimits(config, opened),
      notice,
    });
    const settled = this.#open(connection);
    this.#started.set(config.name, { config, connection, source: config.source, settled });
  }

  async #open(connection: ServerConnection): Promise<void> {
    await connection.open();
    const { kind, why } = connection.state;
    if (kind !== 'failed') return;
    this.#tellOnce(`the MCP server ${connection.name} is not connected: ${why}`);
  }

  #tellOnce(text: string): void {
    if (this.#told.has(text)) return;
    this.#told.add(text);
    this.#request.notice(text);
  }

  #connections(): readonly ServerConnection[] {
    return [...this.#started.values()].map(({ connection }) => connection);
  }

  names(): readonly string[] {
    return this.#found.servers.map(({ config }) => config.name);
  }

  add(servers: readonly ServerConfig[]): AddedServers {
    return this.#guests.add(servers);
  }

  #createGuests(): DynamicServers {
    return new DynamicServers({
      isTaken: (name) => this.#started.has(name) || this.names().includes(name),
      connect: async (server) => {
        const { ServerConnection: Connection } = await import('../../mcp/server-connection.ts');
        this.#connect(server, Connection);
      },
      disconnect: async (name) => {
        const started = this.#started.get(name);
        this.#started.delete(name);
        await started?.connection.close();
      },
      onConflict: (config, why) => {
        const place = formatServerLocation(config, this.#request.opened);
        this.#tellOnce(`the MCP server ${config.name} (${place}) ${why}`);
      },
    });
  }

  async waitUntilSettled(): Promise<void> {
    await this.#guests.waitUntilStarted();
    await Promise.all([...this.#started.values()].map((each) => each.settled));
  }

  tools(): readonly Tool[] {
    const hasResources = this.#connections().some((each) => each.hasResources);
    const own = this.#agentTools([...this.#started.values()]);
    return hasResources ? [...own, ...this.#resourceTools] : own;
  }

  commands(): readonly SlashCommand[] {
    return this.#connections().flatMap((each) =>
      each.prompts.map((prompt) => createPromptCommand(each, prompt)),
    );
  }

  async call({ server, tool, input }: McpCall, signal: AbortSignal): Promise<McpAnswer | null> {
    // Hooks call often: what is configured was read when the session began.
    await (this.#starting ?? this.start());
    const connection = this.#started.get(server)?.connection;
    await connection?.openIfDue();
    if (connection?.state.kind !== 'connected') return null;
    const params = { name: tool, arguments: input };
    const answer = parseAnswer(await connection.request({ method: 'tools/call', params, signal }));
    return {
      text: truncateText(joinTexts(answer.blocks), MAX_HOOK_CHARACTERS),
      isError: answer.isError,
    };
  }

  async report(): Promise<McpReport> {
    await this.start();
    await this.waitUntilSettled();
    const { servers, broken } = this.#found;
    const statuses = [...servers, ...this.#guests.current()].map((server) =>
      statusOf(server, this.#started.get(server.config.name)),
    );
    return { statuses, broken };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#connections().map((connection) => connection.close()));
  }
}

function firstOfEachName(servers: readonly FoundServer[]): readonly FoundServer[] {
  const names = new Set<string>();
  return servers.filter(({ config, withheld }) => {
    if (names.has(config.name) || withheld() !== null) return false;
    names.add(config.name);
    return true;
  });
}

/** What was switched off is meant to be; what nobody has looked at is told. */
function withheldNotices(servers: readonly FoundServer[], opened: OpenedHooks): readonly string[] {
  return servers.flatMap(({ config, withheld }) => {
    const why = withheld();
    if (why === null || why.startsWith('disabled')) return [];
    const place = formatServerLocation(config, opened);
    return [
      `the MCP server ${config.name} (${place}) is not started (${why}); look at it with \`${formatTrustCommand(config, opened)}\``,
    ];
  });
}

function statusOf({ config, withheld }: FoundServer, started: Started | undefined): McpStatus {
  const why = withheld();
  if (why !== null) return { config, state: 'withheld', why, tools: [] };
  if (started === undefined || started.config.text !== config.text) {
    return { config, state: 'unused', why: 'another server has this name', tools: [] };
  }
  const { connection } = started;
  const { kind: state, why: reason } = connection.state;
  return { config, state, why: reason, tools: connection.tools.map(({ name }) => name) };
}

/** How a server is reached right now; a string says why it must not be. */
function prepareConnection(
  { config, withheld }: FoundServer,
  opened: OpenedHooks,
): ReturnType<ConnectionOptions['prepare']> {
  const why = withheld();
  if (why !== null) return why;
  const env = environmentOf(config, opened);
  const { endpoint, missing } = expandServer(config, env);
  if (missing.length > 0) {
    return `its entry names variables that are not set: ${missing.join(', ')}`;
  }
  const { startDirectory: cwd, workspaceRoots: roots } = opened;
  return { endpoint: inDirectory(endpoint, cwd), cwd, env, roots };
}

function inDirectory(endpoint: ServerEndpoint, start: string): ServerEndpoint {
  if (endpoint.type !== 'stdio' || endpoint.cwd === null) return endpoint;
  return { ...endpoint, cwd: path.resolve(start, endpoint.cwd) };
}

/** What the person's shell has; the model providers' keys are kept from a workspace's servers. */
function environmentOf(
  { place, variables }: ServerConfig,
  { surroundings, config, startDirectory, moment }: OpenedHooks,
): Environment {
  const inherited = hookEnvironment({
    surroundings,
    withhold: place === 'workspace' ? PROVIDER_KEYS : [],
    pass: config.settings['env.pass'],
    sessionId: moment().sessionId,
  });
  return { ...inherited, CLAUDE_PROJECT_DIR: startDirectory, ...variables };
}

const START_TIMEOUT_MS = 30_000;
const CALL_TIMEOUT_MS = 10 * 60_000;

/** In Claude's variables, or in the server's own entry. */
function readTimeLimits(
  { timeoutMs }: ServerConfig,
  { surroundings }: OpenedHooks,
): Pick<ConnectionOptions, 'startTimeoutMs' | 'callTimeoutMs'> {
  const { env } = surroundings;
  return {
    startTimeoutMs: milliseconds(env['MCP_TIMEOUT']) ?? START_TIMEOUT_MS,
    callTimeoutMs: timeoutMs ?? milliseconds(env['MCP_TOOL_TIMEOUT']) ?? CALL_TIMEOUT_MS,
  };
}

function milliseconds(written: string | undefined): number | null {
  const value = Number(written ?? '');
  return Number.isFinite(value) && value > 0 ? value : null;
}

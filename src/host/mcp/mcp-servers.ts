import type { SlashCommand } from '../../agent/instructions/commands.ts';
import type { Tool } from '../../agent/tools/tool.ts';
import { truncateText } from '../../base/json.ts';
import type { McpAnswer, McpCall } from '../../dialects/ports.ts';
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
  type StartedServer,
} from './server-tools.ts';
import path from 'node:path';
import { type Environment, PROVIDER_KEYS } from '../../process/environment.ts';
import { cleanEnvironment } from '../../process/search-path.ts';
import { buildHookEnvironment } from '../hook-set.ts';

/** A configured server and its state. */
export interface McpStatus {
  readonly config: ServerConfig;
  /** `unused` when another one with its name takes precedence. */
  readonly state: ConnectionState['kind'] | 'withheld' | 'unused';
  readonly why: string;
  readonly tools: readonly string[];
}

export interface McpReport {
  readonly statuses: readonly McpStatus[];
  /** Invalid entries. */
  readonly broken: readonly BrokenServer[];
}

const MAX_HOOK_CHARACTERS = 1_000_000;

/** The MCP servers of one host, shared by its sessions. */
export class McpServers {
  readonly #opened: OpenedHooks;
  readonly #configTexts: readonly string[];
  readonly #notice: (text: string) => void;
  readonly #started = new Map<string, StartedServer>();
  readonly #notified = new Set<string>();
  readonly #agentTools = createToolFactory((text) => this.#notifyOnce(text));
  readonly #resourceTools = createResourceTools(() =>
    this.#listConnections().filter(({ hasResources }) => hasResources),
  );
  readonly #dynamicServers = this.#createDynamicServers();
  #found: FoundServers = { servers: [], broken: [] };
  #starting: Promise<void> | null = null;
  #isClosed = false;

  /** `configTexts` are files, or JSON texts, with further servers of the caller. */
  constructor(opened: OpenedHooks, configTexts: readonly string[], notice: (text: string) => void) {
    this.#opened = opened;
    this.#configTexts = configTexts;
    this.#notice = notice;
  }

  /** Starts every server that may start; resolves when all are being connected. */
  start(): Promise<void> {
    this.#starting = this.#start();
    return this.#starting;
  }

  async #start(): Promise<void> {
    const opened = this.#opened;
    this.#found = findServers(opened, this.#configTexts);
    const { servers, broken } = this.#found;
    for (const each of broken) {
      this.#notifyOnce(`${formatServerLocation(each, opened)}: ${each.why}`);
    }
    for (const text of listWithheldNotices(servers, opened)) this.#notifyOnce(text);
    for (const text of listOwnServerChanges(servers, opened)) this.#notifyOnce(text);
    const startable = selectFirstOfEachName(servers);
    // Without servers the MCP client is never loaded.
    if (startable.length === 0) return;
    const { ServerConnection: Connection } = await import('../../mcp/server-connection.ts');
    for (const server of startable) this.#connect(server, Connection);
  }

  #connect(server: FoundServer, Connection: typeof ServerConnection): void {
    const opened = this.#opened;
    const { config } = server;
    const existing = this.#started.get(config.name);
    // A failed server may be available by now.
    if (existing !== undefined) void existing.connection.open();
    if (this.#isClosed || existing !== undefined) return;
    const connection = new Connection({
      name: config.name,
      prepare: () => prepareConnection(server, opened),
      ...readTimeLimits(config, opened),
      notice: this.#notice,
    });
    const settled = this.#open(connection);
    this.#started.set(config.name, { config, connection, settled });
  }

  async #open(connection: ServerConnection): Promise<void> {
    await connection.open();
    const { kind, why } = connection.state;
    if (kind !== 'failed') return;
    this.#notifyOnce(`the MCP server ${connection.name} is not connected: ${why}`);
  }

  #notifyOnce(text: string): void {
    if (this.#notified.has(text)) return;
    this.#notified.add(text);
    this.#notice(text);
  }

  #listConnections(): readonly ServerConnection[] {
    return [...this.#started.values()].map(({ connection }) => connection);
  }

  /** Returns the names of all configured servers, whether they may start or not. */
  names(): readonly string[] {
    return this.#found.servers.map(({ config }) => config.name);
  }

  /** Adds further servers, which need no trust, until they are removed. */
  add(servers: readonly ServerConfig[]): AddedServers {
    return this.#dynamicServers.add(servers);
  }

  #createDynamicServers(): DynamicServers {
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
        const location = formatServerLocation(config, this.#opened);
        this.#notifyOnce(`the MCP server ${config.name} (${location}) ${why}`);
      },
    });
  }

  /** Resolves when each is connected or has failed, at the latest after the start timeout. */
  async waitUntilSettled(): Promise<void> {
    await this.#dynamicServers.waitUntilStarted();
    await Promise.all([...this.#started.values()].map((each) => each.settled));
  }

  tools(): readonly Tool[] {
    const hasResources = this.#listConnections().some((each) => each.hasResources);
    const serverTools = this.#agentTools([...this.#started.values()]);
    return hasResources ? [...serverTools, ...this.#resourceTools] : serverTools;
  }

  commands(): readonly SlashCommand[] {
    return this.#listConnections().flatMap((each) =>
      each.prompts.map((prompt) => createPromptCommand(each, prompt)),
    );
  }

  /** Calls a tool for a hook; null when no such server is connected. */
  async call({ server, tool, input }: McpCall, signal: AbortSignal): Promise<McpAnswer | null> {
    // Hooks call often, so the configuration is not read again.
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

  /** Starts all servers and returns their states. */
  async report(): Promise<McpReport> {
    await this.start();
    await this.waitUntilSettled();
    const { servers, broken } = this.#found;
    const statuses = [...servers, ...this.#dynamicServers.current()].map((server) =>
      createStatus(server, this.#started.get(server.config.name)),
    );
    return { statuses, broken };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#listConnections().map((connection) => connection.close()));
  }
}

function selectFirstOfEachName(servers: readonly FoundServer[]): readonly FoundServer[] {
  const names = new Set<string>();
  return servers.filter(({ config, withheld }) => {
    if (names.has(config.name) || withheld() !== null) return false;
    names.add(config.name);
    return true;
  });
}

/** Reports servers that need review; disabled ones are not reported. */
function listWithheldNotices(
  servers: readonly FoundServer[],
  opened: OpenedHooks,
): readonly string[] {
  return servers.flatMap(({ config, withheld }) => {
    const why = withheld();
    if (why === null || why.startsWith('disabled')) return [];
    const location = formatServerLocation(config, opened);
    return [
      `the MCP server ${config.name} (${location}) is not started (${why}): review it with \`${formatTrustCommand(config, opened)}\``,
    ];
  });
}

function createStatus(
  { config, withheld }: FoundServer,
  started: StartedServer | undefined,
): McpStatus {
  const why = withheld();
  if (why !== null) return { config, state: 'withheld', why, tools: [] };
  if (started === undefined || started.config.text !== config.text) {
    return { config, state: 'unused', why: 'another server has this name', tools: [] };
  }
  const { connection } = started;
  const { kind: state, why: reason } = connection.state;
  return { config, state, why: reason, tools: connection.tools.map(({ name }) => name) };
}

/** Resolves the endpoint of a server; a string is the reason why it must not be used. */
function prepareConnection(
  { config, withheld }: FoundServer,
  opened: OpenedHooks,
): ReturnType<ConnectionOptions['prepare']> {
  const why = withheld();
  if (why !== null) return why;
  const env = createEnvironment(config, opened);
  const { endpoint, missing } = expandServer(config, env);
  if (missing.length > 0) {
    return `its entry uses variables that are not set: ${missing.join(', ')}`;
  }
  const { startDirectory: cwd, workspaceRoots: roots } = opened;
  return { endpoint: resolveWorkingDirectory(endpoint, cwd), cwd, env, roots };
}

function resolveWorkingDirectory(endpoint: ServerEndpoint, start: string): ServerEndpoint {
  if (endpoint.type !== 'stdio' || endpoint.cwd === null) return endpoint;
  return { ...endpoint, cwd: path.resolve(start, endpoint.cwd) };
}

/** The user's environment; servers of a workspace do not get the keys of model providers. */
function createEnvironment(
  { place: location, variables }: ServerConfig,
  { surroundings, hookSet, config, startDirectory, moment, claim, untrusted }: OpenedHooks,
): Environment {
  claim.hold();
  const inherited = buildHookEnvironment({
    surroundings,
    variables: hookSet.variables(),
    withhold: location === 'workspace' ? PROVIDER_KEYS : [],
    pass: config.settings['env.pass'],
    sessionId: moment().sessionId,
  });
  const env =
    location === 'workspace'
      ? inherited
      : cleanEnvironment(inherited, untrusted, surroundings.platform);
  return { ...env, CLAUDE_PROJECT_DIR: startDirectory, ...variables };
}

const START_TIMEOUT_MS = 30_000;
const CALL_TIMEOUT_MS = 10 * 60_000;

/** From Claude's variables, or from the server's own entry. */
function readTimeLimits(
  { timeoutMs }: ServerConfig,
  { surroundings }: OpenedHooks,
): Pick<ConnectionOptions, 'startTimeoutMs' | 'callTimeoutMs'> {
  const { env } = surroundings;
  return {
    startTimeoutMs: parseMilliseconds(env['MCP_TIMEOUT']) ?? START_TIMEOUT_MS,
    callTimeoutMs: timeoutMs ?? parseMilliseconds(env['MCP_TOOL_TIMEOUT']) ?? CALL_TIMEOUT_MS,
  };
}

function parseMilliseconds(written: string | undefined): number | null {
  const value = Number(written ?? '');
  return Number.isFinite(value) && value > 0 ? value : null;
}

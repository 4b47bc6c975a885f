import { formatPath, findRealPath } from '../../base/paths.ts';
import { quoteShellWord } from '../../base/text.ts';
import type { DiscoveredUnit } from '../../dialects/discovery.ts';
import {
  type BrokenServer,
  type ConfiguredServers,
  mergeServers,
  type ServerConfig,
  type ServerSource,
} from '../../mcp/server-config.ts';
import type { OpenedHooks } from '../open-hooks.ts';
import path from 'node:path';
import { detectHomeHookChanges } from '../../trust/home-hook-changes.ts';
import { parseLocatedJson } from '../../base/located-json.ts';
import {
  createBrokenFile,
  createServerOrigin,
  parseServersIn,
  type ServerOrigin,
} from '../../mcp/parse-servers.ts';
import { readConfigText } from '../../dialects/read-config-text.ts';
import { readUserServers } from '../../dialects/read-user-servers.ts';
import { findOwningRoot, type HomeAndRoots } from '../../dialects/workspace-roots.ts';

/** A configured MCP server. */
export interface FoundServer {
  readonly config: ServerConfig;
  /** Why it may not start now, or null. Called right before each start. */
  readonly withheld: () => string | null;
}

export interface FoundServers {
  /** Of several with one name the first that may start is used. */
  readonly servers: readonly FoundServer[];
  readonly broken: readonly BrokenServer[];
}

/** Precedence of sources that configure the same name. */
const ORDER: readonly ServerSource[] = ['managed', 'dynamic', 'local', 'project', 'user', 'plugin'];

/** Every server that is configured for this workspace and user. Starts none. */
export function findServers(opened: OpenedHooks, fileArguments: readonly string[]): FoundServers {
  const callerServers = readCallerServers(fileArguments, opened);
  const ownServers = readOwnServers(opened);
  const configured = opened.hookSet.mcpServers().map(({ server }) => server);
  const added = callerServers.servers.filter((each) => !isConfigured(each, configured));
  const all = [...added, ...ownServers.servers, ...configured];
  const getRank = ({ source }: ServerConfig): number => ORDER.indexOf(source);
  return {
    servers: all
      .toSorted((one, other) => getRank(one) - getRank(other))
      .map((config) => ({ config, withheld: () => explainWithheld(config, opened) })),
    broken: [...callerServers.broken, ...ownServers.broken, ...opened.hookSet.brokenServers()],
  };
}

/** Whether a server of the caller's files is configured in the same file anyway. */
function isConfigured({ name, file }: ServerConfig, configured: readonly ServerConfig[]): boolean {
  const real = resolveFile(file);
  return configured.some((each) => each.name === name && resolveFile(each.file) === real);
}

function resolveFile(file: string): string {
  return findRealPath(file) ?? file;
}

/** A server of a workspace needs trust in its entry and its files. */
function explainWithheld(config: ServerConfig, opened: OpenedHooks): string | null {
  if (config.whyOff !== null) return `disabled: ${config.whyOff}`;
  if (config.place !== 'workspace') return null;
  const unit = findUnit(config, opened);
  if (unit === null) return 'untrusted: its entry no longer exists';
  const { state, why } = opened.hookSet.status(unit);
  return state === 'ready' ? null : `${state}: ${why}`;
}

/** A server of the caller's files has no discovered unit, but needs trust as well. */
function findUnit(config: ServerConfig, opened: OpenedHooks): DiscoveredUnit | null {
  const { hookSet } = opened;
  const found = hookSet.mcpServers().find((each) => each.unit && isSameServer(each.server, config));
  if (found !== undefined || config.source !== 'dynamic') return found?.unit ?? null;
  return hookSet.createServerUnit(config);
}

function isSameServer(one: ServerConfig, { name, file, text }: ServerConfig): boolean {
  return one.name === name && one.file === file && one.text === text;
}

/** The command to review a server: discovery does not find one of the caller's files without --settings. */
export function formatTrustCommand(config: ServerConfig, opened: OpenedHooks): string {
  const isFound = opened.hookSet.mcpServers().some(({ server }) => isSameServer(server, config));
  return isFound ? 'hookline trust' : `hookline --settings ${quoteShellWord(config.file)} trust`;
}

/** File and line of its entry, for messages. */
export function formatServerLocation(
  { file, line }: Pick<ServerConfig, 'file' | 'line'>,
  { workspaceRoots, surroundings }: Pick<OpenedHooks, 'workspaceRoots' | 'surroundings'>,
): string {
  const displayPath = formatPath(file, { cwd: workspaceRoots[0] ?? '/', home: surroundings.home });
  return `${displayPath}:${line}`;
}

/** The user's own servers start without a trust decision, so their changes since the last run are reported. */
export function listOwnServerChanges(
  servers: readonly FoundServer[],
  opened: OpenedHooks,
): readonly string[] {
  const { stateDirectory } = opened;
  // Only servers for all directories: others would be new in each directory.
  const ownServers = servers.map(({ config }) => config).filter(isGlobal);
  if (stateDirectory === null || ownServers.length === 0) return [];
  const entries = ownServers.map((config) => [`${config.name} in ${config.file}`, config] as const);
  const { changes, notes } = detectHomeHookChanges(
    path.join(stateDirectory, 'seen-mcp.json'),
    [],
    Object.fromEntries(entries.map(([key, { text }]) => [key, text])),
  );
  const configsByKey = new Map<string, ServerConfig>(entries);
  const messages = changes.flatMap(({ path: key, kind }) => {
    const config = configsByKey.get(key);
    if (config === undefined) return [];
    const label = `${config.name} (${formatServerLocation(config, opened)})`;
    return kind === 'new'
      ? [`new MCP server since the last run: ${label}`]
      : [`MCP server changed since the last run: ${label}`];
  });
  return [...messages, ...notes];
}

function isGlobal({ place, source }: ServerConfig): boolean {
  return place === 'home' && source === 'user';
}

/** The file that `hookline mcp add` writes; null without a home directory. */
export function getOwnServersFile({
  stateDirectory,
}: Pick<OpenedHooks, 'stateDirectory'>): string | null {
  return stateDirectory === null ? null : path.join(stateDirectory, 'mcp.json');
}

/** The user's own servers: those of `hookline mcp add`, then those of other agents. */
function readOwnServers(opened: OpenedHooks): ConfiguredServers {
  return mergeServers([
    readUserServers(getOwnServersFile(opened), getHomeAndRoots(opened)),
    opened.hookSet.readUserServers(),
  ]);
}

function getHomeAndRoots({ workspaceRoots, surroundings }: OpenedHooks): HomeAndRoots {
  return { workspaceRoots, home: surroundings.home };
}

/** Servers of files, or of JSON texts, that the caller passes. A file in the workspace still needs trust. */
function readCallerServers(sources: readonly string[], opened: OpenedHooks): ConfiguredServers {
  return mergeServers(
    sources.map((each) => {
      if (each.trimStart().startsWith('{')) return parseCallerText(each, createTextOrigin());
      const file = path.resolve(opened.surroundings.cwd, each);
      const text = readConfigText(file);
      if (text === null) return createBrokenFile(file, 'does not exist');
      if (typeof text !== 'string') return createBrokenFile(file, text.why);
      return parseCallerText(text, createCallerOrigin(file, opened));
    }),
  );
}

function createTextOrigin(): ServerOrigin {
  return createServerOrigin('--mcp-config', 'dynamic', 'given');
}

function createCallerOrigin(file: string, opened: OpenedHooks): ServerOrigin {
  const root = findOwningRoot(file, getHomeAndRoots(opened));
  const origin = createServerOrigin(file, 'dynamic', 'given');
  return root === null ? origin : { ...origin, place: 'workspace', root };
}

function parseCallerText(text: string, origin: ServerOrigin): ConfiguredServers {
  const root = parseLocatedJson(text);
  if ('why' in root) return createBrokenFile(origin.file, root.why, root.line);
  return parseServersIn(root, origin);
}

import { formatPath, findRealPath } from '../../base/paths.ts';
import { quoteShellWord } from '../../base/text.ts';
import type { DiscoveredUnit } from '../../dialects/discovery.ts';
import type { BrokenServer, ServerConfig, ServerSource } from '../../mcp/server-config.ts';
import type { OpenedHooks } from '../open-hooks.ts';
import { readGivenServers, readOwnServers } from './own-servers.ts';
import path from 'node:path';
import { detectHomeHookChanges } from '../../trust/home-hook-changes.ts';

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
  const given = readGivenServers(fileArguments, opened);
  const ownServers = readOwnServers(opened);
  const configured = opened.hookSet.mcpServers().map(({ server }) => server);
  const added = given.servers.filter((each) => !isConfigured(each, configured));
  const all = [...added, ...ownServers.servers, ...configured];
  const rank = ({ source }: ServerConfig): number => ORDER.indexOf(source);
  return {
    servers: all
      .toSorted((one, other) => rank(one) - rank(other))
      .map((config) => ({ config, withheld: () => explainWithheld(config, opened) })),
    broken: [...given.broken, ...ownServers.broken, ...opened.hookSet.brokenServers()],
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
    const given = `${config.name} (${formatServerLocation(config, opened)})`;
    return kind === 'new'
      ? [`new MCP server since the last run: ${given}`]
      : [`MCP server changed since the last run: ${given}`];
  });
  return [...messages, ...notes];
}

function isGlobal({ place, source }: ServerConfig): boolean {
  return place === 'home' && source === 'user';
}

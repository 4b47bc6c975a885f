import { formatPath, findRealPath } from '../../base/paths.ts';
import { serverUnit } from '../../dialects/claude-config/mcp/server-unit.ts';
import { quoteShellWord } from '../../base/shell-word.ts';
import type { FoundHook } from '../../dialects/dialect.ts';
import type { BrokenServer, ServerConfig, ServerSource } from '../../mcp/server-config.ts';
import type { OpenedHooks } from '../open-hooks.ts';
import { readGivenServers, readOwnServers } from './own-servers.ts';
import path from 'node:path';
import { detectHomeHookChanges } from '../../trust/home-hook-changes.ts';

/** An MCP server that somebody configured. */
export interface FoundServer {
  readonly config: ServerConfig;
  /** Why it may not start now, or null. Asked right before each start. */
  readonly withheld: () => string | null;
}

export interface FoundServers {
  /** Of several with one name the first that may start counts. */
  readonly servers: readonly FoundServer[];
  readonly broken: readonly BrokenServer[];
}

/** Who is heard first when two give a server the same name. */
const ORDER: readonly ServerSource[] = ['managed', 'dynamic', 'local', 'project', 'user', 'plugin'];

/** Every server that is configured for this workspace and person. Starts none. */
export function findServers(opened: OpenedHooks, given: readonly string[]): FoundServers {
  const named = readGivenServers(given, opened);
  const own = readOwnServers(opened);
  const configured = opened.hookSet.mcpServers();
  const added = named.servers.filter((each) => !isAmong(each, configured.servers));
  const all = [...added, ...own.servers, ...configured.servers];
  const rank = ({ source }: ServerConfig): number => ORDER.indexOf(source);
  return {
    servers: all
      .toSorted((one, other) => rank(one) - rank(other))
      .map((config) => ({ config, withheld: () => whyWithheld(config, opened) })),
    broken: [...named.broken, ...own.broken, ...configured.broken],
  };
}

/** To name a file that counts anyway changes nothing. */
function isAmong({ name, file }: ServerConfig, configured: readonly ServerConfig[]): boolean {
  const real = realFile(file);
  return configured.some((each) => each.name === name && realFile(each.file) === real);
}

function realFile(file: string): string {
  return findRealPath(file) ?? file;
}

/** A workspace's server starts with the trust that its entry and its files have. */
function whyWithheld(config: ServerConfig, opened: OpenedHooks): string | null {
  if (config.whyOff !== null) return `disabled: ${config.whyOff}`;
  if (config.place !== 'workspace') return null;
  const unit = unitOf(config, opened);
  if (unit === undefined) return 'untrusted: its entry is no longer there';
  const { state, why } = opened.hookSet.status(unit);
  return state === 'ready' ? null : `${state}: ${why}`;
}

/** What the caller names is not found with the hooks; it is trusted where it lies all the same. */
function unitOf(config: ServerConfig, opened: OpenedHooks): FoundHook | undefined {
  const { hookSet, startDirectory, surroundings } = opened;
  const found = hookSet.found().find(({ mcpServer }) => isSame(mcpServer, config));
  if (found !== undefined || config.source !== 'dynamic') return found;
  const { env, home } = surroundings;
  return serverUnit(config, { startDirectory, env, home })[0];
}

function isSame(one: ServerConfig | undefined, { name, file, text }: ServerConfig): boolean {
  return one !== undefined && one.name === name && one.file === file && one.text === text;
}

/** How a person looks at it: what only the caller names is not among what is found here. */
export function formatTrustCommand(config: ServerConfig, opened: OpenedHooks): string {
  const isFound = opened.hookSet.mcpServers().servers.some((each) => isSame(each, config));
  return isFound ? 'hookline trust' : `hookline --settings ${quoteShellWord(config.file)} trust`;
}

/** Where it is configured, as a person would say it. */
export function formatServerLocation(
  { file, line }: Pick<ServerConfig, 'file' | 'line'>,
  { workspaceRoots, surroundings }: Pick<OpenedHooks, 'workspaceRoots' | 'surroundings'>,
): string {
  const shown = formatPath(file, { cwd: workspaceRoots[0] ?? '/', home: surroundings.home });
  return `${shown}:${line}`;
}

/** A person's own servers start because of where they stand, so a change since the last run is said aloud. */
export function listOwnServerChanges(
  servers: readonly FoundServer[],
  opened: OpenedHooks,
): readonly string[] {
  const { stateDirectory } = opened;
  // Those that are the same in every directory: others would be new with each change of it.
  const own = servers.map(({ config }) => config).filter(isEverywhere);
  if (stateDirectory === null || own.length === 0) return [];
  const entries = own.map((config) => [`${config.name} in ${config.file}`, config] as const);
  const { changes, notes } = detectHomeHookChanges(
    path.join(stateDirectory, 'seen-mcp.json'),
    [],
    Object.fromEntries(entries.map(([key, { text }]) => [key, text])),
  );
  const known = new Map<string, ServerConfig>(entries);
  const words = changes.flatMap(({ path: key, kind }) => {
    const config = known.get(key);
    if (config === undefined) return [];
    const named = `${config.name} (${formatServerLocation(config, opened)})`;
    return kind === 'new'
      ? [`new MCP server of your own since the last run: ${named}`]
      : [`your own MCP server changed since the last run: ${named}`];
  });
  return [...words, ...notes];
}

function isEverywhere({ place, source }: ServerConfig): boolean {
  return place === 'home' && source === 'user';
}

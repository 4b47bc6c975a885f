import { displayPath } from '../../base/paths.ts';
import type { BrokenServer, ServerConfig, ServerSource } from '../../mcp/server-config.ts';
import type { OpenedHooks } from '../open-hooks.ts';
import { readGivenServers, readOwnServers } from './own-servers.ts';

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
  const all = [...named.servers, ...own.servers, ...configured.servers];
  const rank = ({ source }: ServerConfig): number => ORDER.indexOf(source);
  return {
    servers: all
      .toSorted((one, other) => rank(one) - rank(other))
      .map((config) => ({ config, withheld: () => whyWithheld(config, opened) })),
    broken: [...named.broken, ...own.broken, ...configured.broken],
  };
}

/** A workspace's server starts with the trust that its entry and its files have. */
function whyWithheld(config: ServerConfig, { hookSet }: OpenedHooks): string | null {
  if (config.whyOff !== null) return `disabled: ${config.whyOff}`;
  if (config.place !== 'workspace') return null;
  const unit = hookSet.found().find(({ mcpServer }) => isSame(mcpServer, config));
  if (unit === undefined) return 'untrusted: its entry is no longer there';
  const { state, why } = hookSet.status(unit);
  return state === 'ready' ? null : `${state}: ${why}`;
}

function isSame(one: ServerConfig | undefined, { name, file, text }: ServerConfig): boolean {
  return one !== undefined && one.name === name && one.file === file && one.text === text;
}

/** Where it is configured, as a person would say it. */
export function serverPlace(
  { file, line }: Pick<ServerConfig, 'file' | 'line'>,
  { workspaceRoots, surroundings }: Pick<OpenedHooks, 'workspaceRoots' | 'surroundings'>,
): string {
  const shown = displayPath(file, { cwd: workspaceRoots[0] ?? '/', home: surroundings.home });
  return `${shown}:${line}`;
}

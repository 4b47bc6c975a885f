import path from 'node:path';
import type { ServerConfig } from '../../mcp/server-config.ts';
import { detectHomeHookChanges } from '../../trust/seen.ts';
import type { OpenedHooks } from '../open-hooks.ts';
import { type FoundServer, formatServerLocation } from './find-servers.ts';

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

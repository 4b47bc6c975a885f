import path from 'node:path';
import type { Part } from '../../../base/located-json.ts';
import { createServerOrigin, parseServersIn } from '../../../mcp/parse-servers.ts';
import { type ConfiguredServers, mergeServers, NO_SERVERS } from '../../../mcp/server-config.ts';
import { parseUserServers, readUserServers } from '../../read-user-servers.ts';
import type { ClaudePlaces } from '../session.ts';

/** Reads the servers that Claude Code stores for the user: of the start directory, then of all directories. */
export function readClaudeUserServers(places: ClaudePlaces): ConfiguredServers {
  return readUserServers(findUserFile(places), places, (root, file) =>
    mergeServers([parseStartDirectory(root, file, places), parseUserServers(root, file)]),
  );
}

/** Finds `.claude.json`, which lies in the home directory, or in the directory that the environment sets. */
function findUserFile({ env, home, claudeDirectory }: ClaudePlaces): string | null {
  const isMoved = (env['CLAUDE_CONFIG_DIR'] ?? '') !== '';
  const directory = isMoved ? claudeDirectory : home;
  return directory === null ? null : path.join(directory, '.claude.json');
}

function parseStartDirectory(
  root: Part,
  file: string,
  { startDirectory }: ClaudePlaces,
): ConfiguredServers {
  const project = root.fields?.get('projects')?.fields?.get(startDirectory);
  if (project === undefined) return NO_SERVERS;
  const disabled = project.fields?.get('disabledMcpServers')?.value;
  const whyOff = (name: string): string | null =>
    Array.isArray(disabled) && disabled.includes(name)
      ? `"disabledMcpServers" in ${file} names it`
      : null;
  return parseServersIn(project, { ...createServerOrigin(file, 'local', 'home'), whyOff });
}

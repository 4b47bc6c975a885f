import path from 'node:path';
import { type Part, parseLocatedJson } from '../base/located-json.ts';
import { createBrokenFile, createServerOrigin, parseServersIn } from '../mcp/parse-servers.ts';
import { type ConfiguredServers, NO_SERVERS } from '../mcp/server-config.ts';
import { readConfigText } from './read-config-text.ts';
import { findOwningRoot, type HomeAndRoots } from './workspace-roots.ts';

/** Reads a file with the user's own MCP servers, if it exists. Starts none, and never throws. */
export function readUserServers(
  file: string | null,
  homeAndRoots: HomeAndRoots,
  parse: (root: Part, file: string) => ConfiguredServers = parseUserServers,
): ConfiguredServers {
  const text = file === null ? null : readConfigText(file);
  if (file === null || text === null) return NO_SERVERS;
  if (typeof text !== 'string') return createBrokenFile(file, text.why);
  // Claude's file is large, and mostly without servers. Without quotes, one of which may be missing.
  if (!/mcp/i.test(path.basename(file)) && !/mcp/i.test(text)) return NO_SERVERS;
  const owner = findOwningRoot(file, homeAndRoots);
  // The user's own file must not come from a repository.
  if (owner !== null) {
    return createBrokenFile(file, `is ignored: it lies in the workspace ${owner}`);
  }
  const root = parseLocatedJson(text);
  return 'why' in root ? createBrokenFile(file, root.why, root.line) : parse(root, file);
}

/** Parses the servers for all directories. */
export function parseUserServers(root: Part, file: string): ConfiguredServers {
  return parseServersIn(root, createServerOrigin(file, 'user', 'home'));
}

import path from 'node:path';
import {
  expandServer,
  describeEndpoint,
  type ServerEndpoint,
  type ServerConfig,
} from '../../mcp/server-config.ts';
import { listPluginDirectories } from './binding.ts';
import type { Binds, DiscoveredUnit } from '../discovery.ts';
import { type NamedFiles, findNamedFilesInArgs } from './match/named-files.ts';
import type { ClaudeSession } from './session.ts';

/** Creates the trust unit of a workspace's MCP server; null for the user's own and for disabled ones. */
export function createServerUnit(
  server: ServerConfig,
  session: Pick<ClaudeSession, 'startDirectory' | 'env' | 'home'>,
): DiscoveredUnit | null {
  const { source, file, line, place, root } = server;
  if (place !== 'workspace' || root === null || server.whyOff !== null) return null;
  const id = formatId(server);
  return {
    id,
    ownId: id,
    dialect: 'claude',
    eventName: 'mcpServers',
    path: file,
    line,
    place,
    root,
    binds: computeBinds(server, root, session),
    notes: [],
    problem: null,
    details: { type: 'mcp', source, runs: describeEndpoint(server.endpoint) },
  };
}

/** Ids look like `claude:project:mcp:files`; a server of a settings file also has the file's name. */
function formatId({ name, source, file }: ServerConfig): string {
  const base = path.basename(file);
  return `claude:${source}:mcp:${name}${base === '.mcp.json' ? '' : `@${base}`}`;
}

function computeBinds(
  server: ServerConfig,
  root: string,
  { startDirectory, env, home }: Pick<ClaudeSession, 'startDirectory' | 'env' | 'home'>,
): Binds {
  const { file, text, variables } = server;
  const { endpoint } = expandServer(server, env);
  const variablesOfHome = home === null ? {} : { HOME: home };
  const namedFiles = findFiles(endpoint, {
    root,
    cwd: resolveDirectory(endpoint, startDirectory),
    variables: { ...variablesOfHome, ...variables },
  });
  const plugin = variables['CLAUDE_PLUGIN_ROOT'];
  const ofPlugin =
    plugin === undefined ? [] : listPluginDirectories(plugin, root, namedFiles.files);
  return {
    entry: file,
    text,
    files: namedFiles.files,
    directories: [...ofPlugin, ...namedFiles.directories],
  };
}

function resolveDirectory(endpoint: ServerEndpoint, startDirectory: string): string {
  if (endpoint.type !== 'stdio' || endpoint.cwd === null) return startDirectory;
  return path.resolve(startDirectory, endpoint.cwd);
}

const NOTHING: NamedFiles = { files: [], directories: [] };

function findFiles(
  endpoint: ServerEndpoint,
  context: Parameters<typeof findNamedFilesInArgs>[1],
): NamedFiles {
  if (endpoint.type !== 'stdio') return NOTHING;
  const { command, args, env } = endpoint;
  const namedFiles = findNamedFilesInArgs([command, ...args], context);
  // Variables such as NODE_OPTIONS make an interpreter load a file first.
  const loaded = findNamedFilesInArgs(Object.values(env), context);
  return {
    files: [...new Set([...namedFiles.files, ...loaded.files])],
    directories: [...new Set([...namedFiles.directories, ...loaded.directories])],
  };
}

import { isFile } from '../../base/files.ts';
import path from 'node:path';
import { findRealPath, isInside } from '../../base/paths.ts';
import type { Binds, DiscoveredUnit, Starts } from '../discovery.ts';
import { listSearchDirectories } from '../../process/program-finder.ts';
import { addEnvironmentToText } from './config/entry-text.ts';
import type { CommandEntry, Entry } from './entry.ts';
import { planCommand } from './handlers/command-line.ts';
import { buildPlaceVariables } from './handlers/environment.ts';
import { type NamedFiles, findNamedFiles, findNamedFilesInArgs } from './match/named-files.ts';
import type { ShellWordContext } from '../../permissions/rules/shell-words.ts';
import type { ClaudeSession } from './session.ts';
import {
  expandServer,
  describeEndpoint,
  type ServerEndpoint,
  type ServerConfig,
} from '../../mcp/server-config.ts';

/** Computes what the trust in an entry depends on: its text, and the files that its command names. */
export function computeBinds(entry: Entry, session: ClaudeSession): Binds {
  const { source } = entry;
  const text = addEnvironmentToText(entry.text, entry.environment);
  const bound = { entry: source.file, text };
  if (entry.type !== 'command') return { ...bound, files: [], directories: [] };
  if (source.root === null) {
    return { ...bound, files: findPersonalFiles(entry, session), directories: [] };
  }
  const wordContext = { root: source.root, cwd: session.startDirectory };
  const namedFiles = findFilesOfEntry(entry, wordContext, session);
  const ofPlugin =
    source.plugin === null
      ? []
      : listPluginDirectories(source.plugin.root, source.root, namedFiles.files);
  return {
    ...bound,
    files: namedFiles.files,
    directories: [...ofPlugin, ...namedFiles.directories],
    starts: describeStart(entry, session),
  };
}

function describeStart({ environment, source }: CommandEntry, session: ClaudeSession): Starts {
  const { startDirectory, env, settingsEnv } = session;
  const searchPath = environment?.['PATH'] ?? settingsEnv['PATH'] ?? env['PATH'];
  return {
    programs: [],
    directories: [startDirectory, ...(source.plugin === null ? [] : [source.plugin.root])],
    searchPath: listSearchDirectories(searchPath, startDirectory),
  };
}

const CODE_OF_PLUGIN = ['hooks', '.claude-plugin', 'scripts', 'lib', 'bin', 'src'];

/**
 * Lists the plugin's directory; when that is the workspace root, only the directories in which
 * plugins keep code.
 */
function listPluginDirectories(
  plugin: string,
  root: string,
  namedFiles: readonly string[],
): readonly string[] {
  if (!isInside(root, plugin)) return [];
  if ((findRealPath(plugin) ?? plugin) !== root) return [plugin];
  const beside = namedFiles
    .map((file) => path.dirname(file))
    .filter((directory) => directory !== root);
  return [...CODE_OF_PLUGIN.map((name) => path.join(root, name)), ...beside];
}

/** Finds files of the user that a personal entry names, so that their changes are reported. */
function findPersonalFiles(entry: CommandEntry, session: ClaudeSession): readonly string[] {
  const { home, startDirectory } = session;
  if (home === null || entry.source.place !== 'home') return [];
  return findFilesOfEntry(entry, { root: home, cwd: startDirectory }, session).files.filter(isFile);
}

/**
 * Explains why a workspace's command may not run in `cwd`, or null. Relative paths name other files
 * there than in the start directory, and trust covers only the latter.
 */
export function explainUnboundDirectory(
  cwd: string,
  entry: CommandEntry,
  session: ClaudeSession,
): string | null {
  const { startDirectory } = session;
  if (entry.source.root === null) return null;
  const here = findRealPath(cwd) ?? cwd;
  if (here === startDirectory) return null;
  const bound = computeBinds(entry, session);
  const usual = new Set(findFilesOfEntry(entry, { root: '/', cwd: startDirectory }, session).files);
  const isBound = (file: string): boolean =>
    usual.has(file) || bound.directories.some((directory) => isInside(directory, file));
  const other = findFilesOfEntry(entry, { root: '/', cwd: here }, session).files.find(
    (file) => !isBound(file) && isFile(file),
  );
  if (other === undefined) return null;
  return `in ${here} its command names ${other}, which is not trusted; write "$CLAUDE_PROJECT_DIR"/ before its path`;
}

function findFilesOfEntry(
  entry: CommandEntry,
  place: Omit<ShellWordContext, 'variables'>,
  session: ClaudeSession,
): NamedFiles {
  const { environment = {} } = entry;
  const places = {
    ...buildPlaceVariables(entry, session),
    ...buildHomeVariable(session),
    PWD: place.cwd,
  };
  const context = { ...place, variables: { ...environment, ...places } };
  const namedFiles = findFilesInCommand(entry, context, session);
  // Variables such as BASH_ENV make a shell or an interpreter load a file first.
  const loaded = findNamedFilesInArgs(Object.values(environment), context);
  return {
    files: [...new Set([...namedFiles.files, ...loaded.files])],
    directories: [
      ...new Set([
        ...namedFiles.directories,
        ...loaded.directories,
        ...listSearchedDirectories(environment, place),
      ]),
    ],
  };
}

/** Lists the directories of PATH that lie in the workspace. */
function listSearchedDirectories(
  { PATH }: Readonly<Record<string, string>>,
  { root, cwd }: Omit<ShellWordContext, 'variables'>,
): readonly string[] {
  if (PATH === undefined) return [];
  const directories = PATH.split(path.delimiter).map((piece) => path.resolve(cwd, piece));
  return directories.filter((directory) => directory !== root && isInside(root, directory));
}

function findFilesInCommand(
  entry: CommandEntry,
  context: ShellWordContext,
  session: ClaudeSession,
): NamedFiles {
  if (entry.args === null) return findNamedFiles(entry.command, context);
  const planned = planCommand(entry, session);
  return findNamedFilesInArgs('problem' in planned ? [] : [planned.file, ...planned.args], context);
}

function buildHomeVariable({ home }: ClaudeSession): Record<string, string> {
  return home === null ? {} : { HOME: home };
}

/** Creates the trust unit of a workspace's MCP server; null for the user's own and for disabled ones. */
export function createServerUnit(
  server: ServerConfig,
  session: Pick<ClaudeSession, 'startDirectory' | 'env' | 'home'>,
): DiscoveredUnit | null {
  const { source, file, line, place, root } = server;
  if (place !== 'workspace' || root === null || server.whyOff !== null) return null;
  const id = formatServerId(server);
  return {
    id,
    ownId: id,
    dialect: 'claude',
    eventName: 'mcpServers',
    path: file,
    line,
    place,
    root,
    binds: computeServerBinds(server, root, session),
    notes: [],
    problem: null,
    details: { type: 'mcp', source, runs: describeEndpoint(server.endpoint) },
  };
}

/** Ids look like `claude:project:mcp:files`; a server of a settings file also has the file's name. */
function formatServerId({ name, source, file }: ServerConfig): string {
  const base = path.basename(file);
  return `claude:${source}:mcp:${name}${base === '.mcp.json' ? '' : `@${base}`}`;
}

function computeServerBinds(
  server: ServerConfig,
  root: string,
  { startDirectory, env, home }: Pick<ClaudeSession, 'startDirectory' | 'env' | 'home'>,
): Binds {
  const { file, text, variables } = server;
  const { endpoint } = expandServer(server, env);
  const variablesOfHome = home === null ? {} : { HOME: home };
  const cwd = resolveServerDirectory(endpoint, startDirectory);
  const namedFiles = findServerFiles(endpoint, {
    root,
    cwd,
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
    ...(endpoint.type === 'stdio'
      ? {
          starts: {
            programs: [endpoint.command],
            directories: [cwd, ...(plugin === undefined ? [] : [plugin])],
            searchPath: listSearchDirectories(endpoint.env['PATH'] ?? env['PATH'], cwd),
          },
        }
      : {}),
  };
}

function resolveServerDirectory(endpoint: ServerEndpoint, startDirectory: string): string {
  if (endpoint.type !== 'stdio' || endpoint.cwd === null) return startDirectory;
  return path.resolve(startDirectory, endpoint.cwd);
}

const NO_FILES: NamedFiles = { files: [], directories: [] };

function findServerFiles(
  endpoint: ServerEndpoint,
  context: Parameters<typeof findNamedFilesInArgs>[1],
): NamedFiles {
  if (endpoint.type !== 'stdio') return NO_FILES;
  const { command, args, env } = endpoint;
  const namedFiles = findNamedFilesInArgs([command, ...args], context);
  // Variables such as NODE_OPTIONS make an interpreter load a file first.
  const loaded = findNamedFilesInArgs(Object.values(env), context);
  return {
    files: [...new Set([...namedFiles.files, ...loaded.files])],
    directories: [...new Set([...namedFiles.directories, ...loaded.directories])],
  };
}

import path from 'node:path';
import { describePart, type Part } from '../../dialects/claude-config/config/part.ts';
import { parseLocatedJson } from '../../dialects/claude-config/config/parse-json.ts';
import { parseServers, type ServerOrigin } from '../../dialects/claude-config/mcp/parse-servers.ts';
import { readConfigText } from '../../dialects/claude-config/sources/read-file.ts';
import { findOwningRoot } from '../../dialects/place.ts';
import {
  type ConfiguredServers,
  NO_SERVERS,
  type ServerConfig,
  type ServerSource,
} from '../../mcp/server-config.ts';
import { claudeDirectory, clineDirectory } from '../dialects/own-directory.ts';
import type { OpenedHooks } from '../open-hooks.ts';

/** The file that `hookline mcp add` writes; null without a home directory. */
export function getOwnServersFile({
  stateDirectory,
}: Pick<OpenedHooks, 'stateDirectory'>): string | null {
  return stateDirectory === null ? null : path.join(stateDirectory, 'mcp.json');
}

/** Servers that the person configured for themselves, in Hookline, Claude Code and Cline. */
export function readOwnServers(opened: OpenedHooks): ConfiguredServers {
  const claude = claudeFile(opened);
  return joined([
    ...readFile(getOwnServersFile(opened), opened, plainServers),
    ...readFile(claude, opened, (root, file) => [
      ...claudeProject(root, file, opened),
      ...plainServers(root, file),
    ]),
    ...readFile(getClineServersFile(opened), opened, plainServers),
  ]);
}

/**
 * Servers of files, or of JSON texts, that the caller names. To name a file of the workspace is not to
 * have looked at it.
 */
export function readGivenServers(given: readonly string[], opened: OpenedHooks): ConfiguredServers {
  return joined(
    given.flatMap((each) => {
      if (each.trimStart().startsWith('{')) return readGivenText(each, BY_CALLER);
      const file = path.resolve(opened.surroundings.cwd, each);
      const text = readConfigText(file);
      if (text === null) return [unreadable(file, 'is not there')];
      if (typeof text !== 'string') return [unreadable(file, text.why)];
      return readGivenText(text, originOfGiven(file, opened));
    }),
  );
}

function readGivenText(text: string, origin: ServerOrigin): readonly ConfiguredServers[] {
  return readText(text, origin.file, (root) => serversIn(root, origin));
}

const BY_CALLER = originOf('--mcp-config', 'dynamic', 'given');

function originOfGiven(file: string, opened: OpenedHooks): ServerOrigin {
  const root = owningRoot(file, opened);
  const origin = originOf(file, 'dynamic', 'given');
  return root === null ? origin : { ...origin, place: 'workspace', root };
}

function owningRoot(file: string, { workspaceRoots, surroundings }: OpenedHooks): string | null {
  return findOwningRoot(file, { workspaceRoots, home: surroundings.home });
}

function joined(readings: readonly ConfiguredServers[]): ConfiguredServers {
  return {
    servers: readings.flatMap(({ servers }) => servers),
    broken: readings.flatMap(({ broken }) => broken),
  };
}

type ReadServers = (root: Part, file: string) => readonly ConfiguredServers[];

function readFile(
  file: string | null,
  opened: OpenedHooks,
  read: ReadServers,
): readonly ConfiguredServers[] {
  const text = file === null ? null : readConfigText(file);
  if (file === null || text === null) return [];
  if (typeof text !== 'string') return [unreadable(file, text.why)];
  // Claude's file holds much else, and most people have no server in it.
  if (!text.includes('"mcpServers"')) return [];
  const root = owningRoot(file, opened);
  // The person's own file must not be one that a repository brought.
  if (root !== null) return [unreadable(file, `is ignored: it lies in the workspace ${root}`)];
  return readText(text, file, (part) => read(part, file));
}

function readText(
  text: string,
  file: string,
  read: (root: Part) => readonly ConfiguredServers[],
): readonly ConfiguredServers[] {
  const root = parseLocatedJson(text);
  if ('why' in root) return [{ servers: [], broken: [{ name: '', file, ...root }] }];
  return read(root);
}

function unreadable(file: string, why: string): ConfiguredServers {
  return { servers: [], broken: [{ name: '', file, line: 1, why }] };
}

function originOf(file: string, source: ServerSource, place: ServerConfig['place']): ServerOrigin {
  return { source, file, place, root: null, variables: {}, prefix: '', whyOff: () => null };
}

function plainServers(root: Part, file: string): readonly ConfiguredServers[] {
  return serversIn(root, originOf(file, 'user', 'home'));
}

function serversIn(root: Part, origin: ServerOrigin): readonly ConfiguredServers[] {
  if (root.fields === null) {
    return [unreadable(origin.file, `expected an object, found ${describePart(root)}`)];
  }
  const part = root.fields.get('mcpServers');
  return [part === undefined ? NO_SERVERS : parseServers(part, origin)];
}

/** What Claude Code keeps for one person in one directory. */
function claudeProject(
  root: Part,
  file: string,
  { startDirectory }: OpenedHooks,
): readonly ConfiguredServers[] {
  const project = root.fields?.get('projects')?.fields?.get(startDirectory);
  if (project === undefined) return [];
  const off = project.fields?.get('disabledMcpServers')?.value;
  const whyOff = (name: string): string | null =>
    Array.isArray(off) && off.includes(name) ? `"disabledMcpServers" in ${file} names it` : null;
  return serversIn(project, { ...originOf(file, 'local', 'home'), whyOff });
}

function claudeFile({ surroundings }: OpenedHooks): string | null {
  const { env, home } = surroundings;
  const moved = env['CLAUDE_CONFIG_DIR'] ?? '';
  const directory = moved === '' ? home : claudeDirectory(surroundings);
  return directory === null ? null : path.join(directory, '.claude.json');
}

/** What Cline keeps, which its variable may move. */
export function getClineServersFile({
  surroundings,
}: Pick<OpenedHooks, 'surroundings'>): string | null {
  const named = surroundings.env['CLINE_MCP_SETTINGS_PATH'] ?? '';
  if (named !== '') return path.resolve(surroundings.cwd, named);
  const directory = clineDirectory(surroundings);
  return directory === null
    ? null
    : path.join(directory, 'data', 'settings', 'cline_mcp_settings.json');
}

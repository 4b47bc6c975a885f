import path from 'node:path';
import { describePart, type Part, parseLocatedJson } from '../../base/located-json.ts';
import { parseServers, type ServerOrigin } from '../../mcp/parse-servers.ts';
import { readConfigText } from '../../dialects/read-config-text.ts';
import { findOwningRoot } from '../../dialects/place.ts';
import {
  type ConfiguredServers,
  NO_SERVERS,
  type ServerConfig,
  type ServerSource,
} from '../../mcp/server-config.ts';
import { findClaudeDirectory, findClineDirectory } from '../../dialects/own-directories.ts';
import type { OpenedHooks } from '../open-hooks.ts';

/** The file that `hookline mcp add` writes; null without a home directory. */
export function getOwnServersFile({
  stateDirectory,
}: Pick<OpenedHooks, 'stateDirectory'>): string | null {
  return stateDirectory === null ? null : path.join(stateDirectory, 'mcp.json');
}

/** The user's own servers, configured in Hookline, Claude Code and Cline. */
export function readOwnServers(opened: OpenedHooks): ConfiguredServers {
  const claude = getClaudeFile(opened);
  return mergeServers([
    ...readServersFile(getOwnServersFile(opened), opened, parseUserServers),
    ...readServersFile(claude, opened, (root, file) => [
      ...parseClaudeProject(root, file, opened),
      ...parseUserServers(root, file),
    ]),
    ...readServersFile(getClineServersFile(opened), opened, parseUserServers),
  ]);
}

/** Servers of files, or of JSON texts, that the caller passes. A file in the workspace still needs trust. */
export function readGivenServers(
  sources: readonly string[],
  opened: OpenedHooks,
): ConfiguredServers {
  return mergeServers(
    sources.flatMap((each) => {
      if (each.trimStart().startsWith('{')) return parseGivenText(each, CALLER_ORIGIN);
      const file = path.resolve(opened.surroundings.cwd, each);
      const text = readConfigText(file);
      if (text === null) return [createBroken(file, 'is not there')];
      if (typeof text !== 'string') return [createBroken(file, text.why)];
      return parseGivenText(text, createGivenOrigin(file, opened));
    }),
  );
}

function parseGivenText(text: string, origin: ServerOrigin): readonly ConfiguredServers[] {
  return parseText(text, origin.file, (root) => parseServersIn(root, origin));
}

const CALLER_ORIGIN = createOrigin('--mcp-config', 'dynamic', 'given');

function createGivenOrigin(file: string, opened: OpenedHooks): ServerOrigin {
  const root = findRoot(file, opened);
  const origin = createOrigin(file, 'dynamic', 'given');
  return root === null ? origin : { ...origin, place: 'workspace', root };
}

function findRoot(file: string, { workspaceRoots, surroundings }: OpenedHooks): string | null {
  return findOwningRoot(file, { workspaceRoots, home: surroundings.home });
}

function mergeServers(readings: readonly ConfiguredServers[]): ConfiguredServers {
  return {
    servers: readings.flatMap(({ servers }) => servers),
    broken: readings.flatMap(({ broken }) => broken),
  };
}

type ReadServers = (root: Part, file: string) => readonly ConfiguredServers[];

function readServersFile(
  file: string | null,
  opened: OpenedHooks,
  read: ReadServers,
): readonly ConfiguredServers[] {
  const text = file === null ? null : readConfigText(file);
  if (file === null || text === null) return [];
  if (typeof text !== 'string') return [createBroken(file, text.why)];
  // Claude's file is large, and mostly without servers.
  if (!text.includes('"mcpServers"')) return [];
  const root = findRoot(file, opened);
  // The user's own file must not come from a repository.
  if (root !== null) return [createBroken(file, `is ignored: it lies in the workspace ${root}`)];
  return parseText(text, file, (part) => read(part, file));
}

function parseText(
  text: string,
  file: string,
  read: (root: Part) => readonly ConfiguredServers[],
): readonly ConfiguredServers[] {
  const root = parseLocatedJson(text);
  if ('why' in root) return [{ servers: [], broken: [{ name: '', file, ...root }] }];
  return read(root);
}

function createBroken(file: string, why: string): ConfiguredServers {
  return { servers: [], broken: [{ name: '', file, line: 1, why }] };
}

function createOrigin(
  file: string,
  source: ServerSource,
  place: ServerConfig['place'],
): ServerOrigin {
  return { source, file, place, root: null, variables: {}, prefix: '', whyOff: () => null };
}

function parseUserServers(root: Part, file: string): readonly ConfiguredServers[] {
  return parseServersIn(root, createOrigin(file, 'user', 'home'));
}

function parseServersIn(root: Part, origin: ServerOrigin): readonly ConfiguredServers[] {
  if (root.fields === null) {
    return [createBroken(origin.file, `expected an object, found ${describePart(root)}`)];
  }
  const part = root.fields.get('mcpServers');
  return [part === undefined ? NO_SERVERS : parseServers(part, origin)];
}

/** The servers that Claude Code stores for the start directory. */
function parseClaudeProject(
  root: Part,
  file: string,
  { startDirectory }: OpenedHooks,
): readonly ConfiguredServers[] {
  const project = root.fields?.get('projects')?.fields?.get(startDirectory);
  if (project === undefined) return [];
  const disabled = project.fields?.get('disabledMcpServers')?.value;
  const whyOff = (name: string): string | null =>
    Array.isArray(disabled) && disabled.includes(name)
      ? `"disabledMcpServers" in ${file} names it`
      : null;
  return parseServersIn(project, { ...createOrigin(file, 'local', 'home'), whyOff });
}

function getClaudeFile({ surroundings }: OpenedHooks): string | null {
  const { env, home } = surroundings;
  const configDirectory = env['CLAUDE_CONFIG_DIR'] ?? '';
  const directory = configDirectory === '' ? home : findClaudeDirectory(surroundings);
  return directory === null ? null : path.join(directory, '.claude.json');
}

/** Cline's settings file, which a variable may move. */
export function getClineServersFile({
  surroundings,
}: Pick<OpenedHooks, 'surroundings'>): string | null {
  const configured = surroundings.env['CLINE_MCP_SETTINGS_PATH'] ?? '';
  if (configured !== '') return path.resolve(surroundings.cwd, configured);
  const directory = findClineDirectory(surroundings);
  return directory === null
    ? null
    : path.join(directory, 'data', 'settings', 'cline_mcp_settings.json');
}

import { HooklineError } from '../../../base/errors.ts';
import { parseFileUrl, parseGitAddress } from '../../../plugins/install/parse-address.ts';

export type PluginInstallSourceType = 'npm' | 'git' | 'local' | 'remote';

/** The source of a plugin in Cline's format. */
export type ParsedPluginSource =
  | { type: 'npm'; spec: string; name: string }
  | { type: 'git'; repo: string; ref?: string; host: string; path: string }
  | { type: 'remote'; url: string; filename: string }
  | { type: 'local'; path: string }
  | { type: 'official'; slug: string };

/** Whether it is the name of a plugin in Cline's own collection. */
export function isOfficialPluginSlug(source: string): boolean {
  return /^[a-z\d]+(?:-[a-z\d]+)*$/u.test(source.trim());
}

const READERS: Readonly<Record<PluginInstallSourceType, (text: string) => ParsedPluginSource>> = {
  npm: readNpm,
  git: readGit,
  local: readLocal,
  remote: (text) => readUrl(text) ?? refuse(text, 'the address of a file'),
};

/** Parses a source of `installPlugin`, without looking at it. Throws USAGE_INVALID. */
export function parsePluginSource(
  source: string,
  sourceType?: PluginInstallSourceType,
): ParsedPluginSource {
  const text = source.trim();
  if (text === '') refuse(source, 'a path, a package, a repository or an address');
  if (sourceType !== undefined) return READERS[sourceType](text);
  if (text.startsWith('npm:') || SCOPED.test(text)) return readNpm(text);
  if (EXPLICIT_PATH.test(text)) return readLocal(text);
  if (ADDRESS.test(text)) return readUrl(text) ?? readGit(text);
  if (isOfficialPluginSlug(text)) return { type: 'official', slug: text };
  if (REPOSITORY.test(text)) refuse(source, 'a path; use "git" for a repository');
  return readLocal(text);
}

const SCOPED = /^@[^/\s@]+\/[^/\s@]+(?:@\S+)?$/u;
const EXPLICIT_PATH = /^(?:[./~]|[a-z]:[\\/]|\\\\)/iu;
const ADDRESS = /^(?:git:|[a-z][a-z\d+.-]*:\/\/|[\w.-]+@[\w.-]+:)/iu;
const REPOSITORY = /^[\w-]+(?:\.[\w-]+)+\/[^/\s]+\/[^/\s]+/u;
const NPM = /^(?:npm:)?(?<spec>(?<name>(?:@[^/\s@:]+\/)?[^/\s@:]+)(?:@\S+)?)$/u;

function readNpm(text: string): ParsedPluginSource {
  const { spec, name } = NPM.exec(text)?.groups ?? {};
  if (spec === undefined || name === undefined) refuse(text, 'the name of a package');
  return { type: 'npm', spec, name };
}

function readGit(text: string): ParsedPluginSource {
  const { url, ref, host } = parseGitAddress(text);
  // With its owner: all after the host, in a URL as in `git@host:owner/repo`.
  const path = url
    .replace(/^(?:[a-z+]+:\/\/[^/]*\/+|[^:/]+:)/u, '')
    .replace(/\/*(?:\.git)?\/*$/u, '');
  return { type: 'git', repo: url, ...(ref === null ? {} : { ref }), host, path };
}

function readUrl(text: string): ParsedPluginSource | null {
  const found = parseFileUrl(text);
  return found === null ? null : { type: 'remote', url: found.url, filename: found.file };
}

/** As it is written: `installPlugin` resolves it from the directory that it installs for. */
function readLocal(text: string): ParsedPluginSource {
  return { type: 'local', path: text };
}

function refuse(text: string, expected: string): never {
  throw new HooklineError('USAGE_INVALID', {
    message: `expected ${expected}, found ${JSON.stringify(text)}`,
    hint: 'For example ./a/path, @scope/package, npm:package, or an https address.',
  });
}

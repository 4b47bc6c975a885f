import path from 'node:path';
import parseSpec from 'npm-package-arg';
import { getErrorMessage } from '../../base/errors.ts';
import { parseFileUrl, parseGitAddress } from './parse-address.ts';
import { type LocalSource, type NpmSource, type Source, createSourceError } from './source.ts';

export interface SourceContext {
  /** The base directory of relative paths. */
  readonly cwd: string;
  readonly home: string | null;
  /** The kind that the user sets with a flag, where the text would be read as another one. */
  readonly kind?: 'npm' | 'git';
  /** Called only for a text that matches no other kind. */
  readonly exists: (file: string) => boolean;
}

/** Parses the argument of `plugin install`; throws USAGE_INVALID with a suggestion. */
export function parseSource(written: string, context: SourceContext): Source {
  const text = written.trim();
  if (text === '' || text.includes('\0')) throw createNotUnderstoodError(written);
  if (context.kind === 'npm') return parseNpmSpec(text, context.cwd);
  if (context.kind === 'git') return parseGitAddress(text);
  if (text.startsWith('npm:')) return parseNpmSpec(text, context.cwd);
  if (EXPLICIT_PATH.test(text)) return toLocalSource(text, context);
  if (SCOPED_PACKAGE.test(text)) return parseNpmSpec(text, context.cwd);
  if (ADDRESS.test(text)) return parseAddress(text);
  if (OFFICIAL_SLUG.test(text)) return { kind: 'official', slug: text };
  if (context.exists(path.resolve(context.cwd, text))) return toLocalSource(text, context);
  throw createNotUnderstoodError(text);
}

// `./x`, `../x`, `.x`, `/x`, `~/x`, `C:\x`, `\\server\x`
const EXPLICIT_PATH = /^(?:[./~]|[a-z]:[\\/]|\\\\)/iu;
const SCOPED_PACKAGE = /^@[^/\s@]+\/[^/\s@]+(?:@\S+)?$/u;
const ADDRESS = /^(?:git:|[a-z][a-z\d+.-]*:\/\/|[\w.-]+@[\w.-]+:)/iu;
const OFFICIAL_SLUG = /^[a-z\d]+(?:-[a-z\d]+)*$/u;

function toLocalSource(text: string, { cwd, home }: SourceContext): LocalSource {
  if (!text.startsWith('~')) return { kind: 'local', path: path.resolve(cwd, text) };
  const rest = /^~(?:$|[\\/])/u.exec(text)?.[0];
  if (rest !== undefined && home !== null) {
    return { kind: 'local', path: path.resolve(home, text.slice(rest.length)) };
  }
  throw createSourceError(
    `~ means your home directory, found ${JSON.stringify(text)}`,
    'Write the whole path, or ./ in front of a name that begins with ~.',
  );
}

function parseAddress(text: string): Source {
  const file = parseFileUrl(text);
  if (file !== null) return file;
  if (/^file:/iu.test(text)) {
    throw createSourceError(
      `expected a path, found ${JSON.stringify(text)}`,
      'Write the path without file://, or --git for a repository there.',
    );
  }
  if (isTooShort(text)) {
    throw createSourceError(
      `expected the address of a file or of a repository, found ${JSON.stringify(text)}`,
      'A file ends in .ts, .mts, .js or .mjs; a repository has an owner and a name.',
    );
  }
  return parseGitAddress(text);
}

/** A web address without owner and name is no repository. */
function isTooShort(text: string): boolean {
  if (!/^https?:/iu.test(text) || !URL.canParse(text)) return false;
  return new URL(text).pathname.split('/').filter((segment) => segment !== '').length < 2;
}

const REPOSITORY_WITHOUT_SCHEME = /^[\w-]+(?:\.[\w-]+)+\/[^/\s]+\/[^/\s]+/u;

function createNotUnderstoodError(text: string) {
  const quotedText = JSON.stringify(text);
  if (REPOSITORY_WITHOUT_SCHEME.test(text)) {
    return createSourceError(
      `${quotedText} not found`,
      `If it is a repository: hookline plugin install --git ${text}`,
    );
  }
  return createSourceError(
    `${quotedText} not found, and it does not name a package, repository or URL`,
    'Pass ./a/path, @scope/package, npm:package, an https address, or --git host/owner/repo.',
  );
}

/** Parses `@scope/name`, `name@^2`, with or without `npm:` in front; only packages of the registry. */
function parseNpmSpec(written: string, cwd: string): NpmSource {
  const text = written.replace(/^npm:/u, '').trim();
  const { type, name, rawSpec } = readSpec(text, cwd);
  const isOfRegistry = type === 'range' || type === 'version' || type === 'tag';
  if (!isOfRegistry || typeof name !== 'string') {
    throw createSourceError(
      `an npm package is named as it is in the registry, found ${JSON.stringify(text)}`,
      'Pass a directory, a file or a .tgz by its path, and a repository with --git.',
    );
  }
  const isPlain = text === name;
  return { kind: 'npm', name, wanted: isPlain || rawSpec === '' ? null : rawSpec };
}

function readSpec(text: string, cwd: string): ReturnType<typeof parseSpec> {
  try {
    // A name that begins with a dash would be read as a flag of npm.
    if (text !== '' && !text.startsWith('-')) return parseSpec(text, cwd);
  } catch (error) {
    throw createSourceError(
      `${JSON.stringify(text)} names no npm package: ${getErrorMessage(error)}`,
      'A package is named like @scope/name, or npm:name@^2.',
    );
  }
  throw createSourceError(
    `expected the name of an npm package, found ${JSON.stringify(text)}`,
    'A package is named like @scope/name, or npm:name@^2.',
  );
}

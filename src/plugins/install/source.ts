import { HooklineError } from '../../base/errors.ts';

/** The parsed source of a plugin; nothing has been fetched yet. */
export type Source = LocalSource | NpmSource | GitSource | RemoteSource | OfficialSource;

export type SourceKind = Source['kind'];

/** A directory, a file or a tarball on this machine. */
export interface LocalSource {
  readonly kind: 'local';
  /** Absolute. */
  readonly path: string;
}

/** A package of the npm registry. */
export interface NpmSource {
  readonly kind: 'npm';
  readonly name: string;
  /** A version, a range or a tag; null for the newest. */
  readonly wanted: string | null;
}

export interface GitSource {
  readonly kind: 'git';
  /** The argument of `git clone`. */
  readonly url: string;
  readonly host: string;
  /** The name of the repository, without its owner. */
  readonly name: string;
  /** A branch, a tag or a commit; null for the default branch. */
  readonly ref: string | null;
}

/** One file on a server. */
export interface RemoteSource {
  readonly kind: 'remote';
  readonly url: string;
  /** The file name. */
  readonly file: string;
}

/** A plugin of Cline's own collection. */
export interface OfficialSource {
  readonly kind: 'official';
  readonly slug: string;
}

/** Formats a source so that parsing it again without flags returns the same source. */
export function formatSource(source: Source): string {
  switch (source.kind) {
    case 'local':
      return source.path;
    case 'npm':
      return `npm:${source.name}${source.wanted === null ? '' : `@${source.wanted}`}`;
    case 'git':
      return `git:${source.url}${source.ref === null ? '' : `#${source.ref}`}`;
    case 'remote':
      return source.url;
    case 'official':
      return source.slug;
  }
}

/** The key is the same for every version of one plugin, so that another version replaces the first. */
export function getSourceKey(source: Source): string {
  switch (source.kind) {
    case 'npm':
      return `npm:${source.name}`;
    case 'git':
      return `git:${source.url.replace(/\.git$/u, '')}`;
    case 'local':
    case 'remote':
    case 'official':
      return `${source.kind}:${formatSource(source)}`;
  }
}

/** Creates the error for a text that is no source of a plugin. */
export function createSourceError(message: string, hint: string): HooklineError {
  return new HooklineError('USAGE_INVALID', { message: `plugin install: ${message}`, hint });
}

/** Creates the error for a failed install, update or removal, after which nothing has changed. */
export function createInstallError(message: string, hint?: string): HooklineError {
  return new HooklineError('PLUGIN_INSTALL_FAILED', {
    message,
    hint: hint ?? 'Nothing was changed.',
  });
}

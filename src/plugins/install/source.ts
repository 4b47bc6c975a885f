import { dropUndefined } from '../../base/defined.ts';
import { HooklineError } from '../../base/errors.ts';

/** Where a plugin comes from, as it was understood; nothing has been looked at yet. */
export type Source = LocalSource | NpmSource | GitSource | RemoteSource | OfficialSource;

export type SourceKind = Source['kind'];

/** A directory, a file or a packed package of this machine. */
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
  /** What git is given. */
  readonly url: string;
  readonly host: string;
  /** The repository, without its owner. */
  readonly name: string;
  /** A branch, a tag or a commit; null for what the repository is opened with. */
  readonly ref: string | null;
}

/** One file that a server has. */
export interface RemoteSource {
  readonly kind: 'remote';
  readonly url: string;
  /** The file's own name. */
  readonly file: string;
}

/** A plugin of Cline's own collection. */
export interface OfficialSource {
  readonly kind: 'official';
  readonly slug: string;
}

/** What is written down of a source: read again without any flag, it is the same source. */
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

/** The same for every version of one plugin, so that another version takes the place of the first. */
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

/** What was written does not say where a plugin is. */
export function createSourceError(message: string, hint: string): HooklineError {
  return new HooklineError('USAGE_INVALID', { message: `plugin install: ${message}`, hint });
}

/** A plugin could not be installed, updated or taken away, and everything is as it was. */
export function createInstallError(message: string, hint?: string): HooklineError {
  return new HooklineError('PLUGIN_INSTALL_FAILED', {
    message,
    ...dropUndefined({ hint }),
  });
}

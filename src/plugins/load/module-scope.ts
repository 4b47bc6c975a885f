import { createRequire, isBuiltin } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  type LoadRequest,
  type ProvidedModules,
  isProvided,
  type Names,
  createProvidedNames,
} from './loading.ts';

/** What a transpiled module gets instead of what depends on its location. */
export interface ModuleScope {
  /** Its `import.meta`. */
  readonly meta: {
    readonly url: string;
    readonly dirname: string;
    readonly filename: string;
    /** Never the main module, so a plugin's demo does not start. */
    readonly main: false;
    resolve(specifier: string): string;
  };
  readonly require: (id: string) => unknown;
  /** The exports of a module that the host provides. */
  provided(specifier: string): Names;
  /** Its `import()` with a specifier that is only known at run time. */
  import(specifier: unknown): Promise<unknown>;
}

/** The files of a plugin that are imported for one copy of it. */
export interface CopyFiles {
  readonly request: LoadRequest;
  /** The exports of a module that the host provides. */
  getNames(specifier: string): Names;
  /** The URL of an own file; null when it is not transpiled yet. */
  findUrl(file: string): string | null;
  /** Imports an own file that is not transpiled yet. */
  open(file: string): Promise<Names>;
  importUrl(url: string): Promise<Names>;
}

/** One cache for all files of a copy. */
export function createNames(provided: ProvidedModules): CopyFiles['getNames'] {
  const cache = new Map<string, Names>();
  return (specifier) => {
    const names = cache.get(specifier) ?? createProvidedNames(specifier, provided);
    cache.set(specifier, names);
    return names;
  };
}

export function createScope(file: string, copy: CopyFiles): ModuleScope {
  const url = pathToFileURL(file).href;
  const requireOwn = (): NodeJS.Require => createRequire(file);
  return {
    meta: {
      url,
      dirname: path.dirname(file),
      filename: file,
      main: false,
      resolve: (specifier) => resolveUrl(specifier, url, requireOwn()),
    },
    get require() {
      return requireWith(requireOwn(), copy);
    },
    provided: (specifier) => copy.getNames(specifier),
    import: (specifier) => importAt(file, String(specifier), copy),
  };
}

function resolveUrl(specifier: string, url: string, requireOwn: NodeJS.Require): string {
  if (/^(?:\.{0,2}\/|[a-z]+:)/i.test(specifier)) return new URL(specifier, url).href;
  if (isBuiltin(specifier)) return `node:${specifier}`;
  return pathToFileURL(requireOwn.resolve(specifier)).href;
}

function requireWith(own: NodeJS.Require, copy: CopyFiles): (id: string) => unknown {
  const load = (id: string): unknown =>
    isProvided(id, copy.request.provided) ? copy.getNames(id) : own(id);
  return Object.assign(load, own);
}

async function importAt(importer: string, specifier: string, copy: CopyFiles): Promise<unknown> {
  const { ImportResolver } = await import('./transpile/resolve-import.ts');
  const target = await new ImportResolver(copy.request).resolve(specifier, importer);
  switch (target.kind) {
    case 'provided':
      return copy.getNames(specifier);
    case 'foreign':
      return copy.importUrl(target.url);
    case 'own': {
      const url = copy.findUrl(target.file);
      return url === null ? copy.open(target.file) : copy.importUrl(url);
    }
    case 'missing':
      return Promise.reject(createNotFoundError(target.message));
  }
}

/** Code that tries an optional package checks for the error code of Node.js. */
function createNotFoundError(message: string): Error {
  return Object.assign(new Error(message), { code: 'ERR_MODULE_NOT_FOUND' });
}

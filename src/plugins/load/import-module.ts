import { findTranspiled, type Transpiled } from './cache.ts';
import { dropInstance, getModuleRegistry, createInstance } from './module-instances.ts';
import type { LoadRequest, Names } from './loading.ts';
import type { Obstacle } from './transpile/module-graph.ts';

export type Imported =
  | { readonly module: Names }
  /** Why the import failed, in a sentence. */
  | { readonly problem: string };

/** Imports the file of an entry. Throws what the plugin throws. */
export async function importModule(request: LoadRequest): Promise<Imported> {
  const imported = await importTranspiled(request);
  if (imported !== null) return imported;
  const { loadWithJiti } = await import('./load-with-jiti.ts');
  return { module: await loadWithJiti(request) };
}

/** Null when the file cannot be transpiled or the result cannot be linked, and jiti may work. */
async function importTranspiled(request: LoadRequest): Promise<Imported | null> {
  try {
    // The cache may be deleted at any time; the directory of this process is not.
    for (const find of [findTranspiled, transpileIntoCache, transpileUncached]) {
      const found = await find(request);
      if (found === null) continue;
      if ('problem' in found) return found;
      if ('unable' in found) return null;
      const module = await importUnlessStale(found, request);
      if (module !== null) return { module };
    }
    return null;
  } catch (error) {
    const { isForCommonJs } = await import('./explain-load-error.ts');
    if (isForCommonJs(error)) return null;
    throw error;
  }
}

async function transpileIntoCache(request: LoadRequest): Promise<Transpiled | Obstacle> {
  const { transpile } = await import('./transpile/transpile.ts');
  return transpile(request);
}

function transpileUncached(request: LoadRequest): Promise<Transpiled | Obstacle> {
  return transpileIntoCache({ ...request, cacheDirectory: null });
}

/** Null when the cached files, or a package that they import, were deleted. */
async function importUnlessStale(
  translation: Transpiled,
  request: LoadRequest,
): Promise<Names | null> {
  try {
    return await importInstance(translation, request);
  } catch (error) {
    const { isStale } = await import('./explain-load-error.ts');
    if (!isStale(error, translation.directory)) throw error;
    dropInstance(translation, request.copy);
    return null;
  }
}

async function importInstance(translation: Transpiled, request: LoadRequest): Promise<Names> {
  const { entry, owner = entry, copy } = request;
  const urls = await createInstance(translation, owner, copy);
  if (translation.hasScopes) await registerScopes(urls, request);
  const [first = ''] = urls.values();
  request.signal?.throwIfAborted();
  return importNatively(first);
}

/** Registers the scopes of the modules where they look them up. */
async function registerScopes(
  urls: ReadonlyMap<string, string>,
  request: LoadRequest,
): Promise<void> {
  const { createNames, createScope } = await import('./module-scope.ts');
  const { scopes } = getModuleRegistry();
  const files = {
    request,
    getNames: createNames(request.provided),
    findUrl: (file: string): string | null => urls.get(file) ?? null,
    open: (file: string): Promise<Names> => importOther(file, request),
    importUrl: importNatively,
  };
  for (const [file, url] of urls) scopes.set(url, createScope(file, files));
}

/** Imports a file of the plugin that is only known when the plugin imports it. */
async function importOther(file: string, request: LoadRequest): Promise<Names> {
  const { entry, owner = entry } = request;
  const imported = await importModule({ ...request, owner, entry: { ...entry, file } });
  if ('module' in imported) return imported.module;
  throw Object.assign(new SyntaxError(imported.problem), { code: 'ERR_INVALID_MODULE' });
}

const AS_WRITTEN = import.meta.url.endsWith('.ts');
const OWN_IMPORT = 'data:text/javascript,export default (url) => import(url)';

/** The `import()` of Node.js. A loader that runs this file from its source replaces each `import()` that it finds. */
async function importNatively(url: string): Promise<Names> {
  const module: unknown = AS_WRITTEN ? await importUnseen(url) : await import(url);
  return isNamespace(module) ? module : {};
}

async function importUnseen(url: string): Promise<unknown> {
  const own: unknown = await import(OWN_IMPORT);
  const load = isNamespace(own) ? own['default'] : null;
  return typeof load === 'function' ? Reflect.apply(load, undefined, [url]) : null;
}

function isNamespace(value: unknown): value is Names {
  return typeof value === 'object' && value !== null;
}

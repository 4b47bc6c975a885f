import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isRecord, stripByteOrderMark } from '../../base/json.ts';
import { getModuleRegistry } from './module-instances.ts';
import { type LoadRequest, isProvided, type Names, createProvidedNames } from './loading.ts';
import { ImportResolver } from './transpile/resolve-import.ts';

/**
 * Imports what cannot be transpiled: CommonJS, `using`, names of CommonJS packages that Node.js does not
 * detect, and everything where the transpiler does not run. Much slower, and nothing is cached.
 */
export async function loadWithJiti(request: LoadRequest): Promise<Names> {
  const { file } = request.entry;
  const { createJiti } = await import('jiti');
  const source = stripByteOrderMark(readFileSync(file, 'utf8'));
  const jiti = createJiti(file, {
    moduleCache: false,
    fsCache: false,
    // Applies to CommonJS imports of its files; the exports of the plugin itself are converted below.
    interopDefault: true,
    virtualModules: createVirtualModules(request),
    alias: await findHostPackages(source, request),
  });
  dropOwnModules(request);
  getModuleRegistry().owners.set(file, request.owner ?? request.entry);
  const exports: unknown = await jiti.evalModule(source, {
    id: file,
    filename: file,
    ext: path.extname(file),
    async: true,
    forceTranspile: true,
  });
  return toNames(exports);
}

const NAMES_OF_MODULES = ['__esModule', 'default', 'plugin'];

/** CommonJS may export a plugin as `module.exports`. */
function toNames(exports: unknown): Names {
  const hasNames = isRecord(exports) && NAMES_OF_MODULES.some((name) => name in exports);
  // The interop proxy returns the original object as its default; a plugin may change itself in setup.
  if (!hasNames) return { default: isRecord(exports) ? (exports['default'] ?? exports) : exports };
  return Object.fromEntries(Object.keys(exports).map((name) => [name, exports[name]]));
}

/** jiti checks for each specifier whether there is a virtual module. */
function createVirtualModules({ provided }: LoadRequest): Record<string, unknown> {
  return new Proxy(
    {},
    {
      has: (_none, key) => typeof key === 'string' && isProvided(key, provided),
      get: (_none, key) =>
        typeof key === 'string' ? createProvidedNames(key, provided) : undefined,
    },
  );
}

const REQUESTS = /\b(?:require\s*\(|from|import\s*\(?)\s*["']([^"'./][^"']*)["']/g;

/** A single file without a package resolves packages from Hookline's own. */
async function findHostPackages(
  source: string,
  request: LoadRequest,
): Promise<Record<string, string>> {
  const resolver = new ImportResolver(request);
  const found = new Map<string, string>();
  for (const [, name = ''] of source.matchAll(REQUESTS)) {
    const target = await resolver.resolve(name, request.entry.file);
    const isHosts = target.kind === 'foreign' && target.isHosts === true;
    if (isHosts) found.set(name, fileURLToPath(target.url));
  }
  return Object.fromEntries(found);
}

/** Node.js caches CommonJS files by path, and each copy of a plugin needs its own. */
function dropOwnModules({ entry }: LoadRequest): void {
  const { cache } = createRequire(entry.file);
  const home = `${entry.package?.directory ?? path.dirname(entry.file)}${path.sep}`;
  for (const file of Object.keys(cache)) {
    const isOwn = file.startsWith(home) && !file.slice(home.length).includes('node_modules');
    if (isOwn) delete cache[file];
  }
}

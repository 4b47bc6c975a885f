import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isRecord, stripByteOrderMark } from '../../base/json.ts';
import { getModuleRegistry } from './module-instances.ts';
import { type LoadRequest, isProvided, type Names, createProvidedNames } from './loading.ts';
import { ImportResolver } from './transpile/resolve-import.ts';

/**
 * Imports what cannot be translated: CommonJS, `using`, names of CommonJS packages that Node.js does not
 * see, and everything where the translator does not run. Slower by far, and nothing is kept of it.
 */
export async function loadWithJiti(request: LoadRequest): Promise<Names> {
  const { file } = request.entry;
  const { createJiti } = await import('jiti');
  const source = stripByteOrderMark(readFileSync(file, 'utf8'));
  const jiti = createJiti(file, {
    moduleCache: false,
    fsCache: false,
    // For what its files import of CommonJS; what it exports itself is looked at as it is, below.
    interopDefault: true,
    virtualModules: createVirtualModules(request),
    alias: await findHostPackages(source, request),
  });
  forgetOwnModules(request);
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

/** CommonJS may export a plugin in the place of names. */
function toNames(exports: unknown): Names {
  const hasNames = isRecord(exports) && NAMES_OF_MODULES.some((name) => name in exports);
  // What stands in its place gives the very object as its default; a plugin may change itself in setup.
  if (!hasNames) return { default: isRecord(exports) ? (exports['default'] ?? exports) : exports };
  return Object.fromEntries(Object.keys(exports).map((name) => [name, exports[name]]));
}

/** It asks for any specifier whether there is such a module. */
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

/** Where a file by itself finds packages that it did not bring: Hookline's own. */
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

/** Node.js keeps CommonJS files by their path; each copy of a plugin has its own. */
function forgetOwnModules({ entry }: LoadRequest): void {
  const { cache } = createRequire(entry.file);
  const home = `${entry.package?.directory ?? path.dirname(entry.file)}${path.sep}`;
  for (const file of Object.keys(cache)) {
    const isOwn = file.startsWith(home) && !file.slice(home.length).includes('node_modules');
    if (isOwn) delete cache[file];
  }
}

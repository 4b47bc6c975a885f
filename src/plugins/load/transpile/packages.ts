import path from 'node:path';
import { isFile, readTextIfPresent } from '../../../base/files.ts';
import { isRecord, parseJson } from '../../../base/json.ts';
import { findPackage, type TranspiledRecord } from '../cache.ts';
import { realpathSync } from 'node:fs';

export interface FoundPackage {
  readonly file: string;
  /** Whether the package is made for plugins, so that it imports modules that the host provides. */
  readonly isForPlugins: boolean;
}

/** The files of other packages that a transpilation depends on. */
export type PackageUses = Pick<TranspiledRecord, 'packages' | 'manifests'>;

/** Finds files of packages as Node.js does for `import`, and records what it read. */
export class PackageFinder {
  readonly #manifests = new Map<string, string>();
  readonly #packages: PackageUses['packages'][number][] = [];

  get uses(): PackageUses {
    const manifests = [...this.#manifests].map(([file, text]) => ({ file, text }));
    return { packages: this.#packages, manifests };
  }

  /** Finds the file of a specifier that is no path; null when there is none. */
  find(specifier: string, importer: string): FoundPackage | null {
    const from = path.dirname(importer);
    const own = findNearestManifest(from, (directory) => this.#readManifest(directory));
    if (specifier.startsWith('#')) return this.#findInside(specifier, own, importer);
    const { name, request } = splitSpecifier(specifier);
    if (own?.manifest['name'] === name && own.manifest['exports'] !== undefined) {
      return findExported(own, request);
    }
    const directory = findPackage(from, name);
    this.#packages.push({ from, name, directory });
    if (directory === '') return null;
    return findExported({ directory, manifest: this.#readManifest(directory) ?? {} }, request);
  }

  #readManifest(directory: string): Manifest | null {
    const file = path.join(directory, 'package.json');
    const text = this.#manifests.get(file) ?? readTextIfPresent(file);
    if (text === null) return null;
    this.#manifests.set(file, text);
    const parsed = parseJson(text);
    return parsed.ok && isRecord(parsed.value) ? parsed.value : null;
  }

  /** Resolves `#name` with the package's own `imports`. */
  #findInside(name: string, own: Home | null, importer: string): FoundPackage | null {
    const target = own === null ? null : resolveMapping(own.manifest['imports'] ?? {}, name);
    if (own === null || target === null) return null;
    if (!target.startsWith('./')) return this.find(target, importer);
    return findInPackage(own, path.join(own.directory, target));
  }
}

type Manifest = Readonly<Record<string, unknown>>;

interface Home {
  readonly directory: string;
  readonly manifest: Manifest;
}

function findNearestManifest(
  from: string,
  read: (directory: string) => Manifest | null,
): Home | null {
  for (let directory = from; ; directory = path.dirname(directory)) {
    if (path.basename(directory) === 'node_modules') return null;
    const manifest = read(directory);
    if (manifest !== null) return { directory, manifest };
    if (path.dirname(directory) === directory) return null;
  }
}

/** Splits `@scope/name/a/b` into `@scope/name` and `./a/b`. */
function splitSpecifier(specifier: string): { readonly name: string; readonly request: string } {
  const parts = specifier.split('/');
  const count = specifier.startsWith('@') ? 2 : 1;
  return {
    name: parts.slice(0, count).join('/'),
    request: ['.', ...parts.slice(count)].join('/'),
  };
}

function findExported(home: Home, request: string): FoundPackage | null {
  const { directory } = home;
  const { exports, main } = home.manifest;
  if (exports !== undefined && exports !== null) {
    const target = resolveMapping(exports, request);
    return target === null ? null : findInPackage(home, path.join(directory, target));
  }
  const isWhole = request === '.';
  const mainFile =
    isWhole && typeof main === 'string' ? findInPackage(home, path.join(directory, main)) : null;
  return (
    mainFile ??
    findInPackage(home, isWhole ? path.join(directory, 'index') : path.join(directory, request))
  );
}

function findInPackage({ manifest }: Home, base: string): FoundPackage | null {
  const file = findFile(base, PACKAGE_ENDINGS);
  return file === null ? null : { file, isForPlugins: isForPlugins(manifest) };
}

const LISTS = ['dependencies', 'peerDependencies', 'optionalDependencies'];

function isForPlugins(manifest: Manifest): boolean {
  return LISTS.some((list) =>
    Object.keys(manifest[list] ?? {}).some((name) => /^@cline(?:bot)?\//u.test(name)),
  );
}

/** The conditions that Node.js uses for `import`. */
const CONDITIONS = ['node', 'node-addons', 'import', 'default', ...listSyncConditions()];

/** A Node.js that can `require` ES modules also has the condition `module-sync`. */
function listSyncConditions(): readonly string[] {
  return process.features.require_module ? ['module-sync'] : [];
}

/**
 * Resolves a path (`.`, `./lib/a.js`) with `exports` of a package.json, or a name (`#a`) with `imports`: a
 * path inside the package, or for `imports` also another package. Null when there is no match.
 */
function resolveMapping(field: unknown, request: string): string | null {
  const table = isTable(field) ? field : { '.': field };
  if (Object.hasOwn(table, request) && !request.includes('*')) {
    return resolveTarget(table[request], '');
  }
  const pattern = Object.keys(table)
    .filter((key) => isPatternMatch(key, request))
    .toSorted(compareSpecificity)[0];
  if (pattern === undefined) return null;
  const [before = '', after = ''] = pattern.split('*');
  return resolveTarget(table[pattern], request.slice(before.length, request.length - after.length));
}

/** A table has paths as its keys; any other value applies to the package as a whole. */
function isTable(field: unknown): field is Record<string, unknown> {
  return isRecord(field) && Object.keys(field).every((key) => /^[.#]/.test(key));
}

function isPatternMatch(key: string, request: string): boolean {
  const [before = '', after, more] = key.split('*');
  if (after === undefined || more !== undefined) return false;
  return (
    request !== before &&
    request.startsWith(before) &&
    request.endsWith(after) &&
    request.length >= key.length
  );
}

function compareSpecificity(one: string, other: string): number {
  return other.indexOf('*') - one.indexOf('*') || other.length - one.length;
}

/** The first match wins; null excludes the path. */
function resolveTarget(target: unknown, star: string): string | null {
  return findTarget(target, star) ?? null;
}

function findTarget(target: unknown, star: string): string | null | undefined {
  if (target === null) return null;
  if (typeof target === 'string') return target.replaceAll('*', () => star);
  if (Array.isArray(target)) return findFirst(target, star);
  if (!isRecord(target)) return undefined;
  const fitting = Object.keys(target).filter((key) => CONDITIONS.includes(key));
  for (const key of fitting) {
    const found = findTarget(target[key], star);
    if (found !== undefined) return found;
  }
  return undefined;
}

function findFirst(targets: readonly unknown[], star: string): string | null | undefined {
  for (const target of targets) {
    const found = findTarget(target, star);
    if (typeof found === 'string') return found;
  }
  return undefined;
}

// TypeScript comes first, because its compiled output may exist beside it.
export const SOURCE_ENDINGS = [
  '.ts',
  '.mts',
  '.tsx',
  '.js',
  '.mjs',
  '.jsx',
  '.cts',
  '.cjs',
  '.json',
];
// Published packages contain JavaScript for Node.js first.
const PACKAGE_ENDINGS = ['.js', '.json', '.node', '.mjs', '.cjs', '.ts', '.mts', '.cts'];

/** Finds the file of a path without its extension, with the extension of its output, or of a directory. */
export function findFile(base: string, endings: readonly string[]): string | null {
  const candidates = [
    base,
    ...listTypeScriptNames(base),
    ...endings.map((ending) => `${base}${ending}`),
    ...endings.map((ending) => path.join(base, `index${ending}`)),
  ];
  const found = candidates.find(isFile);
  return found === undefined ? null : realpathSync(found);
}

const JAVASCRIPT = /\.([cm]?)js(x?)$/;

/** In TypeScript, `./a.ts` may be imported as `./a.js`. */
function listTypeScriptNames(base: string): readonly string[] {
  if (!JAVASCRIPT.test(base)) return [];
  const same = base.replace(JAVASCRIPT, '.$1ts$2');
  return base.endsWith('.js') ? [same, `${same}x`] : [same];
}

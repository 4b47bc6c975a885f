import path from 'node:path';
import { readTextIfPresent } from '../../../base/files.ts';
import { isRecord, parseJson } from '../../../base/json.ts';
import { findPackage, type ManifestUse, type PackageUse } from '../cache.ts';
import { realpathSync, statSync } from 'node:fs';

/** Finds files of packages as Node.js does for `import`, and keeps in mind what it looked at. */
export interface PackageFinder {
  /** Of a specifier that is no path; null when there is none. */
  readonly find: (specifier: string, importer: string) => FoundPackage | null;
  readonly uses: () => PackageUses;
}

export interface FoundPackage {
  readonly file: string;
  /** Whether it is made for plugins, so that it imports what the host stands for. */
  readonly isForPlugins: boolean;
}

export interface PackageUses {
  readonly packages: readonly PackageUse[];
  readonly manifests: readonly ManifestUse[];
}

export function createPackageFinder(): PackageFinder {
  const manifests = new Map<string, string>();
  const packages: PackageUse[] = [];
  const read = (directory: string): Manifest | null => {
    const file = path.join(directory, 'package.json');
    const text = manifests.get(file) ?? readTextIfPresent(file);
    if (text === null) return null;
    manifests.set(file, text);
    const parsed = parseJson(text);
    return parsed.ok && isRecord(parsed.value) ? parsed.value : null;
  };
  const find = (specifier: string, importer: string): FoundPackage | null => {
    const from = path.dirname(importer);
    const own = findNearestManifest(from, read);
    if (specifier.startsWith('#')) return findInside(specifier, { own, importer, find });
    const { name, request } = splitSpecifier(specifier);
    if (own?.manifest['name'] === name && own.manifest['exports'] !== undefined) {
      return findExported({ directory: own.directory, manifest: own.manifest, request });
    }
    const directory = findPackage(from, name);
    packages.push({ from, name, directory });
    return directory === ''
      ? null
      : findExported({ directory, manifest: read(directory) ?? {}, request });
  };
  return {
    find,
    uses: () => ({ packages, manifests: [...manifests].map(([file, text]) => ({ file, text })) }),
  };
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

interface Inside {
  readonly own: Home | null;
  readonly importer: string;
  readonly find: PackageFinder['find'];
}

/** `#name`, which the package's own `imports` explain. */
function findInside(name: string, { own, importer, find }: Inside): FoundPackage | null {
  const target = own === null ? null : resolveMapping(own.manifest['imports'] ?? {}, name);
  if (own === null || target === null) return null;
  if (!target.startsWith('./')) return find(target, importer);
  return findInPackage(own, path.join(own.directory, target));
}

/** `@scope/name/a/b` is `./a/b` of `@scope/name`. */
function splitSpecifier(specifier: string): { readonly name: string; readonly request: string } {
  const parts = specifier.split('/');
  const count = specifier.startsWith('@') ? 2 : 1;
  return {
    name: parts.slice(0, count).join('/'),
    request: ['.', ...parts.slice(count)].join('/'),
  };
}

interface Exported extends Home {
  readonly request: string;
}

function findExported({ directory, manifest, request }: Exported): FoundPackage | null {
  const { exports, main } = manifest;
  const home = { directory, manifest };
  if (exports !== undefined && exports !== null) {
    const target = resolveMapping(exports, request);
    return target === null ? null : findInPackage(home, path.join(directory, target));
  }
  const isWhole = request === '.';
  const named =
    isWhole && typeof main === 'string' ? findInPackage(home, path.join(directory, main)) : null;
  return (
    named ??
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
    Object.keys(manifest[list] ?? {}).some((name) => name.startsWith('@cline/')),
  );
}

/** As Node.js chooses for `import`. */
const CONDITIONS = ['node', 'node-addons', 'import', 'default', ...listSyncConditions()];

/** Where Node.js can `require` ES modules it also knows those that are made for that. */
function listSyncConditions(): readonly string[] {
  return process.features.require_module ? ['module-sync'] : [];
}

/**
 * What `exports` of a package.json say of a path (`.`, `./lib/a.js`), or `imports` of a name (`#a`): a
 * path inside the package, or for `imports` also another package. Null when they say nothing.
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

/** A table has paths as its keys; everything else is about the package as a whole. */
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

/** The first that fits counts; a null forbids it. */
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

// What is written in TypeScript is meant, where what was made of it lies beside it.
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
// A package is published for Node.js.
export const PACKAGE_ENDINGS = ['.js', '.json', '.node', '.mjs', '.cjs', '.ts', '.mts', '.cts'];

/** The file that is meant by a path without its ending, with the ending that it will have, or by its directory. */
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

/** TypeScript wants `./a.js` written for `./a.ts`. */
function listTypeScriptNames(base: string): readonly string[] {
  if (!JAVASCRIPT.test(base)) return [];
  const same = base.replace(JAVASCRIPT, '.$1ts$2');
  return base.endsWith('.js') ? [same, `${same}x`] : [same];
}

function isFile(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() === true;
}

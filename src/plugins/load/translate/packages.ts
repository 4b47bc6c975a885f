import path from 'node:path';
import { readTextIfPresent } from '../../../base/files.ts';
import { isRecord, parseJson } from '../../../base/json.ts';
import { findPackage, type ManifestUse, type PackageUse } from '../cache.ts';
import { findFile, PACKAGE_ENDINGS } from './find-file.ts';
import { mappedTarget } from './package-exports.ts';

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
    const own = nearestManifest(from, read);
    if (specifier.startsWith('#')) return findInside(specifier, { own, importer, find });
    const { name, request } = partsOf(specifier);
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

function nearestManifest(from: string, read: (directory: string) => Manifest | null): Home | null {
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
  const target = own === null ? null : mappedTarget(own.manifest['imports'] ?? {}, name);
  if (own === null || target === null) return null;
  if (!target.startsWith('./')) return find(target, importer);
  return foundIn(own, path.join(own.directory, target));
}

/** `@scope/name/a/b` is `./a/b` of `@scope/name`. */
function partsOf(specifier: string): { readonly name: string; readonly request: string } {
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
    const target = mappedTarget(exports, request);
    return target === null ? null : foundIn(home, path.join(directory, target));
  }
  const isWhole = request === '.';
  const named =
    isWhole && typeof main === 'string' ? foundIn(home, path.join(directory, main)) : null;
  return (
    named ?? foundIn(home, isWhole ? path.join(directory, 'index') : path.join(directory, request))
  );
}

function foundIn({ manifest }: Home, base: string): FoundPackage | null {
  const file = findFile(base, PACKAGE_ENDINGS);
  return file === null ? null : { file, isForPlugins: isForPlugins(manifest) };
}

const LISTS = ['dependencies', 'peerDependencies', 'optionalDependencies'];

function isForPlugins(manifest: Manifest): boolean {
  return LISTS.some((list) =>
    Object.keys(manifest[list] ?? {}).some((name) => name.startsWith('@cline/')),
  );
}

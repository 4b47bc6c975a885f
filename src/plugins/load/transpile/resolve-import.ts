import { isBuiltin } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { PluginPackage } from '../../entry.ts';
import { type LoadRequest, isProvided } from '../loading.ts';
import type { FoundPackage, PackageFinder, PackageUses } from './packages.ts';

/** The target of an import. */
export type Target =
  /** The host provides it. */
  | { readonly kind: 'provided' }
  /** A file that is transpiled with the plugin. */
  | { readonly kind: 'own'; readonly file: string }
  /** A module that Node.js imports unchanged; `isHosts` when it is a package of Hookline. */
  | { readonly kind: 'foreign'; readonly url: string; readonly isHosts?: true }
  | { readonly kind: 'missing'; readonly message: string };

const HERE = fileURLToPath(import.meta.url);
const PATH = /^(?:\.{1,2}(?:\/|$)|\/|file:)/;
const OTHER_SCHEME = /^[a-z][a-z\d+.-]+:/i;

/** Resolves the imports of one plugin. */
export class ImportResolver {
  readonly #request: Pick<LoadRequest, 'entry' | 'provided'>;
  #packages: PackageFinder | null = null;

  constructor(request: Pick<LoadRequest, 'entry' | 'provided'>) {
    this.#request = request;
  }

  /** The files of other packages that the results depend on. */
  get uses(): PackageUses {
    return this.#packages?.uses ?? { packages: [], manifests: [] };
  }

  async resolve(specifier: string, importer: string): Promise<Target> {
    const { entry, provided } = this.#request;
    if (PATH.test(specifier)) return resolvePath(specifier, importer);
    if (isProvided(specifier, provided)) return { kind: 'provided' };
    if (isBuiltin(specifier) || OTHER_SCHEME.test(specifier)) {
      return { kind: 'foreign', url: specifier };
    }
    const { PackageFinder: Finder } = await import('./packages.ts');
    this.#packages ??= new Finder();
    const found = this.#packages.find(specifier, importer);
    if (found !== null) return toPackageTarget(found, entry.package?.directory ?? null);
    const bringsPackages = entry.package !== null && entry.package.isBare !== true;
    const ofHost = bringsPackages ? null : new Finder().find(specifier, HERE);
    if (ofHost === null) return toMissing(specifier, importer, entry.package);
    return { kind: 'foreign', url: pathToFileURL(ofHost.file).href, isHosts: true };
  }
}

async function resolvePath(specifier: string, importer: string): Promise<Target> {
  const { findFile, SOURCE_ENDINGS } = await import('./packages.ts');
  const base = fileURLToPath(new URL(specifier, pathToFileURL(importer)));
  const file = findFile(base, SOURCE_ENDINGS);
  if (file === null) {
    return { kind: 'missing', message: `Cannot find '${specifier}' imported from ${importer}` };
  }
  return isTranslatable(file) ? { kind: 'own', file } : toForeign(file);
}

function toForeign(file: string): Target {
  return { kind: 'foreign', url: pathToFileURL(file).href };
}

const CODE = /\.(?:[cm]?[jt]s|[jt]sx|json)$/;
const NOT_FOR_NODE = /\.(?:[cm]?ts|tsx|json)$/;

function isTranslatable(file: string): boolean {
  return CODE.test(file);
}

/** A module that Node.js can import unchanged is not copied, and all importers share it. */
function toPackageTarget({ file, isForPlugins }: FoundPackage, home: string | null): Target {
  const isOwn = home !== null && isInside(file, home);
  const isTranslated = NOT_FOR_NODE.test(file) || ((isOwn || isForPlugins) && isTranslatable(file));
  return isTranslated ? { kind: 'own', file } : toForeign(file);
}

function isInside(file: string, home: string): boolean {
  const within = path.relative(home, file);
  return !within.startsWith('..') && !within.split(path.sep).includes('node_modules');
}

/** The former scope of Cline's packages, when hooks had other names, too. */
const FORMER = /^@clinebot\//u;
const RENAMED =
  'the plugin is written for an early Cline: its packages are called @cline/… now, and its hooks are in "hooks"';

function toMissing(specifier: string, importer: string, owner: PluginPackage | null): Target {
  return {
    kind: 'missing',
    message: `Cannot find package '${specifier}' imported from ${importer}; ${FORMER.test(specifier) ? RENAMED : describeAdvice(importer, owner)}`,
  };
}

function describeAdvice(importer: string, owner: PluginPackage | null): string {
  if (owner === null) {
    return `install it beside the plugin, with npm install in ${path.dirname(importer)}`;
  }
  return owner.isBare === true
    ? 'give the plugin a package.json that lists it in its dependencies, and install the plugin again'
    : `a plugin package brings its own: with it among the dependencies, npm install in ${owner.directory}, or install the plugin again`;
}

import path from 'node:path';
import { pathToFileURL, fileURLToPath } from 'node:url';
import type { PluginEntry } from '../entry.ts';
import type { Transpiled } from './cache.ts';
import type { ModuleScope } from './module-scope.ts';

/**
 * Prepares transpiled files for import as a separate copy. Node.js caches one module for each URL, so a
 * single file gets a query string, and several that import each other get a directory for each copy.
 * Returns the URL of each module by its source file, the entry first.
 */
export async function createInstance(
  translation: Transpiled,
  owner: PluginEntry,
  copy: string,
): Promise<ReadonlyMap<string, string>> {
  const { directory, modules } = translation;
  const number = getInstanceNumber(directory, copy);
  const isApart = number > 0 && modules.length > 1;
  const place = isApart ? await linkInstance(translation, number) : directory;
  const behind = number > 0 && !isApart ? `?copy=${number}` : '';
  const urls = new Map(
    modules.map(({ file, name }) => [
      file,
      `${pathToFileURL(path.join(place, name)).href}${behind}`,
    ]),
  );
  const { owners, placed } = getModuleRegistry();
  for (const owned of [...urls.keys(), place]) {
    if (!owners.has(owned)) owners.set(owned, owner);
  }
  placed.set(copy, [...(placed.get(copy) ?? []), { directory, place, urls, isApart }]);
  return urls;
}

/** The modules of one plugin that were imported for one copy of it. */
interface PlacedCopy {
  readonly urls: ReadonlyMap<string, string>;
  readonly directory: string;
  readonly place: string;
  readonly isApart: boolean;
}

function getInstanceNumber(directory: string, copy: string): number {
  const { copies } = getModuleRegistry();
  const own = copies.get(getInstanceKey(directory, copy));
  if (own !== undefined) return own;
  const number = copies.get(directory) ?? 0;
  copies.set(directory, number + 1);
  copies.set(getInstanceKey(directory, copy), number);
  return number;
}

function getInstanceKey(directory: string, copy: string): string {
  return `${directory}\n${copy}`;
}

async function linkInstance(translation: Transpiled, number: number): Promise<string> {
  const { linkCopy } = await import('./temporary-files.ts');
  return linkCopy(translation, number);
}

/** Makes the next import for this copy use a new module. */
export function dropInstance({ directory }: Transpiled, copy: string): void {
  getModuleRegistry().copies.delete(getInstanceKey(directory, copy));
}

/** Releases what is stored for a copy of all plugins, for example when its session has ended. */
export async function releaseInstances(copy: string): Promise<void> {
  const { copies, scopes, placed } = getModuleRegistry();
  const own = placed.get(copy) ?? [];
  placed.delete(copy);
  for (const { directory, place, urls, isApart } of own) {
    copies.delete(getInstanceKey(directory, copy));
    for (const url of urls.values()) scopes.delete(url);
    if (!isApart) continue;
    const { removeDirectory } = await import('./temporary-files.ts');
    removeDirectory(place);
  }
}

interface Registry {
  /** By the URL of the transpiled module. */
  readonly scopes: Map<string, ModuleScope>;
  /** How many copies of a directory there are, and the number of each. */
  readonly copies: Map<string, number>;
  /** The plugin of a source file, and of a directory of transpiled ones. */
  readonly owners: Map<string, PluginEntry>;
  /** The modules of each copy, of all plugins. */
  readonly placed: Map<string, readonly PlacedCopy[]>;
}

/** A transpiled module finds its scope by `Symbol.for` with this name. */
export const REGISTRY_NAME = 'hookline.plugin-modules';

/** One registry for the process, also with several copies of Hookline in it, because module URLs are global, too. */
export function getModuleRegistry(): Registry {
  const key = Symbol.for(REGISTRY_NAME);
  const present: unknown = Reflect.get(globalThis, key);
  if (isRegistry(present)) return present;
  const registry: Registry = {
    scopes: new Map(),
    copies: new Map(),
    owners: new Map(),
    placed: new Map(),
  };
  Reflect.set(globalThis, key, registry);
  return registry;
}

function isRegistry(value: unknown): value is Registry {
  return typeof value === 'object' && value !== null && 'scopes' in value && 'owners' in value;
}

/**
 * The entry file of the plugin in a stack trace: of the innermost call in a file of a plugin, or else in
 * its package, including installed dependencies. Null when no plugin is in the trace.
 */
export function findOwner(stack: string): string | null {
  const places = listPlaces(stack);
  return findFirst(places, findOwnerByFile) ?? findFirst(places, findOwnerByPackage);
}

/** Whether a stack trace has no file at all, only frames of Node.js. */
export function hasNoPlace(stack: string): boolean {
  return listPlaces(stack).length === 0;
}

// `at name (file:///a/b.mjs?copy=1:2:3)`, `at /a/b.ts:2:3`, and `/a/b.ts:2` above a syntax error.
const PLACE = /(?:^|[\s(])(file:\/\/[^\s)]+?|(?:[A-Za-z]:)?[\\/][^()\n]*?):\d+(?::\d+)?\)?$/gm;

function listPlaces(stack: string): readonly string[] {
  return [...stack.matchAll(PLACE)].map(([, place = '']) => toPath(place));
}

function toPath(place: string): string {
  if (!place.startsWith('file://')) return place;
  try {
    return fileURLToPath(place);
  } catch {
    return place;
  }
}

function findFirst(
  places: readonly string[],
  ownerAt: (place: string) => string | null,
): string | null {
  for (const place of places) {
    const owner = ownerAt(place);
    if (owner !== null) return owner;
  }
  return null;
}

function findOwnerByFile(place: string): string | null {
  const { owners } = getModuleRegistry();
  return (owners.get(place) ?? owners.get(path.dirname(place)))?.file ?? null;
}

function findOwnerByPackage(place: string): string | null {
  for (const { file, package: home } of getModuleRegistry().owners.values()) {
    if (home !== null && place.startsWith(`${home.directory}${path.sep}`)) return file;
  }
  return null;
}

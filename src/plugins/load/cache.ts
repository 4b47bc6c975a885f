import path from 'node:path';
import { VERSION } from '../../base/version.ts';
import type { LoadRequest, ProvidedModules } from './loading.ts';

// Imported, it would bring streams and promises along, which take longer than all that is done here.
const { readFileSync, realpathSync, statSync } = process.getBuiltinModule('node:fs');

/** A plugin's own files as Node.js can import them. */
export interface Transpiled {
  /** Where they lie, side by side; a real path. */
  readonly directory: string;
  /** The one that is imported comes first. */
  readonly modules: readonly Pick<RecordedModule, 'file' | 'name'>[];
  /** Whether they ask for what only their host can tell them. */
  readonly hasScopes: boolean;
}

/** What a translation was made of and came to. The whole texts, because comparing needs no hash. */
export interface TranspiledRecord {
  readonly format: string;
  readonly entry: string;
  /** The package that the entry belongs to, or nothing. */
  readonly home: string;
  /** The name of the directory. */
  readonly digest: string;
  readonly modules: readonly RecordedModule[];
  /** Where a package was found from a directory; nowhere when it is one of Hookline's own. */
  readonly packages: readonly {
    readonly from: string;
    readonly name: string;
    readonly directory: string;
  }[];
  /** The package.json files that were read. */
  readonly manifests: readonly { readonly file: string; readonly text: string }[];
  /** Modules of the host; with all their names where one is exported as a whole, else without. */
  readonly provided: readonly { readonly specifier: string; readonly names: string }[];
}

export interface RecordedModule {
  /** As it was written. */
  readonly file: string;
  /** As it is called in the directory. */
  readonly name: string;
  readonly source: string;
  readonly code: string;
}

/** Changes with whatever makes a translation come out differently. */
export const FORMAT = `${VERSION}-1`;

/** The translation that is kept of an entry, when all that it was made of is as it was. */
export function findTranspiled(request: LoadRequest): Transpiled | null {
  try {
    const home = getCachePlace(request);
    const record = home === null ? null : readRecord(path.join(home, RECORD));
    if (home === null || record === null || !isTrue(record, request)) return null;
    const directory = path.join(home, record.digest);
    if (!hasModules(directory, record.modules)) return null;
    return toTranspiled(directory, record.modules);
  } catch {
    // What cannot be read is made anew.
    return null;
  }
}

/** The name under which a module has its scope. */
export const SCOPE = '__hookline';

export function toTranspiled(directory: string, modules: readonly RecordedModule[]): Transpiled {
  const hasScopes = modules.some(({ code }) => code.includes(SCOPE));
  return { directory: realpathSync.native(directory), modules, hasScopes };
}

export const RECORD = 'translation.json';

/** Where translations of an entry are kept. */
export function getCachePlace({ cacheDirectory, entry }: LoadRequest): string | null {
  if (cacheDirectory === null) return null;
  const stem = path.basename(entry.file, path.extname(entry.file)).replaceAll(/[^\w.-]+/g, '_');
  return path.join(cacheDirectory, `${stem.slice(0, 60)}-${computeChecksum(entry.file)}`);
}

/** Keeps names apart: two of one checksum take turns, and what decides is a comparison of the whole. */
export function computeChecksum(text: string): string {
  const bytes = Buffer.alloc(Math.ceil((text.length * 3) / 4) * 4);
  const words = new Int32Array(bytes.buffer, 0, Math.ceil(bytes.write(text) / 4));
  let sum = 0x811c9dc5;
  for (const word of words) sum = Math.imul(sum ^ word, 0x01000193);
  return (sum >>> 0).toString(16).padStart(8, '0');
}

function readRecord(file: string): TranspiledRecord | null {
  const record: unknown = JSON.parse(readFileSync(file, 'utf8'));
  return isTranslationRecord(record) ? record : null;
}

/** Whoever wrote another format wrote something else; ours is ours. */
function isTranslationRecord(value: unknown): value is TranspiledRecord {
  const isObject = typeof value === 'object' && value !== null;
  return isObject && 'format' in value && value.format === FORMAT;
}

function isTrue(record: TranspiledRecord, { entry, provided }: LoadRequest): boolean {
  return (
    record.entry === entry.file &&
    record.home === (entry.package?.directory ?? '') &&
    record.modules.every(({ file, source }) => readText(file) === source) &&
    record.packages.every(({ from, name, directory }) => findPackage(from, name) === directory) &&
    record.manifests.every(({ file, text }) => readText(file) === text) &&
    record.provided.every((use) => listNames(use, provided) === use.names)
  );
}

/** Null when there is none; what is no plain file might never end. */
function readText(file: string): string | null {
  const isFile = statSync(file, { throwIfNoEntry: false })?.isFile() === true;
  return isFile ? readFileSync(file, 'utf8') : null;
}

/** What must stay as it is so that a use of a provided module stays right. */
function listNames(
  { specifier, names }: TranspiledRecord['provided'][number],
  provided: ProvidedModules,
): string | null {
  return names === '' ? '' : Object.keys(provided(specifier) ?? {}).join();
}

/** The directory of a package as code in a directory finds it; nothing when it finds none. */
export function findPackage(from: string, name: string): string {
  const inside =
    path.basename(from) === 'node_modules' ? null : path.join(from, 'node_modules', name);
  if (inside !== null && isThere(inside)) return inside;
  const parent = path.dirname(from);
  return parent === from ? '' : findPackage(parent, name);
}

function isThere(directory: string): boolean {
  return statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Whether a directory has exactly these modules. */
export function hasModules(directory: string, modules: readonly RecordedModule[]): boolean {
  try {
    return modules.every(
      ({ name, code }) => readFileSync(path.join(directory, name), 'utf8') === code,
    );
  } catch {
    return false;
  }
}

import path from 'node:path';
import { VERSION } from '../../base/version.ts';
import type { LoadRequest, ProvidedModules } from './loading.ts';

// Not a static import: importing `node:fs` also loads streams and promises, which takes longer than all work here.
const { readFileSync, realpathSync, statSync } = process.getBuiltinModule('node:fs');

/** A plugin's own files, transpiled for import by Node.js. */
export interface Transpiled {
  /** The directory with all modules; a real path. */
  readonly directory: string;
  /** The entry module comes first. */
  readonly modules: readonly Pick<RecordedModule, 'file' | 'name'>[];
  /** Whether they need a module scope from the host. */
  readonly hasScopes: boolean;
}

/** The inputs and the output of a transpilation. Whole texts, because comparing them needs no hash. */
export interface TranspiledRecord {
  readonly format: string;
  readonly entry: string;
  /** The package of the entry, or an empty text. */
  readonly home: string;
  /** The name of the output directory. */
  readonly digest: string;
  readonly modules: readonly RecordedModule[];
  /** Where a package was found from a directory; an empty text for a package of Hookline. */
  readonly packages: readonly {
    readonly from: string;
    readonly name: string;
    readonly directory: string;
  }[];
  /** The package.json files that were read. */
  readonly manifests: readonly { readonly file: string; readonly text: string }[];
  /** Modules of the host; with all their export names where a module re-exports all of them. */
  readonly provided: readonly { readonly specifier: string; readonly names: string }[];
}

export interface RecordedModule {
  /** The source file. */
  readonly file: string;
  /** The file name in the output directory. */
  readonly name: string;
  readonly source: string;
  readonly code: string;
}

/** Changes with everything that changes the output of a transpilation. */
export const FORMAT = `${VERSION}-1`;

/** Finds the cached transpilation of an entry, if none of its inputs has changed. */
export function findTranspiled(request: LoadRequest): Transpiled | null {
  try {
    const home = getCachePlace(request);
    const record = home === null ? null : readRecord(path.join(home, RECORD));
    if (home === null || record === null || !isTrue(record, request)) return null;
    const directory = path.join(home, record.digest);
    if (!hasModules(directory, record.modules)) return null;
    return toTranspiled(directory, record.modules);
  } catch {
    // An unreadable record is a cache miss.
    return null;
  }
}

/** The name of the variable that holds a module's scope. */
export const SCOPE = '__hookline';

export function toTranspiled(directory: string, modules: readonly RecordedModule[]): Transpiled {
  const hasScopes = modules.some(({ code }) => code.includes(SCOPE));
  return { directory: realpathSync.native(directory), modules, hasScopes };
}

export const RECORD = 'translation.json';

/** The cache directory of an entry. */
export function getCachePlace({ cacheDirectory, entry }: LoadRequest): string | null {
  if (cacheDirectory === null) return null;
  const stem = path.basename(entry.file, path.extname(entry.file)).replaceAll(/[^\w.-]+/g, '_');
  return path.join(cacheDirectory, `${stem.slice(0, 60)}-${computeChecksum(entry.file)}`);
}

/** A short checksum for file names. A collision is harmless: the whole texts are compared. */
export function computeChecksum(text: string): string {
  const bytes = Buffer.alloc(Math.ceil((text.length * 3) / 4) * 4);
  const words = new Int32Array(bytes.buffer, 0, Math.ceil(bytes.write(text) / 4));
  let sum = 0x811c9dc5;
  for (const word of words) sum = Math.imul(sum ^ word, 0x01000193);
  return (sum >>> 0).toString(16).padStart(8, '0');
}

function readRecord(file: string): TranspiledRecord | null {
  const record: unknown = JSON.parse(readFileSync(file, 'utf8'));
  return isTranspiledRecord(record) ? record : null;
}

/** Another format has another version, so only the type is narrowed. */
function isTranspiledRecord(value: unknown): value is TranspiledRecord {
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

/** Null when there is none. Only regular files are read, because reading a pipe might never end. */
function readText(file: string): string | null {
  const isFile = statSync(file, { throwIfNoEntry: false })?.isFile() === true;
  return isFile ? readFileSync(file, 'utf8') : null;
}

/** The export names of a provided module, which the output depends on. */
function listNames(
  { specifier, names }: TranspiledRecord['provided'][number],
  provided: ProvidedModules,
): string | null {
  return names === '' ? '' : Object.keys(provided(specifier) ?? {}).join();
}

/** The directory of a package as Node.js resolves it from a directory; an empty text when there is none. */
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

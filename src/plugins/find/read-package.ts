import { statSync } from 'node:fs';
import path from 'node:path';
import { getErrorMessage } from '../../base/errors.ts';
import { readTextIfPresent, isDirectory } from '../../base/files.ts';
import { isRecord, parseJson, getTypeName } from '../../base/json.ts';
import { findCapabilityProblem } from '../manifest.ts';
import { findRealPath, isInside } from '../../base/paths.ts';
import { getFileKind, MODULE_ENDINGS } from './module-text.ts';
import type { PluginPackage, PluginEntry } from '../entry.ts';

/** The plugin declarations in the package.json of a directory. */
type PackageReading =
  /** No package.json, or one without plugin declarations. */
  | { readonly kind: 'plain'; readonly version: string | null }
  | { readonly kind: 'broken'; readonly why: string }
  | PluginPackageJson;

interface PluginPackageJson {
  readonly kind: 'package';
  readonly directory: string;
  readonly name: string;
  readonly version: string | null;
  readonly declared: readonly DeclaredEntry[];
  /** Problems of single entries; the other entries are used. */
  readonly problems: readonly string[];
}

interface DeclaredEntry {
  /** As written in the package.json. */
  readonly path: string;
  /** Absolute; the file may not exist. */
  readonly file: string;
  readonly capabilities: readonly string[] | null;
  /** Why its declaration is invalid, or null. */
  readonly problem: string | null;
}

const PLAIN: PackageReading = { kind: 'plain', version: null };

/** Never throws. */
export function readPackage(directory: string): PackageReading {
  const file = path.join(directory, 'package.json');
  const text = readText(file);
  if (text === null) return PLAIN;
  if (typeof text !== 'string') return toBrokenPackage(`${file} cannot be read: ${text.why}`);
  const parsed = parseJson(text);
  if (!parsed.ok) return toBrokenPackage(`${file} is not JSON: ${parsed.error}`);
  if (!isRecord(parsed.value)) {
    return toBrokenPackage(`${file} must hold an object, found ${getTypeName(parsed.value)}`);
  }
  return readFields(parsed.value, directory);
}

const MAX_BYTES = 1024 * 1024;

function readText(file: string): string | null | { readonly why: string } {
  try {
    const bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    return bytes > MAX_BYTES ? { why: 'it is larger than 1 MiB' } : readTextIfPresent(file);
  } catch (error) {
    return { why: getErrorMessage(error) };
  }
}

function toBrokenPackage(why: string): PackageReading {
  return { kind: 'broken', why };
}

type Fields = Readonly<Record<string, unknown>>;

function readFields(fields: Fields, directory: string): PackageReading {
  const { name, version, cline } = fields;
  const ownVersion = typeof version === 'string' ? version : null;
  const plugins = isRecord(cline) ? cline['plugins'] : undefined;
  if (plugins === undefined) return { kind: 'plain', version: ownVersion };
  if (!Array.isArray(plugins)) {
    return toBrokenPackage(
      `"cline.plugins" in ${path.join(directory, 'package.json')} must be a list, found ${getTypeName(plugins)}`,
    );
  }
  const read = plugins.map((each: unknown, place) => readItem(each, place, directory));
  return {
    kind: 'package',
    directory,
    name:
      typeof name === 'string' && name.trim() !== '' ? name.trim() : getDirectoryName(directory),
    version: ownVersion,
    declared: read.flatMap((each) => ('problem' in each ? [] : each.declared)),
    problems: read.flatMap((each) => ('problem' in each ? [each.problem] : [])),
  };
}

/** The directory of an install has a hash after its name. */
function getDirectoryName(directory: string): string {
  return path.basename(directory).replace(/-[0-9a-f]{12}$/u, '');
}

/** Reads one item of the list `cline.plugins`, the file or files of a plugin. */
function readItem(
  item: unknown,
  place: number,
  directory: string,
): { readonly declared: readonly DeclaredEntry[] } | { readonly problem: string } {
  const where = `"cline.plugins[${place}]" in ${path.join(directory, 'package.json')}`;
  if (typeof item === 'string') {
    return { declared: [toDeclaredEntry(item, directory, null)] };
  }
  if (!isRecord(item)) {
    return { problem: `${where} must be a path or an object, found ${getTypeName(item)}` };
  }
  const { paths, capabilities = null } = item;
  if (!isTexts(paths) || paths.length === 0) {
    return { problem: `${where} names no file; expected "paths" as in ["./index.ts"]` };
  }
  return {
    declared: paths.map((each) => toDeclaredEntry(each, directory, capabilities)),
  };
}

function toDeclaredEntry(written: string, directory: string, capabilities: unknown): DeclaredEntry {
  const problem = capabilities === null ? null : findCapabilityProblem(capabilities);
  return {
    path: written,
    file: path.resolve(directory, written),
    capabilities: problem === null && isTexts(capabilities) ? capabilities : null,
    problem: problem === null ? null : `it declares what it cannot: ${problem}`,
  };
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

/** Lists the files that a package declares as plugins. An invalid one does not affect the others. */
export function listPackageEntries(
  json: PluginPackageJson,
): Pick<FoundModules, 'entries' | 'problems'> {
  const at = path.join(json.directory, 'package.json');
  const entries: FoundEntry[] = [];
  const problems = [...json.problems];
  for (const declared of json.declared) {
    const found = buildPackageEntry(declared, json);
    if ('why' in found) problems.push(`${JSON.stringify(declared.path)} in ${at}: ${found.why}`);
    else entries.push(found);
  }
  if (json.declared.length + problems.length === 0) {
    problems.push(`"cline.plugins" in ${at} is empty; expected { "paths": ["./index.ts"] }`);
  }
  return {
    entries,
    problems: problems.map((message) => ({ path: at, label: json.name, message })),
  };
}

function buildPackageEntry(
  declared: DeclaredEntry,
  json: PluginPackageJson,
): FoundEntry | { readonly why: string } {
  const directory = findRealPath(json.directory) ?? json.directory;
  const file = findRealPath(declared.file);
  if (!isInside(json.directory, declared.file)) {
    return { why: 'it lies outside the package; move it into it' };
  }
  if (file === null) return { why: 'file not found' };
  if (!isInside(directory, file)) {
    return { why: `it is a link out of the package, to ${file}; put the file itself there` };
  }
  // An installer's package.json lists only the files, and the package inside declares more about them.
  const inner = findDeclaration(file, (above) => above === directory);
  const why = explainNoModule(file) ?? declared.problem ?? inner?.declared.problem ?? null;
  if (why !== null) return { why };
  const owner = toPluginPackage(inner?.json ?? json, directory);
  return {
    file,
    path: declared.file,
    label: owner.name,
    package: owner,
    capabilities: declared.capabilities ?? inner?.declared.capabilities ?? null,
  };
}

/** Why a file cannot be loaded as a plugin, or null. A test or a helper is accepted when the user names it. */
export function explainNoModule(file: string): string | null {
  const name = path.basename(file);
  const expected = `expected a ${MODULE_ENDINGS.join(', ')} file`;
  if (/\.d\.m?ts$/iu.test(name)) return `it declares types only; ${expected}`;
  if (!MODULE_ENDINGS.includes(path.extname(name))) {
    const kind = getFileKind(name);
    return `${kind?.kind === 'other' ? kind.why : 'it is not a module'}; ${expected}`;
  }
  try {
    return statSync(file).isFile() ? null : 'it is not a regular file';
  } catch (error) {
    return `it cannot be read: ${getErrorMessage(error)}`;
  }
}

interface Declaration {
  readonly json: PluginPackageJson;
  readonly declared: DeclaredEntry;
}

/** Finds the nearest package above a file that lists it as a plugin; real paths. */
function findDeclaration(
  file: string,
  isEnd: (directory: string) => boolean,
  read: PackageReader = readPackage,
): Declaration | null {
  let directory = path.dirname(file);
  while (!isEnd(directory)) {
    const json = read(directory);
    const declared =
      json.kind === 'package'
        ? json.declared.find((each) => (findRealPath(each.file) ?? each.file) === file)
        : undefined;
    if (json.kind === 'package' && declared !== undefined) return { json, declared };
    const parent = path.dirname(directory);
    if (parent === directory) return null;
    directory = parent;
  }
  return null;
}

type PackageReader = (directory: string) => PackageReading;

const LEVELS = 4;

/**
 * Finds the package that lists a file, which may be deep inside of it, as in
 * `.cline/plugins`. Reads each package.json once.
 */
export function createDeclarationFinder(): (file: string) => Declaration | null {
  const cache = new Map<string, PackageReading>();
  const read: PackageReader = (directory) => {
    const json = cache.get(directory) ?? readPackage(directory);
    cache.set(directory, json);
    return json;
  };
  return (file) => {
    let levels = 0;
    return findDeclaration(file, () => ++levels > LEVELS, read);
  };
}

/** `directory` contains the whole package, also where an installer has wrapped it. */
export function toPluginPackage(owner: PluginPackageJson, directory: string): PluginPackage {
  const own = findRealPath(owner.directory) ?? owner.directory;
  const copy = path.join(directory, 'package');
  return {
    directory,
    name: owner.name,
    version: owner.version ?? (own === directory ? readVersion(copy) : null),
    skills: findSkills(own === directory ? [own, copy] : [own], directory),
    ...(own === directory && isBare(owner, copy) ? { isBare: true } : {}),
  };
}

function isBare({ declared }: PluginPackageJson, copy: string): boolean {
  const isAround =
    declared.length > 0 && declared.every(({ file }) => isInside(copy, findRealPath(file) ?? file));
  return isAround && findRealPath(path.join(copy, 'package.json')) === null;
}

function readVersion(directory: string): string | null {
  const json = readPackage(directory);
  return json.kind === 'broken' ? null : json.version;
}

/** A link out of the package would make files trusted that are no part of it. */
function findSkills(homes: readonly string[], directory: string): string | null {
  const places = homes.map((home) => findRealPath(path.join(home, 'skills')));
  return places.find((each) => isSkills(each, directory)) ?? null;
}

function isSkills(place: string | null, directory: string): place is string {
  return place !== null && isInside(directory, place) && isDirectory(place);
}

/** A discovered plugin module. */
export interface FoundEntry extends PluginEntry {
  /** The file as it was found, which may be a link to `file`. */
  readonly path: string;
}

/** A declared or likely plugin that cannot be loaded. */
export interface PluginProblem {
  /** The file to fix, or the path that does not exist. */
  readonly path: string;
  readonly label: string;
  /** What was expected, what was found, and what to do. */
  readonly message: string;
}

export interface PassedOver {
  readonly path: string;
  readonly why: string;
  /** Set when no warning is needed: a helper, a test, declarations. */
  readonly isQuiet?: true;
  /** Set when there may be a plugin that could not be read. */
  readonly mayHidePlugin?: true;
}

/** All plugins of one directory; none of them has been imported. */
export interface FoundModules {
  /** Sorted by path, each file once. */
  readonly entries: readonly FoundEntry[];
  readonly ignored: readonly PassedOver[];
  readonly problems: readonly PluginProblem[];
  /** Directories that are not part of a single-file plugin: packages, and modules of other plugins. */
  readonly apart: readonly string[];
}

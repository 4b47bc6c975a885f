import { type Stats, statSync, type Dirent, readdirSync } from 'node:fs';
import path from 'node:path';
import { getErrorMessage } from '../../base/errors.ts';
import { isNotFoundError, isDirectory } from '../../base/files.ts';
import { findRealPath, joinChildPath } from '../../base/paths.ts';
import {
  getFileLabel,
  MODULE_ENDINGS,
  getFileKind,
  listImportPaths,
  isLikelyPlugin,
  canExportPlugin,
  readModuleText,
  listRelativeImports,
} from './module-text.ts';
import {
  type FoundEntry,
  type FoundModules,
  type PassedOver,
  type PluginProblem,
  createDeclarationFinder,
  toPluginPackage,
  listPackageEntries,
  explainNoModule,
  readPackage,
} from './read-package.ts';
import { isRecord, parseJson } from '../../base/json.ts';
import { findUnparsableModules } from './unparsable-modules.ts';

/** Every plugin in a directory such as `.cline/plugins`. Imports none, and never throws. */
export function findPluginModules(directory: string, limits?: Limits): FoundModules {
  const walked = walkPlugins(directory, limits);
  const { modules, helpers } = removeHelpers(walked.candidates);
  const findDeclaration = createDeclarationFinder();
  const found = modules.map((each) => buildFileEntry(each, directory, findDeclaration));
  const unparsable = findUnparsableModules([...walked.entries, ...walked.candidates]);
  const isReported = new Set(unparsable.map((each) => each.path));
  return {
    entries: sortNames([...walked.entries, ...found.flatMap((each) => each.entry ?? [])]),
    ignored: [
      ...walked.ignored,
      ...helpers.filter((each) => !isReported.has(each.path)),
      ...unparsable,
    ],
    problems: [...walked.problems, ...found.flatMap((each) => each.problem ?? [])],
    apart: walked.apart,
  };
}

/** Finds the plugins at a path: a file, a package, or a directory with plugins. */
export function findPluginModulesAt(place: string): FoundModules {
  const stats = readStats(place);
  if ('why' in stats) return toProblem(place, stats.why);
  if (!stats.isDirectory()) return findNamedFile(place);
  const json = readPackage(place);
  if (json.kind === 'broken') return toProblem(place, json.why);
  if (json.kind === 'package') {
    const { entries, problems } = listPackageEntries(json);
    return { ...NOTHING, entries: sortNames(entries), problems };
  }
  const index = MODULE_ENDINGS.map((ending) => path.join(place, `index${ending}`)).find(isThere);
  return index === undefined ? findAnyIn(place) : findNamedFile(index);
}

const NOTHING: FoundModules = { entries: [], ignored: [], problems: [], apart: [] };

function readStats(place: string): Stats | { readonly why: string } {
  try {
    return statSync(place);
  } catch (error) {
    if (isNotFoundError(error)) return { why: `${place} not found` };
    return { why: `${place} cannot be read: ${getErrorMessage(error)}` };
  }
}

function toProblem(place: string, message: string): FoundModules {
  const label = getFileLabel(place, '');
  return { ...NOTHING, problems: [{ path: place, label, message }] };
}

function findNamedFile(file: string): FoundModules {
  const why = explainNoModule(file);
  if (why !== null) return toProblem(file, `${file} cannot be a plugin: ${why}`);
  const real = findRealPath(file) ?? file;
  const found = { path: file, file: real };
  const { entry, problem } = buildFileEntry(found, '', createDeclarationFinder());
  const modules = path.join(path.dirname(real), 'node_modules');
  return {
    ...NOTHING,
    entries: entry === null ? [] : [entry],
    problems: problem === null ? [] : [problem],
    apart: isDirectory(modules) ? [modules] : [],
  };
}

function isThere(file: string): boolean {
  return findRealPath(file) !== null;
}

function findAnyIn(directory: string): FoundModules {
  const found = findPluginModules(directory);
  if (found.entries.length + found.problems.length > 0) return found;
  const expected = 'a package.json with "cline.plugins", an index.ts, or files that are plugins';
  const { problems } = toProblem(
    directory,
    `no plugin found in ${directory}; expected ${expected}`,
  );
  return { ...found, problems };
}

/** A package above a single file may list it. */
function buildFileEntry(
  { path: place, file }: Candidate,
  root: string,
  findDeclaration: ReturnType<typeof createDeclarationFinder>,
): { readonly entry: FoundEntry | null; readonly problem: PluginProblem | null } {
  const above = findDeclaration(file);
  if (above === null) {
    const label = getFileLabel(place, root);
    return {
      entry: { file, path: place, label, package: null, capabilities: null },
      problem: null,
    };
  }
  const { json, declared } = above;
  if (declared.problem !== null) {
    const at = path.join(json.directory, 'package.json');
    const message = `${JSON.stringify(declared.path)} in ${at}: ${declared.problem}`;
    return { entry: null, problem: { path: at, label: json.name, message } };
  }
  const { capabilities } = declared;
  const owner = toPluginPackage(json, json.directory);
  return {
    entry: { file, path: place, label: json.name, package: owner, capabilities },
    problem: null,
  };
}

/** Separates plugins from modules that only they import, by their code. */
function removeHelpers(candidates: readonly Candidate[]): {
  readonly modules: readonly Candidate[];
  readonly helpers: readonly PassedOver[];
} {
  const texts = candidates.map(({ file }) => readModuleText(file));
  const imported = new Set(
    candidates
      .flatMap(({ file }, place) => listRelativeImports(texts[place] ?? '', file))
      .map(getPlainName),
  );
  const isHelper = ({ file }: Candidate, place: number): boolean => {
    const text = texts[place] ?? null;
    if (text === null) return false;
    const isImported = listImportPaths(file).some((name) => imported.has(name));
    return !canExportPlugin(text) || (isImported && !isLikelyPlugin(text));
  };
  const helpers = candidates.filter(isHelper);
  return {
    modules: candidates.filter((each) => !helpers.includes(each)),
    helpers: helpers.map(({ path: place }) => ({
      path: place,
      why: 'no plugin in it',
      isQuiet: true,
    })),
  };
}

function getPlainName(file: string): string {
  return listImportPaths(file)[0] ?? file;
}

/** Sorts by path and lists each file once: a link and its target are one plugin. */
function sortNames(entries: readonly FoundEntry[]): readonly FoundEntry[] {
  const files = new Set<string>();
  return entries
    .toSorted((one, other) => (one.path < other.path ? -1 : 1))
    .filter(({ file }) => {
      const isNew = !files.has(file);
      files.add(file);
      return isNew;
    });
}

/** A file whose name and directory allow a plugin. */
interface Candidate {
  readonly path: string;
  /** Its real path. */
  readonly file: string;
}

interface Limits {
  readonly depth: number;
  readonly directories: number;
  readonly files: number;
}

const LIMITS: Limits = { depth: 8, directories: 500, files: 500 };

/** Walks a directory, and stops at packages. Reads each directory once; never throws. */
function walkPlugins(directory: string, limits: Limits = LIMITS): Walk {
  const walk = new Walk(directory, limits);
  walk.visit({ path: directory, real: findRealPath(directory) ?? directory, depth: 0 });
  return walk;
}

interface Visited {
  readonly path: string;
  readonly real: string;
  readonly depth: number;
}

class Walk {
  readonly candidates: Candidate[] = [];
  readonly entries: FoundEntry[] = [];
  readonly ignored: PassedOver[] = [];
  readonly problems: PluginProblem[] = [];
  readonly apart: string[] = [];
  readonly #start: string;
  readonly #limits: Limits;
  readonly #visited = new Set<string>();
  #isCut = false;

  constructor(start: string, limits: Limits) {
    this.#start = start;
    this.#limits = limits;
  }

  visit(place: Visited): void {
    if (this.#isCut || this.#visited.has(place.real)) return;
    this.#visited.add(place.real);
    if (this.#visited.size > this.#limits.directories) return this.#cut('directories');
    const listing = this.#list(place.path);
    const names = new Set(listing.map(({ name }) => name));
    if (this.#isPackage(place, names)) return;
    for (const listed of listing) this.#visitEntry(listed, place);
  }

  /** Empty when the directory does not exist; records a problem when it cannot be read. */
  #list(directory: string): readonly Dirent[] {
    try {
      const listing = readdirSync(directory, { withFileTypes: true });
      return listing.toSorted((one, other) => (one.name < other.name ? -1 : 1));
    } catch (error) {
      if (!isNotFoundError(error)) {
        this.#reportUnreadable(directory, `cannot be read: ${getErrorMessage(error)}`);
      } else if (findRealPath(directory) !== null) {
        this.ignored.push({ path: directory, why: 'is not a directory, so it holds no plugins' });
      }
      return [];
    }
  }

  #isPackage({ path: directory, real, depth }: Visited, names: ReadonlySet<string>): boolean {
    if (names.has('plugin.json') && isAgentPlugin(path.join(directory, 'plugin.json'))) {
      this.apart.push(real);
      this.ignored.push({ path: directory, why: AGENT_PLUGIN });
      return true;
    }
    const json = names.has('package.json') ? readPackage(directory) : null;
    if (json === null || json.kind === 'plain') return false;
    if (json.kind === 'broken') {
      const label = path.basename(directory);
      this.problems.push({ path: path.join(directory, 'package.json'), label, message: json.why });
      // A broken package.json of the plugins directory itself does not affect the plugins beside it.
      if (depth === 0) return false;
    } else {
      const { entries, problems } = listPackageEntries(json);
      this.entries.push(...entries);
      this.problems.push(...problems);
    }
    this.apart.push(real);
    return true;
  }

  #visitEntry(listed: Dirent, { path: directory, real, depth }: Visited): void {
    const { name } = listed;
    if (this.#isCut || name.startsWith('.')) return;
    const place = joinChildPath(directory, name);
    const target = listed.isSymbolicLink() ? findRealPath(place) : joinChildPath(real, name);
    if (target === null) return this.#reportBrokenLink(place);
    const kind = listed.isSymbolicLink() ? readKind(target) : listed;
    if (kind.isDirectory()) this.#enter({ path: place, real: target, depth: depth + 1 });
    else this.#addCandidate({ path: place, file: target }, kind.isFile());
  }

  #reportBrokenLink(link: string): void {
    const kind = getFileKind(path.basename(link))?.kind;
    if (kind === 'module') this.#reportUnreadable(link, 'is a broken link');
  }

  #enter(place: Visited): void {
    if (path.basename(place.path) === 'node_modules') this.apart.push(place.real);
    else if (place.depth > this.#limits.depth) {
      this.#reportUnreadable(place.path, `lies more than ${this.#limits.depth} directories deep`);
    } else {
      if (path.basename(place.path) === INSTALLED) this.apart.push(place.real);
      this.visit(place);
    }
  }

  #addCandidate(candidate: Candidate, isFile: boolean): void {
    const kind = getFileKind(path.basename(candidate.path));
    if (kind === null) return;
    const { path: place } = candidate;
    if (kind.kind === 'other') {
      this.ignored.push({ path: place, why: kind.why, ...(kind.isQuiet ? { isQuiet: true } : {}) });
    } else if (!isFile) this.ignored.push({ path: place, why: 'is not a regular file' });
    else if (this.candidates.length >= this.#limits.files) this.#cut('files');
    else this.candidates.push(candidate);
  }

  #cut(what: 'directories' | 'files'): void {
    this.#isCut = true;
    const most = this.#limits[what];
    this.#reportUnreadable(
      this.#start,
      `holds more than ${most} ${what} to look at: the rest is left out`,
    );
  }

  #reportUnreadable(place: string, why: string): void {
    this.ignored.push({ path: place, why, mayHidePlugin: true });
  }
}

/** The directory of installed plugins. */
const INSTALLED = '_installed';

function readKind(file: string): { isDirectory(): boolean; isFile(): boolean } {
  try {
    return statSync(file);
  } catch {
    return { isDirectory: () => false, isFile: () => false };
  }
}

const AGENT_PLUGIN =
  'is an Agent Plugin, by its plugin.json: it brings skills and servers, and no Cline plugin';

function isAgentPlugin(file: string): boolean {
  const parsed = parseJson(readModuleText(file) ?? '');
  const schema = parsed.ok && isRecord(parsed.value) ? parsed.value['$schema'] : null;
  return typeof schema === 'string' && /^https?:\/\/agent-plugins\.org\//u.test(schema);
}

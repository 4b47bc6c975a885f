import { type Dirent, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { getErrorMessage } from '../../base/errors.ts';
import { isNotFoundError } from '../../base/files.ts';
import { isRecord, parseJson } from '../../base/json.ts';
import { joinChildPath, findRealPath } from '../../base/paths.ts';
import { fileKind } from './file-kinds.ts';
import type { FoundEntry, PassedOver, PluginProblem } from './found.ts';
import { readModuleText } from './module-text.ts';
import { packageEntries } from './package-entries.ts';
import { readPackage } from './read-package.ts';

/** A file that may be a plugin by its name and place. */
export interface Candidate {
  readonly path: string;
  /** Its real path. */
  readonly file: string;
}

export interface Limits {
  readonly depth: number;
  readonly directories: number;
  readonly files: number;
}

const LIMITS: Limits = { depth: 8, directories: 500, files: 500 };

export interface Walked {
  readonly candidates: readonly Candidate[];
  readonly entries: readonly FoundEntry[];
  readonly ignored: readonly PassedOver[];
  readonly problems: readonly PluginProblem[];
  readonly apart: readonly string[];
}

/** Looks through a directory, and stops at packages. Reads each directory once; never throws. */
export function walkPlugins(directory: string, limits: Limits = LIMITS): Walked {
  const walk = new Walk(directory, limits);
  walk.visit({ path: directory, real: findRealPath(directory) ?? directory, depth: 0 });
  return walk;
}

interface Visited {
  readonly path: string;
  readonly real: string;
  readonly depth: number;
}

class Walk implements Walked {
  readonly candidates: Candidate[] = [];
  readonly entries: FoundEntry[] = [];
  readonly ignored: PassedOver[] = [];
  readonly problems: PluginProblem[] = [];
  readonly apart: string[] = [];
  readonly #start: string;
  readonly #limits: Limits;
  readonly #seen = new Set<string>();
  #isCut = false;

  constructor(start: string, limits: Limits) {
    this.#start = start;
    this.#limits = limits;
  }

  visit(place: Visited): void {
    if (this.#isCut || this.#seen.has(place.real)) return;
    this.#seen.add(place.real);
    if (this.#seen.size > this.#limits.directories) return this.#cut('directories');
    const listing = this.#list(place.path);
    const names = new Set(listing.map(({ name }) => name));
    if (this.#isPackage(place, names)) return;
    for (const listed of listing) this.#look(listed, place);
  }

  /** Nothing when it is not there; a reason when it is and cannot be read. */
  #list(directory: string): readonly Dirent[] {
    try {
      const listing = readdirSync(directory, { withFileTypes: true });
      return listing.toSorted((one, other) => (one.name < other.name ? -1 : 1));
    } catch (error) {
      if (!isNotFoundError(error)) {
        this.#hidden(directory, `cannot be read: ${getErrorMessage(error)}`);
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
      // The plugins beside a broken package.json of the place itself have nothing to do with it.
      if (depth === 0) return false;
    } else {
      const { entries, problems } = packageEntries(json);
      this.entries.push(...entries);
      this.problems.push(...problems);
    }
    this.apart.push(real);
    return true;
  }

  #look(listed: Dirent, { path: directory, real, depth }: Visited): void {
    const { name } = listed;
    if (this.#isCut || name.startsWith('.')) return;
    const place = joinChildPath(directory, name);
    const target = listed.isSymbolicLink() ? findRealPath(place) : joinChildPath(real, name);
    if (target === null) return this.#lookAtLostLink(place);
    const kind = listed.isSymbolicLink() ? kindAt(target) : listed;
    if (kind.isDirectory()) this.#enter({ path: place, real: target, depth: depth + 1 });
    else this.#take({ path: place, file: target }, kind.isFile());
  }

  #lookAtLostLink(link: string): void {
    const kind = fileKind(path.basename(link))?.kind;
    if (kind === 'module') this.#hidden(link, 'is a link to nothing');
  }

  #enter(place: Visited): void {
    if (path.basename(place.path) === 'node_modules') this.apart.push(place.real);
    else if (place.depth > this.#limits.depth) {
      this.#hidden(place.path, `lies more than ${this.#limits.depth} directories deep`);
    } else {
      if (path.basename(place.path) === INSTALLED) this.apart.push(place.real);
      this.visit(place);
    }
  }

  #take(candidate: Candidate, isFile: boolean): void {
    const kind = fileKind(path.basename(candidate.path));
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
    this.#hidden(this.#start, `holds more than ${most} ${what} to look at: the rest is left out`);
  }

  #hidden(place: string, why: string): void {
    this.ignored.push({ path: place, why, mayHidePlugin: true });
  }
}

/** Where installers put what they fetched. */
const INSTALLED = '_installed';

function kindAt(file: string): { isDirectory(): boolean; isFile(): boolean } {
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

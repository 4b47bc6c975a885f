import { lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { systemClock } from '../base/clock.ts';
import { isDirectory } from '../base/files.ts';
import { isInside } from '../base/paths.ts';
import type { DeniedFiles } from './permissions.ts';
import {
  canMatchBelow,
  canMatchWrittenPath,
  listPatternStarts,
  type PathContext,
  type PathPattern,
  resolveRealContext,
} from './rules/path-pattern.ts';
import {
  isPathDenial,
  listGuardContexts,
  type PermissionRule,
  type RuleLocations,
} from './rules/permission-rule.ts';

/** Bounds one listing; what is not reached makes it incomplete. */
export interface ListingLimits {
  readonly maxEntries: number;
  readonly maxMatches: number;
}

const DEFAULT_LIMITS: ListingLimits = { maxEntries: 200_000, maxMatches: 1000 };

/** Lists denied files again and again; a directory is read again only when it changed. */
export class DeniedFileLister {
  readonly #limits: ListingLimits;
  readonly #directories = new Map<string, CachedDirectory>();

  constructor(limits: ListingLimits = DEFAULT_LIMITS) {
    this.#limits = limits;
  }

  /**
   * `searched` are the directories in which patterns for any depth are looked for; others are looked
   * for from the last directory that they name.
   */
  list(
    rules: readonly PermissionRule[],
    cwd: string,
    locations: RuleLocations,
    searched: readonly string[],
  ): DeniedFiles {
    const listing = new Listing(this.#limits, (directory) => this.#readDirectory(directory));
    const listAll = (kind: 'read' | 'edit'): readonly string[] => {
      const found = new Set<string>();
      for (const rule of rules.filter((each) => isPathDenial(each, kind))) {
        for (const guard of listGuards(rule, cwd, locations, kind)) {
          for (const start of guard.starts(searched)) listing.collect(start, guard, found);
        }
      }
      return [...found];
    };
    const reads = listAll('read');
    const edits = listAll('edit');
    // A searched directory may be writable on its own account, wherever it lies.
    const enclosed = searched.filter((area) => edits.some((each) => isInside(each, area)));
    return {
      reads,
      edits: [...new Set([...edits, ...enclosed])],
      absentEdits: [...listing.absent],
      unlisted: [...listing.unlisted].map(([rule, why]) => ({ rule, why })),
    };
  }

  #readDirectory(directory: string): readonly Entry[] {
    const { mtimeMs, ctimeMs } = lstatSync(directory);
    const cached = this.#directories.get(directory);
    if (cached?.mtimeMs === mtimeMs && cached.ctimeMs === ctimeMs && !cached.isRacy) {
      return cached.entries;
    }
    const entries = readdirSync(directory, { withFileTypes: true }).map((entry) => ({
      name: entry.name,
      isDirectory: entry.isDirectory(),
    }));
    const isRacy = systemClock.now() - mtimeMs < RACY_MS;
    this.#directories.set(directory, { mtimeMs, ctimeMs, entries, isRacy });
    return entries;
  }
}

/** Within one tick of the file system's clock a second change leaves the time as it is. */
const RACY_MS = 50;

interface Entry {
  readonly name: string;
  readonly isDirectory: boolean;
}

interface CachedDirectory {
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly entries: readonly Entry[];
  readonly isRacy: boolean;
}

/** One pattern of a rule, relative to one set of directories. */
interface Guard {
  /** The rule and where it stands, for messages. */
  readonly rule: string;
  readonly isEdit: boolean;
  readonly isMatch: (file: string) => boolean;
  /** Whether nothing may be made in a directory, whatever its name. */
  readonly isClosed: (directory: string) => boolean;
  readonly canMatchBelow: (directory: string) => boolean;
  readonly starts: (searched: readonly string[]) => readonly string[];
}

function listGuards(
  rule: PermissionRule,
  cwd: string,
  locations: RuleLocations,
  kind: 'read' | 'edit',
): readonly Guard[] {
  const { content } = rule.parsed;
  if (content.kind !== 'path') return [];
  const contexts = listGuardContexts(rule, { cwd }, locations);
  const all = [...contexts, ...contexts.map(resolveRealContext)];
  const distinct = new Map(all.map((context) => [JSON.stringify(context), context]));
  const name = `${rule.text} of ${rule.source}`;
  return [...distinct.values()].map((context) => ({
    rule: name,
    ...createGuard(content.pattern, context, kind),
  }));
}

/** A name that only a wildcard matches. */
const ANY_NAME = '\u0001any';

function createGuard(
  pattern: PathPattern,
  context: PathContext,
  kind: 'read' | 'edit',
): Omit<Guard, 'rule'> {
  const isMatch = (file: string): boolean =>
    matchOrAssume(() => canMatchWrittenPath(pattern, file, context));
  return {
    isEdit: kind === 'edit',
    isMatch,
    isClosed: (directory) => kind === 'edit' && isMatch(path.join(directory, ANY_NAME)),
    canMatchBelow: (directory) => matchOrAssume(() => canMatchBelow(pattern, directory, context)),
    starts: (searched) => listPatternStarts(pattern, context) ?? searched,
  };
}

class Listing {
  readonly #limits: ListingLimits;
  readonly #readDirectory: (directory: string) => readonly Entry[];
  #entries = 0;
  /** Why nothing more is looked for; null while there is no reason. */
  #whyEnded: string | null = null;
  /** Why the files of a rule could not all be listed. */
  readonly unlisted = new Map<string, string>();
  readonly absent = new Set<string>();

  constructor(limits: ListingLimits, readDirectory: (directory: string) => readonly Entry[]) {
    this.#limits = limits;
    this.#readDirectory = readDirectory;
  }

  /** A directory that matches stands for all that is in it. */
  collect(start: string, guard: Guard, found: Set<string>): void {
    if ([...found].some((each) => isInside(each, start))) return;
    const stats = lstatSync(start, { throwIfNoEntry: false });
    if (stats === undefined) return this.#addAbsent(start, guard);
    if (guard.isMatch(start)) return this.#add(start, guard, found);
    if (stats.isDirectory()) this.#walk(start, guard, found);
  }

  /** In a directory that does not exist either, a rule mostly matches some of what could be made. */
  #addAbsent(start: string, guard: Guard): void {
    if (!guard.isEdit || !(guard.isMatch(start) || guard.isClosed(start))) return;
    if (isDirectory(path.dirname(start))) this.absent.add(start);
  }

  #walk(directory: string, guard: Guard, found: Set<string>): void {
    const remaining = [directory];
    for (let next = remaining.pop(); next !== undefined; next = remaining.pop()) {
      if (this.#whyEnded !== null) return this.#addUnlisted(guard, this.#whyEnded);
      if (guard.isClosed(next)) {
        this.#add(next, guard, found);
        continue;
      }
      for (const { name, isDirectory: isBranch } of this.#read(next)) {
        const file = path.join(next, name);
        this.#count(file);
        if (this.#whyEnded !== null) return this.#addUnlisted(guard, this.#whyEnded);
        if (guard.isMatch(file)) this.#add(file, guard, found);
        else if (isBranch && guard.canMatchBelow(file)) remaining.push(file);
      }
    }
  }

  #read(directory: string): readonly Entry[] {
    try {
      return this.#readDirectory(directory);
    } catch {
      // What the user may not list, a command may not list, either.
      return [];
    }
  }

  #count(file: string): void {
    this.#entries += 1;
    if (this.#entries <= this.#limits.maxEntries) return;
    this.#whyEnded ??= `there are more than ${this.#limits.maxEntries} files to look at, up to ${file}`;
  }

  #add(file: string, guard: Guard, found: Set<string>): void {
    // Node.js cannot hand such a name to another program.
    if (file.includes('\uFFFD')) {
      return this.#addUnlisted(guard, `the name of ${file} is not valid UTF-8`);
    }
    found.add(file);
    if (found.size <= this.#limits.maxMatches || this.#whyEnded !== null) return;
    this.#whyEnded = `deny rules match more than ${this.#limits.maxMatches} files`;
    this.#addUnlisted(guard, this.#whyEnded);
  }

  #addUnlisted({ rule }: Guard, why: string): void {
    if (!this.unlisted.has(rule)) this.unlisted.set(rule, why);
  }
}

function matchOrAssume(isMatch: () => boolean): boolean {
  try {
    return isMatch();
  } catch {
    // The glob library rejects some globs and paths; a deny rule then matches.
    return true;
  }
}

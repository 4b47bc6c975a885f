import { accessSync, constants, lstatSync, readdirSync, type Stats } from 'node:fs';
import path from 'node:path';
import { isInside } from '../../base/paths.ts';
import type { ProtectedPlace, SandboxProfile } from './profile.ts';

/** One thing that is mounted over a path; what is mounted at a path hides what was mounted there before. */
export interface Mount {
  readonly kind: 'writable' | 'read-only' | 'hidden' | 'empty';
  readonly path: string;
  /** Where its content comes from; the path itself when absent. */
  readonly source?: string;
  /** Of a hidden path: a file must be hidden by a file, a directory by a directory. */
  readonly isDirectory?: boolean;
}

/** Something that must exist while the sandbox does, so that there is a place to mount over. */
export interface Placeholder {
  readonly path: string;
  /** The text of a file; null for an empty directory. */
  readonly text: string | null;
}

export interface MountPlan {
  /** Parents before what lies in them. */
  readonly mounts: readonly Mount[];
  readonly placeholders: readonly Placeholder[];
}

/** Bounds how many entries of a directory that has to be frozen stay writable one by one. */
const MAX_THAWED_ENTRIES = 256;

/**
 * Reads the file system to find out which mounts make a profile true of it now. `claimed` are the
 * paths that exist only because a sandbox needs them.
 */
export function planMounts(
  profile: SandboxProfile,
  claimed: ReadonlySet<string> = new Set(),
): MountPlan {
  const plan = new MountPlanner(claimed);
  const isWorkspace = profile.name === 'workspace';
  for (const place of profile.emptied) plan.addIfPresent('empty', place);
  for (const place of profile.readable) plan.addIfPresent('read-only', place);
  for (const place of isWorkspace ? profile.writable : []) plan.addIfPresent('writable', place);
  if (profile.overlay !== null) plan.addOverlay(profile.overlay);
  plan.addIfPresent('writable', profile.temporaryDirectory);
  for (const place of isWorkspace ? sortByDepth(profile.protected) : []) plan.protect(place);
  for (const place of profile.hidden) plan.hide(place);
  return plan.finish();
}

/** What lies in a protected place is then known to need no mounts, which could make it writable. */
function sortByDepth(places: readonly ProtectedPlace[]): readonly ProtectedPlace[] {
  return places.toSorted((one, other) => countNames(one.path) - countNames(other.path));
}

const BY_STRICTNESS: readonly Mount['kind'][] = ['writable', 'empty', 'read-only', 'hidden'];

class MountPlanner {
  readonly #mounts = new Map<string, Mount>();
  readonly #placeholders = new Map<string, Placeholder>();
  readonly #frozen = new Set<string>();
  readonly #claimed: ReadonlySet<string>;

  constructor(claimed: ReadonlySet<string>) {
    this.#claimed = claimed;
  }

  addIfPresent(kind: 'writable' | 'read-only' | 'empty', place: string): void {
    if (readStats(place) !== null) this.#add({ kind, path: place });
  }

  addOverlay({ path: place, directory }: NonNullable<SandboxProfile['overlay']>): void {
    this.#mounts.set(place, { kind: 'writable', path: place, source: directory });
  }

  /** Of two mounts at one path the stricter one holds. */
  #add(mount: Mount): void {
    const present = this.#mounts.get(mount.path);
    if (present !== undefined && getStrictness(present) >= getStrictness(mount)) return;
    this.#mounts.set(mount.path, mount);
  }

  /** Only what lies in a writable place needs protection: all else is read-only. */
  protect({ path: place, absentText }: ProtectedPlace): void {
    const root = this.#findWritableAround(place);
    if (root === null) {
      if (this.#mounts.has(place)) this.#add({ kind: 'read-only', path: place });
      return;
    }
    const found = this.#pinParents(root, place);
    if (found.kind === 'frozen') return;
    if (found.kind === 'present') return this.#add({ kind: 'read-only', path: place });
    const text = found.path === place ? (absentText ?? null) : null;
    this.#placeholders.set(found.path, { path: found.path, text });
    this.#add({ kind: 'read-only', path: found.path });
  }

  hide(place: string): void {
    const stats = readStats(place);
    if (stats === null || this.#hasWritableInside(place)) return;
    const root = this.#findWritableAround(place);
    if (root !== null && this.#pinParents(root, place).kind !== 'present') return;
    this.#add({ kind: 'hidden', path: place, isDirectory: stats.isDirectory() });
  }

  /**
   * A directory can be renamed together with the mounts below it, unless it is a mount itself: so each
   * directory between the writable root and the place becomes one.
   */
  #pinParents(root: string, place: string): PinnedPlace {
    const names = path.relative(root, place).split(path.sep);
    let current = root;
    for (const [index, name] of names.entries()) {
      const parent = current;
      current = path.join(parent, name);
      const stats = readStats(current);
      if (stats === null || this.#claimed.has(current)) {
        if (canWrite(parent)) return { kind: 'absent', path: current };
        this.#frozen.add(parent);
        return { kind: 'frozen' };
      }
      const isLast = index === names.length - 1;
      if (stats.isSymbolicLink() || (!isLast && !stats.isDirectory())) {
        this.#frozen.add(parent);
        return { kind: 'frozen' };
      }
      if (!isLast) this.#add({ kind: 'writable', path: current });
    }
    return { kind: 'present' };
  }

  /**
   * A link cannot be a mount point, and could be replaced. So the directory that holds it becomes
   * read-only, and what else is in it stays writable by mounts of its own.
   */
  #freeze(directory: string): void {
    for (const { path: absent } of this.#placeholders.values()) {
      if (path.dirname(absent) !== directory) continue;
      this.#placeholders.delete(absent);
      this.#mounts.delete(absent);
    }
    const entries = readdirSync(directory, { withFileTypes: true });
    this.#add({ kind: 'read-only', path: directory });
    for (const entry of entries.length > MAX_THAWED_ENTRIES ? [] : entries) {
      if (entry.isDirectory() || entry.isFile()) {
        this.#add({ kind: 'writable', path: path.join(directory, entry.name) });
      }
    }
  }

  #findWritableAround(place: string): string | null {
    const around = [...this.#mounts.values()]
      .filter((mount) => mount.path !== place && isInside(mount.path, place))
      .toSorted((one, other) => other.path.length - one.path.length)[0];
    return around?.kind === 'writable' ? around.path : null;
  }

  #hasWritableInside(place: string): boolean {
    return [...this.#mounts.values()].some(
      (mount) => mount.kind === 'writable' && isInside(place, mount.path),
    );
  }

  finish(): MountPlan {
    for (const directory of this.#frozen) this.#freeze(directory);
    const mounts = [...this.#mounts.values()].toSorted(
      (one, other) => countNames(one.path) - countNames(other.path),
    );
    return {
      mounts: mounts.filter((mount) => isNeeded(mount, mounts)),
      placeholders: [...this.#placeholders.values()],
    };
  }
}

type PinnedPlace =
  | { readonly kind: 'present' }
  | { readonly kind: 'frozen' }
  /** The first name on the way that does not exist. */
  | { readonly kind: 'absent'; readonly path: string };

/** What lies in something hidden or read-only needs no mount that changes nothing. */
function isNeeded(mount: Mount, mounts: readonly Mount[]): boolean {
  const around = mounts
    .filter((each) => each !== mount && isInside(each.path, mount.path))
    .toSorted((one, other) => other.path.length - one.path.length)[0];
  if (around?.kind === 'hidden') return false;
  return !(around?.kind === 'read-only' && mount.kind === 'read-only');
}

/** Without the right to write, no placeholder can be made; its owner could still give it that right. */
function canWrite(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function getStrictness({ kind }: Mount): number {
  return BY_STRICTNESS.indexOf(kind);
}

function countNames(file: string): number {
  return file.split(path.sep).filter((name) => name !== '').length;
}

/** Null when it does not exist, or cannot be reached. */
function readStats(file: string): Stats | null {
  try {
    return lstatSync(file);
  } catch {
    return null;
  }
}

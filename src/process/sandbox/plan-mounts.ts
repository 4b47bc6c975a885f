import path from 'node:path';
import { HooklineError } from '../../base/errors.ts';
import type { ObservedFiles } from '../../base/observed-files.ts';
import { isInside } from '../../base/paths.ts';
import type { ProtectedPlace, SandboxProfile } from './profile.ts';

/** One thing that is mounted over a path; what is mounted at a path hides what was mounted there before. */
export interface Mount {
  /**
   * `empty` is a directory of its own, in which nothing is and this user may not write. `hollow` is one
   * that cannot be listed, either, and in which only what is mounted in it can be reached.
   */
  readonly kind: 'writable' | 'read-only' | 'hidden' | 'empty' | 'hollow';
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

/** Bounds how many entries of a directory get mounts of their own. */
const MAX_MOUNTED_ENTRIES = 256;

/**
 * Finds out which mounts make a profile true of the file system now. `claimed` are the paths that exist
 * only because a sandbox needs them.
 */
export function planMounts(
  profile: SandboxProfile,
  files: ObservedFiles,
  claimed: readonly string[],
): MountPlan {
  const plan = new MountPlanner(files, new Set(claimed));
  const isWorkspace = profile.name === 'workspace';
  for (const place of profile.emptied) plan.addIfPresent('empty', place);
  for (const place of profile.readable) plan.addIfPresent('read-only', place);
  for (const place of isWorkspace ? profile.writable : []) plan.addIfPresent('writable', place);
  if (profile.overlay !== null) plan.addOverlay(profile.overlay);
  plan.addIfPresent('writable', profile.temporaryDirectory);
  // Parents first: what lies in a protected or hidden place is then known to need no mounts, which could open it.
  for (const place of isWorkspace ? sortByDepth(profile.protected) : []) plan.protect(place);
  const hidden = [...profile.hidden, ...profile.sockets].map((each) => ({ path: each }));
  for (const place of sortByDepth(hidden)) plan.hide(place.path);
  return plan.finish();
}

function sortByDepth<Place extends { readonly path: string }>(
  places: readonly Place[],
): readonly Place[] {
  return places.toSorted((one, other) => countNames(one.path) - countNames(other.path));
}

const BY_STRICTNESS: readonly Mount['kind'][] = [
  'writable',
  'empty',
  'read-only',
  'hollow',
  'hidden',
];

class MountPlanner {
  readonly #mounts = new Map<string, Mount>();
  readonly #placeholders = new Map<string, Placeholder>();
  readonly #frozen = new Set<string>();
  /** What the profile opens by name: the only places that stay open in a hidden one. */
  readonly #opened = new Set<string>();
  readonly #files: ObservedFiles;
  readonly #claimed: ReadonlySet<string>;

  constructor(files: ObservedFiles, claimed: ReadonlySet<string>) {
    this.#files = files;
    this.#claimed = claimed;
  }

  addIfPresent(kind: 'writable' | 'read-only' | 'empty', place: string): void {
    if (this.#files.readKind(place) === 'absent') return;
    this.#add({ kind, path: place });
    if (kind !== 'empty') this.#opened.add(place);
  }

  addOverlay({ path: place, directory }: NonNullable<SandboxProfile['overlay']>): void {
    this.#mounts.set(place, { kind: 'writable', path: place, source: directory });
    this.#opened.add(place);
  }

  /** Of two mounts at one path the stricter one holds. */
  #add(mount: Mount): void {
    const present = this.#mounts.get(mount.path);
    if (present !== undefined && getStrictness(present) >= getStrictness(mount)) return;
    this.#mounts.set(mount.path, mount);
  }

  /** Only what lies in a writable place needs protection: all else is read-only. */
  protect({ path: place, absentText }: ProtectedPlace): void {
    const around = this.#findAround(place);
    if (around?.kind !== 'writable') {
      if (this.#mounts.has(place)) this.#add({ kind: 'read-only', path: place });
      return;
    }
    const found = this.#pinParents(around.path, place);
    if (found.kind === 'frozen') return;
    if (found.kind === 'present') return this.#add({ kind: 'read-only', path: place });
    const text = found.path === place ? (absentText ?? null) : null;
    this.#placeholders.set(found.path, { path: found.path, text });
    this.#add({ kind: text === null ? 'empty' : 'read-only', path: found.path });
  }

  /** Throws when the place cannot be hidden. */
  hide(place: string): void {
    const around = this.#findAround(place);
    const isHidden = around?.kind === 'hidden' || around?.kind === 'hollow';
    if (isHidden || this.#opened.has(place) || this.#files.readKind(place) === 'absent') return;
    const found = around?.kind === 'writable' ? this.#pinParents(around.path, place) : PRESENT;
    if (found.kind === 'absent') return;
    if (found.kind === 'frozen') {
      throw new HooklineError('SANDBOX_UNAVAILABLE', {
        message: `expected no link on the way to ${place}, which has to be hidden, and found one`,
        hint: 'Run it again when nothing else changes these directories.',
      });
    }
    this.#close(place);
    this.#cover(place);
  }

  /** Forgets what was planned in a place that is hidden now, but for what is opened by name, and for what lies in that. */
  #close(place: string): void {
    const opened = [...this.#opened].filter((each) => isInside(place, each));
    const isClosed = (each: string): boolean =>
      isInside(place, each) && !opened.some((open) => isInside(open, each));
    for (const places of [this.#mounts, this.#placeholders, this.#frozen]) {
      for (const each of places.keys()) if (isClosed(each)) places.delete(each);
    }
  }

  /** Nothing in it looks absent, either: git would commit that. */
  #cover(place: string): void {
    if (this.#opened.has(place)) return;
    const kind = this.#files.readKind(place);
    if (![...this.#opened].some((opened) => isInside(place, opened))) {
      return this.#add({ kind: 'hidden', path: place, isDirectory: kind === 'directory' });
    }
    this.#add({ kind: 'hollow', path: place });
    for (const name of this.#listFew(place)) this.#cover(path.join(place, name));
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
      const kind = this.#claimed.has(current) ? 'absent' : this.#files.readKind(current);
      if (kind === 'absent') {
        // Its owner could still give itself the right to write, so that it is frozen and not left alone.
        if (this.#files.isWritable(parent)) return { kind: 'absent', path: current };
        this.#frozen.add(parent);
        return { kind: 'frozen' };
      }
      const isLast = index === names.length - 1;
      if (kind === 'link' || (!isLast && kind !== 'directory')) {
        this.#frozen.add(parent);
        return { kind: 'frozen' };
      }
      if (!isLast) this.#add({ kind: 'writable', path: current });
    }
    return PRESENT;
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
    this.#add({ kind: 'read-only', path: directory });
    for (const name of this.#listFew(directory)) {
      this.#add({ kind: 'writable', path: path.join(directory, name) });
    }
  }

  /** The entries of a directory; none when there are too many to mount each. */
  #listFew(directory: string): readonly string[] {
    const names = this.#files.listEntries(directory);
    return names.length > MAX_MOUNTED_ENTRIES ? [] : names;
  }

  #findAround(place: string): Mount | undefined {
    return findAround(place, [...this.#mounts.values()]);
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

const PRESENT: PinnedPlace = { kind: 'present' };

/** What lies in something hidden or read-only needs no mount that changes nothing. */
function isNeeded(mount: Mount, mounts: readonly Mount[]): boolean {
  const around = findAround(mount.path, mounts);
  if (around?.kind === 'hidden') return false;
  return !(around?.kind === 'read-only' && mount.kind === 'read-only');
}

/** The nearest mount above a place. */
function findAround(place: string, mounts: readonly Mount[]): Mount | undefined {
  return mounts
    .filter((mount) => mount.path !== place && isInside(mount.path, place))
    .toSorted((one, other) => other.path.length - one.path.length)[0];
}

function getStrictness({ kind }: Mount): number {
  return BY_STRICTNESS.indexOf(kind);
}

function countNames(file: string): number {
  return file.split(path.sep).filter((name) => name !== '').length;
}

import { lstatSync, statSync, type Stats } from 'node:fs';
import path from 'node:path';
import { getErrorMessage } from '../base/errors.ts';
import { findRealPath, isInside } from '../base/paths.ts';

const WRITABLE_BY_OTHERS = 0o022;

/** Whether nobody but this person, and no workspace, can have written the trust record. */
export function isRecordLocationSafe(record: string, workspaceRoots: readonly string[]): boolean {
  return findLocationProblem(record, workspaceRoots) === null;
}

/** Why the record must not be believed, as the end of a sentence that names it; null if it may. */
export function findLocationProblem(
  record: string,
  workspaceRoots: readonly string[],
): string | null {
  return findEnclosingWorkspaceProblem(record, workspaceRoots) ?? findForeignWriter(record);
}

/** Why a file of the person's own must not be believed because of where it lies; null if it may. */
export function findEnclosingWorkspaceProblem(
  record: string,
  workspaceRoots: readonly string[],
): string | null {
  const places = [path.resolve(record), realPlaceOf(record)];
  for (const root of workspaceRoots.map((workspace) => findRealPath(workspace) ?? workspace)) {
    if (places.some((place) => isInside(root, place))) {
      return `it lies inside the workspace ${JSON.stringify(root)}, which could then trust itself`;
    }
  }
  return null;
}

/** The real path of a file that may not exist yet: that of its nearest directory, and the rest. */
function realPlaceOf(file: string): string {
  const missing: string[] = [];
  for (let place = path.resolve(file); ; place = path.dirname(place)) {
    const real = findRealPath(place);
    if (real !== null) return path.join(real, ...missing);
    if (place === path.dirname(place)) return file;
    missing.unshift(path.basename(place));
  }
}

function findForeignWriter(record: string): string | null {
  const places = new Set([path.dirname(record), path.dirname(realPlaceOf(record)), record]);
  for (const place of places) {
    const problem = findProblemOf(place, record);
    if (problem !== null) return problem;
  }
  return null;
}

function findProblemOf(place: string, record: string): string | null {
  try {
    const stats = statSync(place, { throwIfNoEntry: false });
    if (stats === undefined) return findDanglingLink(place);
    if (place === record && !stats.isFile()) return 'it is not a regular file';
    return findOwnerProblem(place, stats);
  } catch (error) {
    return getErrorMessage(error);
  }
}

function findDanglingLink(place: string): string | null {
  const link = lstatSync(place, { throwIfNoEntry: false });
  return link === undefined ? null : `${JSON.stringify(place)} is a link that leads nowhere`;
}

function findOwnerProblem(place: string, stats: Stats): string | null {
  const user = process.geteuid?.();
  // Without user ids (Windows) the mode bits mean nothing either.
  if (user === undefined) return null;
  if (stats.uid !== user) {
    return `${JSON.stringify(place)} belongs to user ${stats.uid}, not to you (${user})`;
  }
  if ((stats.mode & WRITABLE_BY_OTHERS) === 0) return null;
  return `others may write ${JSON.stringify(place)} (mode ${(stats.mode & 0o777).toString(8)})`;
}

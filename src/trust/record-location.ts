import { lstatSync, statSync, type Stats } from 'node:fs';
import path from 'node:path';
import { getErrorMessage } from '../base/errors.ts';
import { findRealPath, isInside } from '../base/paths.ts';

const WRITABLE_BY_OTHERS = 0o022;

/** Whether only this user, and no workspace, can have written the trust record. */
export function isRecordLocationSafe(record: string, workspaceRoots: readonly string[]): boolean {
  return findLocationProblem(record, workspaceRoots) === null;
}

/** Why the record must not be used, as the end of a sentence that names it; null if it may. */
export function findLocationProblem(
  record: string,
  workspaceRoots: readonly string[],
): string | null {
  return findEnclosingWorkspaceProblem(record, workspaceRoots) ?? findForeignWriter(record);
}

/** Why the location of a file of the user forbids its use; null if it does not. */
export function findEnclosingWorkspaceProblem(
  record: string,
  workspaceRoots: readonly string[],
): string | null {
  const paths = [path.resolve(record), resolveRealLocation(record)];
  for (const root of workspaceRoots.map((workspace) => findRealPath(workspace) ?? workspace)) {
    if (paths.some((location) => isInside(root, location))) {
      return `it lies inside the workspace ${JSON.stringify(root)}, which could then trust itself`;
    }
  }
  return null;
}

/** The real path of a file that may not exist: of its nearest existing directory, and the rest. */
export function resolveRealLocation(file: string): string {
  const missing: string[] = [];
  for (let location = path.resolve(file); ; location = path.dirname(location)) {
    const real = findRealPath(location);
    if (real !== null) return path.join(real, ...missing);
    if (location === path.dirname(location)) return file;
    missing.unshift(path.basename(location));
  }
}

function findForeignWriter(record: string): string | null {
  const paths = new Set([path.dirname(record), path.dirname(resolveRealLocation(record)), record]);
  for (const location of paths) {
    const problem = findPathProblem(location, record);
    if (problem !== null) return problem;
  }
  return null;
}

function findPathProblem(location: string, record: string): string | null {
  try {
    const stats = statSync(location, { throwIfNoEntry: false });
    if (stats === undefined) return findDanglingLink(location);
    if (location === record && !stats.isFile()) return 'it is not a regular file';
    return findOwnerProblem(location, stats);
  } catch (error) {
    return getErrorMessage(error);
  }
}

function findDanglingLink(location: string): string | null {
  const link = lstatSync(location, { throwIfNoEntry: false });
  return link === undefined ? null : `${JSON.stringify(location)} is a dangling link`;
}

function findOwnerProblem(location: string, stats: Stats): string | null {
  const user = process.geteuid?.();
  // Without user ids (Windows) the mode bits mean nothing either.
  if (user === undefined) return null;
  if (stats.uid !== user) {
    return `${JSON.stringify(location)} belongs to user ${stats.uid}, not to you (${user})`;
  }
  if ((stats.mode & WRITABLE_BY_OTHERS) === 0) return null;
  return `others may write ${JSON.stringify(location)} (mode ${(stats.mode & 0o777).toString(8)})`;
}

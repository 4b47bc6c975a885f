import { isDirectory } from '../../../base/files.ts';
import { findRealPath, isInside } from '../../../base/paths.ts';
import type { Workbench } from '../workbench.ts';

export interface Standing {
  readonly directory: string;
  /** What the model should know; empty when all is as it was. */
  readonly note: string;
}

/** Where the next command starts: at the start again when the directory is gone. */
export function findStanding(bench: Workbench): Standing {
  const directory = bench.cwd();
  if (isDirectory(directory)) return { directory, note: '' };
  return goBack(bench, `The directory ${directory} does not exist any more. `);
}

/** Follows a command to where it ended, unless that is gone or outside the workspace. */
export function followTo(final: string | null, bench: Workbench): Standing {
  if (final === null) return findStanding(bench);
  const directory = bench.cwd();
  if (final === findRealPath(directory)) return { directory, note: '' };
  if (!isDirectory(final)) {
    return goBack(bench, `The directory ${final} does not exist any more. `);
  }
  if (!isAllowed(final, bench)) return goBack(bench, '');
  bench.moveTo(final);
  return { directory: final, note: '' };
}

function goBack(bench: Workbench, why: string): Standing {
  const { startDirectory } = bench;
  if (bench.cwd() !== startDirectory) bench.moveTo(startDirectory);
  return { directory: startDirectory, note: `${why}Shell cwd was reset to ${startDirectory}` };
}

function isAllowed(directory: string, bench: Workbench): boolean {
  const added = bench.allowedDirectories?.() ?? [];
  return [bench.startDirectory, ...bench.workspaceRoots, ...added].some((allowed) =>
    isInside(findRealPath(allowed) ?? allowed, directory),
  );
}

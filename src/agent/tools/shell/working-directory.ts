import { isDirectory } from '../../../base/files.ts';
import { findRealPath, isInside } from '../../../base/paths.ts';
import type { ToolContext } from '../tool-context.ts';

export interface WorkingDirectory {
  readonly directory: string;
  /** What the model should know; empty when all is as it was. */
  readonly note: string;
}

/** Where the next command starts: at the start again when the directory is gone. */
export function resolveDirectory(bench: ToolContext): WorkingDirectory {
  const directory = bench.cwd();
  if (isDirectory(directory)) return { directory, note: '' };
  return resetDirectory(bench, `The directory ${directory} does not exist any more. `);
}

/** Follows a command to where it ended, unless that is gone or outside the workspace. */
export function followDirectory(final: string | null, bench: ToolContext): WorkingDirectory {
  if (final === null) return resolveDirectory(bench);
  const directory = bench.cwd();
  if (final === findRealPath(directory)) return { directory, note: '' };
  if (!isDirectory(final)) {
    return resetDirectory(bench, `The directory ${final} does not exist any more. `);
  }
  if (!isAllowed(final, bench)) return resetDirectory(bench, '');
  bench.changeDirectory(final);
  return { directory: final, note: '' };
}

function resetDirectory(bench: ToolContext, why: string): WorkingDirectory {
  const { startDirectory } = bench;
  if (bench.cwd() !== startDirectory) bench.changeDirectory(startDirectory);
  return { directory: startDirectory, note: `${why}Shell cwd was reset to ${startDirectory}` };
}

function isAllowed(directory: string, bench: ToolContext): boolean {
  const added = bench.allowedDirectories?.() ?? [];
  return [bench.startDirectory, ...bench.workspaceRoots, ...added].some((allowed) =>
    isInside(findRealPath(allowed) ?? allowed, directory),
  );
}

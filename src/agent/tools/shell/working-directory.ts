import { isDirectory } from '../../../base/files.ts';
import { findRealPath, isInside } from '../../../base/paths.ts';
import type { ToolContext } from '../tool-context.ts';

export interface WorkingDirectory {
  readonly directory: string;
  /** A note for the model; empty when the directory is unchanged. */
  readonly note: string;
}

/** The directory for the next command: reset to the start directory when the current one was deleted. */
export function resolveDirectory(context: ToolContext): WorkingDirectory {
  const directory = context.cwd();
  if (isDirectory(directory)) return { directory, note: '' };
  return resetDirectory(context, `The directory ${directory} does not exist any more. `);
}

/** Adopts the directory in which a command ended, unless it was deleted or lies outside of the workspace. */
export function followDirectory(final: string | null, context: ToolContext): WorkingDirectory {
  if (final === null) return resolveDirectory(context);
  const directory = context.cwd();
  if (final === findRealPath(directory)) return { directory, note: '' };
  if (!isDirectory(final)) {
    return resetDirectory(context, `The directory ${final} does not exist any more. `);
  }
  if (!isAllowed(final, context)) return resetDirectory(context, '');
  context.changeDirectory(final);
  return { directory: final, note: '' };
}

function resetDirectory(context: ToolContext, why: string): WorkingDirectory {
  const { startDirectory } = context;
  if (context.cwd() !== startDirectory) context.changeDirectory(startDirectory);
  return { directory: startDirectory, note: `${why}Shell cwd was reset to ${startDirectory}` };
}

function isAllowed(directory: string, context: ToolContext): boolean {
  const added = context.allowedDirectories?.() ?? [];
  return [context.startDirectory, ...context.workspaceRoots, ...added].some((allowed) =>
    isInside(findRealPath(allowed) ?? allowed, directory),
  );
}

import path from 'node:path';
import type { ObservedFiles } from '../../base/observed-files.ts';
import { isInside } from '../../base/paths.ts';
import type { ProtectedPlace } from '../../process/sandbox/profile.ts';

/** What a sandbox must know of the git directory of a workspace root. */
export interface GitPlaces {
  /** Git directories outside of the root, which a worktree shares with its main checkout. */
  readonly writable: readonly string[];
  /** What steers git. */
  readonly protected: readonly ProtectedPlace[];
}

/** Reads files only: a git program would obey the configuration that it reads. */
export function findGitPlaces(root: string, files: ObservedFiles): GitPlaces {
  const dotGit = path.join(root, '.git');
  const kind = files.readKind(dotGit);
  if (kind === 'directory') return listRepository(dotGit, root, null, files);
  const worktree = kind === 'file' ? findWorktree(dotGit, files) : null;
  return worktree ?? { writable: [], protected: [{ path: dotGit }] };
}

/**
 * A worktree's git directory counts only when it points back at the worktree: a repository could name
 * the git directory of another one.
 */
function findWorktree(dotGit: string, files: ObservedFiles): GitPlaces | null {
  const own = resolveNamed(dotGit, /^gitdir: (.+)$/m, files);
  if (own === null || resolveNamed(path.join(own, 'gitdir'), /^(.+)$/m, files) !== dotGit) {
    return null;
  }
  const common = resolveNamed(path.join(own, 'commondir'), /^(.+)$/m, files);
  if (common === null || path.dirname(path.dirname(own)) !== common) return null;
  const places = listRepository(common, path.dirname(dotGit), own, files);
  return {
    writable: [common, ...places.writable],
    protected: [{ path: dotGit }, ...places.protected],
  };
}

/** What steers git in a repository, in its submodules and in its worktrees; `own` is that of this worktree. */
function listRepository(
  gitDirectory: string,
  root: string,
  own: string | null,
  files: ObservedFiles,
): GitPlaces {
  const worktrees = listWorktrees(gitDirectory, own, files);
  return {
    writable: worktrees.writable,
    protected: [
      ...listSteering(gitDirectory, files),
      ...listSubmodules(gitDirectory, root, files),
      ...worktrees.protected,
    ],
  };
}

function listSteering(gitDirectory: string, files: ObservedFiles): readonly ProtectedPlace[] {
  return [
    ...['config', 'hooks'].map((name) => ({ path: path.join(gitDirectory, name) })),
    ...listWorktreeConfig(gitDirectory, gitDirectory, files),
    // A directory as placeholder would make git fail, and these texts mean what their absence means. What
    // else is in info, git writes itself, in gc, too.
    { path: path.join(gitDirectory, 'info', 'attributes'), absentText: '\n' },
    { path: path.join(gitDirectory, 'commondir'), absentText: `${gitDirectory}\n` },
  ];
}

/** It is read only when the configuration, which is protected, says so. */
function listWorktreeConfig(
  directory: string,
  commonDirectory: string,
  files: ObservedFiles,
): readonly ProtectedPlace[] {
  const file = path.join(directory, 'config.worktree');
  const config = files.readText(path.join(commonDirectory, 'config')) ?? '';
  if (!/worktreeconfig/i.test(config) && files.readKind(file) === 'absent') return [];
  return [{ path: file, absentText: '\n' }];
}

/** Each submodule takes about eight mounts, each worktree three; of more of them, none can be changed. */
const MAX_DIRECTORIES = 16;
/** Names of submodules may have slashes, and submodules may have submodules. */
const MAX_VISITED = 200;

/** Submodules that do not exist yet can be made, as any other repository in the workspace can. */
function listSubmodules(
  gitDirectory: string,
  root: string,
  files: ObservedFiles,
): readonly ProtectedPlace[] {
  const modules = path.join(gitDirectory, 'modules');
  if (files.readKind(modules) === 'absent') return [];
  const found = findGitDirectories(modules, files);
  if (found === null) return [{ path: modules }];
  return found.flatMap((each) => [
    ...listSteering(each, files),
    ...listDotGitFile(each, root, files),
  ]);
}

/** Known by their configuration, which no command can remove. Null when there are too many. */
function findGitDirectories(modules: string, files: ObservedFiles): readonly string[] | null {
  const found: string[] = [];
  const remaining = [modules];
  let visited = 0;
  for (let next = remaining.pop(); next !== undefined; next = remaining.pop()) {
    visited += 1;
    if (visited > MAX_VISITED || found.length > MAX_DIRECTORIES) return null;
    if (files.readKind(next) !== 'directory') continue;
    const isRepository = files.readKind(path.join(next, 'config')) !== 'absent';
    if (isRepository) found.push(next);
    const inside = isRepository ? ['modules'] : files.listEntries(next);
    for (const name of inside) remaining.push(path.join(next, name));
  }
  return found;
}

/** The file in the submodule's working tree that says where its git directory is. */
function listDotGitFile(
  gitDirectory: string,
  root: string,
  files: ObservedFiles,
): readonly ProtectedPlace[] {
  const config = files.readText(path.join(gitDirectory, 'config')) ?? '';
  const [, written] = /^\s*worktree\s*=\s*"?([^"\n]+?)"?\s*$/im.exec(config) ?? [];
  if (written === undefined) return [];
  const dotGit = path.join(path.resolve(gitDirectory, written), '.git');
  if (!isInside(root, dotGit) || files.readKind(dotGit) !== 'file') return [];
  return [{ path: dotGit }];
}

function listWorktrees(gitDirectory: string, own: string | null, files: ObservedFiles): GitPlaces {
  const worktrees = path.join(gitDirectory, 'worktrees');
  if (files.readKind(worktrees) === 'absent') return { writable: [], protected: [] };
  const all = files.listEntries(worktrees).map((name) => path.join(worktrees, name));
  const isWhole = all.length > MAX_DIRECTORIES;
  const single = isWhole ? all.filter((each) => each === own) : all;
  return {
    writable: isWhole ? single : [],
    protected: [
      ...(isWhole ? [{ path: worktrees }] : []),
      ...single.flatMap((each) => listWorktree(each, gitDirectory, files)),
    ],
  };
}

function listWorktree(
  directory: string,
  gitDirectory: string,
  files: ObservedFiles,
): readonly ProtectedPlace[] {
  const places = ['commondir', 'gitdir', 'hooks'].map((name) => path.join(directory, name));
  return [
    ...places
      .filter((place) => files.readKind(place) !== 'absent')
      .map((place) => ({ path: place })),
    ...listWorktreeConfig(directory, gitDirectory, files),
  ];
}

/** The real path that a file names, relative to its own directory. */
function resolveNamed(file: string, pattern: RegExp, files: ObservedFiles): string | null {
  const [, name] = pattern.exec(files.readText(file) ?? '') ?? [];
  if (name === undefined) return null;
  return files.findRealPath(path.resolve(path.dirname(file), name.trim()));
}

import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { getErrorMessage } from '../../base/errors.ts';
import { isNotFoundError, readTextIfPresent } from '../../base/files.ts';
import { findRealPath, isInside } from '../../base/paths.ts';

/** A repository as git finds it from a directory. All paths are real. */
export interface GitRepository {
  /** The top directory of the working tree. */
  readonly top: string;
  readonly gitDirectory: string;
  /** Where configuration and objects are: in a worktree, the git directory of the main one. */
  readonly commonDirectory: string;
  /** The repository that this one is a submodule of. */
  readonly parent: GitRepository | null;
}

/**
 * Locates the repository of a directory, a real path, without running git; null outside of one. A string
 * says why what git would find there is not a plain repository, worktree or submodule.
 */
export function locateRepository(directory: string): GitRepository | null | string {
  for (let current = directory; ; current = path.dirname(current)) {
    const located = examineDirectory(current);
    if (located !== null || path.dirname(current) === current) return located;
  }
}

function examineDirectory(directory: string): GitRepository | null | string {
  const git = path.join(directory, '.git');
  try {
    const stats = lstatSync(git, { throwIfNoEntry: false });
    if (stats?.isFile() === true) return readGitFile(directory, git);
    if (stats?.isDirectory() === true) return examineGitDirectory(directory, git);
    if (stats !== undefined) return `${git} is neither a directory nor a file`;
    return looksBare(directory) ? `${directory} is a bare repository` : null;
  } catch (error) {
    return isNotFoundError(error) ? null : `${git} could not be read: ${getErrorMessage(error)}`;
  }
}

function examineGitDirectory(directory: string, git: string): GitRepository | null | string {
  if (readCommonDirectory(git) !== null) return `${git} has a commondir, which points elsewhere`;
  // Git ignores what is not a repository and looks in the parent directory.
  if (!looksBare(git)) return looksBare(directory) ? `${directory} is a bare repository` : null;
  return { top: directory, gitDirectory: git, commonDirectory: git, parent: null };
}

/** Errs towards too many: git checks the content of HEAD and looks for refs, too. */
function looksBare(directory: string): boolean {
  if (!exists(path.join(directory, 'HEAD'))) return false;
  return ['commondir', 'objects'].some((name) => exists(path.join(directory, name)));
}

function exists(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
}

const MAX_LINK_BYTES = 8192;

/** In a worktree or submodule, `.git` is a file with the path of the git directory. */
function readGitFile(top: string, git: string): GitRepository | string {
  const [, target = ''] = /^gitdir: ([^\n]+)\n*$/.exec(readSmallFile(git) ?? '') ?? [];
  const gitDirectory = target === '' ? null : findRealPath(path.resolve(top, target));
  if (gitDirectory === null) return `${git} is a file that names no git directory`;
  const elsewhere = `${git} is a file that points to ${gitDirectory}`;
  const common = readCommonDirectory(gitDirectory);
  if (common === null) return findSubmodule(top, gitDirectory) ?? elsewhere;
  const commonDirectory = findRealPath(path.resolve(gitDirectory, common.trimEnd()));
  if (commonDirectory === null) return elsewhere;
  const worktree = { top, gitDirectory, commonDirectory, parent: null };
  return isLinkedBack(worktree) && !isInside(top, commonDirectory) ? worktree : elsewhere;
}

/**
 * The text of the file `commondir`; null without one. While a command runs in a sandbox, a file that
 * names its own directory stands where none is, which means the same to git.
 */
function readCommonDirectory(gitDirectory: string): string | null {
  const text = readSmallFile(path.join(gitDirectory, 'commondir'));
  return text === `${gitDirectory}\n` ? null : text;
}

/** Git keeps the repositories of submodules in `modules` of the one that contains them. */
function findSubmodule(top: string, gitDirectory: string): GitRepository | null {
  const above = path.dirname(top);
  const parent = above === top ? null : locateRepository(above);
  if (parent === null || typeof parent === 'string') return null;
  const isModule = [parent.gitDirectory, parent.commonDirectory].some((directory) =>
    isInside(path.join(directory, 'modules'), gitDirectory),
  );
  return isModule ? { top, gitDirectory, commonDirectory: gitDirectory, parent } : null;
}

/** The main repository lists each worktree with the path of its `.git` file. */
function isLinkedBack({ top, gitDirectory, commonDirectory }: GitRepository): boolean {
  if (path.dirname(gitDirectory) !== path.join(commonDirectory, 'worktrees')) return false;
  const back = readSmallFile(path.join(gitDirectory, 'gitdir'))?.trimEnd() ?? '';
  return findRealPath(path.resolve(gitDirectory, back)) === path.join(top, '.git');
}

function readSmallFile(file: string): string | null {
  const size = lstatSync(file, { throwIfNoEntry: false })?.size ?? 0;
  return size > MAX_LINK_BYTES ? '' : readTextIfPresent(file);
}

/** Whether it is one of the session's own repositories, or a worktree or submodule of one. */
export function isOwnRepository(repository: GitRepository, own: readonly GitRepository[]): boolean {
  const { top, commonDirectory, parent } = repository;
  if (own.some((each) => each.top === top || each.commonDirectory === commonDirectory)) return true;
  return parent !== null && isOwnRepository(parent, own);
}

/** Directories whose files git prints, as a state of the repository or in an error. */
const PRINTED_DIRECTORIES = [
  '',
  'info',
  'objects/info',
  'rebase-apply',
  'rebase-merge',
  'sequencer',
];

/** Finds a file that leads out of the git directory, or that would block git; the string describes it. */
export function findForeignFile(repository: GitRepository): string | null {
  for (const directory of listPrintedDirectories(repository)) {
    const entry = listEntries(directory).find(isForeignEntry);
    if (entry === undefined) continue;
    const what = entry.isSymbolicLink() ? 'a link' : 'neither a file nor a directory';
    return `${path.join(directory, entry.name)} is ${what}`;
  }
  return null;
}

/** Lists the directories in which `findForeignFile` looks; not all of them exist. */
export function listPrintedDirectories({
  gitDirectory,
  commonDirectory,
}: GitRepository): readonly string[] {
  return [...new Set([gitDirectory, commonDirectory])].flatMap((root) =>
    PRINTED_DIRECTORIES.map((name) => path.join(root, name)),
  );
}

function listEntries(directory: string): readonly Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    if (isNotFoundError(error)) return [];
    throw error;
  }
}

/** Hooks are switched off, and many projects link their directory. A socket is git's own daemon. */
function isForeignEntry(entry: Dirent): boolean {
  if (entry.name === 'hooks' || entry.isSocket()) return false;
  return !entry.isFile() && !entry.isDirectory();
}

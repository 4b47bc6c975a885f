import { spawnSync } from 'node:child_process';
import { type BigIntStats, statSync } from 'node:fs';
import path from 'node:path';
import { getErrorMessage } from '../../base/errors.ts';
import { isSameState } from '../../base/file-state.ts';
import { readTextIfPresent } from '../../base/files.ts';
import { memoizePerList } from '../../base/memoize.ts';
import { findRealPath } from '../../base/paths.ts';
import type { Environment } from '../environment.ts';
import { createProgramFinder } from '../program-finder.ts';
import {
  cleanEnvironment,
  listUntrustedDirectories,
  findUntrustedVariables,
} from '../search-path.ts';
import type { GitConfigEntry } from './foreign-programs.ts';
import { findRepositoryVariable } from './git-profile.ts';
import { type GitRepository, isOwnRepository, locateRepository } from './git-repository.ts';

/** The settings that git would use in a directory, and the branch that is checked out there. */
export interface GitConfiguration {
  readonly entries: readonly GitConfigEntry[];
  /** Null outside of a repository, and where no branch is. */
  readonly branch: string | null;
}

/** Reads the configuration of a repository of the session's own; a string says why it is not read. */
export type ReadGitConfiguration = (
  directory: string,
  sessionDirectories: readonly string[],
) => GitConfiguration | string;

/** The command that reads it runs no program that a repository names. */
export function createGitConfigurationReader(
  env: Readonly<Environment>,
  platform: NodeJS.Platform,
): ReadGitConfiguration {
  const openDirectory = createDirectoryOpener(env, platform);
  const cache = new FileStateCache<readonly ConfigLine[]>();
  return (directory, sessionDirectories) => {
    try {
      const opened = openDirectory(directory, sessionDirectories);
      if (typeof opened === 'string') return opened;
      const entries = readEntries(opened, env['HOME'] ?? '/', cache);
      if (typeof entries === 'string') return entries;
      return { entries, branch: readBranch(opened.repository) };
    } catch (error) {
      return `the repository could not be read: ${getErrorMessage(error)}`;
    }
  };
}

function readEntries(
  { git, repository, real }: OpenedDirectory,
  home: string,
  cache: FileStateCache<readonly ConfigLine[]>,
): readonly ConfigLine[] | string {
  const key = repository?.gitDirectory ?? real;
  const cached = cache.find(key);
  if (cached !== null) return cached.value;
  const misplaced = repository === null ? null : checkPlace(git, repository);
  if (misplaced !== null) return misplaced;
  const entries = listConfigEntries(git);
  if (typeof entries === 'string' || repository === null) return entries;
  const ofUser = ['.gitconfig', '.config/git/config'].map((name) => path.join(home, name));
  if (!entries.some((entry) => isInclude(entry.key))) {
    cache.set(key, [...listConfigFiles(repository, entries), ...ofUser], entries);
  }
  return entries;
}

function readBranch(repository: GitRepository | null): string | null {
  if (repository === null) return null;
  const head = readTextIfPresent(path.join(repository.gitDirectory, 'HEAD')) ?? '';
  return /^ref: refs\/heads\/(.+)\n$/.exec(head)?.[1] ?? null;
}

interface OpenedDirectory {
  readonly git: Git;
  /** The file of git. */
  readonly program: string;
  readonly real: string;
  /** Null outside of a repository. */
  readonly repository: GitRepository | null;
}

/** Finds git and the repository of a directory; a string says why git may not run there. */
export function createDirectoryOpener(env: Readonly<Environment>, platform: NodeJS.Platform) {
  const findGit = memoizePerList((sessionDirectories) => {
    const untrusted = listUntrustedDirectories(sessionDirectories, env['HOME'] ?? null);
    const clean = cleanEnvironment(env, untrusted, platform);
    // Of a list of directories, the shell leaves the untrusted ones out.
    const foreign = Object.entries(findUntrustedVariables(env, untrusted, platform)).find(
      ([name]) => GIT_VARIABLES.test(name) && !name.endsWith('_PATH'),
    )?.[0];
    return { ...findUsableGit(clean, platform), clean, foreign };
  });
  return (directory: string, sessionDirectories: readonly string[]): OpenedDirectory | string => {
    const variable = findRepositoryVariable(env);
    if (variable !== null) return `the environment variable ${variable} is set`;
    const { program, problem, clean, foreign } = findGit(sessionDirectories);
    if (problem !== null) return problem;
    if (foreign !== undefined) {
      return `the environment variable ${foreign} names a file of the workspace`;
    }
    const real = findRealPath(directory);
    if (real === null) return `${directory} does not exist`;
    const repository = findOwnRepository(real, sessionDirectories);
    if (typeof repository === 'string') return repository;
    return { git: (...args) => runGit(program, args, real, clean), program, real, repository };
  };
}

/** Variables that git, or the linker before it, reads. */
const GIT_VARIABLES = /^(?:GIT_|LD_|DYLD_|XDG_)/;

/** Runs git and returns what it printed, or null with the reason. */
export type Git = (...args: readonly string[]) => {
  readonly output: string | null;
  readonly why: string;
};

const TIMEOUT_MS = 3000;
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;

/** Synchronous, because a call is judged synchronously; only commands that run no program of a repository. */
function runGit(
  program: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Environment>,
): ReturnType<Git> {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd,
    env: { ...env, LC_ALL: 'C', GIT_OPTIONAL_LOCKS: '0' },
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
    maxBuffer: MAX_OUTPUT_BYTES,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (status === 0 && error === undefined) return { output: stdout, why: '' };
  const [line = ''] = (stderr ?? '').split('\n');
  const why = error === undefined ? line : getErrorMessage(error);
  return { output: null, why: `git ${args[0]} failed: ${why.slice(0, MAX_REASON)}` };
}

export const MAX_REASON = 300;

function findUsableGit(
  env: Readonly<Environment>,
  platform: NodeJS.Platform,
): { readonly program: string; readonly problem: string | null } {
  const program = createProgramFinder(env['PATH'] ?? env['Path'], platform)('git');
  if (program === null) return { program: 'git', problem: 'git was not found on the PATH' };
  return { program, problem: checkVersion(program, env) };
}

/** The first version with `safe.bareRepository`. */
const OLDEST = [2, 38] as const;

function checkVersion(program: string, env: Readonly<Environment>): string | null {
  const { output, why } = runGit(program, ['version'], path.dirname(program), env);
  if (output === null) return why;
  const [, major = '', minor = ''] = /^git version (\d+)\.(\d+)/.exec(output) ?? [];
  const isNew =
    Number(major) > OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) >= OLDEST[1]);
  const found = output.trim().slice(0, MAX_REASON) || 'nothing';
  return major !== '' && isNew
    ? null
    : `git ${OLDEST.join('.')} or newer is needed, found ${found}`;
}

function findOwnRepository(
  directory: string,
  sessionDirectories: readonly string[],
): GitRepository | null | string {
  const repository = locateRepository(directory);
  if (repository === null || typeof repository === 'string') return repository;
  const own = sessionDirectories
    .map((each) => findRealPath(each))
    .flatMap((each) => (each === null ? [] : [locateRepository(each)]))
    .filter((each) => each !== null && typeof each !== 'string');
  if (!isOwnRepository(repository, own)) {
    return `${repository.top} is another repository than the session’s own`;
  }
  return repository;
}

export function listConfigEntries(git: Git): readonly ConfigLine[] | string {
  const { output, why } = git('config', '--list', '--show-scope', '--show-origin', '-z');
  return output === null ? why : parseConfigList(output);
}

/** Compares what git finds: `core.worktree` may name another directory, whose files git would print. */
export function checkPlace(git: Git, { top, gitDirectory }: GitRepository): string | null {
  const { output, why } = git('rev-parse', '--absolute-git-dir', '--show-toplevel');
  if (output === null) return why;
  const [foundDirectory = '', foundTop = ''] = output.split('\n');
  if (findRealPath(foundDirectory) === gitDirectory && findRealPath(foundTop) === top) return null;
  return `git takes ${foundTop} for the working tree of ${foundDirectory}`;
}

export interface ConfigLine extends GitConfigEntry {
  /** The file that holds it; null for other sources. */
  readonly origin: string | null;
}

/** Scopes of the repository; all others are the user's or the machine's. */
const FOREIGN_SCOPES = ['local', 'worktree'];

/** Output of `git config --list --show-scope --show-origin -z`: three fields for each entry. */
function parseConfigList(output: string): readonly ConfigLine[] {
  const fields = output.split('\0');
  const lines: ConfigLine[] = [];
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [scope = '', origin = '', text = ''] = fields.slice(at, at + 3);
    const end = text.indexOf('\n');
    lines.push({
      key: end === -1 ? text : text.slice(0, end),
      value: end === -1 ? null : text.slice(end + 1),
      isForeign: FOREIGN_SCOPES.includes(scope),
      origin: origin.startsWith('file:') ? origin.slice('file:'.length) : null,
    });
  }
  return lines;
}

/** Whether a key names a file whose settings count, too. */
export function isInclude(key: string): boolean {
  return INCLUDE.test(key);
}

const INCLUDE = /^include(?:if\..*)?\.path$/s;

/** The files that hold the settings of a repository, those that do not exist yet included. */
export function listConfigFiles(
  { gitDirectory, commonDirectory, top }: GitRepository,
  lines: readonly ConfigLine[],
): readonly string[] {
  const own = [path.join(commonDirectory, 'config'), path.join(gitDirectory, 'config.worktree')];
  // Git names files relative to the top of the working tree.
  const read = lines.flatMap(({ origin }) => (origin === null ? [] : path.resolve(top, origin)));
  return [...own, ...read];
}

/** Values that were read from files, until one of the files changes. */
export class FileStateCache<Value> {
  readonly #entries = new Map<string, CacheEntry<Value>>();

  find(key: string): CacheEntry<Value> | null {
    const entry = this.#entries.get(key);
    const isCurrent = entry?.states.every(([file, state]) => isSameState(state, readState(file)));
    return entry !== undefined && isCurrent === true ? entry : null;
  }

  /** `files` are absolute paths; one that does not exist counts, too. */
  set(key: string, files: readonly string[], value: Value): void {
    if (this.#entries.size >= MAX_CACHED) this.#entries.clear();
    const states = [...new Set(files)].map((file) => [file, readState(file)] as const);
    this.#entries.set(key, { states, value });
  }
}

interface CacheEntry<Value> {
  readonly states: readonly (readonly [file: string, state: BigIntStats | null])[];
  readonly value: Value;
}

const MAX_CACHED = 50;

function readState(file: string): BigIntStats | null {
  return statSync(file, { bigint: true, throwIfNoEntry: false }) ?? null;
}

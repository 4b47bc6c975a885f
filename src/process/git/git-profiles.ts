import { spawnSync } from 'node:child_process';
import { type BigIntStats, lstatSync, statSync } from 'node:fs';
import path from 'node:path';
import { getErrorMessage } from '../../base/errors.ts';
import { isSameState } from '../../base/file-state.ts';
import { memoize } from '../../base/memoize.ts';
import { findRealPath, isInside } from '../../base/paths.ts';
import type { Environment } from '../environment.ts';
import { createProgramFinder } from '../program-finder.ts';
import { type GitConfigEntry, type GitSetting, listProgramSwitches } from './foreign-programs.ts';
import { buildReadingVariables, findRepositoryVariable, type GitProfile } from './git-profile.ts';
import {
  findForeignFile,
  type GitRepository,
  isOwnRepository,
  listPrintedDirectories,
  locateRepository,
} from './git-repository.ts';

/**
 * Finds the profile with which git may run in a directory without a question. `sessionDirectories`
 * determine which repositories are the session's own. A string says why there is no profile.
 */
export type FindGitProfile = (
  directory: string,
  sessionDirectories: readonly string[],
) => GitProfile | string;

/** `env` is the environment that git will have. What was read of a repository is cached until its files change. */
export function createGitProfiles(
  env: Readonly<Environment>,
  platform: NodeJS.Platform,
): FindGitProfile {
  const findGit = memoize(() => findUsableGit(env, platform));
  const switchCache = new FileStateCache<readonly GitSetting[] | string>();
  const fileCache = new FileStateCache<string | null>();
  return (directory, sessionDirectories) => {
    try {
      const variable = findRepositoryVariable(env);
      if (variable !== null) return `the environment variable ${variable} is set`;
      const { program, problem } = findGit();
      if (problem !== null) return problem;
      const real = findRealPath(directory);
      if (real === null) return `${directory} does not exist`;
      const repository = findOwnRepository(real, sessionDirectories);
      if (typeof repository === 'string') return repository;
      const foreignFile = repository === null ? null : checkFiles(repository, fileCache);
      if (foreignFile !== null) return foreignFile;
      const git: Git = (...args) => runGit(program, args, real, env);
      const place = { repository, home: env['HOME'] ?? '', sessionDirectories };
      const switches =
        repository === null ? [] : readSwitches(git, { ...place, repository }, switchCache);
      if (typeof switches === 'string') return switches;
      return { directory: real, variables: buildReadingVariables(env, switches) };
    } catch (error) {
      return `the repository could not be read: ${getErrorMessage(error)}`;
    }
  };
}

/** Runs git and returns what it printed, or null with the reason. */
type Git = (...args: readonly string[]) => { readonly output: string | null; readonly why: string };

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

const MAX_REASON = 300;

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

/** Values that were read from files, until one of the files changes. */
class FileStateCache<Value> {
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

/** A change of a directory's entries changes its state. */
function checkFiles(
  repository: GitRepository,
  cache: FileStateCache<string | null>,
): string | null {
  const cached = cache.find(repository.gitDirectory);
  if (cached !== null) return cached.value;
  const foreignFile = findForeignFile(repository);
  cache.set(repository.gitDirectory, listPrintedDirectories(repository), foreignFile);
  return foreignFile;
}

interface ConfigPlace {
  readonly repository: GitRepository;
  readonly home: string;
  readonly sessionDirectories: readonly string[];
}

function readSwitches(
  git: Git,
  place: ConfigPlace,
  cache: FileStateCache<readonly GitSetting[] | string>,
): readonly GitSetting[] | string {
  const { repository } = place;
  const key = JSON.stringify([repository.gitDirectory, repository.top]);
  const cached = cache.find(key);
  if (cached !== null) return cached.value;
  const misplaced = checkPlace(git, repository);
  if (misplaced !== null) return misplaced;
  const { output, why } = git('config', '--list', '--show-scope', '--show-origin', '-z');
  if (output === null) return why;
  const lines = parseConfigList(output);
  const includes = lines.filter(({ key, isForeign }) => isForeign && INCLUDE.test(key));
  const unstable = includes.find((line) => canIncludeChange(line, place));
  if (unstable !== undefined) {
    return `the repository’s configuration includes ${unstable.value ?? ''}, which may change before git runs`;
  }
  const switches = limitSwitches(listProgramSwitches(lines));
  // An included file may appear or begin to count without a change of the files that were read.
  if (includes.length === 0) {
    const files = [...listConfigFiles(repository), ...lines.flatMap(({ origin }) => origin ?? [])];
    // Git names files relative to the top of the working tree.
    cache.set(
      key,
      files.map((file) => path.resolve(repository.top, file)),
      switches,
    );
  }
  return switches;
}

const INCLUDE = /^include(?:if\..*)?\.path$/s;

/** Files that another command of the line, or the git command itself, could fill: those of the workspace and of the system. */
function canIncludeChange({ value, origin }: ConfigLine, place: ConfigPlace): boolean {
  const { repository, home, sessionDirectories } = place;
  const written = (value ?? '').replace(/^~\//, () => `${home}/`);
  if (/^[~%]/.test(written)) return true;
  const from = path.dirname(path.resolve(repository.top, origin ?? ''));
  const file = path.resolve(from, written);
  const exists = lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  if (exists && statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return true;
  const spellings = [file, findRealPath(exists ? file : path.dirname(file)) ?? file];
  const places = [repository.top, ...sessionDirectories, '/dev', '/proc', '/sys'];
  return spellings.some((each) => places.some((outer) => isInside(outer, each)));
}

function listConfigFiles({ gitDirectory, commonDirectory }: GitRepository): readonly string[] {
  return [path.join(commonDirectory, 'config'), path.join(gitDirectory, 'config.worktree')];
}

/** Compares what git finds: `core.worktree` may name another directory, whose files git would print. */
function checkPlace(git: Git, { top, gitDirectory }: GitRepository): string | null {
  const { output, why } = git('rev-parse', '--absolute-git-dir', '--show-toplevel');
  if (output === null) return why;
  const [foundDirectory = '', foundTop = ''] = output.split('\n');
  if (findRealPath(foundDirectory) === gitDirectory && findRealPath(foundTop) === top) return null;
  return `git takes ${foundTop} for the working tree of ${foundDirectory}`;
}

interface ConfigLine extends GitConfigEntry {
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

const MAX_SWITCHES = 500;
const MAX_SWITCH_CHARACTERS = 64 * 1024;

/** They are passed as variables, whose number and size the system limits. */
function limitSwitches(switches: readonly GitSetting[] | string): readonly GitSetting[] | string {
  if (typeof switches === 'string') {
    return `the repository’s configuration sets ${switches.slice(0, MAX_REASON)}, which cannot be switched off`;
  }
  const length = switches.flat().join('').length;
  const fits = switches.length <= MAX_SWITCHES && length <= MAX_SWITCH_CHARACTERS;
  return fits ? switches : 'the repository’s configuration names too many programs';
}

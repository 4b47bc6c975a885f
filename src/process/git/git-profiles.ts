import { lstatSync, statSync } from 'node:fs';
import path from 'node:path';
import { getErrorMessage } from '../../base/errors.ts';
import { findRealPath, isInside } from '../../base/paths.ts';
import type { Environment } from '../environment.ts';
import { type GitSetting, listProgramSwitches } from './foreign-programs.ts';
import {
  checkPlace,
  type ConfigLine,
  createDirectoryOpener,
  FileStateCache,
  type Git,
  isInclude,
  listConfigEntries,
  listConfigFiles,
  MAX_REASON,
} from './git-configuration.ts';
import { buildReadingVariables, type GitProfile } from './git-profile.ts';
import { findForeignFile, type GitRepository, listPrintedDirectories } from './git-repository.ts';

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
  const openDirectory = createDirectoryOpener(env, platform);
  const switchCache = new FileStateCache<readonly GitSetting[] | string>();
  const fileCache = new FileStateCache<string | null>();
  return (directory, sessionDirectories) => {
    try {
      const opened = openDirectory(directory, sessionDirectories);
      if (typeof opened === 'string') return opened;
      const { git, program, real, repository } = opened;
      const foreignFile = repository === null ? null : checkFiles(repository, fileCache);
      if (foreignFile !== null) return foreignFile;
      const place = { repository, home: env['HOME'] ?? '', sessionDirectories };
      const switches =
        repository === null ? [] : readSwitches(git, { ...place, repository }, switchCache);
      if (typeof switches === 'string') return switches;
      return { directory: real, program, variables: buildReadingVariables(env, switches) };
    } catch (error) {
      return `the repository could not be read: ${getErrorMessage(error)}`;
    }
  };
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
  const lines = listConfigEntries(git);
  if (typeof lines === 'string') return lines;
  const includes = lines.filter(({ key, isForeign }) => isForeign && isInclude(key));
  const unstable = includes.find((line) => canIncludeChange(line, place));
  if (unstable !== undefined) {
    return `the repository’s configuration includes ${unstable.value ?? ''}, which may change before git runs`;
  }
  const switches = limitSwitches(listProgramSwitches(lines));
  // An included file may appear or begin to count without a change of the files that were read.
  if (includes.length === 0) {
    cache.set(key, listConfigFiles(repository, lines), switches);
  }
  return switches;
}

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

import { devNull } from 'node:os';
import { quoteShellWord } from '../../base/text.ts';
import type { Environment } from '../environment.ts';
import { runWithVariables, type VariableChanges } from '../search-path.ts';
import type { GitSetting } from './foreign-programs.ts';

/** How git runs in a repository whose configuration nobody confirmed: without the programs that it names. */
export interface GitProfile {
  /** The real path of the only directory in which it may be used; null for any. */
  readonly directory: string | null;
  /** The file of git, because a PATH may lead into the workspace. */
  readonly program: string;
  readonly variables: Readonly<Environment>;
}

/** Variables with which git works on another repository than that of its directory. */
const REPOSITORY_VARIABLES: readonly string[] = [
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_COMMON_DIR',
  'GIT_DIR',
  'GIT_INDEX_FILE',
  'GIT_NAMESPACE',
  'GIT_OBJECT_DIRECTORY',
  'GIT_WORK_TREE',
];

/** The variable that names a repository, or null. */
export function findRepositoryVariable(env: Readonly<Environment>): string | null {
  return REPOSITORY_VARIABLES.find((name) => env[name] !== undefined) ?? null;
}

/** Inside a git hook, these variables name the current repository. */
export function removeRepositoryVariables(env: Readonly<Environment>): Environment {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !REPOSITORY_VARIABLES.includes(name)),
  );
}

/** What is switched off for every repository; commands that fetch use these settings, too. */
const FIXED_SETTINGS: readonly GitSetting[] = [
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', devNull],
  ['core.pager', 'cat'],
  ['diff.submodule', 'short'],
  ['protocol.ext.allow', 'never'],
  ['safe.bareRepository', 'explicit'],
  ['status.submoduleSummary', 'false'],
  ['submodule.recurse', 'false'],
];

/** Without a transport git cannot fetch what a partial clone lacks, even where it is too old for NO_LAZY_FETCH. */
const READING_VARIABLES: Readonly<Environment> = {
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_NO_LAZY_FETCH: '1',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_PAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
};

/** The variables of a git that reads or writes only this machine. */
export function buildReadingVariables(
  env: Readonly<Environment>,
  settings: readonly GitSetting[],
): Environment {
  return { ...READING_VARIABLES, ...formatSettings(env, [...FIXED_SETTINGS, ...settings]) };
}

/** The variables of a git that fetches into a repository of ours, which has no configuration but the user's. */
export function buildFetchingVariables(env: Readonly<Environment>): Environment {
  return formatSettings(env, FIXED_SETTINGS);
}

/** Settings as variables come after those that the user's environment has already. */
function formatSettings(env: Readonly<Environment>, settings: readonly GitSetting[]): Environment {
  const start = Number(env['GIT_CONFIG_COUNT'] ?? 0);
  const variables: Environment = { GIT_CONFIG_COUNT: String(start + settings.length) };
  for (const [index, [key, value]] of settings.entries()) {
    variables[`GIT_CONFIG_KEY_${start + index}`] = key;
    variables[`GIT_CONFIG_VALUE_${start + index}`] = value;
  }
  return variables;
}

/** Subcommands that only read, with the options that keep them from running a driver or entering a submodule. */
const READERS: Readonly<Record<string, string>> = {
  branch: '',
  diff: '--ignore-submodules=dirty --no-ext-diff --no-textconv',
  log: '--no-ext-diff --no-textconv',
  show: '--no-ext-diff --no-textconv',
  status: '--ignore-submodules=dirty',
};

/**
 * Shell text that lets git read with the profile in this shell. A function and not the environment of
 * the shell, because another command of the line, which a rule allows, keeps the repository's hooks.
 */
export function formatGitFunction(
  { directory, program, variables }: GitProfile,
  changes: VariableChanges = {},
): string {
  const assignments = Object.entries(variables).map(
    ([name, value]) => `${name}=${quoteShellWord(value)}`,
  );
  const cases = Object.entries(READERS).map(
    ([name, options]) =>
      `${name}:*|--no-pager:${name}) [ "$1" != --no-pager ] || shift; shift; set -- ${name} ${options} "$@" ;;`,
  );
  return [
    'unalias git 2>/dev/null',
    'git() {',
    'case "${1-}:${2-}" in',
    ...cases,
    '*) command git "$@"; return ;;',
    'esac',
    // A part of the call before this one may have changed the directory.
    ...(directory === null || process.platform === 'win32' ? [] : formatDirectoryCheck(directory)),
    runWithVariables(`${assignments.join(' ')} ${quoteShellWord(program)} "$@"`, changes),
    '} || exit 126',
  ].join('\n');
}

function formatDirectoryCheck(directory: string): readonly string[] {
  const message = `git was not run: its repository was checked in ${directory}, and the shell is elsewhere; run it as a call of its own`;
  return [
    `if [ "$(pwd -P)" != ${quoteShellWord(directory)} ]; then`,
    `echo ${quoteShellWord(message)} >&2; return 128; fi`,
  ];
}

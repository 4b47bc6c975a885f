import { existsSync } from 'node:fs';
import path from 'node:path';
import { memoize } from '../base/memoize.ts';
import { findRealPath, isInside } from '../base/paths.ts';
import { quoteShellWord } from '../base/text.ts';
import type { Environment } from './environment.ts';
import { createProgramFinder, type FindProgram, isProgram } from './program-finder.ts';

/**
 * The directories of a session whose programs an agent or a repository may have written. One that
 * contains the home directory is the user's own, and so is the PATH that leads into it.
 */
export function listUntrustedDirectories(
  directories: readonly string[],
  home: string | null,
): readonly string[] {
  const realHome = home === null ? null : (findRealPath(home) ?? home);
  return directories.filter(
    (each) => path.dirname(each) !== each && (realHome === null || !isInside(each, realHome)),
  );
}

/** Searched when nothing of a PATH is left; an empty PATH would mean the current directory. */
const SYSTEM_PATH = '/usr/local/bin:/usr/bin:/bin';

/**
 * Removes from a PATH what an agent or a repository can write: `untrusted` directories, everything in
 * them, relative entries and empty ones. Workspaces are put on a PATH by direnv, by virtual environments
 * and by `node_modules/.bin`.
 */
export function cleanSearchPath(
  pathVariable: string | undefined,
  untrusted: readonly string[],
  platform: NodeJS.Platform,
): string | undefined {
  if (pathVariable === undefined) return undefined;
  return joinSearchPath(listTrustedEntries(pathVariable, untrusted, platform), platform);
}

function listTrustedEntries(
  list: string,
  untrusted: readonly string[],
  platform: NodeJS.Platform,
): readonly string[] {
  const isTrusted = createTrustedCheck(untrusted);
  return list.split(getDelimiter(platform)).filter((entry) => {
    const directory = entry.replaceAll('"', '');
    return path.isAbsolute(directory) && isTrusted(directory);
  });
}

function joinSearchPath(entries: readonly string[], platform: NodeJS.Platform): string {
  if (entries.length === 0 && platform !== 'win32') return SYSTEM_PATH;
  return joinEntries(entries, platform);
}

function joinEntries(entries: readonly string[], platform: NodeJS.Platform): string {
  return entries.join(getDelimiter(platform));
}

function getDelimiter(platform: NodeJS.Platform): string {
  return platform === 'win32' ? ';' : ':';
}

/** Variables with lists of directories from which interpreters and the linker load code. */
const CODE_PATHS: readonly string[] = [
  'CLASSPATH',
  'DYLD_FALLBACK_LIBRARY_PATH',
  'DYLD_FRAMEWORK_PATH',
  'DYLD_LIBRARY_PATH',
  'GCONV_PATH',
  'LD_LIBRARY_PATH',
  'NODE_PATH',
  'PERL5LIB',
  'PYTHONPATH',
  'RUBYLIB',
];

/** Variables that name files or options with which programs load code before they do anything else. */
const CODE_VARIABLES: readonly string[] = [
  'BASH_ENV',
  'DYLD_INSERT_LIBRARIES',
  'ENV',
  'GIT_ASKPASS',
  'GIT_CONFIG_GLOBAL',
  'GIT_CONFIG_SYSTEM',
  'GIT_EXEC_PATH',
  'GIT_EXTERNAL_DIFF',
  'GIT_SSH',
  'GIT_SSH_COMMAND',
  'JAVA_TOOL_OPTIONS',
  'JDK_JAVA_OPTIONS',
  'LD_AUDIT',
  'LD_PRELOAD',
  'LESSOPEN',
  'NODE_OPTIONS',
  'OPENSSL_CONF',
  'OPENSSL_ENGINES',
  'OPENSSL_MODULES',
  'PERL5OPT',
  'PYTHONHOME',
  'PYTHONSTARTUP',
  'RIPGREP_CONFIG_PATH',
  'RUBYOPT',
  'XDG_CONFIG_HOME',
];

/** What variables must become; null for one that must be removed. */
export type VariableChanges = Readonly<Record<string, string | null>>;

/** How the variables must be changed that make programs load code or settings of untrusted directories. */
export function findUntrustedVariables(
  env: Readonly<Environment>,
  untrusted: readonly string[],
  platform: NodeJS.Platform,
): VariableChanges {
  const isTrusted = createTrustedCheck(untrusted);
  const isForeign = (word: string): boolean =>
    word.includes('/') && !(path.isAbsolute(word) && isTrusted(word));
  const foreign = CODE_VARIABLES.filter((name) =>
    (env[name] ?? '').split(/[\s=:;,'"]+/).some(isForeign),
  );
  const lists = CODE_PATHS.flatMap((name) => {
    const entries = listTrustedEntries(env[name] ?? '', untrusted, platform);
    const left = entries.length === 0 ? null : joinEntries(entries, platform);
    return (env[name] ?? '') === (left ?? '') ? [] : [[name, left] as const];
  });
  return Object.fromEntries([...foreign.map((name) => [name, null] as const), ...lists]);
}

/** The variables of these that a shell script names, and so may set to anything. */
export function findMentionedVariables(script: string): VariableChanges {
  const names = [...CODE_VARIABLES, ...CODE_PATHS].filter((name) => script.includes(name));
  return Object.fromEntries(names.map((name) => [name, null]));
}

export function changeVariables(env: Readonly<Environment>, changes: VariableChanges): Environment {
  const changed = Object.entries({ ...env, ...changes });
  return Object.fromEntries(
    changed.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const])),
  );
}

/**
 * The environment with such a PATH, and the same for the directories that interpreters load code from;
 * without variables that name files in untrusted directories.
 */
export function cleanEnvironment(
  env: Readonly<Environment>,
  untrusted: readonly string[],
  platform: NodeJS.Platform,
): Environment {
  const changed = changeVariables(env, findUntrustedVariables(env, untrusted, platform));
  // The variable is named `Path` on Windows.
  const isPath = (name: string): boolean =>
    (platform === 'win32' ? name.toUpperCase() : name) === 'PATH';
  return Object.fromEntries(
    Object.entries(changed).map(([name, value]) => [
      name,
      isPath(name) ? (cleanSearchPath(value, untrusted, platform) ?? '') : value,
    ]),
  );
}

const PYTHON = String.raw`\bpython[\d.]*(?:[ \t]+-[A-Za-bd-ln-z]+)*[ \t]*`;
/** `python3 -c …`, `… | python3 -`, `python3 <<EOF` */
const PYTHON_WITHOUT_FILE = new RegExp(
  String.raw`${PYTHON}(?:-\w*c\b|-(?=[ \t\n]|$)|<<|(?=[\n;|&)]|$))`,
  'm',
);
const PYTHON_MODULE = new RegExp(String.raw`${PYTHON}-\w*m\b`);

/**
 * Adds variables with which Python code outside of a file imports nothing from the current directory, for
 * programs with this text. They also keep a script from importing what lies beside it, so `directories`
 * are searched instead. A program that runs a module by name may mean one of the current directory.
 */
export function protectPythonImports(
  env: Readonly<Environment>,
  text: string,
  directories: readonly string[],
): Environment {
  const script = text.replaceAll(/^#!.*$/gm, '');
  if (!PYTHON_WITHOUT_FILE.test(script) || PYTHON_MODULE.test(script)) return env;
  const searched = [...new Set(directories), env['PYTHONPATH'] ?? ''].filter((each) => each !== '');
  const PYTHONPATH = searched.join(path.delimiter);
  return { ...env, PYTHONSAFEPATH: '1', ...(PYTHONPATH === '' ? {} : { PYTHONPATH }) };
}

/** Finds programs on a PATH, with and without the directories that an agent can write to. */
export function createProgramSearch(
  pathVariable: string | undefined,
  { cwd, untrusted }: { readonly cwd: string; readonly untrusted: readonly string[] },
): { readonly find: FindProgram; readonly findUntrusted: FindProgram } {
  const { platform } = process;
  const openTrusted = memoize(() =>
    createProgramFinder(cleanSearchPath(pathVariable, untrusted, platform), platform),
  );
  const openUntrusted = memoize(() => createUntrustedFinder(pathVariable, { cwd, untrusted }));
  return {
    find: (name) => openTrusted()(name),
    findUntrusted: (name) => openUntrusted()(name),
  };
}

/**
 * The returned function finds the file that a shell in `cwd` would start for a program's name, if it lies
 * in an untrusted directory or a relative entry of the PATH leads to it; else null.
 */
function createUntrustedFinder(
  pathVariable: string | undefined,
  { cwd, untrusted }: { readonly cwd: string; readonly untrusted: readonly string[] },
): FindProgram {
  const isTrusted = createTrustedCheck(untrusted);
  const directories = (pathVariable ?? '').split(path.delimiter).map((entry) => {
    const directory = path.resolve(cwd, entry);
    return { directory, isFixed: path.isAbsolute(entry) && isTrusted(directory) };
  });
  return (name) => {
    for (const { directory, isFixed } of directories) {
      const file = path.join(directory, name);
      // Not only an executable one: a command before it in the line may make it executable.
      if (!isFixed && existsSync(file)) return file;
      if (isFixed && isProgram(file)) return isTrusted(file) ? null : file;
    }
    return null;
  };
}

function createTrustedCheck(untrusted: readonly string[]): (file: string) => boolean {
  const places = untrusted.flatMap((each) => [each, findRealPath(each) ?? each]);
  return (file) => {
    const spellings = [path.resolve(file), findRealPath(file) ?? file];
    return !places.some((place) => spellings.some((each) => isInside(place, each)));
  };
}

/**
 * Shell text that binds programs to their files in this shell, whatever its PATH becomes; one without a
 * file is not found. A function, because other commands of the line keep the PATH and variables of the user.
 */
export function formatProgramFunctions(
  files: Readonly<Record<string, string | null>>,
  changes: VariableChanges = {},
): string {
  return Object.entries(files)
    .map(([name, file]) => {
      const body =
        file === null
          ? `echo ${quoteShellWord(`${name}: command not found`)} >&2; return 127`
          : runWithVariables(`${quoteShellWord(file)} "$@"`, changes);
      return `unalias ${name} 2>/dev/null\n${name}() { ${body}; } || exit 126`;
    })
    .join('\n');
}

/** Shell text that runs a command with changed variables, which the rest of the shell keeps. */
export function runWithVariables(command: string, changes: VariableChanges): string {
  const names = Object.keys(changes);
  if (names.length === 0) return command;
  const removed = names.filter((name) => changes[name] === null);
  const unset = removed.length === 0 ? '' : `unset ${removed.join(' ')}; `;
  return `(${unset}${formatExports(changes)}${command})`;
}

/** Shell text that sets variables for the programs that follow; those without a value are left as they are. */
export function formatExports(values: VariableChanges): string {
  const words = Object.entries(values).flatMap(([name, value]) =>
    value === null ? [] : `${name}=${quoteShellWord(value)}`,
  );
  return words.length === 0 ? '' : `export ${words.join(' ')}; `;
}

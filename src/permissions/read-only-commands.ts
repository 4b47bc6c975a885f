import { existsSync } from 'node:fs';
import path from 'node:path';
import { isDirectory } from '../base/files.ts';
import type { GitProfile } from '../process/git/git-profile.ts';
import { resolveFrom } from '../base/paths.ts';
import type { AllowedDirectories } from './allowed-directories.ts';
import type { DeniedReads } from './denied-reads.ts';
import type { ProgramSearch } from './permissions.ts';
import { expandHome } from './rules/home-path.ts';
import { parseShellCommands } from './rules/shell-commands.ts';
import type { ShellCommand } from './rules/shell-commands.ts';
import { listEnteredDirectories } from './rules/entered-directories.ts';

/** A program whose effects follow from its arguments. */
interface KnownProgram {
  /** Arguments with which it does more, or reads files that are not among its arguments. */
  readonly unless?: RegExp;
  /** Which arguments are texts, not paths: `all`, or the `first` that is not an option. */
  readonly texts?: 'all' | 'first';
  /** Options with which the first argument is a path. */
  readonly noText?: RegExp;
  /** Arguments with which it reads whole directories. */
  readonly sweeps?: RegExp;
  /** Options without a value, so that the argument after them is a path. */
  readonly flags?: RegExp;
}

/** Programs that only read. Every other program needs approval. */
const READERS: Readonly<Record<string, KnownProgram>> = {
  basename: { texts: 'all' },
  cat: {},
  cd: {},
  cut: {},
  dirname: { texts: 'all' },
  echo: { texts: 'all' },
  false: { texts: 'all' },
  find: { unless: /^-(?:exec|ok|delete|fprint|fls|files0|L$|follow)/ },
  grep: {
    texts: 'first',
    noText: /^-\w*[ef]|^--(?:re|fi)/,
    unless: /^-\w*[fR]|^--(?:fi|de)/,
    sweeps: /^-\w*[rd]|^--(?:rec|di)/,
    flags: /^-[\dabchilnoqrsvwxEFGHILPTUyzZ]+$|^--\w[\w-]*=/,
  },
  head: {},
  ls: {},
  pwd: { texts: 'all' },
  rg: {
    texts: 'first',
    noText: /^-\w*[ef]|^--(?:regexp|file|files|type-list)/,
    unless: /^-\w*[fzL]|^--(?:pre|file$|file=|follow|hostname-bin|search-zip)/,
    sweeps: /^/,
    flags: /^-[.0abcilnopqsuvwxFHINPSU]+$|^--\w[\w-]*=|^--(?:files|hidden)$/,
  },
  stat: {},
  tail: {},
  true: { texts: 'all' },
  wc: { unless: /^--f/ },
  which: { texts: 'all' },
};

/**
 * Options with which git writes a file, runs a driver, a pager or a browser, or enters a submodule or
 * another repository. Git accepts abbreviations of long options.
 */
const GIT_OPTIONS =
  /^-O|^--(?:al(?:t|$)|ex(?:$|=|t(?!ended))|help$|ignore-s(?!pace|ubmodules(?:=(?:all|dirty))?$)|o(?:$|=|u)|su(?!mmary)|textc)/;

/** Git commands that only read, and the options with which they do more. */
const GIT_READERS: Readonly<Record<string, KnownProgram>> = {
  branch: { unless: /^(?!-(?:[arv]+|-all|-remotes|-list|-verbose|-show-current)$)/ },
  diff: { unless: GIT_OPTIONS },
  log: { unless: GIT_OPTIONS },
  show: { unless: GIT_OPTIONS },
  status: { unless: GIT_OPTIONS },
};

/** Programs that change only the files that their arguments name. */
const EDITORS: Readonly<Record<string, KnownProgram>> = {
  // A whole directory may contain files that a deny rule protects.
  cp: { unless: /^-\w*[rRa]|^--(?:r|a)/ },
  mkdir: {},
  // After a move, a deny rule no longer matches the files of a directory.
  mv: { sweeps: /^/, flags: /^-[finuvT]+$/ },
  touch: {},
};

interface CommandContext {
  readonly cwd: string;
  readonly home: string | null;
  readonly allowedDirectories: AllowedDirectories;
  /** Files in allowed directories that deny rules protect; null when there are none. */
  readonly denied: DeniedReads | null;
  /** Finds out how git may run in `cwd` without a question; a string says why it may not. */
  readonly findGitProfile: () => GitProfile | string;
  readonly programs: ProgramSearch;
}

/** What a shell does itself, without a program. */
const BUILTINS: readonly string[] = ['cd', 'echo', 'false', 'pwd', 'true'];

/** The program that an unasked command starts; null when it starts none that is known. */
export function findUnaskedProgram({ words }: ShellCommand): string | null {
  const [name = ''] = words ?? [];
  const isKnown = name === 'git' || Object.hasOwn(READERS, name) || Object.hasOwn(EDITORS, name);
  return isKnown && !BUILTINS.includes(name) ? name : null;
}

function isOwnProgram(command: ShellCommand, { programs }: CommandContext): boolean {
  const name = findUnaskedProgram(command);
  return name === null || programs.findUntrusted(name) === null;
}

/** Checks whether a command of the line needs no approval, because it only reads in allowed directories. */
export function createReaderCheck(
  line: string,
  context: CommandContext,
): (command: ShellCommand) => boolean {
  if (parseShellCommands(line).readsFile) return () => false;
  const bases = listBases(line, context);
  return (command) => {
    const [name = '', ...args] = command.words ?? [];
    if (!isOwnProgram(command, context)) return false;
    if (name === 'git') return bases.length === 1 && isAllowedGitReader(args, context);
    return isInsideAllowed(findProgram(READERS, name), args, bases, context);
  };
}

/** Checks whether a command of the line only changes files in allowed directories. */
export function createEditorCheck(
  line: string,
  context: CommandContext,
): (command: ShellCommand) => boolean {
  const bases = listBases(line, context);
  return (command) => {
    const [name = '', ...args] = command.words ?? [];
    if (!isOwnProgram(command, context)) return false;
    return isInsideAllowed(findProgram(EDITORS, name), args, bases, context);
  };
}

function listBases(line: string, context: CommandContext): readonly string[] {
  const commands = parseShellCommands(line).commands.map(({ words }) => words ?? []);
  return listEnteredDirectories(commands, context);
}

function findProgram(
  table: Readonly<Record<string, KnownProgram>>,
  name: string,
): KnownProgram | null {
  return Object.hasOwn(table, name) ? (table[name] ?? null) : null;
}

function isInsideAllowed(
  program: KnownProgram | null,
  args: readonly string[],
  bases: readonly string[],
  context: CommandContext,
): boolean {
  if (program === null || args.some((arg) => program.unless?.test(arg) === true)) return false;
  if (program.texts === 'all') return true;
  const { paths, options } = sortArguments(program, args);
  // `--file=/x` names a path, too, and its meaning is not known here.
  if (options.some((option) => /[/~]|\.\./.test(option))) return false;
  const readPaths = ['.', ...paths, ...listCopyTargets(paths)];
  if (
    !bases.every((base) =>
      readPaths.every((file) => context.allowedDirectories.contains(file, base)),
    )
  ) {
    return false;
  }
  const searched = listSearched(program, args, paths, options);
  return !bases.some((base) => searched.some((file) => canContainDenied(file, base, context)));
}

/** The directories that it may read as a whole; the current one, too, unless a path is named for certain. */
function listSearched(
  { sweeps, flags }: KnownProgram,
  args: readonly string[],
  paths: readonly string[],
  options: readonly string[],
): readonly string[] {
  if (!args.some((arg) => sweeps?.test(arg) === true)) return [];
  const isSure = paths.length > 0 && options.every((option) => flags?.test(option) === true);
  return isSure ? paths : ['.', ...paths];
}

/** Only directories: deny rules are matched against named files elsewhere. */
function canContainDenied(
  file: string,
  base: string,
  { denied, home }: Pick<CommandContext, 'denied' | 'home'>,
): boolean {
  const full = resolveFrom(base, expandHome(file, home));
  return denied !== null && isDirectory(full) && denied.mayLieBelow(full);
}

/** Where copies end up when the last path is a directory: a link may exist there already. */
function listCopyTargets(paths: readonly string[]): readonly string[] {
  const target = paths.at(-1);
  if (target === undefined) return [];
  return paths.slice(0, -1).map((file) => path.join(target, path.basename(file)));
}

function sortArguments(
  { texts, noText }: KnownProgram,
  args: readonly string[],
): { readonly paths: readonly string[]; readonly options: readonly string[] } {
  const end = args.indexOf('--');
  const isOption = (arg: string, index: number): boolean =>
    arg.startsWith('-') && arg !== '-' && (end === -1 || index < end);
  const options = args.filter(isOption);
  const others = args.filter((arg, index) => !isOption(arg, index) && index !== end && arg !== '-');
  const hasText = texts === 'first' && !options.some((option) => noText?.test(option) === true);
  return { paths: hasText ? others.slice(1) : others, options };
}

/** Whether a command would be a git command that only reads, wherever it runs. */
export function isGitReader({ words }: ShellCommand): boolean {
  const [name = '', ...args] = words ?? [];
  const [subcommand = ''] = args[0] === '--no-pager' ? args.slice(1) : args;
  return name === 'git' && findProgram(GIT_READERS, subcommand) !== null;
}

function isAllowedGitReader(words: readonly string[], context: CommandContext): boolean {
  const [subcommand = '', ...args] = words[0] === '--no-pager' ? words.slice(1) : words;
  const program = findProgram(GIT_READERS, subcommand);
  if (!isInsideAllowed(program, args, [context.cwd], context)) return false;
  if (typeof context.findGitProfile() === 'string') return false;
  const { denied, cwd } = context;
  if (denied === null) return true;
  return !listSearchedByGit(subcommand, args, cwd).some((file) => denied.mayLieBelow(file));
}

const QUIET_OPTIONS =
  /^-(?:n?\d*|s|-(?:all|decorate|graph|oneline|abbrev-commit|first-parent|merges|no-merges|reverse|cached|staged|no-patch|stat|shortstat|numstat|summary|name-only|name-status|format|pretty|date|author|grep|since|until|after|before|max-count)(?:=.*)?)$/;
const LIST_OPTIONS =
  /^(?:-s|--(?:no-patch|stat|shortstat|numstat|summary|name-only|name-status)(?:=.*)?)$/;

/** Whether it may print the content of files, current or committed. */
const SHOWS_FILES: Readonly<Record<string, (options: readonly string[]) => boolean>> = {
  diff: (options) =>
    !options.every((each) => QUIET_OPTIONS.test(each)) ||
    !options.some((each) => LIST_OPTIONS.test(each)),
  log: (options) => !options.every((each) => QUIET_OPTIONS.test(each)),
  // `git show` prints a blob with any options.
  show: () => true,
  status: (options) => options.some((each) => /^-\w*v|^--v/.test(each)),
};

/** Directories whose files git may print: the whole repository, unless paths limit it. */
function listSearchedByGit(
  subcommand: string,
  args: readonly string[],
  cwd: string,
): readonly string[] {
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  const options = args.slice(0, end).filter((arg) => arg.startsWith('-'));
  if (SHOWS_FILES[subcommand]?.(options) !== true) return [];
  const limits = args.slice(end + 1);
  const isLimited = subcommand !== 'show' && limits.length > 0 && !limits.some(isPathPattern);
  const limitedPaths = limits
    .map((file) => path.resolve(cwd, file))
    .filter((file) => !isRegularFile(file));
  // `git diff` can compare two directories outside of any repository.
  const compared = args
    .slice(0, end)
    .map((arg) => path.resolve(cwd, arg))
    .filter(isDirectory);
  return [...compared, ...(isLimited ? limitedPaths : [findRepository(cwd)])];
}

function isPathPattern(limit: string): boolean {
  return /^:|[*?[\\]/.test(limit);
}

function isRegularFile(file: string): boolean {
  return existsSync(file) && !isDirectory(file);
}

function findRepository(cwd: string): string {
  for (let directory = cwd; ; directory = path.dirname(directory)) {
    if (existsSync(path.join(directory, '.git'))) return directory;
    if (path.dirname(directory) === directory) return cwd;
  }
}

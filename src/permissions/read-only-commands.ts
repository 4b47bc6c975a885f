import { existsSync } from 'node:fs';
import path from 'node:path';
import { isDirectory } from '../base/files.ts';
import type { AllowedDirectories } from './allowed-directories.ts';
import type { DeniedReads } from './denied-reads.ts';
import { expandHome } from './rules/path-pattern.ts';
import { parseShellCommands } from './rules/shell-commands.ts';
import type { ShellCommand } from './rules/shell-reading.ts';
import { listEnteredDirectories } from './rules/shell-files.ts';

/** What is known of a program that needs no question for what it does. */
interface SimpleProgram {
  /** Words with which it does more, or reads what is not among its arguments. */
  readonly unless?: RegExp;
  /** Which arguments are texts rather than paths: `all`, or the `first` that is no option. */
  readonly texts?: 'all' | 'first';
  /** Words with which the first argument is a path after all. */
  readonly noText?: RegExp;
  /** Words with which it reaches all that lies in a directory. */
  readonly sweeps?: RegExp;
  /** Options that no value of their own follows, so that what follows is a path. */
  readonly flags?: RegExp;
}

/** Programs that only show something. Whatever is not here is asked about. */
const READERS: Readonly<Record<string, SimpleProgram>> = {
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

/** What git only shows, with the words that make it write or run something. */
const GIT_READERS: Readonly<Record<string, SimpleProgram>> = {
  branch: { unless: /^(?!-(?:[arv]+|-all|-remotes|-list|-verbose|-show-current)$)/ },
  diff: { unless: /^--(?:ou|ext)|^-O/ },
  log: { unless: /^--(?:ou|ext)|^-O/ },
  show: { unless: /^--(?:ou|ext)|^-O/ },
  status: {},
};

/** Programs that change files only where their arguments say. */
const EDITORS: Readonly<Record<string, SimpleProgram>> = {
  // Whole directories may bring files whose names nobody sees.
  cp: { unless: /^-\w*[rRa]|^--(?:r|a)/ },
  mkdir: {},
  // Under another name, what lies in a directory may be read.
  mv: { sweeps: /^/, flags: /^-[finuvT]+$/ },
  touch: {},
};

export interface CommandContext {
  readonly cwd: string;
  readonly home: string | null;
  readonly area: AllowedDirectories;
  /** Files in the area that must not be read all the same; null when there are none. */
  readonly denied: DeniedReads | null;
}

/** Tells which commands of a line need no question, because they only read inside the area. */
export function createReaderCheck(
  line: string,
  place: CommandContext,
): (command: ShellCommand) => boolean {
  if (parseShellCommands(line).readsFile) return () => false;
  const bases = basesOf(line, place);
  return ({ words }) => {
    const [name = '', ...args] = words ?? [];
    if (name === 'git') return bases.length === 1 && isGitReader(args, place);
    return staysInside(ownRow(READERS, name), args, { ...place, bases });
  };
}

/** The same for those that change files inside the area, and nothing else. */
export function createEditorCheck(
  line: string,
  place: CommandContext,
): (command: ShellCommand) => boolean {
  const bases = basesOf(line, place);
  return ({ words }) => {
    const [name = '', ...args] = words ?? [];
    return staysInside(ownRow(EDITORS, name), args, { ...place, bases });
  };
}

function basesOf(line: string, place: CommandContext): readonly string[] {
  const commands = parseShellCommands(line).commands.map(({ words }) => words ?? []);
  return listEnteredDirectories(commands, place);
}

function ownRow(
  table: Readonly<Record<string, SimpleProgram>>,
  name: string,
): SimpleProgram | null {
  return Object.hasOwn(table, name) ? (table[name] ?? null) : null;
}

interface Bases extends CommandContext {
  readonly bases: readonly string[];
}

function staysInside(
  program: SimpleProgram | null,
  args: readonly string[],
  { area, bases, denied, home }: Bases,
): boolean {
  if (program === null || args.some((arg) => program.unless?.test(arg) === true)) return false;
  if (program.texts === 'all') return true;
  const { paths, options } = sortArguments(program, args);
  // `--file=/x` names a path, too, and what it means is not known here.
  if (options.some((option) => /[/~]|\.\./.test(option))) return false;
  const named = ['.', ...paths, ...placedIn(paths)];
  if (!bases.every((base) => named.every((file) => area.contains(file, base)))) return false;
  const swept = sweptBy(program, { args, paths, options });
  return !bases.some((base) => swept.some((file) => mayHoldDenied(file, base, { denied, home })));
}

interface SortedArguments {
  readonly args: readonly string[];
  readonly paths: readonly string[];
  readonly options: readonly string[];
}

/** What it may read as a whole; where it stands counts, too, unless another place is named for sure. */
function sweptBy(
  { sweeps, flags }: SimpleProgram,
  { args, paths, options }: SortedArguments,
): readonly string[] {
  if (!args.some((arg) => sweeps?.test(arg) === true)) return [];
  const isSure = paths.length > 0 && options.every((option) => flags?.test(option) === true);
  return isSure ? paths : ['.', ...paths];
}

/** A file that is named is for the rules themselves to judge. */
function mayHoldDenied(
  file: string,
  base: string,
  { denied, home }: Pick<CommandContext, 'denied' | 'home'>,
): boolean {
  const full = path.resolve(base, expandHome(file, home));
  return denied !== null && isDirectory(full) && denied.mayLieBelow(full);
}

/** Where copies end up if the last path is a directory: a link may lie there already. */
function placedIn(paths: readonly string[]): readonly string[] {
  const target = paths.at(-1);
  if (target === undefined) return [];
  return paths.slice(0, -1).map((file) => path.join(target, path.basename(file)));
}

function sortArguments(
  { texts, noText }: SimpleProgram,
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

function isGitReader(given: readonly string[], place: CommandContext): boolean {
  const [subcommand = '', ...args] = given[0] === '--no-pager' ? given.slice(1) : given;
  const program = ownRow(GIT_READERS, subcommand);
  if (isInBareRepository(place)) return false;
  if (!staysInside(program, args, { ...place, bases: [place.cwd] })) return false;
  const { denied, cwd } = place;
  if (denied === null) return true;
  return !sweptByGit(subcommand, args, cwd).some((file) => denied.mayLieBelow(file));
}

const QUIET =
  /^-(?:n?\d*|s|-(?:all|decorate|graph|oneline|abbrev-commit|first-parent|merges|no-merges|reverse|cached|staged|no-patch|stat|shortstat|numstat|summary|name-only|name-status|format|pretty|date|author|grep|since|until|after|before|max-count)(?:=.*)?)$/;
const LISTS =
  /^(?:-s|--(?:no-patch|stat|shortstat|numstat|summary|name-only|name-status)(?:=.*)?)$/;

/** Whether it may show what stands in files, of now or of earlier. */
const SHOWS_FILES: Readonly<Record<string, (options: readonly string[]) => boolean>> = {
  diff: (options) =>
    !options.every((each) => QUIET.test(each)) || !options.some((each) => LISTS.test(each)),
  log: (options) => !options.every((each) => QUIET.test(each)),
  // A blob is shown whatever the options say.
  show: () => true,
  status: (options) => options.some((each) => /^-\w*v|^--v/.test(each)),
};

/** Places whose files git may show: the whole repository, unless paths say which. */
function sweptByGit(subcommand: string, args: readonly string[], cwd: string): readonly string[] {
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  const options = args.slice(0, end).filter((arg) => arg.startsWith('-'));
  if (SHOWS_FILES[subcommand]?.(options) !== true) return [];
  const limits = args.slice(end + 1);
  const isLimited = subcommand !== 'show' && limits.length > 0 && !limits.some(isPathPattern);
  const named = limits
    .map((file) => path.resolve(cwd, file))
    .filter((file) => !isRegularFile(file));
  // Two directories can be compared that no repository holds.
  const compared = args
    .slice(0, end)
    .map((arg) => path.resolve(cwd, arg))
    .filter(isDirectory);
  return [...compared, ...(isLimited ? named : [findRepository(cwd)])];
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

/** A repository without `.git` can lie in any checkout, and its settings name programs to run. */
function isInBareRepository({ cwd, area }: CommandContext): boolean {
  for (let directory = cwd; ; directory = path.dirname(directory)) {
    if (existsSync(path.join(directory, 'HEAD')) && existsSync(path.join(directory, 'objects'))) {
      return true;
    }
    const isTop = path.dirname(directory) === directory;
    if (isTop || existsSync(path.join(directory, '.git')) || !area.contains('.', directory)) {
      return false;
    }
  }
}

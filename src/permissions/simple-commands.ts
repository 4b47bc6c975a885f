import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Area } from './area.ts';
import { readShellCommands } from './rules/shell-commands.ts';
import type { ShellCommand } from './rules/shell-reading.ts';
import { enteredDirectories } from './rules/shell-files.ts';

/** What is known of a program that needs no question for what it does. */
interface SimpleProgram {
  /** Words with which it does more, or reads what is not among its arguments. */
  readonly unless?: RegExp;
  /** Which arguments are texts rather than paths: `all`, or the `first` that is no option. */
  readonly texts?: 'all' | 'first';
  /** Words with which the first argument is a path after all. */
  readonly noText?: RegExp;
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
  grep: { texts: 'first', noText: /^-\w*[ef]|^--(?:re|fi)/, unless: /^-\w*[fR]|^--(?:fi|de)/ },
  head: {},
  ls: {},
  pwd: { texts: 'all' },
  rg: {
    texts: 'first',
    noText: /^-\w*[ef]|^--(?:regexp|file|files|type-list)/,
    unless: /^-\w*[fzL]|^--(?:pre|file$|file=|follow|hostname-bin|search-zip)/,
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
  mv: {},
  touch: {},
};

export interface CommandPlace {
  readonly cwd: string;
  readonly home: string | null;
  readonly area: Area;
}

/** Tells which commands of a line need no question, because they only read inside the area. */
export function readersIn(line: string, place: CommandPlace): (command: ShellCommand) => boolean {
  if (readShellCommands(line).readsFile) return () => false;
  const bases = basesOf(line, place);
  return ({ words }) => {
    const [name = '', ...args] = words ?? [];
    if (name === 'git') return bases.length === 1 && isGitReader(args, place);
    return staysInside(ownRow(READERS, name), args, { ...place, bases });
  };
}

/** The same for those that change files inside the area, and nothing else. */
export function editorsIn(line: string, place: CommandPlace): (command: ShellCommand) => boolean {
  const bases = basesOf(line, place);
  return ({ words }) => {
    const [name = '', ...args] = words ?? [];
    return staysInside(ownRow(EDITORS, name), args, { ...place, bases });
  };
}

function basesOf(line: string, place: CommandPlace): readonly string[] {
  const commands = readShellCommands(line).commands.map(({ words }) => words ?? []);
  return enteredDirectories(commands, place);
}

function ownRow(
  table: Readonly<Record<string, SimpleProgram>>,
  name: string,
): SimpleProgram | null {
  return Object.hasOwn(table, name) ? (table[name] ?? null) : null;
}

interface Bases extends CommandPlace {
  readonly bases: readonly string[];
}

function staysInside(
  program: SimpleProgram | null,
  args: readonly string[],
  { area, bases }: Bases,
): boolean {
  if (program === null || args.some((arg) => program.unless?.test(arg) === true)) return false;
  if (program.texts === 'all') return true;
  const { paths, options } = sortArguments(program, args);
  // `--file=/x` names a path, too, and what it means is not known here.
  if (options.some((option) => /[/~]|\.\./.test(option))) return false;
  const named = ['.', ...paths, ...placedIn(paths)];
  return bases.every((base) => named.every((file) => area.contains(file, base)));
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

function isGitReader(given: readonly string[], place: CommandPlace): boolean {
  const [subcommand = '', ...args] = given[0] === '--no-pager' ? given.slice(1) : given;
  const program = ownRow(GIT_READERS, subcommand);
  if (isInBareRepository(place)) return false;
  return staysInside(program, args, { ...place, bases: [place.cwd] });
}

/** A repository without `.git` can lie in any checkout, and its settings name programs to run. */
function isInBareRepository({ cwd, area }: CommandPlace): boolean {
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

import { lstatSync } from 'node:fs';
import path from 'node:path';
import { UNKNOWN, extractShellWords } from './named-words.ts';
import { expandHome, resolveTargetPath, type PathContext } from './path-rule.ts';
import { type PathBudget, listPathsInWord } from './shell-paths.ts';

/** The words of one command; what the line writes to is a list that begins with `>`. */
export type CommandWords = readonly string[];

/** What a command line says and what of the file system it may name, command by command. */
export interface ShellFiles {
  readonly commands: readonly CommandFiles[];
  /** Whether all of it was looked at: a line can be made to name too much. */
  readonly isComplete: boolean;
}

export interface CommandFiles {
  readonly words: CommandWords;
  /** Absolute, each as written and as where it leads; rather too many than one too few. */
  readonly files: readonly string[];
}

type Place = Pick<PathContext, 'cwd' | 'home'>;

const readings = new Map<string, ShellFiles>();

/** Never throws. Remembered until the call at hand is judged, as every rule asks for the same line. */
export function resolveShellFiles(line: string, { cwd, home }: Place): ShellFiles {
  const key = JSON.stringify([cwd, home, line]);
  const known = readings.get(key);
  if (known !== undefined) return known;
  const reading = nameFiles(line, { cwd, home });
  // What lies there may be something else at the next call.
  if (readings.size === 0) queueMicrotask(() => readings.clear());
  readings.set(key, reading);
  return reading;
}

const MAX_WORDS = 5000;
const MAX_DIRECTORIES = 500;

/** `--exclude=.git` says what is not touched. */
const LEFT_OUT = /^--(?:exclude|ignore)[\w-]*=/;

function nameFiles(line: string, place: Place): ShellFiles {
  const commands = commandWords(line, place);
  const bases = listEnteredDirectories(commands, place);
  const budget: PathBudget = { words: MAX_WORDS, directories: MAX_DIRECTORIES, isSpent: false };
  const bothNames = createNaming();
  const known = new Map<string, readonly string[]>();
  const filesIn = (word: string): readonly string[] => {
    const files = known.get(word) ?? bases.flatMap((base) => filesFrom(base, word));
    known.set(word, files);
    return files;
  };
  const filesFrom = (base: string, word: string): readonly string[] => {
    const paths = LEFT_OUT.test(word) ? [] : listPathsInWord(word, base, budget).filter(mayBePath);
    return paths.flatMap((file) => bothNames(path.resolve(base, expandHome(file, place.home))));
  };
  const naming = commands.map((words) => ({ words, files: [...new Set(words)].flatMap(filesIn) }));
  return { commands: naming, isComplete: !budget.isSpent };
}

/** Every word of a command line, also inside `sh -c '…'`. */
function commandWords(line: string, { cwd, home }: Place): readonly CommandWords[] {
  const variables = { PWD: cwd, ...(home === null ? {} : { HOME: home }) };
  return extractShellWords(line, { cwd, root: cwd, variables, includesWritten: true });
}

const MAX_PATH = 4096;

function mayBePath(file: string): boolean {
  return !file.includes('\0') && file.length <= MAX_PATH;
}

/** Tells a file's name as written and by where it leads. Most words name nothing that is there. */
function createNaming(): (file: string) => readonly string[] {
  const directories = new Map<string, string>();
  const realDirectory = (directory: string): string => {
    const real = directories.get(directory) ?? resolveTargetPath(directory);
    directories.set(directory, real);
    return real;
  };
  return (file) => {
    try {
      const isThere = lstatSync(file, { throwIfNoEntry: false }) !== undefined;
      const target = isThere
        ? resolveTargetPath(file)
        : path.join(realDirectory(path.dirname(file)), path.basename(file));
      return target === file ? [file] : [file, target];
    } catch {
      // What cannot be looked at has the name that it is given.
      return [file];
    }
  };
}

/** Programs that say what they are told, or go there, and read no file for it. */
const READ_NOTHING: ReadonlySet<string> = new Set(['echo', 'printf', 'cd', 'pushd', 'mkdir', '>']);

export function canReadFiles([name = '']: CommandWords): boolean {
  return !READ_NOTHING.has(path.basename(name));
}

const MAX_BASES = 8;

/** Where relative paths of a line may start: here, and wherever it goes. */
export function listEnteredDirectories(
  commands: readonly CommandWords[],
  { cwd, home }: Pick<PathContext, 'cwd' | 'home'>,
): readonly string[] {
  const bases = new Set([cwd]);
  for (const [name, ...args] of commands) {
    if (name !== 'cd' && name !== 'pushd') continue;
    const target = args.find((arg) => !/^-[LPe@]*$|^--$/.test(arg)) ?? home;
    if (target === null || target.includes(UNKNOWN) || bases.size > MAX_BASES) continue;
    const entered = [...bases].map((base) => path.resolve(base, expandHome(target, home)));
    entered.forEach((directory) => bases.add(directory));
  }
  return [...bases];
}

const WRITERS =
  /^(?:>|tee|rm|rmdir|unlink|shred|mv|cp|ln|install|rsync|touch|mkdir|truncate|dd|chmod|chown|patch|ed|ex)$/;
const IN_PLACE = /^(?:sed|gsed|perl)$/;
const GIT_WRITES = /^(?:checkout|restore|rm|mv|clean|reset|apply|switch)$/;

/** Also when a program such as `sudo` or `xargs` stands before it. */
export function canWriteFiles(words: CommandWords): boolean {
  const names = words.map((word) => path.basename(word));
  if (names.some((name) => WRITERS.test(name))) return true;
  const isEditing = names.some((name) => IN_PLACE.test(name));
  if (isEditing && words.some((word) => /^-\w*i|^--in-place/.test(word))) return true;
  return names.includes('git') && words.some((word) => GIT_WRITES.test(word));
}

import { lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { UNKNOWN, extractShellWords } from './shell-words.ts';
import { expandHome, resolveTargetPath, type PathContext } from './path-pattern.ts';
import { isCommandMatch } from './command-pattern.ts';

/** The words of one command; what the line writes to is a list that begins with `>`. */
export type CommandWords = readonly string[];

/** What a command line says and what of the file system it may name, command by command. */
interface ShellFiles {
  readonly commands: readonly CommandFiles[];
  /** Whether all of it was looked at: a line can be made to name too much. */
  readonly isComplete: boolean;
}

interface CommandFiles {
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

/** How much may still be looked at for one line; what is left out makes the reading incomplete. */
interface PathBudget {
  words: number;
  directories: number;
  isSpent: boolean;
}

const MAX_SPELLINGS = 200;

/** Whatever a word may name: itself, what follows `=` or an option in it, what its pattern finds. */
function listPathsInWord(word: string, cwd: string, budget: PathBudget): readonly string[] {
  const pieces = [word, ...word.split(/[=:,@\s"'`()<>|&;]+/), ...afterOption(word)];
  const known = new Set(pieces.filter((piece) => piece !== '' && !piece.includes(UNKNOWN)));
  const spellings = [...known].slice(0, Math.max(0, budget.words)).flatMap(expandBraces);
  budget.isSpent ||= known.size > budget.words;
  budget.words -= spellings.length;
  return spellings.flatMap((each) => [each, ...findAll(each, cwd, budget)]);
}

/** `-r./a.js` holds a path. */
function afterOption(word: string): readonly string[] {
  return /^-\w./.test(word) ? [word.slice(2)] : [];
}

/** `.e{nv,x}` → `.env`, `.ex` */
function expandBraces(word: string): readonly string[] {
  let words = [word];
  for (let round = 0; round < 5; round += 1) {
    const next = words.flatMap(expandFirstBrace);
    if (next.length === words.length) return next;
    words = next.slice(0, MAX_SPELLINGS);
  }
  return words;
}

function expandFirstBrace(word: string): readonly string[] {
  const brace = /\{([^{}]*,[^{}]*)\}/.exec(word);
  if (brace === null) return [word];
  const before = word.slice(0, brace.index);
  const after = word.slice(brace.index + brace[0].length);
  return (brace[1] ?? '').split(',').map((choice) => before + choice + after);
}

const WILDCARD = /\*|\?|\[[^\]]*\]/;

/** What is there that a pattern such as `.e*` may mean; rather too much than too little. */
function findAll(word: string, cwd: string, budget: PathBudget): readonly string[] {
  if (!WILDCARD.test(word)) return [];
  const full = path.resolve(cwd, word);
  const { root } = path.parse(full);
  let places = [root];
  for (const segment of full.slice(root.length).split(path.sep)) {
    const found = places.flatMap((place) => entriesIn(place, segment, budget));
    budget.isSpent ||= found.length > MAX_SPELLINGS;
    places = found.slice(0, MAX_SPELLINGS);
  }
  return places;
}

function entriesIn(directory: string, segment: string, budget: PathBudget): readonly string[] {
  if (!WILDCARD.test(segment)) return [path.join(directory, segment)];
  budget.directories -= 1;
  budget.isSpent ||= budget.directories < 0;
  if (budget.directories < 0) return [];
  const pieces = segment.toLowerCase().split(new RegExp(WILDCARD, 'g'));
  const pattern = { pieces, bare: null, isDetailed: true };
  return namesIn(directory)
    .filter((name) => isCommandMatch(pattern, name.toLowerCase()))
    .map((name) => path.join(directory, name));
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

import { lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { UNKNOWN, extractShellWords } from './shell-words.ts';
import type { PathContext } from './path-pattern.ts';
import {
  joinChildPath,
  resolveFrom,
  type ResolvedTarget,
  resolveTarget,
} from '../../base/paths.ts';
import { expandHome } from './home-path.ts';
import { isWildcardMatch } from './command-pattern.ts';

/** The words of one command; the target of a write redirection is a list that begins with `>`. */
export type CommandWords = readonly string[];

/** The commands of a command line and the files that each may name. */
interface ShellFiles {
  readonly commands: readonly {
    readonly words: CommandWords;
    /** Absolute paths, as written and resolved; errs towards too many. */
    readonly files: readonly string[];
  }[];
  /** Whether all files were resolved: a line can be written to name too many. */
  readonly isComplete: boolean;
}

type FileContext = Pick<PathContext, 'cwd' | 'home'>;

const resolvedLines = new Map<string, ShellFiles>();

/** Never throws. Cached until the current call is judged, because every rule resolves the same line. */
export function resolveShellFiles(line: string, { cwd, home }: FileContext): ShellFiles {
  const key = JSON.stringify([cwd, home, line]);
  const cached = resolvedLines.get(key);
  if (cached !== undefined) return cached;
  const resolvedLine = resolveLine(line, { cwd, home });
  // The files may have changed at the next call.
  if (resolvedLines.size === 0) queueMicrotask(() => resolvedLines.clear());
  resolvedLines.set(key, resolvedLine);
  return resolvedLine;
}

const MAX_WORDS = 5000;
const MAX_DIRECTORIES = 500;

/** `--exclude=.git` names what is not touched. */
const EXCLUDE_OPTION = /^--(?:exclude|ignore)[\w-]*=/;

function resolveLine(line: string, context: FileContext): ShellFiles {
  const commands = listCommandWords(line, context);
  const bases = listEnteredDirectories(commands, context);
  const budget: PathBudget = { words: MAX_WORDS, directories: MAX_DIRECTORIES, isSpent: false };
  const listNames = createNameResolver(budget);
  const known = new Map<string, readonly string[]>();
  const resolveWordFrom = (base: string, word: string): readonly string[] => {
    const paths = EXCLUDE_OPTION.test(word)
      ? []
      : listPathsInWord(word, base, budget).filter(canBePath);
    return paths.flatMap((file) => listNames(resolveFrom(base, expandHome(file, context.home))));
  };
  const resolveWord = (word: string): readonly string[] => {
    const files = known.get(word) ?? bases.flatMap((base) => resolveWordFrom(base, word));
    known.set(word, files);
    return files;
  };
  const commandFiles = commands.map((words) => ({
    words,
    files: [...new Set(words)].flatMap(resolveWord),
  }));
  return { commands: commandFiles, isComplete: !budget.isSpent };
}

/** Every word of a command line, also inside `sh -c '…'`. */
function listCommandWords(line: string, { cwd, home }: FileContext): readonly CommandWords[] {
  const variables = { PWD: cwd, ...(home === null ? {} : { HOME: home }) };
  return extractShellWords(line, { cwd, root: cwd, variables, includesWritten: true });
}

const MAX_PATH = 4096;

function canBePath(file: string): boolean {
  return !file.includes('\0') && file.length <= MAX_PATH;
}

/** Resolves a file name as written and by its real path, caching directories: most words name no file. */
function createNameResolver(budget: PathBudget): (file: string) => readonly string[] {
  const directories = new Map<string, ResolvedTarget>();
  const resolveDirectory = (directory: string): ResolvedTarget => {
    const real = directories.get(directory) ?? resolveTarget(directory);
    directories.set(directory, real);
    return real;
  };
  return (file) => {
    const directory = resolveDirectory(path.dirname(file));
    const place = joinChildPath(directory.path, path.basename(file));
    const target = isExisting(place) ? resolveTarget(place) : { ...directory, path: place };
    budget.isSpent ||= !target.isCertain;
    return target.path === file ? [file] : [file, target.path];
  };
}

function isExisting(file: string): boolean {
  try {
    return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // Resolving it says whether that is certain.
    return true;
  }
}

/** Programs that read none of the files that their arguments name. */
const READ_NOTHING: ReadonlySet<string> = new Set(['echo', 'printf', 'cd', 'pushd', 'mkdir', '>']);

export function canReadFiles([name = '']: CommandWords): boolean {
  return !READ_NOTHING.has(path.basename(name));
}

const MAX_BASES = 8;

/** The directories that relative paths of a line may start in: the current one and every `cd` target. */
export function listEnteredDirectories(
  commands: readonly CommandWords[],
  { cwd, home }: FileContext,
): readonly string[] {
  const bases = new Set([cwd]);
  for (const [name, ...args] of commands) {
    if (name !== 'cd' && name !== 'pushd') continue;
    const target = args.find((arg) => !/^-[LPe@]*$|^--$/.test(arg)) ?? home;
    if (target === null || target.includes(UNKNOWN) || bases.size > MAX_BASES) continue;
    const written = expandHome(target, home);
    // Without -P the shell removes `..` before it looks at links; programs and the kernel do not.
    const entered = [...bases].flatMap((base) => [
      path.resolve(base, written),
      resolveFrom(base, written),
    ]);
    entered.forEach((directory) => bases.add(directory));
  }
  return [...bases];
}

const WRITERS =
  /^(?:>|tee|rm|rmdir|unlink|shred|mv|cp|ln|install|rsync|touch|mkdir|truncate|dd|chmod|chown|patch|ed|ex)$/;
const IN_PLACE = /^(?:sed|gsed|perl)$/;
const GIT_WRITES = /^(?:checkout|restore|rm|mv|clean|reset|apply|switch)$/;

/** Also when the program follows a wrapper such as `sudo` or `xargs`. */
export function canWriteFiles(words: CommandWords): boolean {
  const names = words.map((word) => path.basename(word));
  if (names.some((name) => WRITERS.test(name))) return true;
  const isEditing = names.some((name) => IN_PLACE.test(name));
  if (isEditing && words.some((word) => /^-\w*i|^--in-place/.test(word))) return true;
  return names.includes('git') && words.some((word) => GIT_WRITES.test(word));
}

/** How much may still be resolved for one line; once spent, the result is incomplete. */
interface PathBudget {
  words: number;
  directories: number;
  isSpent: boolean;
}

const MAX_SPELLINGS = 200;

/** The paths that a word may name: itself, the value of an option in it, the matches of its glob. */
function listPathsInWord(word: string, cwd: string, budget: PathBudget): readonly string[] {
  const pieces = [word, ...word.split(/[=:,@\s"'`()<>|&;]+/), ...splitOptionValue(word)];
  const knownPieces = new Set(pieces.filter((piece) => piece !== '' && !piece.includes(UNKNOWN)));
  const spellings = [...knownPieces].slice(0, Math.max(0, budget.words)).flatMap(expandBraces);
  budget.isSpent ||= knownPieces.size > budget.words;
  budget.words -= spellings.length;
  return spellings.flatMap((each) => [each, ...expandGlob(each, cwd, budget)]);
}

/** `-r./a.js` contains a path. */
function splitOptionValue(word: string): readonly string[] {
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

/** Existing files that a glob such as `.e*` may match; errs towards too many. */
function expandGlob(word: string, cwd: string, budget: PathBudget): readonly string[] {
  if (!WILDCARD.test(word)) return [];
  const full = path.resolve(cwd, word);
  const { root } = path.parse(full);
  let directories = [root];
  for (const segment of full.slice(root.length).split(path.sep)) {
    const found = directories.flatMap((directory) => matchEntries(directory, segment, budget));
    budget.isSpent ||= found.length > MAX_SPELLINGS;
    directories = found.slice(0, MAX_SPELLINGS);
  }
  return directories;
}

function matchEntries(directory: string, segment: string, budget: PathBudget): readonly string[] {
  if (!WILDCARD.test(segment)) return [path.join(directory, segment)];
  budget.directories -= 1;
  budget.isSpent ||= budget.directories < 0;
  if (budget.directories < 0) return [];
  const pieces = segment.toLowerCase().split(new RegExp(WILDCARD, 'g'));
  const matching = listEntries(directory).filter((name) =>
    isWildcardMatch(pieces, name.toLowerCase()),
  );
  // A name that is not UTF-8 cannot be looked up, so that it may be a link to any file.
  budget.isSpent ||= matching.some((name) => name.includes('\uFFFD'));
  return matching.map((name) => path.join(directory, name));
}

function listEntries(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

import { lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { getProgramName } from './carriers.ts';
import { type ReadCommand, readShell } from './read-shell.ts';
import type { CommandWords } from './visit-script.ts';
import { UNKNOWN } from './shell-words.ts';
import type { PathContext } from './path-pattern.ts';
import {
  joinChildPath,
  resolveFrom,
  type ResolvedTarget,
  resolveTarget,
} from '../../base/paths.ts';
import { isDirectory } from '../../base/files.ts';
import { expandHome } from './home-path.ts';
import { isWildcardMatch } from './command-pattern.ts';

/** The commands of a command line and the files that each may name. */
interface ShellFiles {
  readonly commands: readonly CommandFiles[];
  /** Whether it may run commands that the text does not name. */
  readonly mayRunAnything: boolean;
  /** Whether all files were resolved: a line can be written to name too many. */
  readonly isComplete: boolean;
  /** Whether a relative path may start in a directory that is not known. */
  readonly hasUnknownDirectory: boolean;
}

export interface CommandFiles extends ReadCommand {
  /** Absolute paths, as written and resolved; errs towards too many. */
  readonly files: readonly string[];
}

type FileContext = Pick<PathContext, 'cwd' | 'home'>;

/** By line, then by the directories; a key of all three would be built for every rule. */
const resolvedLines = new Map<string, Map<string, ShellFiles>>();

/** Never throws. Cached until the current call is judged, because every rule resolves the same line. */
export function resolveShellFiles(line: string, { cwd, home }: FileContext): ShellFiles {
  const key = `${cwd}\0${home}`;
  const byDirectory = resolvedLines.get(line) ?? new Map<string, ShellFiles>();
  const cached = byDirectory.get(key);
  if (cached !== undefined) return cached;
  const resolvedLine = resolveLine(line, { cwd, home });
  // The files may have changed at the next call.
  if (resolvedLines.size === 0) queueMicrotask(() => resolvedLines.clear());
  resolvedLines.set(line, byDirectory.set(key, resolvedLine));
  return resolvedLine;
}

const MAX_WORDS = 5000;
const MAX_DIRECTORIES = 500;

/** `--exclude=.git` names what is not touched. */
const EXCLUDE_OPTION = /^--(?:exclude|ignore)[\w-]*=/;

function resolveLine(line: string, context: FileContext): ShellFiles {
  const { commands: allCommands, mayRunAnything } = readShell(line, context);
  const commands = removeRepeated(allCommands);
  const { directories, isComplete } = findEnteredDirectories(
    commands.filter(({ isInFile }) => !isInFile).map(({ words }) => words),
    context,
  );
  const budget: PathBudget = { words: MAX_WORDS, directories: MAX_DIRECTORIES, isSpent: false };
  const listNames = createNameResolver(budget);
  const known = new Map<string, readonly string[]>();
  const resolveWordFrom = (base: string, word: string): readonly string[] => {
    const paths =
      isFlag(word) || EXCLUDE_OPTION.test(word)
        ? []
        : listPathsInWord(word, base, budget).filter(canBePath);
    return paths.flatMap((file) => listNames(resolveFrom(base, expandHome(file, context.home))));
  };
  const resolveWord = (word: string): readonly string[] => {
    const files = known.get(word) ?? directories.flatMap((base) => resolveWordFrom(base, word));
    known.set(word, files);
    return files;
  };
  const commandFiles = commands.map((command) => ({
    ...command,
    files: [...new Set(listFileWords(command.words).flatMap(resolveWord))],
  }));
  return {
    commands: commandFiles,
    mayRunAnything,
    isComplete: !budget.isSpent,
    hasUnknownDirectory: !isComplete,
  };
}

/** `-la` and `--quiet` name no file. */
function isFlag(word: string): boolean {
  return word.length < MAX_FLAG && /^--?[a-z]*$/i.test(word);
}

const MAX_FLAG = 4;

function removeRepeated(commands: readonly ReadCommand[]): readonly ReadCommand[] {
  const keys = commands.map(({ words, isInFile }) => `${isInFile} ${words.join('\0')}`);
  return [...new Map(commands.map((command, index) => [keys[index], command])).values()];
}

/** The words, and where `cp a b dir` and the like would put a copy. */
function listFileWords(words: CommandWords): readonly string[] {
  const names = words.map(getProgramName);
  if (!names.some((name) => COPIERS.test(name))) return words;
  const operands = words.filter((word) => !word.startsWith('-'));
  const targets = [...operands.slice(-1), ...listTargetOptions(words)];
  const copies = targets.flatMap((target) =>
    operands.slice(1).map((source) => `${target}/${path.basename(source)}`),
  );
  return copies.length > MAX_COPIES ? words : [...words, ...copies];
}

const COPIERS = /^(?:cp|mv|ln|install|rsync|scp|gcp)$/;
const MAX_COPIES = 200;

/** `cp -t dir a`, `cp --target-directory=dir a` */
function listTargetOptions(words: CommandWords): readonly string[] {
  return words.flatMap((word, index) => {
    const [, joined] = /^(?:-t|--target-directory=)(.+)$/.exec(word) ?? [];
    if (joined !== undefined) return [joined];
    return /^-\w*t$|^--target-directory$/.test(words[index - 1] ?? '') ? [word] : [];
  });
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

const MAX_BASES = 8;

/** The directories that relative paths of a line may start in: the current one and every `cd` target. */
export function listEnteredDirectories(
  commands: readonly CommandWords[],
  context: FileContext,
): readonly string[] {
  return findEnteredDirectories(commands, context).directories;
}

interface EnteredDirectories {
  readonly directories: readonly string[];
  /** False when the line may enter a directory that is not known, or too many. */
  readonly isComplete: boolean;
}

function findEnteredDirectories(
  commands: readonly CommandWords[],
  { cwd, home }: FileContext,
): EnteredDirectories {
  const bases = new Set([cwd]);
  const targets = new Set<string>();
  let isComplete = true;
  for (const [name = '', ...args] of commands) {
    for (const target of listDirectoryTargets(name, args, home)) {
      const isKnown = target !== null && !target.includes(UNKNOWN) && bases.size <= MAX_BASES;
      isComplete &&= isKnown;
      if (!isKnown) continue;
      const written = expandHome(target, home);
      const isRepeated = targets.has(target);
      targets.add(target);
      // Without -P the shell removes `..` before it looks at links; programs and the kernel do not.
      const entered = [...bases].flatMap((base) => [
        path.resolve(base, written),
        resolveFrom(base, written),
      ]);
      // `cd src` twice means the same directory, unless there is one in the other.
      entered
        .filter((directory) => !isRepeated || isDirectory(directory))
        .forEach((directory) => bases.add(directory));
    }
  }
  return { directories: [...bases], isComplete };
}

/** What a command enters: `cd x`, `git -C x`, `make -C x`, `tar --directory=x`, `env --chdir=x`. */
function listDirectoryTargets(
  name: string,
  args: readonly string[],
  home: string | null,
): readonly (string | null)[] {
  if (name === 'cd' || name === 'pushd') {
    return [args.find((arg) => !/^-[LPe@]*$|^--$/.test(arg)) ?? home];
  }
  return args.flatMap((arg, index) => {
    const [, joined] =
      /^(?:-C(?=.)|--(?:directory|chdir|cwd|working-directory)=)(.+)$/.exec(arg) ?? [];
    if (joined !== undefined) return [joined];
    const isValue = /^(?:-C|--(?:directory|chdir|cwd|working-directory)|-execdir)$/;
    return isValue.test(args[index - 1] ?? '') ? [arg] : [];
  });
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
  if (/^file:/i.test(word)) pieces.push(word.replace(/^file:\/*/i, ''));
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

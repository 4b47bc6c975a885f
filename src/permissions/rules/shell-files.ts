import { existsSync, lstatSync, readdirSync } from 'node:fs';
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
import { expandHome } from './home-path.ts';
import { isWildcardMatch } from './command-pattern.ts';
import { type FileAccess, listAccessedWords, listCopyTargets } from './file-access.ts';
import { listNamedInCode } from './foreign-code.ts';
import { findEnteredDirectories } from './entered-directories.ts';
import { expandBraces, splitWildcards } from './glob-words.ts';

/** The commands of a command line and the files that each may name. */
export interface ShellFiles {
  readonly commands: readonly CommandFiles[];
  /** Whether it may run commands that the text does not name. */
  readonly mayRunAnything: boolean;
  /** Whether all files were resolved: a line can be written to name too many. */
  readonly isComplete: boolean;
  /** Whether a relative path may start in a directory that is not known. */
  readonly hasUnknownDirectory: boolean;
  /** The files that each command reads or writes, in the order of the commands. */
  listAccessed(access: FileAccess): readonly AccessedFiles[];
}

/** Absolute paths that a command reads, or writes. */
export interface AccessedFiles {
  readonly command: CommandFiles;
  readonly certain: readonly string[];
  /** Those of which nobody knows, because the program is not known. */
  readonly possible: readonly string[];
  /** Whether it certainly reads or writes something that it names. */
  readonly isAccessing: boolean;
}

export interface CommandFiles extends ReadCommand {
  /** Absolute paths, as written and resolved; errs towards too many. */
  readonly files: readonly string[];
  /** Its words in one text, to see at once what none of them contains. */
  readonly text: string;
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
  const { directories, isComplete } = findBases(commands, context);
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
    text: command.words.join('\0'),
    files: [...new Set(listFileWords(command.words).flatMap(resolveWord))],
  }));
  return {
    commands: commandFiles,
    mayRunAnything,
    isComplete: !budget.isSpent,
    hasUnknownDirectory: !isComplete,
    listAccessed: createAccessLister(commandFiles, resolveWord),
  };
}

/** Lists once for all rules about reading, and once for all about writing. */
function createAccessLister(
  commands: readonly CommandFiles[],
  resolveWord: (word: string) => readonly string[],
): ShellFiles['listAccessed'] {
  const lists = new Map<FileAccess, readonly AccessedFiles[]>();
  return (access) => {
    const known = lists.get(access);
    if (known !== undefined) return known;
    const list = commands.map((command) => {
      const { certain, possible } = listAccessedWords(command.words, access);
      return {
        command,
        certain: certain === command.words ? command.files : certain.flatMap(resolveWord),
        possible: possible.flatMap(resolveWord),
        isAccessing: certain.length > 0,
      };
    });
    lists.set(access, list);
    return list;
  };
}

/** Most scripts enter directories that are not known, so of those only the known ones count. */
function findBases(
  commands: readonly ReadCommand[],
  context: FileContext,
): ReturnType<typeof findEnteredDirectories> {
  const listWords = (listed: readonly ReadCommand[]): readonly CommandWords[] =>
    listed.map(({ words }) => words);
  const ofLine = findEnteredDirectories(
    listWords(commands.filter(({ isInFile }) => !isInFile)),
    context,
  );
  if (commands.every(({ isInFile }) => !isInFile)) return ofLine;
  const ofFiles = findEnteredDirectories(listWords(commands), context);
  return {
    directories: [...new Set([...ofLine.directories, ...ofFiles.directories])],
    isComplete: ofLine.isComplete,
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

/** The words but for the name of a program, where `cp a b dir` and the like would put a copy, and files that code names. */
function listFileWords(words: CommandWords): readonly string[] {
  const [name = '', ...args] = words;
  const inCode = [
    ...listNamedInCode(getProgramName(name), args),
    ...listLinkTargets(getProgramName(name), args),
  ];
  const named = name.includes('/') ? words : args;
  const isCopier = words.some((word) => COPIERS.test(getProgramName(word)));
  return isCopier ? [...named, ...inCode, ...listCopyTargets(words)] : [...named, ...inCode];
}

/** `ln -s ../x sub/y` leads to what lies beside `sub`. */
function listLinkTargets(program: string, args: readonly string[]): readonly string[] {
  if (program !== 'ln') return [];
  const operands = args.filter((arg) => !arg.startsWith('-'));
  const links = [...operands.slice(-1), ...listCopyTargets(['ln', ...args])];
  return operands.flatMap((target) => links.map((link) => path.join(path.dirname(link), target)));
}

const COPIERS = /^(?:cp|mv|ln|install|rsync|scp|gcp)$/;

const MAX_PATH = 4096;

function canBePath(file: string): boolean {
  return !file.includes('\0') && file.length <= MAX_PATH;
}

/** Resolves a file name as written and by its real path, caching directories: most words name no file. */
function createNameResolver(budget: PathBudget): (file: string) => readonly string[] {
  const directories = new Map<string, ResolvedDirectory>();
  const resolveKnown = (directory: string): ResolvedDirectory => {
    const resolved = directories.get(directory) ?? resolveDirectory(directory);
    directories.set(directory, resolved);
    return resolved;
  };
  return (file) => {
    const directory = resolveKnown(path.dirname(file));
    const place = joinChildPath(directory.path, path.basename(file));
    const mayExist = directory.isPresent && isExisting(place);
    const target = mayExist ? resolveTarget(place) : { ...directory, path: place };
    budget.isSpent ||= !target.isCertain;
    return target.path === file ? [file] : [file, target.path];
  };
}

interface ResolvedDirectory extends ResolvedTarget {
  /** Nothing can exist in one that is absent. */
  readonly isPresent: boolean;
}

function resolveDirectory(directory: string): ResolvedDirectory {
  const target = resolveTarget(directory);
  return { ...target, isPresent: !target.isCertain || existsSync(target.path) };
}

function isExisting(file: string): boolean {
  try {
    return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // Resolving it says whether that is certain.
    return true;
  }
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
  // The shell expands no braces in a quoted text, and a lone star in one multiplies or means all columns.
  const isText = /\s/.test(word);
  const expanded = [...knownPieces]
    .slice(0, Math.max(0, budget.words))
    .filter((piece) => !NUMBERS.test(piece))
    .map((piece) => expandBraces(piece, MAX_SPELLINGS) ?? (isText ? [piece] : null));
  budget.isSpent ||= knownPieces.size > budget.words || expanded.includes(null);
  const spellings = expanded.flatMap((each) => each ?? []);
  budget.words -= spellings.length;
  return spellings.flatMap((each) =>
    isText && !/\w/.test(each) ? [each] : [each, ...expandGlob(each, cwd, budget)],
  );
}

/** `{1..1000}` names no file that a rule is about. */
const NUMBERS = /^\{-?\d+\.\.-?\d+(?:\.\.-?\d+)?\}$/;

/** `-r./a.js` contains a path. */
function splitOptionValue(word: string): readonly string[] {
  return /^-\w./.test(word) ? [word.slice(2)] : [];
}

/** Existing files that a glob such as `.e*` may match; errs towards too many. */
function expandGlob(word: string, cwd: string, budget: PathBudget): readonly string[] {
  if (splitWildcards(word).length === 1) return [];
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
  const pieces = splitWildcards(segment.toLowerCase());
  if (pieces.length === 1) return [path.join(directory, segment)];
  budget.directories -= 1;
  budget.isSpent ||= budget.directories < 0;
  if (budget.directories < 0) return [];
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

import { existsSync } from 'node:fs';
import path from 'node:path';
import { isDirectory, isFile } from '../../../base/files.ts';
import { findPathInside } from '../../../base/paths.ts';
import {
  extractRoughWords,
  UNKNOWN,
  type ShellWordContext,
  extractShellWords,
  extractArgumentWords,
} from '../../../permissions/rules/shell-words.ts';

export interface NamedFiles {
  /** Absolute paths inside the root; they may not exist, and may be directories. */
  readonly files: string[];
  /** Directories of hooks that contain a named file; never the root. */
  readonly directories: string[];
}

/** Finds every file of the workspace that a hook's command line names. Never throws. */
export function findNamedFiles(commandLine: string, context: ShellWordContext): NamedFiles {
  return findFilesInCommands(extractShellWords(commandLine, context), context);
}

/** Finds every file of the workspace that a program and its arguments name, without a shell. */
export function findNamedFilesInArgs(
  words: readonly string[],
  context: ShellWordContext,
): NamedFiles {
  return findFilesInCommands(extractArgumentWords(words, context), context);
}

function findFilesInCommands(
  commands: readonly (readonly string[])[],
  context: ShellWordContext,
): NamedFiles {
  const bases = listBaseDirectories(commands, context);
  const words = new Set(commands.flatMap(listPathsInCommand));
  const files = new Set([
    ...[...words].flatMap((word) => findFilesOfWord(word, bases)),
    ...findFilesInScripts([...words], bases, context),
  ]);
  const inside = [...files].filter((file) => isBelow(context.root, file));
  const directories = inside.flatMap((file) => findHooksDirectory(file, context.root) ?? []);
  return { files: inside, directories: [...new Set(directories)] };
}

/** Finds existing files that a word with code names, as in `node -e "require('./check')"`. */
function findFilesInScripts(
  words: readonly string[],
  bases: readonly string[],
  context: ShellWordContext,
): readonly string[] {
  const scripts = words.filter((word) => /[\s"'`()]/.test(word));
  const inner = new Set(
    scripts.flatMap((word) => extractRoughWords(word, context)).flatMap(listPathsInWord),
  );
  const files = [...inner].filter(isPathLike).flatMap((word) => findFilesOfWord(word, bases));
  return files.filter(isFile);
}

/** Lists the directories that relative paths may start from: the cwd, the root and targets of `cd`. */
function listBaseDirectories(
  commands: readonly (readonly string[])[],
  { cwd, root }: ShellWordContext,
): string[] {
  const entered = commands.flatMap(([name, ...args]) => {
    if (name !== 'cd' && name !== 'pushd') return [];
    const target = args.find((arg) => !arg.startsWith('-'));
    return target === undefined || target.includes(UNKNOWN) ? [] : [path.resolve(cwd, target)];
  });
  return [...new Set([cwd, root, ...entered])];
}

function listPathsInCommand(words: readonly string[]): readonly string[] {
  const module = words[words.indexOf('-m') + 1];
  const modules = words.includes('-m') && module !== undefined ? listModulePaths(module) : [];
  return [...words.flatMap(listPathsInWord), ...modules];
}

function listModulePaths(module: string): readonly string[] {
  const file = module.replaceAll('.', '/');
  return [`${file}.py`, `${file}/__main__.py`, `${file}/__init__.py`];
}

/** Lists a word and the paths inside it, as in `--import=./a.mjs`, `-r./a.js` and `A=./b:./c`. */
function listPathsInWord(word: string): readonly string[] {
  const knownPart = stripUnknown(word);
  if (knownPart === '' || knownPart.includes('://')) return [];
  const pieces = /[=:,]/.test(knownPart) ? knownPart.split(/[=:,]/) : [];
  const afterFlag = /^-\w./.test(knownPart) ? [knownPart.slice(2)] : [];
  return [knownPart, ...pieces, ...afterFlag].filter(
    (piece) => piece !== '' && !/^--?$/.test(piece),
  );
}

/** The part after an unknown value is taken as a path in the workspace. */
function stripUnknown(word: string): string {
  return word
    .slice(word.lastIndexOf(UNKNOWN) + 1)
    .replace(word.includes(UNKNOWN) ? /^\/+/ : '', '');
}

const LOADED_ENDINGS = ['.js', '.mjs', '.cjs', '.ts', '.py', '/index.js', '/__main__.py'];

/** Returns a path even when nothing exists there yet; any other word only when such a file exists. */
function findFilesOfWord(word: string, bases: readonly string[]): readonly string[] {
  if (word.startsWith('-') || word.includes('\0') || TOO_LONG.test(word)) return [];
  const places = [...new Set(bases.map((base) => path.resolve(base, stripGlob(word))))];
  const isPath = isPathLike(word) && !word.includes('\n') && !isSetting(word);
  if (!isPath) return places.filter(isFile);
  const loaded = path.extname(word) === '' ? places.flatMap(findLoadedInstead) : [];
  return [...places, ...loaded];
}

/** `NAME=/path` is skipped as a whole; its path is checked separately. */
function isSetting(word: string): boolean {
  return /^\w[\w.-]*=/.test(word);
}

/** A longer file name makes `stat` fail. */
const TOO_LONG = /[^/]{256}/;

/** Interpreters load `./check.js` for `./check`. */
function findLoadedInstead(file: string): readonly string[] {
  if (isFile(file)) return [];
  return LOADED_ENDINGS.map((ending) => file + ending).filter((each) => existsSync(each));
}

function isPathLike(word: string): boolean {
  return word.includes('/') || word.includes('\\') || /^[^\s*?]*\.[a-z]\w{0,4}$/i.test(word);
}

/** Reduces `hooks/*.sh` to `hooks/`. */
function stripGlob(word: string): string {
  const glob = word.search(/[*?[{]/);
  return glob === -1 ? word : word.slice(0, word.lastIndexOf('/', glob) + 1) || '.';
}

const HOOK_HOMES = ['.claude', '.cline', '.clinerules'];

/** Finds the directory of a file, or the directory itself, when it contains only hooks. */
function findHooksDirectory(file: string, root: string): string | null {
  const directory = isDirectory(file) ? file : path.dirname(file);
  const segments = (findPathInside(root, directory) ?? '').split(path.sep);
  const isBelowHome = segments.slice(0, -1).some((segment) => HOOK_HOMES.includes(segment));
  return segments.includes('hooks') || isBelowHome ? directory : null;
}

function isBelow(root: string, file: string): boolean {
  const relative = findPathInside(root, file);
  return relative !== null && relative !== '';
}

import { type Stats, statSync } from 'node:fs';
import path from 'node:path';
import { findPathInside } from '../../../base/paths.ts';
import {
  extractRoughWords,
  UNKNOWN,
  type ShellWordContext,
  extractShellWords,
  extractArgumentWords,
} from '../../../permissions/rules/shell-words.ts';

export interface NamedFiles {
  /** Absolute, inside the root; they may be missing, and may be directories. */
  readonly files: string[];
  /** Directories of hooks from which something is named; never the root. */
  readonly directories: string[];
}

/** Every file of the workspace that a hook's command line names. Never throws. */
export function findNamedFiles(commandLine: string, context: ShellWordContext): NamedFiles {
  return filesIn(extractShellWords(commandLine, context), context);
}

/** The same for a program that is started without a shell, its name first. */
export function findNamedFilesInArgs(
  words: readonly string[],
  context: ShellWordContext,
): NamedFiles {
  return filesIn(extractArgumentWords(words, context), context);
}

function filesIn(commands: readonly (readonly string[])[], context: ShellWordContext): NamedFiles {
  const bases = basesOf(commands, context);
  const words = new Set(commands.flatMap(pathsInCommand));
  const files = new Set([
    ...[...words].flatMap((word) => filesNamed(word, bases)),
    ...filesInScripts([...words], bases, context),
  ]);
  const inside = [...files].filter((file) => isBelow(context.root, file));
  const directories = inside.flatMap((file) => findHooksDirectory(file, context.root) ?? []);
  return { files: inside, directories: [...new Set(directories)] };
}

/** What is there of what a word names that is itself a text, as in `node -e "require('./check')"`. */
function filesInScripts(
  words: readonly string[],
  bases: readonly string[],
  context: ShellWordContext,
): readonly string[] {
  const scripts = words.filter((word) => /[\s"'`()]/.test(word));
  const inner = new Set(
    scripts.flatMap((word) => extractRoughWords(word, context)).flatMap(pathsInWord),
  );
  const files = [...inner].filter(looksLikePath).flatMap((word) => filesNamed(word, bases));
  return files.filter(isFile);
}

/** The directories that relative paths may be relative to. */
function basesOf(
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

function pathsInCommand(words: readonly string[]): readonly string[] {
  const module = words[words.indexOf('-m') + 1];
  const modules = words.includes('-m') && module !== undefined ? modulePaths(module) : [];
  return [...words.flatMap(pathsInWord), ...modules];
}

function modulePaths(module: string): readonly string[] {
  const file = module.replaceAll('.', '/');
  return [`${file}.py`, `${file}/__main__.py`, `${file}/__init__.py`];
}

/** A word and what it may hold: `--import=./a.mjs`, `-r./a.js` and `A=./b:./c` hold some. */
function pathsInWord(word: string): readonly string[] {
  const known = afterUnknown(word);
  if (known === '' || known.includes('://')) return [];
  const pieces = /[=:,]/.test(known) ? known.split(/[=:,]/) : [];
  const afterFlag = /^-\w./.test(known) ? [known.slice(2)] : [];
  return [known, ...pieces, ...afterFlag].filter((piece) => piece !== '' && !/^--?$/.test(piece));
}

/** What is known of a word that begins in an unknown place is taken to lie in the workspace. */
function afterUnknown(word: string): string {
  return word
    .slice(word.lastIndexOf(UNKNOWN) + 1)
    .replace(word.includes(UNKNOWN) ? /^\/+/ : '', '');
}

const LOADED_ENDINGS = ['.js', '.mjs', '.cjs', '.ts', '.py', '/index.js', '/__main__.py'];

/** A path is bound although nothing may be there yet; anything else only if there is such a file. */
function filesNamed(word: string, bases: readonly string[]): readonly string[] {
  if (word.startsWith('-') || word.includes('\0') || TOO_LONG.test(word)) return [];
  const places = [...new Set(bases.map((base) => path.resolve(base, withoutGlob(word))))];
  const isPath = looksLikePath(word) && !word.includes('\n') && !isSetting(word);
  if (!isPath) return places.filter(isFile);
  const loaded = path.extname(word) === '' ? places.flatMap(loadedInstead) : [];
  return [...places, ...loaded];
}

/** `NAME=/path` names the path, which is looked at by itself. */
function isSetting(word: string): boolean {
  return /^\w[\w.-]*=/.test(word);
}

/** No file has such a name, and asking for it is an error. */
const TOO_LONG = /[^/]{256}/;

/** Interpreters take `./check` for `./check.js`. */
function loadedInstead(file: string): readonly string[] {
  if (isFile(file)) return [];
  return LOADED_ENDINGS.map((ending) => file + ending).filter(
    (each) => findStats(each) !== undefined,
  );
}

function looksLikePath(word: string): boolean {
  return word.includes('/') || word.includes('\\') || /^[^\s*?]*\.[a-z]\w{0,4}$/i.test(word);
}

/** `hooks/*.sh` names what is in `hooks`. */
function withoutGlob(word: string): string {
  const glob = word.search(/[*?[{]/);
  return glob === -1 ? word : word.slice(0, word.lastIndexOf('/', glob) + 1) || '.';
}

const HOOK_HOMES = ['.claude', '.cline', '.clinerules'];

/** The directory that a file lies in, or is, if everything in it belongs to hooks. */
function findHooksDirectory(file: string, root: string): string | null {
  const directory = findStats(file)?.isDirectory() === true ? file : path.dirname(file);
  const segments = (findPathInside(root, directory) ?? '').split(path.sep);
  const isBelowHome = segments.slice(0, -1).some((segment) => HOOK_HOMES.includes(segment));
  return segments.includes('hooks') || isBelowHome ? directory : null;
}

function isBelow(root: string, file: string): boolean {
  const relative = findPathInside(root, file);
  return relative !== null && relative !== '';
}

function isFile(file: string): boolean {
  return findStats(file)?.isFile() === true;
}

function findStats(file: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

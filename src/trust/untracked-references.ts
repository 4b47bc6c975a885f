import { statSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { isHooklineError } from '../base/errors.ts';
import { findRealPath, isInside } from '../base/paths.ts';
import { collectUnit, toFileKey, type TrustUnit, findLinkedDirectory } from './collect-unit.ts';
import {
  extractCommandText,
  MAX_FINDINGS,
  MAX_WORDS,
  extractPathWords,
  isCommandStart,
  splitCommands,
  isUsableWord,
  stripLeadingSlash,
  stripVariables,
} from './reference-words.ts';

/** Something that a script names and that can change without losing the trust of the hook. */
export interface UntrackedReference {
  /**
   * A workspace file · a directory, or a glob in it · a command that runs scripts defined elsewhere ·
   * a module that is resolved by its name · text that was not scanned.
   */
  readonly kind: 'file' | 'directory' | 'runner' | 'package' | 'rest';
  readonly name: string;
}

const MAX_TEXT = 256 * 1024;
const IMPORT_ENDINGS = ['', '.js', '.mjs', '.cjs', '.ts', '.py', '.sh'];

/**
 * A heuristic for reviewers, not a proof: a script can build a name that no scan finds. `boundFiles` are
 * the real paths of all files that the unit binds.
 */
export function findUntrackedReferences(
  unit: TrustUnit,
  scriptText: string,
  boundFiles: () => ReadonlySet<string> = () => collectBoundFiles(unit),
): readonly UntrackedReference[] {
  const text = scriptText.slice(0, MAX_TEXT);
  const commands = extractCommandText(unit, text);
  const words = [...extractPathWords(commands)];
  const files = findReferencedFiles(unit, words.slice(0, MAX_WORDS), boundFiles);
  const found: UntrackedReference[] = [
    ...files.map((name) => ({ kind: 'file' as const, name })),
    ...findReferencedDirectories(unit, commands).map((name) => ({
      kind: 'directory' as const,
      name,
    })),
    ...findReferencedRunners(commands).map((name) => ({ kind: 'runner' as const, name })),
    ...findReferencedPackages(unit, text).map((name) => ({ kind: 'package' as const, name })),
  ];
  const isComplete =
    text.length === scriptText.length && words.length <= MAX_WORDS && found.length < MAX_FINDINGS;
  if (isComplete) return found;
  const rest = { kind: 'rest' as const, name: 'more than is scanned' };
  return [...found.slice(0, MAX_FINDINGS - 1), rest];
}

function findReferencedFiles(
  unit: TrustUnit,
  words: readonly string[],
  boundFiles: () => ReadonlySet<string>,
): readonly string[] {
  const real = resolveRealPaths(unit);
  const found = new Set<string>();
  let isBound: ((file: string) => boolean) | null = null;
  for (const candidate of listFileCandidates(words, listBaseDirectories(unit, real))) {
    const file = findWorkspaceFile(real.root, candidate);
    if (file === null) continue;
    isBound ??= createBoundFileCheck(unit, real, boundFiles());
    if (!isBound(file)) found.add(toFileKey(real.root, file));
    if (found.size >= MAX_FINDINGS) break;
  }
  return [...found];
}

function* listFileCandidates(
  words: readonly string[],
  bases: ReadonlySet<string>,
): Generator<string> {
  for (const word of words) {
    const endings = /^\.{1,2}[/\\]/.test(word) ? IMPORT_ENDINGS : [''];
    for (const base of bases) {
      yield* endings.map((ending) => path.resolve(base, `${word}${ending}`));
    }
    yield `/${word}`;
  }
}

function findWorkspaceFile(root: string, file: string): string | null {
  if (!isInside(root, file)) return null;
  const real = findRealPath(file);
  if (real === null || !isInside(root, real)) return null;
  return statSync(real, { throwIfNoEntry: false })?.isFile() === true ? real : null;
}

const MODULE_ENDINGS = ['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts'];
const MODULE_RUNNER = /^\uFEFF?#!.{0,400}\b(?:node|nodejs|bun|bunx|deno|tsx|ts-node)\b/;
const IMPORT =
  /\b(?:from|import|require|resolve)\s{0,20}\(?\s{0,20}(["'`])(?<name>[^"'`\n]{1,200})\1/g;

/** Modules that Node.js resolves by name: in `node_modules`, or by the `imports` of the package. */
function findReferencedPackages(unit: TrustUnit, text: string): readonly string[] {
  const isModule = MODULE_ENDINGS.includes(path.extname(unit.entry).toLowerCase());
  if (unit.text !== undefined || !(isModule || MODULE_RUNNER.test(text))) return [];
  const code = text.replaceAll(/^\s{0,200}(?:\/\/|\*).*$/gm, '');
  const names = [...code.matchAll(IMPORT)].flatMap(({ groups }) => groups?.['name'] ?? []);
  return [...new Set(names.filter(isResolvedByName))].slice(0, MAX_FINDINGS);
}

function isResolvedByName(specifier: string): boolean {
  return !/^(?:\.{0,2}[/\\]|\.{1,2}$|(?:file|data|bun):)/.test(specifier) && !isBuiltin(specifier);
}

function resolveRealPaths(unit: TrustUnit): Pick<TrustUnit, 'root' | 'entry'> {
  return {
    root: findRealPath(unit.root) ?? unit.root,
    entry: findRealPath(unit.entry) ?? unit.entry,
  };
}

/** The directories that paths in a hook may be relative to. */
function listBaseDirectories(
  unit: TrustUnit,
  real: Pick<TrustUnit, 'root' | 'entry'>,
): ReadonlySet<string> {
  return new Set([real.root, path.dirname(unit.entry), path.dirname(real.entry)]);
}

/** Checks whether a file is bound. */
function createBoundFileCheck(
  unit: TrustUnit,
  real: Pick<TrustUnit, 'root' | 'entry'>,
  boundFiles: ReadonlySet<string>,
): (file: string) => boolean {
  const entries = unit.text === undefined ? [real.entry] : [];
  const trackedFiles = new Set(
    [...entries, ...unit.files].map((file) => findRealPath(file) ?? file),
  );
  const isInBound = createBoundDirectoryCheck(unit, real);
  return (file) => trackedFiles.has(file) || boundFiles.has(file) || isInBound(file);
}

/** Empty when the unit cannot be bound, which is reported where it is trusted. */
function collectBoundFiles(unit: TrustUnit): ReadonlySet<string> {
  try {
    return new Set(collectUnit(unit).files.values());
  } catch (error) {
    if (isHooklineError(error)) return new Set();
    throw error;
  }
}

/** Checks whether a path is, or lies in, a directory that is bound as a whole. */
function createBoundDirectoryCheck(
  unit: TrustUnit,
  real: Pick<TrustUnit, 'root' | 'entry'>,
): (place: string) => boolean {
  const linked = unit.text === undefined ? findLinkedDirectory(unit, real) : null;
  const directories = [...unit.directories, ...(linked === null ? [] : [linked])]
    .map((directory) => findRealPath(directory) ?? directory)
    .filter((directory) => isInside(real.root, directory) && directory !== real.root);
  const isInApartDirectory = (place: string): boolean =>
    unit.apart?.some((directory) => isInside(directory, place)) === true;
  return (place) =>
    directories.some((directory) => isBoundInDirectory(directory, place)) &&
    !isInApartDirectory(place);
}

function isBoundInDirectory(directory: string, file: string): boolean {
  const inside = path.relative(directory, file);
  return isInside(directory, file) && !inside.split(path.sep).includes('.git');
}

/** Workspace directories that commands name, and globs in them. */
function findReferencedDirectories(unit: TrustUnit, commands: string): readonly string[] {
  const words = [...extractDirectoryWords(unit, commands)].slice(0, MAX_WORDS).map(splitPattern);
  if (words.length === 0) return [];
  const found = new Set(
    words.flatMap(({ place, pattern }) => (isUnanchored(place, pattern) ? [pattern] : [])),
  );
  const real = resolveRealPaths(unit);
  const bases = listBaseDirectories(unit, real);
  let isBound: ((directory: string) => boolean) | null = null;
  for (const { place, pattern } of words) {
    if (found.size >= MAX_FINDINGS) break;
    for (const candidate of listDirectoryCandidates(place, bases)) {
      const directory = findWorkspaceDirectory(real.root, candidate);
      if (directory === null) continue;
      isBound ??= createBoundDirectoryCheck(unit, real);
      if (!isBound(directory)) found.add(`${toFileKey(real.root, directory)}/${pattern}`);
    }
  }
  return [...found];
}

function extractDirectoryWords(unit: TrustUnit, commands: string): ReadonlySet<string> {
  const isEntry = unit.text !== undefined;
  const isPassedOn = isEntry && /\bxargs\b/.test(commands);
  const words = new Set<string>();
  for (const command of splitCommands(stripVariables(commands), stripQuotes)) {
    for (const word of listDirectoryWords(command, { isEntry, isPassedOn })) {
      words.add(word);
    }
  }
  return words;
}

/** Commands that list a directory, so that a word without a slash may name one. */
const READERS = ['find', 'fd', 'for', 'ls', 'run-parts', 'source', '.'];

/** Commands that do not read the files of a directory. */
const VISITORS = ['cd', 'pushd', 'mkdir', 'rmdir', 'test', '[', '[['];

/** Scripts name many paths that they do not run: of theirs, only arguments of READERS count. */
function listDirectoryWords(
  command: readonly string[],
  { isEntry, isPassedOn }: { isEntry: boolean; isPassedOn: boolean },
): readonly string[] {
  const reader = findCommand(command, READERS);
  if (findCommand(command, VISITORS) !== -1 || (reader === -1 && !isEntry)) return [];
  const isLoop = command[reader] === 'for';
  const canBeDirectory = (word: string): boolean => {
    if (word.includes('/')) return true;
    return isPattern(word) ? isLoop : reader !== -1 || isPassedOn;
  };
  const commandArguments = command.slice((isLoop ? command.indexOf('in') : reader) + 1);
  const words = commandArguments.map((word) => stripLeadingSlash(word.replace(/^[\w-]+=/, '')));
  return words.filter(
    (word) => isUsableWord(word) && !word.startsWith('-') && canBeDirectory(word),
  );
}

function findCommand(words: readonly string[], names: readonly string[]): number {
  return words.findIndex((word, index) => names.includes(word) && isCommandStart(words, index));
}

function stripQuotes(line: string): string {
  return line.replaceAll(/["']/g, '');
}

function isPattern(word: string): boolean {
  return /[*?[{]/.test(word);
}

/** `tools/*.sh` is the pattern `*.sh` in `tools`. */
function splitPattern(word: string): { readonly place: string; readonly pattern: string } {
  const at = word.search(/[*?[{]/);
  if (at === -1) return { place: word, pattern: '' };
  const end = word.lastIndexOf('/', at) + 1;
  return { place: word.slice(0, end), pattern: word.slice(end) };
}

/** A glob without a directory; brackets alone are rather code. */
function isUnanchored(place: string, pattern: string): boolean {
  return place === '' && /[*?]/.test(pattern);
}

function listDirectoryCandidates(place: string, bases: ReadonlySet<string>): readonly string[] {
  if (place === '') return [];
  return [...[...bases].map((base) => path.resolve(base, place)), path.resolve('/', place)];
}

function findWorkspaceDirectory(root: string, place: string): string | null {
  if (!isInside(root, place)) return null;
  const real = findRealPath(place);
  if (real === null || real === root || !isInside(root, real)) return null;
  return statSync(real, { throwIfNoEntry: false })?.isDirectory() === true ? real : null;
}

/** For each runner: the subcommands after which the next word belongs to the name of the script. */
const RUNNERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['npm', ['run', 'run-script', 'exec', 'x']],
  ['npx', []],
  ['yarn', ['run', 'exec', 'dlx']],
  ['pnpm', ['run', 'exec', 'dlx']],
  ['bun', ['run', 'x']],
  ['bunx', []],
  ['deno', ['run', 'task']],
  ['make', []],
  ['uv', ['run']],
  ['uvx', []],
  ['poetry', ['run']],
  ['cargo', ['run']],
  ['go', ['run']],
]);

const ANY_RUNNER = new RegExp([...RUNNERS.keys()].join('|'));

/** Ordinary English words: runners only at the start of a command. */
const ORDINARY_WORDS = ['make', 'go'];

/** Text for a reader: what echo prints to the terminal, without expansions. */
const PRINTED =
  /(^|[;&({]|\b(?:then|do|else)\s)[ \t]*(?:echo|printf)[ \t][^|;&`$>\n]*(?:>&[12][ \t]*)?(?=[;&})]|$)/gm;

/** Commands that run scripts which other files define, such as `npm run lint`. */
function findReferencedRunners(text: string): readonly string[] {
  if (!ANY_RUNNER.test(text)) return [];
  const found = new Set<string>();
  for (const command of splitCommands(text.replaceAll(PRINTED, '$1'), joinArguments)) {
    for (const runner of listRunners(command)) found.add(runner);
    if (found.size >= MAX_FINDINGS) break;
  }
  return [...found].slice(0, MAX_FINDINGS);
}

/** `spawn('npm', ['run', 'lint'])` names the same command as `npm run lint`. */
function joinArguments(line: string): string {
  return line.replaceAll(/["'[\],]+/g, ' ');
}

function* listRunners(words: readonly string[]): Generator<string> {
  for (const [index, word] of words.entries()) {
    const followers = RUNNERS.get(word);
    // `command -v npm` only checks whether it exists.
    if (followers === undefined || words[index - 1] === '-v') continue;
    if (ORDINARY_WORDS.includes(word) && !isCommandStart(words, index)) continue;
    yield formatRunner(word, { followers, rest: words.slice(index + 1, index + 8) });
  }
}

function formatRunner(
  runner: string,
  { followers, rest }: { followers: readonly string[]; rest: readonly string[] },
): string {
  const [first, second] = rest.filter((word) => /^[\w@.][\w@./:-]*$/.test(word));
  if (first === undefined) return runner;
  if (second === undefined || !followers.includes(first)) return `${runner} ${first}`;
  return `${runner} ${first} ${second}`;
}

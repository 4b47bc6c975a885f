import { type Dirent, existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { isDirectory } from '../../base/files.ts';
import { joinChildPath } from '../../base/paths.ts';
import {
  canAccessTrees,
  canUnknownBeFile,
  type FileAccess,
  getTreeDefault,
  hasNameList,
} from './file-access.ts';
import { isGlob } from './glob-words.ts';
import { isWildcardMatch } from './command-pattern.ts';
import {
  canMatchBelow,
  canMatchWrittenPath,
  type GuardMatch,
  type PathContext,
  type PathPattern,
  resolveRealContext,
} from './path-pattern.ts';
import {
  type AccessedFiles,
  type CommandFiles,
  resolveShellFiles,
  type ShellFiles,
} from './shell-files.ts';
import { UNKNOWN } from './shell-words.ts';

/** Whether a command line reads or writes a file that a pattern matches; `maybe` when that is not certain. */
export function matchGuardedFiles(
  pattern: PathPattern,
  access: FileAccess,
  line: string,
  contexts: readonly PathContext[],
): GuardMatch {
  const locations = listLocations(contexts);
  const isGuarded = (file: string): boolean =>
    file.toLowerCase().includes(pattern.literal) &&
    locations.some((context) => canMatchWrittenPath(pattern, file, context));
  const readings = contexts.map((context) => ({
    context,
    reading: resolveShellFiles(line, context),
  }));
  const someCommand = (isMatch: (accessed: AccessedFiles, of: Reading) => boolean): boolean =>
    readings.some((of) => of.reading.listAccessed(access).some((each) => isMatch(each, of)));
  if (someCommand(({ certain }) => certain.some(isGuarded))) return 'yes';
  if (readings.some(({ reading }) => reading.mayRunAnything || !reading.isComplete)) return 'maybe';
  const isClosed = (directory: string): boolean =>
    isGuarded(joinChildPath(directory, ANY_NAME)) && isDirectory(directory);
  const mayAccess = ({ command, certain, possible, isAccessing }: AccessedFiles, of: Reading) =>
    possible.some(isGuarded) ||
    (access === 'write' && (certain.some(isClosed) || possible.some(isClosed))) ||
    (isAccessing && canUnknownMatch(pattern, access, command, of.reading.hasUnknownDirectory)) ||
    (isAccessing &&
      canAccessTrees(command.words, access) &&
      listTrees({ ...command, files: certain }, access, of.context.cwd).some((tree) =>
        hasGuarded(tree, pattern, locations),
      ));
  return someCommand(mayAccess) ? 'maybe' : 'no';
}

interface Reading {
  readonly context: PathContext;
  readonly reading: ShellFiles;
}

/** Stands for any file in a directory in which a command may make one. */
const ANY_NAME = '\u0001any';

/** The directories as written and by their real paths, each once. */
function listLocations(contexts: readonly PathContext[]): readonly PathContext[] {
  const all = [...contexts, ...contexts.map(resolveRealContext)];
  return [...new Map(all.map((each) => [JSON.stringify(each), each])).values()];
}

/** Whether a word that is not known, or that starts in a directory that is not known, may be such a file. */
function canUnknownMatch(
  pattern: PathPattern,
  access: FileAccess,
  { words, isInFile }: CommandFiles,
  hasUnknownDirectory: boolean,
): boolean {
  const isUnknown = (word: string): boolean =>
    word.includes(UNKNOWN) || (hasUnknownDirectory && /^[^-/]/.test(word));
  if (isInFile) return false;
  if (access === 'read' && hasNameList(words)) return true;
  const unknown = words.slice(1).filter((word) => isUnknown(word) && !isReplacement(word));
  if (unknown.length === 0 || !canUnknownBeFile(words, access)) return false;
  return unknown.some((word) => canEndLike(pattern, word));
}

/** `sed "s/a/$X/"` names no file there. */
function isReplacement(word: string): boolean {
  return /^(?:-e)?s([/|,#]).*\1.*\1[a-zA-Z]*$/s.test(word);
}

/** Compares the last name of the word, as far as it is known, to the last name of the pattern. */
function canEndLike({ glob }: PathPattern, word: string): boolean {
  const name = glob.replace(/\/$/, '').split('/').at(-1) ?? '';
  if (/^\*+$/.test(name)) return true;
  const known = word.split(UNKNOWN).at(-1) ?? '';
  if (isGlob(known)) return true;
  const tail = (known.split('/').at(-1) ?? '').toLowerCase();
  const isWhole = known.includes('/') || !word.includes(UNKNOWN);
  const pieces = name.toLowerCase().split(/\*+|\?|\[[^\]]*\]/);
  if (isWhole) return isWildcardMatch(pieces, tail);
  const last = pieces.at(-1) ?? '';
  return last.endsWith(tail) || tail.endsWith(last);
}

/** Directories that a command works on as a whole; the current one when it names no other path. */
function listTrees(
  { words, files }: CommandFiles,
  access: FileAccess,
  cwd: string,
): readonly string[] {
  const directories = files.filter(isDirectory);
  const byDefault = getTreeDefault(words, access);
  if (byDefault === 'never') return directories;
  const named = listOperands(words).map((word) => path.resolve(cwd, word));
  const isNamed = named.some((file) => files.includes(file) && existsSync(file));
  return isNamed && byDefault === 'unnamed' ? directories : [...directories, cwd];
}

/** Options of `grep` and `rg` whose value is the next word. */
const OPTION_WITH_VALUE =
  /^(?:-[a-zA-Z]*[ABCmefgtTjrEMd]|--(?:include|exclude|exclude-dir|type|type-not|glob|iglob|max-count|context|after-context|before-context|regexp|file|replace|colors?|sort|sortr|max-depth|threads|engine|directories|label))$/;

/** The arguments that are paths: the first operand is a pattern, also when a file has its name. */
function listOperands(words: readonly string[]): readonly string[] {
  const operands = words.filter(
    (word, index) =>
      index > 0 && !word.startsWith('-') && !isOptionValue(words[index - 1] ?? '', words[0] ?? ''),
  );
  const hasPattern = words.some((word) => /^-[a-zA-Z]*[ef]$|^--(?:regexp|file)\b/.test(word));
  return hasPattern ? operands : operands.slice(1);
}

/** `-r` replaces in `rg`, and is no option with a value in `grep`; `-E` the other way round. */
function isOptionValue(option: string, name: string): boolean {
  const isFlag = name.endsWith('rg') ? /^-[a-zA-Z]*d$/ : /^-[a-zA-Z]*[rEgtTjM]$/;
  return OPTION_WITH_VALUE.test(option) && !isFlag.test(option);
}

const MAX_ENTRIES = 5000;

/** Whether a file that the pattern matches exists below a directory; also when there are too many to look. */
function hasGuarded(
  tree: string,
  pattern: PathPattern,
  locations: readonly PathContext[],
): boolean {
  const canLieBelow = (directory: string): boolean =>
    locations.some((context) => canMatchBelow(pattern, directory, context));
  const isGuarded = (file: string): boolean =>
    locations.some((context) => canMatchWrittenPath(pattern, file, context));
  const waiting = [tree];
  for (let seen = 0; seen < MAX_ENTRIES;) {
    const directory = waiting.pop();
    if (directory === undefined) return false;
    if (!canLieBelow(directory)) continue;
    for (const entry of listEntries(directory)) {
      const file = joinChildPath(directory, entry.name);
      if (isGuarded(file)) return true;
      if (entry.isDirectory()) waiting.push(file);
      seen += 1;
    }
    seen += 1;
  }
  return true;
}

function listEntries(directory: string): readonly Dirent[] {
  try {
    return readdirSync(path.resolve(directory), { withFileTypes: true });
  } catch {
    return [];
  }
}

import { statSync } from 'node:fs';
import path from 'node:path';
import { findRealPath, isInside } from '../../base/paths.ts';
import { toFileKey, type TrustUnit } from '../collect.ts';
import { listBaseDirectories, createBoundDirectoryCheck, resolveRealPaths } from './bound.ts';
import { isCommandStart, splitCommands } from './commands.ts';
import { MAX_FINDINGS, MAX_WORDS } from './limits.ts';
import { isUsableWord, stripLeadingSlash, stripVariables } from './path-words.ts';

/** Directories of the workspace that commands name, and patterns for what is in them. */
export function findReferencedDirectories(unit: TrustUnit, commands: string): readonly string[] {
  const words = [...directoryWords(unit, commands)].slice(0, MAX_WORDS).map(splitPattern);
  if (words.length === 0) return [];
  const found = new Set(
    words.flatMap(({ place, pattern }) => (isOpen(place, pattern) ? [pattern] : [])),
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

function directoryWords(unit: TrustUnit, commands: string): ReadonlySet<string> {
  const isEntry = unit.text !== undefined;
  const isHandedOn = isEntry && /\bxargs\b/.test(commands);
  const words = new Set<string>();
  for (const command of splitCommands(stripVariables(commands), withoutQuotes)) {
    for (const word of wordsIn(command, { isEntry, isHandedOn })) words.add(word);
  }
  return words;
}

/** Commands that hand on what is in a directory, so that a plain word may be the name of one. */
const READERS = ['find', 'fd', 'for', 'ls', 'run-parts', 'source', '.'];

/** Commands to which a directory is a place, whatever it holds. */
const VISITORS = ['cd', 'pushd', 'mkdir', 'rmdir', 'test', '[', '[['];

/** Scripts name much that they do not run: of theirs, only what readers are given counts. */
function wordsIn(
  command: readonly string[],
  { isEntry, isHandedOn }: { isEntry: boolean; isHandedOn: boolean },
): readonly string[] {
  const reader = findCommand(command, READERS);
  if (findCommand(command, VISITORS) !== -1 || (reader === -1 && !isEntry)) return [];
  const isLoop = command[reader] === 'for';
  const isPlace = (word: string): boolean => {
    if (word.includes('/')) return true;
    return isPattern(word) ? isLoop : reader !== -1 || isHandedOn;
  };
  const given = command.slice((isLoop ? command.indexOf('in') : reader) + 1);
  const words = given.map((word) => stripLeadingSlash(word.replace(/^[\w-]+=/, '')));
  return words.filter((word) => isUsableWord(word) && !word.startsWith('-') && isPlace(word));
}

function findCommand(words: readonly string[], names: readonly string[]): number {
  return words.findIndex((word, index) => names.includes(word) && isCommandStart(words, index));
}

function withoutQuotes(line: string): string {
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

/** A pattern for what lies anywhere; brackets alone are rather code. */
function isOpen(place: string, pattern: string): boolean {
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

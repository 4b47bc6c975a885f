import { statSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { findRealPath, isInside } from '../base/paths.ts';
import { toFileKey, type TrustUnit } from './collect.ts';
import { listBaseDirectories, createBoundFileCheck, resolveRealPaths } from './mentions/bound.ts';
import { extractCommandText } from './mentions/commands.ts';
import { findReferencedDirectories } from './mentions/directories.ts';
import { MAX_FINDINGS, MAX_WORDS } from './mentions/limits.ts';
import { extractPathWords } from './mentions/path-words.ts';
import { findReferencedRunners } from './mentions/runners.ts';

/** Something that a script names and that can change without its trust noticing. */
export interface UntrackedReference {
  /**
   * A workspace file · a directory, or a pattern for what is in it · a command that runs what others
   * define · a module that is looked up by its name · text that was not looked at.
   */
  readonly kind: 'file' | 'directory' | 'runner' | 'package' | 'rest';
  readonly name: string;
}

const MAX_TEXT = 256 * 1024;
const IMPORT_ENDINGS = ['', '.js', '.mjs', '.cjs', '.ts', '.py', '.sh'];

/** A help for the eye, not a proof: a script can build a name that no scan will find. */
export function findUntrackedReferences(
  unit: TrustUnit,
  scriptText: string,
): readonly UntrackedReference[] {
  const text = scriptText.slice(0, MAX_TEXT);
  const commands = extractCommandText(unit, text);
  const words = [...extractPathWords(commands)];
  const files = findFiles(unit, words.slice(0, MAX_WORDS));
  const found: UntrackedReference[] = [
    ...files.map((name) => ({ kind: 'file' as const, name })),
    ...findReferencedDirectories(unit, commands).map((name) => ({
      kind: 'directory' as const,
      name,
    })),
    ...findReferencedRunners(commands).map((name) => ({ kind: 'runner' as const, name })),
    ...findPackages(unit, text).map((name) => ({ kind: 'package' as const, name })),
  ];
  const isComplete =
    text.length === scriptText.length && words.length <= MAX_WORDS && found.length < MAX_FINDINGS;
  if (isComplete) return found;
  const rest = { kind: 'rest' as const, name: 'more than is looked through' };
  return [...found.slice(0, MAX_FINDINGS - 1), rest];
}

function findFiles(unit: TrustUnit, words: readonly string[]): readonly string[] {
  const real = resolveRealPaths(unit);
  const found = new Set<string>();
  let isBound: ((file: string) => boolean) | null = null;
  for (const candidate of listFileCandidates(words, listBaseDirectories(unit, real))) {
    const file = findWorkspaceFile(real.root, candidate);
    if (file === null) continue;
    isBound ??= createBoundFileCheck(unit, real);
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

/** Modules that Node.js looks up by name: what lies in `node_modules`, or what `imports` maps to. */
function findPackages(unit: TrustUnit, text: string): readonly string[] {
  const isModule = MODULE_ENDINGS.includes(path.extname(unit.entry).toLowerCase());
  if (unit.text !== undefined || !(isModule || MODULE_RUNNER.test(text))) return [];
  const code = text.replaceAll(/^\s{0,200}(?:\/\/|\*).*$/gm, '');
  const names = [...code.matchAll(IMPORT)].flatMap(({ groups }) => groups?.['name'] ?? []);
  return [...new Set(names.filter(isLookedUp))].slice(0, MAX_FINDINGS);
}

function isLookedUp(specifier: string): boolean {
  return !/^(?:\.{0,2}[/\\]|\.{1,2}$|(?:file|data|bun):)/.test(specifier) && !isBuiltin(specifier);
}

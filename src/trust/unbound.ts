import { statSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { findRealPath, isInside } from '../base/paths.ts';
import { findLinkedDirectory, keyOf, type TrustUnit } from './collect.ts';

/** Something that a script names and that can change without its trust noticing. */
export interface UnboundMention {
  /**
   * A workspace file · a command that runs what others define · a module that is looked up by its
   * name · text that was not looked at.
   */
  readonly kind: 'file' | 'runner' | 'package' | 'rest';
  readonly name: string;
}

const MAX_TEXT = 256 * 1024;
const MAX_FINDINGS = 50;
const MAX_WORDS = 2_000;
const MAX_NAME = 400;
const IMPORT_ENDINGS = ['', '.js', '.mjs', '.cjs', '.ts', '.py', '.sh'];

/** For each runner: the words after which one more belongs to the name of what is run. */
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

/** Words of everyday English, or of paths: runners only where a command begins. */
const ORDINARY_WORDS = ['make', 'go'];

const COMMAND_STARTERS = ['', 'then', 'do', 'else', 'if', 'while', 'until', '!', 'exec', 'time'];

/** A help for the eye, not a proof: a script can build a name that no scan will find. */
export function unboundMentions(unit: TrustUnit, scriptText: string): readonly UnboundMention[] {
  const text = scriptText.slice(0, MAX_TEXT);
  const words = [...pathWords(text)];
  const files = findFiles(unit, words.slice(0, MAX_WORDS));
  const runners = findRunners(text);
  const found: UnboundMention[] = [
    ...files.map((name) => ({ kind: 'file' as const, name })),
    ...runners.map((name) => ({ kind: 'runner' as const, name })),
    ...findPackages(unit, text).map((name) => ({ kind: 'package' as const, name })),
  ];
  const isComplete =
    text.length === scriptText.length && words.length <= MAX_WORDS && found.length < MAX_FINDINGS;
  if (isComplete) return found;
  const rest = { kind: 'rest' as const, name: 'more than is looked through' };
  return [...found.slice(0, MAX_FINDINGS - 1), rest];
}

/** Everything in the text that could be a path, without variables in front, each once. */
function pathWords(text: string): Set<string> {
  const plain = withoutVariables(text);
  const words = [...quotedStrings(plain), ...bareWords(plain), ...bareWords(text)];
  return new Set(words.map(withoutLeadingSlash).filter(isUsable));
}

/** `"$DIR"/x`, `${DIR}/x`, `$(dirname "$0")/x` and `%DIR%\x` all become `/x`. */
function withoutVariables(text: string): string {
  const substitution = /\$\([^()\n]{0,200}\)/g;
  return text
    .replaceAll(substitution, '')
    .replaceAll(substitution, '')
    .replaceAll(/\$\{[^{}\n]{0,200}\}/g, '')
    .replaceAll(/\$(?:env:)?\w{1,100}/g, '')
    .replaceAll(/%\w{1,100}%/g, '');
}

/** Quoted strings, and lists of them joined as `path.join` and `pathlib` would. */
function quotedStrings(text: string): readonly string[] {
  const strings: string[] = [];
  let joined = '';
  let end = -1;
  for (const match of text.matchAll(/(["'`])([^"'`\n]{1,400})\1/g)) {
    const between = end < 0 ? '' : text.slice(end, match.index);
    const continues = joined.length < MAX_NAME && /^\s{0,20}[,/+]\s{0,20}$/.test(between);
    const string = match[2] ?? '';
    joined = continues ? `${joined}/${string}` : string;
    if (continues) strings.push(joined);
    strings.push(string);
    end = match.index + match[0].length;
  }
  return strings;
}

function bareWords(text: string): readonly string[] {
  const words = text.replaceAll(/["'`]/g, '').split(/[\s;|&()<>{}[\],=]+/);
  return words.filter((word) => /[./\\]/.test(word));
}

function withoutLeadingSlash(word: string): string {
  return word.replace(/^[/\\]+(?=\.|\w)/, '');
}

function isUsable(word: string): boolean {
  return word.length <= MAX_NAME && /\w/.test(word) && !word.includes('\0');
}

function findFiles(unit: TrustUnit, words: readonly string[]): readonly string[] {
  const root = findRealPath(unit.root) ?? unit.root;
  const entry = findRealPath(unit.entry) ?? unit.entry;
  const bases = new Set([root, path.dirname(unit.entry), path.dirname(entry)]);
  const found = new Set<string>();
  let isBound: ((file: string) => boolean) | null = null;
  for (const candidate of candidates(words, bases)) {
    const real = findWorkspaceFile(root, candidate);
    if (real === null) continue;
    isBound ??= boundPlaces(unit, { root, entry });
    if (!isBound(real)) found.add(keyOf(root, real));
    if (found.size >= MAX_FINDINGS) break;
  }
  return [...found];
}

function* candidates(words: readonly string[], bases: ReadonlySet<string>): Generator<string> {
  for (const word of words) {
    const endings = /^\.{1,2}[/\\]/.test(word) ? IMPORT_ENDINGS : [''];
    for (const base of bases) {
      yield* endings.map((ending) => path.resolve(base, `${word}${ending}`));
    }
    yield `/${word}`;
  }
}

function boundPlaces(
  unit: TrustUnit,
  real: { root: string; entry: string },
): (file: string) => boolean {
  const entries = unit.text === undefined ? [real.entry] : [];
  const named = new Set([...entries, ...unit.files].map((file) => findRealPath(file) ?? file));
  const linked = unit.text === undefined ? findLinkedDirectory(unit, real) : null;
  const directories = [...unit.directories, ...(linked === null ? [] : [linked])]
    .map((directory) => findRealPath(directory) ?? directory)
    .filter((directory) => isInside(real.root, directory) && directory !== real.root);
  return (file) => named.has(file) || directories.some((place) => isBoundIn(place, file));
}

function isBoundIn(directory: string, file: string): boolean {
  const inside = path.relative(directory, file);
  return isInside(directory, file) && !inside.split(path.sep).includes('.git');
}

function findWorkspaceFile(root: string, file: string): string | null {
  if (!isInside(root, file)) return null;
  const real = findRealPath(file);
  if (real === null || !isInside(root, real)) return null;
  return statSync(real, { throwIfNoEntry: false })?.isFile() === true ? real : null;
}

/** Commands in the text that run what other files define, such as `npm run lint`. */
function findRunners(text: string): readonly string[] {
  if (!ANY_RUNNER.test(text)) return [];
  const found = new Set<string>();
  for (const command of commandsOf(text)) {
    for (const runner of runnersOf(command)) found.add(runner);
    if (found.size >= MAX_FINDINGS) break;
  }
  return [...found].slice(0, MAX_FINDINGS);
}

function* commandsOf(text: string): Generator<readonly string[]> {
  for (const line of text.split('\n')) {
    if (/^\s*(?:#|\/\/)/.test(line)) continue;
    for (const command of joinedArguments(line).split(/[;|&()`]+/)) {
      yield command.trim().split(/\s+/);
    }
  }
}

/** `spawn('npm', ['run', 'lint'])` names the same command as `npm run lint`. */
function joinedArguments(line: string): string {
  return line.replaceAll(/["'[\],]+/g, ' ');
}

function* runnersOf(words: readonly string[]): Generator<string> {
  for (const [index, word] of words.entries()) {
    const followers = RUNNERS.get(word);
    if (followers === undefined) continue;
    if (ORDINARY_WORDS.includes(word) && !beginsCommand(words, index)) continue;
    yield runnerName(word, { followers, rest: words.slice(index + 1, index + 8) });
  }
}

function beginsCommand(words: readonly string[], index: number): boolean {
  return COMMAND_STARTERS.includes(words[index - 1] ?? '');
}

function runnerName(
  runner: string,
  { followers, rest }: { followers: readonly string[]; rest: readonly string[] },
): string {
  const [first, second] = rest.filter((word) => /^[\w@.][\w@./:-]*$/.test(word));
  if (first === undefined) return runner;
  if (second === undefined || !followers.includes(first)) return `${runner} ${first}`;
  return `${runner} ${first} ${second}`;
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

import path from 'node:path';
import { isRecord } from '../base/json.ts';
import { isInside, resolveFrom, resolveTarget } from '../base/paths.ts';
import { escapePattern } from '../base/text.ts';
import type { PermissionCall } from './permissions.ts';
import { getCallCommand, getCallPaths } from './rules/call-arguments.ts';
import { UNKNOWN } from './rules/shell-words.ts';
import { expandHome } from './rules/home-path.ts';
import {
  canMakeRepository,
  canChangeGitConfiguration,
  isGitSteeringDirectory,
  isGitSteeringFile,
} from './git-steering.ts';
import type { CommandWords } from './rules/visit-script.ts';
import { canAccessFiles } from './rules/file-access.ts';
import { type CommandFiles, resolveShellFiles } from './rules/shell-files.ts';

/**
 * Names of Hookline and git. A name ends in `/` for a directory with all that is in it, and `*` stands
 * for any part of a name.
 */
const OWN_NAMES = ['.hookline/', '.hookline/trust.json', '.git/hooks/'];

/** Files that control what runs, and commands that change what is trusted: both need the user's approval. */
export class ProtectedPaths {
  readonly #home: string | null;
  readonly #directories: readonly string[];
  readonly #names: readonly RegExp[];
  /** Hidden directories that contain protected ones: a shell command that names one may replace all of it. */
  readonly #holders: ReadonlySet<string>;
  readonly #settingsFiles: ReadonlySet<string>;

  /**
   * `directories` are Hookline's own state, and hook and plugin directories at unusual locations;
   * `names` are the agents' usual ones, protected at any depth.
   */
  constructor(home: string | null, directories: readonly string[], names: readonly string[]) {
    const allNames = [...OWN_NAMES, ...names].map((name) => name.toLowerCase());
    this.#home = home;
    this.#directories = directories.flatMap(listSpellings);
    this.#names = allNames.map(compileName);
    this.#holders = new Set(allNames.flatMap((name) => /^\.[^/]+(?=\/)/.exec(name)?.[0] ?? []));
    this.#settingsFiles = new Set(
      allNames.filter(isFileName).map((name) => path.posix.basename(name)),
    );
  }

  /** What a call would change of them, for messages; null for nothing. Reading with a file tool is fine. */
  findTouched(call: PermissionCall): string | null {
    const command = getCallCommand(call);
    if (command !== null) return this.#findInCommand(command, call.cwd);
    const writtenPaths = listWrittenPaths(call).map((file) =>
      resolveFrom(call.cwd, expandHome(file, this.#home)),
    );
    const isProtected = (file: string): boolean =>
      canMakeRepository(file) || listSpellings(file).some((each) => this.#isProtected(each));
    const touched = writtenPaths.find(isProtected);
    if (touched !== undefined) return touched;
    const unresolved = writtenPaths.find((file) => !resolveTarget(file).isCertain);
    return unresolved === undefined ? null : `${unresolved}, whose links cannot be resolved`;
  }

  #findInCommand(line: string, cwd: string): string | null {
    const { commands, isComplete } = resolveShellFiles(line, { cwd, home: this.#home });
    const commandWords = commands.map(({ words }) => words);
    if (changesTrust(commandWords)) return 'a hookline command that changes what is trusted';
    if (canChangeGitConfiguration(commandWords)) return 'the configuration of git';
    const unknown = commandWords.flat().find((word) => this.#isUnknownSettings(word));
    if (unknown !== undefined) return unknown.replaceAll(UNKNOWN, '…');
    if (commands.some(writesUnknownFile)) return 'a file whose name is not known before it runs';
    const onlyReads = commandWords.every(isReadOnly);
    const isTouched = (file: string): boolean =>
      this.#isProtected(file) || (!onlyReads && file !== cwd && this.#isHolder(file));
    const files = new Set(commands.flatMap((command) => command.files));
    // A git command that names HEAD means a commit.
    const written = commands.flatMap((each) => (isFileWriter(each.words) ? each.files : []));
    const found = [...files].find(isTouched) ?? [...new Set(written)].find(canMakeRepository);
    if (found !== undefined) return found;
    return isComplete ? null : 'more files than can be checked';
  }

  #isProtected(file: string): boolean {
    const name = toLowerSlashes(file);
    if (isGitSteeringFile(name)) return true;
    if (this.#names.some((each) => each.test(name))) return true;
    return this.#directories.some((each) => isInside(each, name));
  }

  #isHolder(file: string): boolean {
    const name = toLowerSlashes(file);
    if (this.#holders.has(path.posix.basename(name)) || isGitSteeringDirectory(name)) return true;
    return this.#directories.some((each) => path.dirname(each) === name);
  }

  /** `$X/settings.json` may be any settings file. */
  #isUnknownSettings(word: string): boolean {
    const name = word.split(/[/\0]/).at(-1) ?? '';
    return word.includes(UNKNOWN) && this.#settingsFiles.has(name.toLowerCase());
  }
}

function toLowerSlashes(file: string): string {
  return file.replaceAll(path.sep, '/').toLowerCase();
}

/** `> "$F"` may write any file; in a script only a redirection counts, because most scripts have variables. */
function writesUnknownFile({ words, isInFile }: CommandFiles): boolean {
  const [name = '', ...args] = words;
  const target = name === 'dd' ? findOutputOperand(args) : args.at(-1);
  const isWriter = name === '>' || name === 'tee' || (!isInFile && UNKNOWN_WRITERS.test(name));
  return isWriter && target !== undefined && isWhollyUnknown(target);
}

const UNKNOWN_WRITERS = /^(?:cp|dd|install|ln|mv)$/;

function findOutputOperand(args: CommandWords): string | undefined {
  return args.find((arg) => arg.startsWith('of='))?.slice('of='.length);
}

/** `$F` and `$D/$F`, but not `$D/report.txt`. */
function isWhollyUnknown(word: string): boolean {
  return word.includes(UNKNOWN) && word.replaceAll(UNKNOWN, '').replaceAll('/', '') === '';
}

/** The path as written and its real path, in lower case, because some file systems ignore case. */
function listSpellings(file: string): readonly string[] {
  return [...new Set([toLowerSlashes(file), toLowerSlashes(resolveTarget(file).path)])];
}

function compileName(name: string): RegExp {
  const parts = name.replace(/\/$/, '').split('*');
  const pattern = parts.map(escapePattern).join('[^/]*');
  return new RegExp(`(?:^|/)${pattern}${name.endsWith('/') ? '(?:/|$)' : '$'}`);
}

/** Whether it is the name of one file, and of no directory. */
function isFileName(name: string): boolean {
  return !name.endsWith('/') && !name.includes('*');
}

/** The input of a foreign tool is not known, so every short text in it counts as a path. */
function listWrittenPaths(call: PermissionCall): readonly string[] {
  if (call.kind === 'edit') return (getCallPaths(call) ?? []).map(({ file }) => file);
  if (call.kind !== 'foreign' || !isRecord(call.input)) return [];
  return Object.values(call.input).filter(isShortText);
}

const MAX_PATH = 4096;

function isShortText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_PATH && !value.includes('\0');
}

const READ_ONLY = /^(?:ls|cat|head|tail|wc|stat|grep|rg|find|cd|pwd|echo)$/;
const GIT_READ_ONLY = /^(?:add|blame|branch|commit|diff|grep|log|ls-files|show|status)$/;
const WRITE_OPTIONS = /^-(?:exec|ok|delete|fprint|fls)|^--output/;

/** Whether a command changes nothing in the directories that it names. */
function isReadOnly(words: CommandWords): boolean {
  const [name = '', subcommand = ''] = words;
  const isReadOnlyProgram =
    READ_ONLY.test(name) || (name === 'git' && GIT_READ_ONLY.test(subcommand));
  return isReadOnlyProgram && !words.some((word) => WRITE_OPTIONS.test(word));
}

function isFileWriter(words: CommandWords): boolean {
  return words[0] !== 'git' && canAccessFiles(words, 'write');
}

const HOOKLINE = /^hookline(?:\.[cm]?[jt]s|\.cmd|\.exe|\.ps1)?(?:@.*)?$/i;
const TRUST_COMMANDS = /^(?:trust|untrust|lock|mcp|plugin|agents)$/i;

/** Also in several commands: `echo trust | xargs hookline`, `alias h=hookline; h trust`. */
function changesTrust(commands: readonly CommandWords[]): boolean {
  const pieces = commands.flat().flatMap((word) => word.split(/[\s=;|&()"'`]+/));
  const isHookline = pieces.some((piece) => HOOKLINE.test(path.basename(piece)));
  if (isHookline && pieces.some((piece) => TRUST_COMMANDS.test(piece))) return true;
  return commands.some((words) => canChangeTrust(words));
}

/** `hookline $X` and `$X trust` may be such a command. */
function canChangeTrust(words: CommandWords): boolean {
  const unknown = words.findIndex((word) => word.includes(UNKNOWN));
  if (unknown === -1) return false;
  const isHookline = words.slice(0, unknown).some((word) => HOOKLINE.test(path.basename(word)));
  return isHookline || words.slice(unknown + 1).some((word) => TRUST_COMMANDS.test(word));
}

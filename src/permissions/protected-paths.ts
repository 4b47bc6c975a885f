import path from 'node:path';
import { isRecord } from '../base/json.ts';
import { isInside } from '../base/paths.ts';
import type { PermissionCall } from './permissions.ts';
import { getCallCommand, getCallPaths } from './rules/call-arguments.ts';
import { UNKNOWN } from './rules/shell-words.ts';
import { expandHome, resolveTargetPath } from './rules/path-pattern.ts';
import { type CommandWords, resolveShellFiles } from './rules/shell-files.ts';

/** Files that decide what runs, and commands that decide what is trusted: only a person changes them. */
export interface ProtectedPaths {
  /** What a call would touch of them, as words; null when it does not. Reading them with a file tool does not. */
  findTouched(call: PermissionCall): string | null;
}

export interface ProtectedPathsOptions {
  readonly home: string | null;
  /** Hookline's own state, and hook and plugin directories that lie elsewhere than usual. */
  readonly directories: readonly string[];
}

/** Directories whose whole content is protected, wherever they lie; lower case. */
const DIRECTORIES = [
  '.clinerules/hooks',
  '.cline/hooks',
  '.cline/plugins',
  '.claude/hooks',
  '.claude/plugins',
  '.claude/skills',
  '.claude/agents',
  '.hookline',
  '.git/hooks',
  'documents/cline/hooks',
  'documents/cline/rules/hooks',
  'documents/cline/plugins',
];

const FILES =
  /(?:^|\/)(?:\.claude\/settings[^/]*\.json|\.cline\/hooks\.json|\.mcp\.json|\.claude\.json|cline_mcp_settings\.json|\.git\/(?:.*\/)?config(?:\.worktree)?)$/;
const SUBMODULE_HOOKS = /(?:^|\/)\.git\/.*\/hooks(?:\/|$)/;

/** Directories that hold protected ones: a shell command that names one may replace all of it. */
const HOLDERS = /(?:^|\/)(?:\.claude|\.cline|\.clinerules|\.git|\.hookline)$/;

export function createProtectedPaths(options: ProtectedPathsOptions): ProtectedPaths {
  const { home } = options;
  const own = options.directories.flatMap(spellingsOf);
  const isProtected = (file: string): boolean => {
    const name = lower(file);
    return isProtectedName(name) || own.some((directory) => isInside(directory, name));
  };
  const isHolder = (file: string): boolean => {
    const name = lower(file);
    return HOLDERS.test(name) || own.some((directory) => path.dirname(directory) === name);
  };
  return {
    findTouched(call) {
      const command = getCallCommand(call);
      if (command !== null) {
        return findInCommand(command, { cwd: call.cwd, home }, { isProtected, isHolder });
      }
      const written = writtenPaths(call).map((file) =>
        path.resolve(call.cwd, expandHome(file, home)),
      );
      return written.find((file) => spellingsOf(file).some(isProtected)) ?? null;
    },
  };
}

function lower(file: string): string {
  return file.replaceAll(path.sep, '/').toLowerCase();
}

/** As written and where it leads: names of files need not be told apart by case. */
function spellingsOf(file: string): readonly string[] {
  try {
    return [...new Set([lower(file), lower(resolveTargetPath(file))])];
  } catch {
    // What cannot be looked at cannot be written to, either.
    return [lower(file)];
  }
}

function isProtectedName(file: string): boolean {
  if (FILES.test(file) || SUBMODULE_HOOKS.test(file)) return true;
  return DIRECTORIES.some((each) => `${file}/`.includes(`/${each}/`));
}

/** Of a foreign tool nobody knows which of its texts it writes to. */
function writtenPaths(call: PermissionCall): readonly string[] {
  if (call.kind === 'edit') return (getCallPaths(call) ?? []).map(({ file }) => file);
  if (call.kind !== 'foreign' || !isRecord(call.input)) return [];
  return Object.values(call.input).filter(isShortText);
}

const MAX_PATH = 4096;

function isShortText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_PATH && !/[\0\n]/.test(value);
}

interface Checks {
  readonly isProtected: (file: string) => boolean;
  readonly isHolder: (file: string) => boolean;
}

function findInCommand(
  line: string,
  place: { readonly cwd: string; readonly home: string | null },
  { isProtected, isHolder }: Checks,
): string | null {
  const { commands, isComplete } = resolveShellFiles(line, place);
  const said = commands.map(({ words }) => words);
  if (decidesTrust(said)) return 'a command of hookline that decides what is trusted';
  const unknown = said.flat().find(isUnknownSettings);
  if (unknown !== undefined) return unknown.replaceAll(UNKNOWN, '…');
  const isTouched = said.every(isOnlyShowing)
    ? isProtected
    : (file: string) => isProtected(file) || (file !== place.cwd && isHolder(file));
  const found = commands.flatMap(({ files }) => files).find(isTouched);
  if (found !== undefined) return found;
  return isComplete ? null : 'more files than can be looked at';
}

const SHOWING = /^(?:ls|cat|head|tail|wc|stat|grep|rg|find|cd|pwd|echo)$/;
const GIT_SHOWING = /^(?:add|blame|branch|commit|diff|grep|log|ls-files|show|status)$/;
const DOING = /^-(?:exec|ok|delete|fprint|fls)|^--output/;

/** Whether a command leaves alone what lies in the directories that it names. */
function isOnlyShowing(words: CommandWords): boolean {
  const [name = '', subcommand = ''] = words;
  const isShowing = SHOWING.test(name) || (name === 'git' && GIT_SHOWING.test(subcommand));
  return isShowing && !words.some((word) => DOING.test(word));
}

const SETTINGS_NAMES =
  /(?:^|[/\0])(?:settings(?:\.local)?|hooks|trust|\.mcp|\.claude|cline_mcp_settings)\.json$/i;

/** `$X/settings.json` may be any. */
function isUnknownSettings(word: string): boolean {
  return word.includes(UNKNOWN) && SETTINGS_NAMES.test(word);
}

const HOOKLINE = /^hookline(?:\.[cm]?[jt]s|\.cmd|\.exe|\.ps1)?(?:@.*)?$/i;
const DECISIONS = /^(?:trust|untrust|lock|mcp|plugin|agents)$/i;

/** Also in several commands: `echo trust | xargs hookline`, `alias h=hookline; h trust`. */
function decidesTrust(commands: readonly CommandWords[]): boolean {
  const pieces = commands.flat().flatMap((word) => word.split(/[\s=;|&()"'`]+/));
  const isHookline = pieces.some((piece) => HOOKLINE.test(path.basename(piece)));
  if (isHookline && pieces.some((piece) => DECISIONS.test(piece))) return true;
  return commands.some((words) => mayDecideTrust(words));
}

/** `hookline $X` and `$X trust` may be such a command. */
function mayDecideTrust(words: CommandWords): boolean {
  const unknown = words.findIndex((word) => word.includes(UNKNOWN));
  if (unknown === -1) return false;
  const isHookline = words.slice(0, unknown).some((word) => HOOKLINE.test(path.basename(word)));
  return isHookline || words.slice(unknown + 1).some((word) => DECISIONS.test(word));
}

import { existsSync } from 'node:fs';
import path from 'node:path';
import { escapePattern } from '../base/text.ts';
import { isProgramKey } from '../process/git/foreign-programs.ts';
import { splitGitArguments } from './rules/git-arguments.ts';
import type { CommandWords } from './rules/visit-script.ts';
import { UNKNOWN } from './rules/shell-words.ts';

/**
 * Files of a git directory, also of a submodule's or worktree's, that decide what git runs and which
 * repository it reads. A name ends in `/` for a directory with all that is in it. Not among them is
 * info/exclude, which only hides files from `git status`.
 */
const STEERING_FILES = [
  'branches/',
  'commondir',
  'config',
  'config.worktree',
  'gitdir',
  'hooks/',
  'info/attributes',
  'info/grafts',
  'objects/info/alternates',
  'objects/info/http-alternates',
  // Its `exec` lines run with `git rebase --continue`.
  'rebase-merge/git-rebase-todo',
  'remotes/',
];

/** `git~1` is the short name of `.git` on Windows. */
const GIT_DIRECTORY = String.raw`(?:^|\/)(?:\.git|git~1)\/(?!refs\/|logs\/)(?:.*\/)?`;
const IN_GIT_DIRECTORY = new RegExp(
  `${GIT_DIRECTORY}(?:${STEERING_FILES.map(compileSteeringName).join('|')})`,
);
const USER_FILES = /(?:^|\/)(?:\.gitconfig$|\.config\/git(?:\/|$))|^\/etc\/gitconfig$/;

function compileSteeringName(name: string): string {
  return name.endsWith('/')
    ? `${escapePattern(name.slice(0, -1))}(?:/|$)`
    : `${escapePattern(name)}$`;
}

const HOLDERS =
  /(?:^|\/)(?:\.git|git~1)\/(?:(?:modules|worktrees)(?:\/[^/]+)?|info|objects|objects\/info)$/;

/** Whether a path, in lower case and with slashes, is a directory that contains files that steer git. */
export function isGitSteeringDirectory(name: string): boolean {
  return HOLDERS.test(name);
}

/** Whether a path, in lower case and with slashes, is a file that steers git. */
export function isGitSteeringFile(name: string): boolean {
  return IN_GIT_DIRECTORY.test(name) || USER_FILES.test(name);
}

const BARE_PARTS: ReadonlySet<string> = new Set([
  'commondir',
  'config',
  'config.worktree',
  'hooks',
  'objects',
  'refs',
]);

/**
 * Whether writing an absolute path could make a repository of its directory: a file called `.git` or
 * HEAD, or beside a HEAD what git reads there.
 */
export function canMakeRepository(file: string): boolean {
  const name = path.basename(file).toLowerCase();
  if (name === 'head' || name === '.git') return true;
  for (let part = file; path.dirname(part) !== part; part = path.dirname(part)) {
    const isPart = BARE_PARTS.has(path.basename(part).toLowerCase());
    const directory = path.dirname(part);
    if (isPart && path.basename(directory) !== '.git' && existsSync(path.join(directory, 'HEAD'))) {
      return true;
    }
  }
  return false;
}

/** Whether one of the commands lets git run another program than before, now or later. */
export function canChangeGitConfiguration(commands: readonly CommandWords[]): boolean {
  return commands.some((words) => listGitArguments(words).some(steersGit));
}

const PRINTERS = /^(?:>|cat|cd|echo|grep|head|ls|printf|pwd|rg|stat|tail|wc)$/;
const GIT_PROGRAM = /^git(?:\.exe)?$/i;
const APPENDERS = /^(?:xargs|parallel)$/;

/** The arguments of every git in a command, also behind `sudo`, `xargs` and the like. */
function listGitArguments(words: CommandWords): readonly CommandWords[] {
  if (PRINTERS.test(words[0] ?? '')) return [];
  const appended = words.some((word) => APPENDERS.test(path.basename(word))) ? [UNKNOWN] : [];
  return words.flatMap((word, index) =>
    GIT_PROGRAM.test(path.basename(word)) ? [[...words.slice(index + 1), ...appended]] : [],
  );
}

function steersGit(args: CommandWords): boolean {
  const { settings, subcommand, rest } = splitGitArguments(args);
  if (settings.some(isSteeringSetting)) return true;
  if (subcommand === undefined) return false;
  if (subcommand.includes(UNKNOWN)) return true;
  return STEERING_COMMANDS[subcommand]?.(rest) === true || reachesHelper(subcommand, rest);
}

function isSteeringSetting(setting: string): boolean {
  const [key = ''] = setting.split('=', 1);
  return key.includes(UNKNOWN) || isProgramKey(key);
}

/** Subcommands that change configuration, and with which arguments. */
const STEERING_COMMANDS: Readonly<Record<string, (args: CommandWords) => boolean>> = {
  clone: (args) => hasOption(args, /^-[cu]|^--(?:conf|se|te|up)/),
  config: writesConfig,
  init: (args) => hasOption(args, /^--(?:se|te)/),
  lfs: ([verb = '']) => /^(?:install|uninstall|update)$/.test(verb),
  maintenance: ([verb = '']) => /^(?:register|start|stop|unregister)$/.test(verb),
  submodule: (args) => args.some((arg) => /^(?:absorbgitdirs|add|set-url|sync)$/.test(arg)),
};

function hasOption(args: CommandWords, pattern: RegExp): boolean {
  return args.some((arg) => pattern.test(arg) || arg.startsWith(UNKNOWN));
}

const TRANSPORTS = /^(?:archive|clone|fetch|ls-remote|pull|push|remote|submodule)$/;

/** `ext::sh -c …` is an address that git runs; a helper of another name runs `git-remote-…`. */
function reachesHelper(subcommand: string, args: CommandWords): boolean {
  return TRANSPORTS.test(subcommand) && args.some((arg) => /(?:^|=)[a-z][\w+.-]*::/i.test(arg));
}

const READING_OPTIONS =
  /^(?:-[lzf]|--(?:all|blob|bool|bool-or-int|default|expiry-date|file|get|get-all|get-color|get-colorbool|get-regexp|get-urlmatch|global|includes|int|list|local|name-only|no-includes|null|path|regexp|show-names|show-origin|show-scope|system|type|url|value|worktree)(?:=.*)?)$/s;
const READING = /^(?:-l|--list|--get.*|get|list)$/s;
const OPTIONS_BEFORE_VALUE = /^(?:-f|--(?:blob|default|file|type|url|value))$/;

/** Errs towards writing: with a value after the key, or an option that is not known to read. */
function writesConfig(args: CommandWords): boolean {
  if (args.some((arg) => arg.includes(UNKNOWN))) return true;
  const options = args.filter((arg) => arg.startsWith('-'));
  if (!options.every((option) => READING_OPTIONS.test(option))) return true;
  const others = args.filter(
    (arg, index) => !arg.startsWith('-') && !OPTIONS_BEFORE_VALUE.test(args[index - 1] ?? ''),
  );
  if ([...options, others[0] ?? ''].some((arg) => READING.test(arg))) return false;
  return (
    others.length > 1 || /^(?:edit|set|unset|rename-section|remove-section)$/.test(others[0] ?? '')
  );
}

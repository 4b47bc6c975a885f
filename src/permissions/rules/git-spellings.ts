import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import type { PathContext } from './path-pattern.ts';
import type { CommandWords } from './visit-script.ts';

const OPTIONS_WITH_VALUE: ReadonlySet<string> = new Set([
  '-C',
  '-c',
  '--attr-source',
  '--config-env',
  '--exec-path',
  '--git-dir',
  '--namespace',
  '--shallow-file',
  '--super-prefix',
  '--work-tree',
]);

/** Where the command of git begins among its arguments, behind the options of git itself. */
function findGitCommand(args: readonly string[]): number {
  let start = 0;
  while (args[start]?.startsWith('-') === true) {
    start += OPTIONS_WITH_VALUE.has(args[start] ?? '') ? 2 : 1;
  }
  return start;
}

/** Commands that do what another one is for. */
const PLUMBING: Readonly<Record<string, string>> = { 'send-pack': 'push', 'http-push': 'push' };

/** Commands whose next word is a command like those of git, or one. */
const CARRIERS = /^(?:for-each-repo|lfs|subtree)$/;

/** `git -C x push`, `git -c alias.x=push x` and `git x` with such an alias are a `git push`. */
export function listGitSpellings(
  args: readonly string[],
  context: Pick<PathContext, 'cwd' | 'home'>,
): readonly CommandWords[] {
  const [subcommand = '', ...rest] = args.slice(findGitCommand(args));
  const configured = args.flatMap((arg) => {
    const [, name, value] = /^(?:--config-env=)?alias\.([^=]+)=(.*)$/s.exec(arg) ?? [];
    return name === subcommand && value !== undefined ? [value] : [];
  });
  const aliases = [...configured, ...readAliases(subcommand, context)].map((value) => [
    ...(value.startsWith('!') ? value.slice(1) : `git ${value}`).split(/\s+/),
    ...rest,
  ]);
  const meant = Object.hasOwn(PLUMBING, subcommand) ? PLUMBING[subcommand] : undefined;
  return [
    ['git', subcommand, ...rest],
    ...aliases,
    ...(meant === undefined ? [] : [['git', meant, ...rest]]),
    ...(CARRIERS.test(subcommand) ? [['git', ...rest.filter((arg) => !arg.startsWith('-'))]] : []),
  ];
}

const MAX_CONFIG = 256 * 1024;

/** Of aliases in included files, and in the configuration of the system, nothing is known. */
function readAliases(
  name: string,
  { cwd, home }: Pick<PathContext, 'cwd' | 'home'>,
): readonly string[] {
  if (!/^[a-z][\w-]*$/i.test(name) || KNOWN_COMMANDS.has(name)) return [];
  const ofUser = home === null ? [] : ['.gitconfig', '.config/git/config'];
  const files = [
    path.join(cwd, '.git/config'),
    ...ofUser.map((file) => path.join(home ?? '', file)),
  ];
  return files.flatMap((file) => listAliases(readConfig(file), name));
}

function listAliases(text: string, name: string): readonly string[] {
  const section = /^\s*\[alias\]([^[]*)/gim;
  const line = new RegExp(String.raw`^\s*${name}\s*=\s*(.*?)\s*$`, 'gim');
  return [...text.matchAll(section)].flatMap(([, lines = '']) =>
    [...lines.matchAll(line)].map(([, value = '']) => value.replaceAll('"', '')),
  );
}

function readConfig(file: string): string {
  try {
    const stats = statSync(file, { throwIfNoEntry: false });
    if (stats?.isFile() !== true || stats.size > MAX_CONFIG) return '';
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** Commands of git, which no alias replaces. */
const KNOWN_COMMANDS: ReadonlySet<string> = new Set(
  `add am apply archive bisect blame branch bundle cat-file check-attr check-ignore checkout cherry cherry-pick clean
  clone commit config describe diff difftool fetch for-each-ref format-patch fsck gc grep hash-object init lfs log
  ls-files ls-remote ls-tree merge merge-base mergetool mv notes pull push range-diff rebase reflog remote reset restore
  rev-list rev-parse revert rm send-pack shortlog show show-ref sparse-checkout stash status submodule subtree switch
  symbolic-ref tag update-index update-ref version whatchanged worktree write-tree`.split(/\s+/),
);

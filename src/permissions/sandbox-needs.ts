import { isDirectory } from '../base/files.ts';
import { resolveFrom } from '../base/paths.ts';
import type { GitConfiguration } from '../process/git/git-configuration.ts';
import { findGitNeeds, GPG_NEED, isRemotePath, SSH_NEED } from './git-needs.ts';
import type { SandboxNeed } from './permissions.ts';
import { getProgramName } from './rules/carriers.ts';
import { splitGitArguments } from './rules/git-arguments.ts';
import { type ReadCommand, readShell } from './rules/read-shell.ts';
import { findEnteredDirectories } from './rules/entered-directories.ts';
import { UNKNOWN } from './rules/shell-words.ts';
import type { CommandWords } from './rules/visit-script.ts';

export interface NeedContext {
  readonly cwd: string;
  readonly home: string | null;
  /** A string says why the configuration of a directory is not known. */
  readonly readGitConfiguration: (directory: string) => GitConfiguration | string;
}

/**
 * Lists what the commands of a line need, as far as its text says. What a script or another program
 * starts is not looked at: it fails in the sandbox, with a message that names what is hidden.
 */
export function listSandboxNeeds(line: string, context: NeedContext): readonly SandboxNeed[] {
  if (!MENTION.test(line)) return [];
  const commands = readShell(line, context).commands.filter(({ isInFile }) => !isInFile);
  const { directories } = findEnteredDirectories(
    commands.map(({ words }) => words),
    context,
  );
  const needs = commands
    .flatMap(listRunCommands)
    .flatMap((words) => listNeedsOf(words, directories, context));
  return [...new Map(needs.map((need) => [JSON.stringify(need), need])).values()];
}

/** The command, and those that begin at one of its arguments: `timeout 60 git push`. */
function listRunCommands({ words, runsArguments }: ReadCommand): readonly CommandWords[] {
  if (runsArguments !== 'yes') return [words];
  return words.map((_word, index) => words.slice(index));
}

function listNeedsOf(
  [name = '', ...args]: CommandWords,
  directories: readonly string[],
  context: NeedContext,
): readonly SandboxNeed[] {
  const program = getProgramName(name);
  if (program === 'git') return listGitNeeds(args, directories, context);
  const need = PROGRAMS.get(program);
  if (need === undefined || args.some((arg) => ASKS_ITSELF.test(arg))) return [];
  if (need.isNeeded?.(args) === false) return [];
  const { places, variables = [] } = need;
  return [{ command: program, places, variables, changesSubmodules: false }];
}

function listGitNeeds(
  args: CommandWords,
  directories: readonly string[],
  { readGitConfiguration }: NeedContext,
): readonly SandboxNeed[] {
  const { directories: entered } = splitGitArguments(args);
  if (entered.some((each) => each.includes(UNKNOWN))) {
    return findGitNeeds(args, () => 'its directory is not known');
  }
  // A directory that a line enters at one place was not entered at all places.
  const bases = directories.map((base) => entered.reduce(resolveFrom, base)).filter(isDirectory);
  return [...new Set(bases)].flatMap((base) =>
    findGitNeeds(args, () => readGitConfiguration(base)),
  );
}

interface ProgramNeed {
  readonly places: readonly string[];
  readonly variables?: readonly string[];
  /** Whether it needs them with these arguments; absent when it always does. */
  readonly isNeeded?: (args: readonly string[]) => boolean;
}

/** A program that only prints something about itself. */
const ASKS_ITSELF = /^(?:-V|--version|--help|help)$/;

/** Cargo and gem read most things without a login. */
const PUBLISHES = /^(?:login|logout|owner|publish|push|yank)$/;
const isPublishing = (args: readonly string[]): boolean => args.some((arg) => PUBLISHES.test(arg));

const PROGRAMS: ReadonlyMap<string, ProgramNeed> = new Map<string, ProgramNeed>([
  ...['autossh', 'mosh', 'scp', 'sftp', 'ssh', 'ssh-copy-id', 'sshfs'].map(
    (name) => [name, SSH_NEED] as const,
  ),
  ['rsync', { ...SSH_NEED, isNeeded: (args) => args.some(isRemotePath) }],
  ...['gpg', 'gpg2', 'gpgsm'].map((name) => [name, GPG_NEED] as const),
  ['pass', { ...GPG_NEED, places: ['.password-store', '.gnupg'] }],
  ['gh', { places: ['.config/gh'] }],
  ['hub', { places: ['.config/hub'] }],
  ['glab', { places: ['.config/glab-cli'] }],
  ...['aws', 'sam', 'eb'].map((name) => [name, { places: ['.aws'] }] as const),
  ...['az', 'azd'].map((name) => [name, { places: ['.azure'] }] as const),
  ...['bq', 'gcloud', 'gsutil'].map((name) => [name, { places: ['.config/gcloud'] }] as const),
  ...['helm', 'k9s', 'kubectl', 'oc'].map((name) => [name, { places: ['.kube'] }] as const),
  ['eksctl', { places: ['.aws', '.kube'] }],
  ['doctl', { places: ['.config/doctl'] }],
  ['op', { places: ['.config/op', '.1password'] }],
  ['vault', { places: ['.vault-token'] }],
  ['twine', { places: ['.pypirc'] }],
  ['cargo', { places: ['.cargo/credentials', '.cargo/credentials.toml'], isNeeded: isPublishing }],
  ['gem', { places: ['.gem/credentials'], isNeeded: isPublishing }],
]);

/** Most lines name none of them, and are not read any further. */
const MENTION = new RegExp(
  String.raw`(?:^|[^\w-])(?:git|${[...PROGRAMS.keys()].join('|')})(?![\w-])`,
);

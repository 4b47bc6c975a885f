import { memoize } from '../base/memoize.ts';
import type { GitConfiguration } from '../process/git/git-configuration.ts';
import type { SandboxNeed } from './permissions.ts';
import { splitGitArguments } from './rules/git-arguments.ts';
import type { CommandWords } from './rules/visit-script.ts';

export const SSH_NEED = { places: ['.ssh'], variables: ['SSH_AUTH_SOCK'] } as const;
export const GPG_NEED = { places: ['.gnupg'], variables: [] } as const;

/** `host:path`, but neither a daemon (`host::module`), an address with a protocol, nor a drive. */
export function isRemotePath(text: string): boolean {
  return /^[^/:\s]+:(?!:|\/\/)/.test(text) && !/^[a-z]:\\/i.test(text);
}

/** `args` are the words after `git`; the configuration is read only when the command depends on it. */
export function findGitNeeds(
  args: CommandWords,
  readConfiguration: () => GitConfiguration | string,
): readonly SandboxNeed[] {
  const { settings, subcommand, rest } = splitGitArguments(args);
  if (subcommand === undefined) return [];
  const command: GitCommand = {
    name: `git ${subcommand}`,
    subcommand,
    options: rest.filter((word) => word.startsWith('-')),
    operands: rest.filter((word) => !word.startsWith('-')),
    readSettings: memoize(() => createSettings(readConfiguration(), settings)),
  };
  return [
    ...findConnectionNeeds(command),
    ...findSigningNeeds(command),
    ...findSubmoduleNeeds(command),
  ];
}

interface GitCommand {
  readonly name: string;
  readonly subcommand: string;
  readonly options: readonly string[];
  readonly operands: readonly string[];
  readonly readSettings: () => GitSettings;
}

/** Settings by their keys, in which section and name are in lower case. */
interface GitSettings {
  /** Whether the repository's own are among them. */
  readonly isKnown: boolean;
  readonly entries: readonly (readonly [key: string, value: string])[];
  readonly branch: string | null;
  /** The last value of a key. */
  get(key: string): string | null;
}

function createSettings(
  configuration: GitConfiguration | string,
  added: readonly string[],
): GitSettings {
  const isKnown = typeof configuration !== 'string';
  const entries = [
    ...(isKnown ? configuration.entries : []).map(
      ({ key, value }) => [key, value ?? 'true'] as const,
    ),
    ...added.map(splitSetting),
  ];
  const values = new Map(entries);
  return {
    isKnown,
    entries,
    branch: isKnown ? configuration.branch : null,
    get: (key) => values.get(key) ?? null,
  };
}

/** `Key=value` of the option `-c`. */
function splitSetting(setting: string): readonly [key: string, value: string] {
  const [key = '', ...value] = setting.split('=');
  const names = key.split('.');
  const lower = names.map((name, index) =>
    index === 0 || index === names.length - 1 ? name.toLowerCase() : name,
  );
  return [lower.join('.'), value.join('=') || 'true'];
}

function findConnectionNeeds(command: GitCommand): readonly SandboxNeed[] {
  const addresses = listAddresses(command);
  if (addresses === null) return [{ command: command.name, ...SSH_NEED, changesSubmodules: false }];
  return addresses.flatMap((address) => {
    const need = findAddressNeed(address, command);
    const name = `${command.name} (${hidePassword(address)})`;
    return need === null ? [] : [{ command: name, ...need, changesSubmodules: false }];
  });
}

function hidePassword(address: string): string {
  return address.replace(/\/\/([^/:@]+):[^/@]*@/, '//$1@');
}

function findAddressNeed(
  address: string,
  { subcommand, readSettings }: GitCommand,
): Pick<SandboxNeed, 'places' | 'variables'> | null {
  if (/^(?:git\+ssh|ssh|ssh\+git):\/\//i.test(address) || isRemotePath(address)) return SSH_NEED;
  // Most repositories can be fetched without a login, and none can be pushed to.
  if (!/^https?:\/\//i.test(address) || subcommand !== 'push') return null;
  return { places: listLoginPlaces(readSettings()), variables: [] };
}

function listLoginPlaces({ entries }: GitSettings): readonly string[] {
  const helpers = entries.filter(([key]) => /^credential\.(?:.*\.)?helper$/s.test(key));
  const uses = (pattern: RegExp): boolean => helpers.some(([, value]) => pattern.test(value));
  return [
    '.netrc',
    ...(uses(/^store\b/) ? ['.git-credentials', '.config/git/credentials'] : []),
    ...(uses(/\bgh\b.*\bgit-credential\b/) ? ['.config/gh'] : []),
    ...(uses(/\bglab\b.*\bgit-credential\b/) ? ['.config/glab-cli'] : []),
  ];
}

const TRANSPORTS = /^(?:clone|fetch|ls-remote|pull|push)$/;

/** The addresses that a command connects to; null when they cannot be known, and it connects to some. */
function listAddresses(command: GitCommand): readonly string[] | null {
  const { subcommand, operands, options, readSettings } = command;
  const [verb = '', ...others] = operands;
  if (subcommand === 'archive') return options.flatMap(getRemoteOption);
  if (subcommand === 'submodule') {
    return /^(?:add|update)$/.test(verb) ? listSubmoduleAddresses(command) : [];
  }
  if (subcommand === 'remote' && !/^(?:prune|show|update)$/.test(verb)) return [];
  if (subcommand === 'lfs' && !/^(?:fetch|pull|push)$/.test(verb)) return [];
  const isDirect = TRANSPORTS.test(subcommand);
  if (!isDirect && subcommand !== 'remote' && subcommand !== 'lfs') return [];
  const named = isDirect ? operands : others;
  const settings = readSettings();
  const written = [...named, ...options.flatMap(getRemoteOption)].filter(isAddress);
  const isPush = subcommand === 'push';
  if (written.length > 0) return written.map((each) => rewriteAddress(each, isPush, settings));
  if (subcommand === 'clone') return [];
  if (!settings.isKnown) return null;
  return findRemotes(named, isPush, settings).flatMap((remote) =>
    listRemoteAddresses(remote, isPush, settings),
  );
}

function getRemoteOption(option: string): readonly string[] {
  return /^--(?:remote|repo)=(.+)$/s.exec(option)?.slice(1) ?? [];
}

/** A path, or an address with a host. */
function isAddress(operand: string): boolean {
  return /^[./~]|:\/\//.test(operand) || isRemotePath(operand);
}

/** The remotes that operands name; without any, the one that the branch uses. */
function findRemotes(
  operands: readonly string[],
  isPush: boolean,
  settings: GitSettings,
): readonly string[] {
  const all = settings.entries.flatMap(([key]) => /^remote\.(.+)\.url$/s.exec(key)?.[1] ?? []);
  const named = operands.filter((each) => all.includes(each));
  if (named.length > 0) return named;
  const { branch } = settings;
  const ofBranch = branch === null ? null : settings.get(`branch.${branch}.remote`);
  const forPush =
    (branch === null ? null : settings.get(`branch.${branch}.pushremote`)) ??
    settings.get('remote.pushdefault');
  const chosen = (isPush ? forPush : null) ?? ofBranch ?? 'origin';
  return all.includes(chosen) ? [chosen] : [...new Set(all)];
}

function listRemoteAddresses(
  remote: string,
  isPush: boolean,
  settings: GitSettings,
): readonly string[] {
  const list = (name: string): readonly string[] =>
    settings.entries.flatMap(([key, value]) => (key === `remote.${remote}.${name}` ? [value] : []));
  const forPush = isPush ? list('pushurl') : [];
  if (forPush.length > 0) return forPush.map((each) => rewriteAddress(each, false, settings));
  return list('url').map((each) => rewriteAddress(each, isPush, settings));
}

/** The longest prefix of `url.….insteadOf` counts; for a push, those of `pushInsteadOf` come first. */
function rewriteAddress(address: string, isPush: boolean, { entries }: GitSettings): string {
  for (const name of isPush ? ['pushinsteadof', 'insteadof'] : ['insteadof']) {
    const fitting = entries
      .filter(
        ([key, prefix]) =>
          key.startsWith('url.') && key.endsWith(`.${name}`) && address.startsWith(prefix),
      )
      .toSorted(([, one], [, other]) => other.length - one.length);
    const [[key, prefix] = ['', '']] = fitting;
    if (key !== '') {
      return key.slice('url.'.length, -name.length - 1) + address.slice(prefix.length);
    }
  }
  return address;
}

/** A relative one is relative to that of the repository itself. */
function listSubmoduleAddresses({ operands, readSettings }: GitCommand): readonly string[] | null {
  const settings = readSettings();
  if (!settings.isKnown) return null;
  const configured = settings.entries.flatMap(([key, value]) =>
    /^submodule\..+\.url$/s.test(key) ? [value] : [],
  );
  const addresses = [...operands.slice(1).filter(isAddress), ...configured];
  const isRelative = addresses.some((each) => /^\.\.?\//.test(each));
  return [
    ...addresses.map((each) => rewriteAddress(each, false, settings)),
    ...(isRelative
      ? findRemotes([], false, settings).flatMap((each) =>
          listRemoteAddresses(each, false, settings),
        )
      : []),
  ];
}

const SIGNING = /^(?:am|cherry-pick|commit|merge|pull|rebase|revert|tag)$/;

function findSigningNeeds(command: GitCommand): readonly SandboxNeed[] {
  const { name, subcommand, options } = command;
  if (!SIGNING.test(subcommand) || options.some((each) => /^--no-(?:gpg-)?sign$/.test(each))) {
    return [];
  }
  const isTag = subcommand === 'tag';
  const asks = isTag
    ? /^(?:-[a-z]*[su]|--sign|--local-user(?:=.*)?)$/
    : /^(?:-[a-z]*S.*|--gpg-sign(?:=.*)?)$/s;
  const settings = command.readSettings();
  const isConfigured = isTrue(settings.get(isTag ? 'tag.gpgsign' : 'commit.gpgsign'));
  if (!isConfigured && !options.some((each) => asks.test(each))) return [];
  const need = settings.get('gpg.format') === 'ssh' ? SSH_NEED : GPG_NEED;
  return [{ command: `${name}, which signs`, ...need, changesSubmodules: false }];
}

function isTrue(value: string | null): boolean {
  return value !== null && /^(?:true|yes|on|1)$/i.test(value);
}

/** Git writes the configuration of each submodule that it updates, even if nothing in it changes. */
function findSubmoduleNeeds({
  name,
  subcommand,
  operands,
  options,
}: GitCommand): readonly SandboxNeed[] {
  const updates =
    (subcommand === 'submodule' && operands[0] === 'update') ||
    (/^(?:checkout|pull|switch)$/.test(subcommand) &&
      options.some((each) => /^--recurse-submodules(?:=|$)/.test(each)));
  return updates ? [{ command: name, places: [], variables: [], changesSubmodules: true }] : [];
}

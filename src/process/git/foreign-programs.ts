import { devNull } from 'node:os';

/** One line of `git config --list`. */
export interface GitConfigEntry {
  /** Section and name in lower case, with the subsection as written between them. */
  readonly key: string;
  /** Null for a key without a value, which git reads as true. */
  readonly value: string | null;
  /** Whether the repository set it, and not the user or the machine. */
  readonly isForeign: boolean;
}

export type GitSetting = readonly [key: string, value: string];

/**
 * Keys that make a read-only git command run a program, and the value that keeps it from doing so:
 * git's own default, or an empty one. `*` stands for a subsection.
 */
const SWITCHES: Readonly<Record<string, string>> = {
  'core.alternaterefscommand': 'true',
  'core.askpass': '',
  'core.editor': ':',
  'core.fsmonitor': 'false',
  'core.hookspath': devNull,
  'core.pager': 'cat',
  'core.sshcommand': 'ssh',
  'credential.helper': '',
  'credential.*.helper': '',
  'diff.external': '',
  'diff.submodule': 'short',
  'diff.*.cachetextconv': 'false',
  'diff.*.command': '',
  'diff.*.textconv': 'cat',
  'filter.*.clean': '',
  'filter.*.process': '',
  'filter.*.required': 'false',
  'filter.*.smudge': '',
  'gpg.program': 'gpg',
  'gpg.openpgp.program': 'gpg',
  'gpg.ssh.defaultkeycommand': '',
  'gpg.ssh.program': 'ssh-keygen',
  'gpg.x509.program': 'gpgsm',
  'gpg.*.program': 'false',
  'hook.*.command': 'true',
  'hook.*.event': '',
  'log.showsignature': 'false',
  'merge.*.driver': 'false',
  'sequence.editor': ':',
  'status.submodulesummary': 'false',
  'submodule.recurse': 'false',
  'submodule.*.update': 'none',
};

/** Sections whose programs no read-only command reaches, because no transport, help page or tool is used. */
const UNREACHED_SECTIONS: ReadonlySet<string> = new Set(
  `alias browser difftool fetch gc guitool help http imap include includeif instaweb interactive
  maintenance man mergetool protocol push rebase receive remote sendemail submodule svn svn-remote
  tar trailer uploadarchive uploadpack url web`.split(/\s+/),
);
const UNREACHED_KEYS: ReadonlySet<string> = new Set([
  'core.gitproxy',
  'diff.guitool',
  'diff.tool',
  'merge.guitool',
  'merge.tool',
]);

/** How the names of keys end that hold a program; a key of another git or of an extension of it may be one. */
const PROGRAM_NAME =
  /(?:agent|askpass|clean|cmd|command|driver|editor|exec|external|filter|helper|hook|hookspath|pager|path|process|program|proxy|smudge|textconv|tool|viewer)$/;

/**
 * Lists settings that switch off every program that a repository's configuration names. The user's own
 * values for the same keys hold again. A string names a key that cannot be switched off.
 */
export function listProgramSwitches(
  entries: readonly GitConfigEntry[],
): readonly GitSetting[] | string {
  const foreignKeys = new Set(entries.filter(({ isForeign }) => isForeign).map(({ key }) => key));
  const settings: GitSetting[] = [];
  for (const key of foreignKeys) {
    const switched = findSwitch(key);
    const isUnknown = switched === null ? canNameProgram(key) : key.includes(REPLACEMENT);
    if (isUnknown) return key;
    if (switched === null) continue;
    const own = entries.filter((entry) => !entry.isForeign && entry.key === key);
    settings.push([key, switched], ...own.map(({ value }) => [key, value ?? 'true'] as const));
  }
  return settings;
}

/** Stands for bytes that are not UTF-8: the key that git knows is another one. */
const REPLACEMENT = '\uFFFD';

/** Whether a setting decides which program git runs, now or later. */
export function isProgramKey(key: string): boolean {
  const { section, name, subsection } = splitKey(key);
  const normalized = joinKey(section.toLowerCase(), subsection, name.toLowerCase());
  if (findSwitch(normalized) !== null || PROGRAM_NAME.test(name.toLowerCase())) return true;
  return /^(?:alias|include|includeif|pager|protocol|url|extensions)$/i.test(section);
}

function findSwitch(key: string): string | null {
  const { section, subsection, name } = splitKey(key);
  if (section === 'pager') return 'false';
  return SWITCHES[key] ?? (subsection === '' ? null : (SWITCHES[`${section}.*.${name}`] ?? null));
}

function canNameProgram(key: string): boolean {
  const { section, name } = splitKey(key);
  if (UNREACHED_SECTIONS.has(section) || UNREACHED_KEYS.has(key)) return false;
  return PROGRAM_NAME.test(name);
}

function splitKey(key: string): { section: string; subsection: string; name: string } {
  const first = key.indexOf('.');
  const last = key.lastIndexOf('.');
  return {
    section: key.slice(0, first === -1 ? key.length : first),
    subsection: last > first ? key.slice(first + 1, last) : '',
    name: key.slice(last + 1),
  };
}

function joinKey(section: string, subsection: string, name: string): string {
  return subsection === '' ? `${section}.${name}` : `${section}.${subsection}.${name}`;
}

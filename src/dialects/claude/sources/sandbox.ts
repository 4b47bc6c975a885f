import path from 'node:path';
import { findClosestName } from '../../../base/did-you-mean.ts';
import { describePart, type Part } from '../../../base/located-json.ts';
import type { Ignored, SandboxLimits } from '../../discovery.ts';
import type { SettingsReading } from './settings.ts';

/** What `sandbox` of a settings file takes away, and what of it does not count. */
export interface SourceSandbox {
  readonly limits: SandboxLimits;
  readonly ignored: readonly Ignored[];
}

/** Reads `sandbox` of a settings file. Only what tightens counts, so that it needs no trust. */
export function parseSandbox(
  { source, settings }: Pick<SettingsReading, 'source' | 'settings'>,
  home: string | null,
): readonly SourceSandbox[] {
  const part = settings.get('sandbox');
  if (part === undefined) return [];
  const reader = new SandboxReader(part);
  const base = source.root ?? path.dirname(source.file);
  const resolve = (place: string): string => resolvePlace(place, base, home);
  const read = {
    isRequired: reader.readFlag('enabled', true),
    forbidsExit: reader.readFlag('allowUnsandboxedCommands', false),
    unreadable: [
      ...(reader.readTexts('filesystem.denyRead') ?? []),
      ...reader.readNamed('credentials.files', 'path'),
    ].map(resolve),
    readable: (reader.readTexts('filesystem.allowRead') ?? []).map(resolve),
    unwritable: (reader.readTexts('filesystem.denyWrite') ?? []).map(resolve),
    removedVariables: reader.readNamed('credentials.envVars', 'name'),
    hosts: reader.readTexts('network.allowedDomains'),
    deniedHosts: reader.readTexts('network.deniedDomains') ?? [],
  };
  const loosening = reader.listLoosening(read.unreadable.length > 0);
  const note = loosening.length === 0 ? null : explainLoosening(loosening, part.line);
  const limits: SandboxLimits = {
    file: source.file,
    isManaged: source.kind === 'managed',
    ...read,
    hosts: read.hosts?.includes('*') === true ? null : read.hosts,
    note,
  };
  const problems = reader.problems.map((why) => ({
    path: source.file,
    why,
    mayHideHook: true as const,
  }));
  const notes = note === null ? [] : [{ path: source.file, why: note }];
  return [{ limits, ignored: [...problems, ...notes] }];
}

function explainLoosening(keys: readonly string[], line: number): string {
  const names = keys.map((key) => `"sandbox.${key}"`).join(', ');
  return `line ${line}: ignored: ${names}; this file can only tighten the sandbox, and Hookline's own settings loosen it (sandbox.mode, sandbox.write, sandbox.network)`;
}

/** `/x` and `//x` are absolute here, `~/x` is in the home, and all else below the base of the file. */
function resolvePlace(place: string, base: string, home: string | null): string {
  if (home !== null && /^~(?:\/|$)/.test(place)) return path.join(home, place.slice(1));
  return path.resolve(base, place.replace(/^\/+/, '/'));
}

const GUARDING = [
  'enabled',
  'allowUnsandboxedCommands',
  'filesystem.denyRead',
  'filesystem.allowRead',
  'filesystem.denyWrite',
  'credentials.files',
  'credentials.envVars',
  'network.allowedDomains',
  'network.deniedDomains',
];

const GROUPS = ['filesystem', 'network', 'credentials'];

/** Keys of Claude Code that allow more, or name programs of its own sandbox. */
const LOOSENING = [
  'autoAllowBashIfSandboxed',
  'excludedCommands',
  'ignoreViolations',
  'enableWeakerNestedSandbox',
  'enableWeakerNetworkIsolation',
  'allowAppleEvents',
  'bwrapPath',
  'socatPath',
  'ripgrep',
  'filesystem.allowWrite',
  'filesystem.disabled',
  'network.allowUnixSockets',
  'network.allowAllUnixSockets',
  'network.allowLocalBinding',
  'network.allowMachLookup',
  'network.httpProxyPort',
  'network.socksProxyPort',
  'network.tlsTerminate',
  'credentials.allowPlaintextInject',
  'credentials.awsPairs',
  'credentials.sigv4',
];

/** Keys of Claude Code that a sandbox which no file can loosen does not need. */
const NEEDLESS = [
  'failIfUnavailable',
  'network.allowManagedDomainsOnly',
  'network.strictAllowlist',
  'filesystem.allowManagedReadPathsOnly',
];

const KNOWN: readonly string[] = [...GUARDING, ...GROUPS, ...LOOSENING, ...NEEDLESS];

/** Reads the fields of `sandbox`, by dotted names, and collects their problems. */
class SandboxReader {
  readonly #fields = new Map<string, Part>();
  readonly problems: string[] = [];

  constructor(whole: Part) {
    this.#collect(whole, '');
    for (const [name, part] of this.#fields) {
      if (KNOWN.includes(name) || /^(?:_|\/\/|#|\$|x-)/.test(name)) continue;
      const meant = findClosestName(name, KNOWN);
      const hint = meant === null ? '' : `; did you mean "sandbox.${meant}"?`;
      this.#report(part, `"sandbox.${name}" is not read${hint}`);
    }
  }

  #collect(part: Part, prefix: string): void {
    const own = `sandbox.${prefix}`.replace(/\.$/, '');
    if (part.fields === null) {
      return this.#report(part, `"${own}": expected an object, found ${describePart(part)}`);
    }
    for (const name of part.repeated) {
      const why = `"sandbox.${prefix}${name}" appears more than once: only the last one counts; merge them`;
      this.#report(part.fields.get(name) ?? part, why);
    }
    for (const [name, field] of part.fields) {
      this.#fields.set(prefix + name, field);
      if (prefix === '' && GROUPS.includes(name)) this.#collect(field, `${name}.`);
    }
  }

  /** Whether a switch has the value that tightens; one that cannot be read counts as if it had. */
  readFlag(name: string, tight: boolean): boolean {
    const part = this.#fields.get(name);
    if (part === undefined) return false;
    if (typeof part.value === 'boolean') return part.value === tight;
    this.#report(
      part,
      `"sandbox.${name}": expected true or false, found ${describePart(part)} (it counts as ${tight})`,
    );
    return true;
  }

  /** Null when the list is absent; what cannot be read is left out, and one text counts as a list. */
  readTexts(name: string): readonly string[] | null {
    const list = this.#fields.get(name);
    if (list === undefined) return null;
    if (list.items === null) {
      this.#report(
        list,
        `"sandbox.${name}": expected a list of strings, found ${describePart(list)}`,
      );
    }
    return (list.items ?? [list]).flatMap((item) => {
      if (typeof item.value === 'string' && item.value.trim() !== '') return [item.value.trim()];
      if (item !== list) {
        const why = `"sandbox.${name}": expected a string, found ${describePart(item)}`;
        this.#report(item, why);
      }
      return [];
    });
  }

  /** Reads `[{"path": …, "mode": "deny"}]`; every mode but `allow` takes it away, `mask` too: no proxy here hands it out. */
  readNamed(name: string, key: 'path' | 'name'): readonly string[] {
    const list = this.#fields.get(name);
    return (list === undefined ? [] : (list.items ?? [list])).flatMap((item) => {
      const value = item.fields?.get(key)?.value ?? item.value;
      if (item.fields?.get('mode')?.value === 'allow') return [];
      if (typeof value === 'string' && value !== '') return [value];
      const why = `"sandbox.${name}": expected {"${key}": …, "mode": "deny"}, found ${describePart(item)}`;
      this.#report(item, why);
      return [];
    });
  }

  /** Lists the keys that would allow more. Readable places are exceptions of unreadable ones only. */
  listLoosening(hasUnreadable: boolean): readonly string[] {
    const isSet = (name: string): boolean => {
      const value = this.#fields.get(name)?.value;
      const isAbsent = value === undefined || value === null || value === false;
      return !isAbsent && !isEmptyList(value);
    };
    return [
      ...(this.#fields.get('enabled')?.value === false ? ['enabled'] : []),
      ...LOOSENING.filter(isSet),
      ...(!hasUnreadable && isSet('filesystem.allowRead') ? ['filesystem.allowRead'] : []),
    ];
  }

  #report({ line }: Pick<Part, 'line'>, why: string): void {
    this.problems.push(`line ${line}: ${why}`);
  }
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

import {
  isPermissionMode,
  PERMISSION_MODES,
  type PermissionMode,
  type PermissionSettings,
  type WrittenRule,
  type LooseningPart,
  findLooseningPart,
} from '../../../permissions/permissions.ts';
import { describePart, type Part } from '../../../base/located-json.ts';
import type { Source } from '../entry.ts';
import type { SettingsReading } from './settings.ts';
import type { DiscoveredUnit } from '../../discovery.ts';
import { formatCanonicalJson } from '../../../base/json.ts';

/** The permission settings of a source. */
export interface SourcePermissions {
  readonly source: Source;
  readonly settings: PermissionSettings;
}

/** Reads `permissions` of a settings file; malformed parts are skipped and reported. */
export function parsePermissions(
  { source, settings }: Pick<SettingsReading, 'source' | 'settings'>,
  brokenGateFiles: readonly string[],
): readonly SourcePermissions[] {
  const part = settings.get('permissions');
  if (part === undefined) return [];
  const problems: string[] = [];
  const reader = createReader(part, problems);
  const parsed: PermissionSettings = {
    origin: getOrigin(source),
    file: source.file,
    line: part.line,
    root: source.root,
    allow: reader.texts('allow'),
    ask: reader.texts('ask'),
    deny: reader.texts('deny'),
    defaultMode: reader.mode(),
    additionalDirectories: reader.texts('additionalDirectories').map(({ text }) => text),
    forbidsBypass: reader.forbidsBypass(),
    whyNothingAllowed: brokenGateFiles.includes(source.file)
      ? `a guard in ${source.file} is broken, so the allow rules of this file are ignored`
      : null,
    problems,
  };
  return [{ source, settings: parsed }];
}

function getOrigin({ kind, place }: Source): PermissionSettings['origin'] {
  if (place === 'workspace') return 'workspace';
  if (kind === 'managed') return 'managed';
  return place === 'given' ? 'given' : 'own';
}

function createReader(whole: Part, problems: string[]) {
  const report = (part: Part, why: string): void => {
    problems.push(`line ${part.line}: ${why}, found ${describePart(part)}`);
  };
  if (whole.fields === null) report(whole, '"permissions": expected an object');
  const find = (name: string): Part | undefined => whole.fields?.get(name);
  return {
    texts(name: string): readonly WrittenRule[] {
      const list = find(name);
      if (list === undefined) return [];
      if (list.items === null) report(list, `"permissions.${name}": expected a list of strings`);
      return (list.items ?? []).flatMap((item) => {
        const { value, line } = item;
        if (typeof value === 'string' && value.trim() !== '') return [{ text: value, line }];
        report(item, `"permissions.${name}": expected a string`);
        return [];
      });
    },
    mode: () => readMode(find('defaultMode'), report),
    forbidsBypass(): boolean {
      const part = find('disableBypassPermissionsMode');
      if (part === undefined) return false;
      const isKnown = part.value === 'disable' || part.value === true;
      if (!isKnown) report(part, '"permissions.disableBypassPermissionsMode": expected "disable"');
      return isKnown;
    },
  };
}

function readMode(
  part: Part | undefined,
  report: (part: Part, why: string) => void,
): PermissionMode | null {
  if (part === undefined) return null;
  if (part.value === 'manual') return 'default';
  if (isPermissionMode(part.value)) return part.value;
  report(part, `"permissions.defaultMode": expected ${PERMISSION_MODES.join(', ')}`);
  return null;
}

/** Creates the trust unit of a workspace's permission rules; null when they allow nothing. */
export function createPermissionUnit(
  { source, settings }: SourcePermissions,
  createName: (source: Source, name: string) => Pick<DiscoveredUnit, 'id' | 'ownId'>,
): DiscoveredUnit | null {
  const part = settings.origin === 'workspace' ? findLooseningPart(settings) : null;
  // The name is taken even when no trust is needed, so that ids of later sources do not change.
  const name = createName(source, 'permissions');
  if (part === null) return null;
  const kind = source.isCline ? `${source.kind} .cline` : source.kind;
  const text = formatCanonicalJson({ source: kind, permissions: part });
  return {
    ...name,
    dialect: 'claude',
    eventName: 'permissions',
    path: settings.file,
    line: settings.line,
    place: source.place,
    root: source.root,
    binds: { entry: settings.file, text, files: [], directories: [] },
    notes: [],
    problem: settings.whyNothingAllowed,
    details: { type: 'permissions', source: source.label, runs: describeRules(part) },
  };
}

/** Formats `allow Bash(npm test), Read; directory ../lib; mode acceptEdits`. */
function describeRules({
  allow = [],
  additionalDirectories = [],
  defaultMode,
}: LooseningPart): string {
  return [
    ...(allow.length === 0 ? [] : [`allow ${allow.join(', ')}`]),
    ...additionalDirectories.map((directory) => `directory ${directory}`),
    ...(defaultMode === undefined ? [] : [`mode ${defaultMode}`]),
  ].join('; ');
}

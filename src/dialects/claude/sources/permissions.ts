import {
  isPermissionMode,
  PERMISSION_MODES,
  type PermissionMode,
  type PermissionBehavior,
  type PermissionProblem,
  type PermissionSettings,
  type WrittenRule,
  type LooseningPart,
  findLooseningPart,
} from '../../../permissions/permissions.ts';
import { describePart, type Part } from '../../../base/located-json.ts';
import { parsePermissionRule } from '../../../permissions/rules/permission-rule.ts';
import { describeMisspelledTool, findIntendedTool } from '../../known-tools.ts';
import { findMisspeltPermissions } from '../config/misspelt-keys.ts';
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
  const reader = new PermissionReader(part);
  const rules = {
    allow: reader.readRules('allow'),
    ask: reader.readRules('ask'),
    deny: reader.readRules('deny'),
    defaultMode: reader.readMode(),
    additionalDirectories: reader.readTexts('additionalDirectories').map(({ text }) => text),
    forbidsBypass: reader.readForbidsBypass(),
  };
  const { problems } = reader;
  const isGuardBroken =
    brokenGateFiles.includes(source.file) || problems.some(({ mayHideGuard }) => mayHideGuard);
  const parsed: PermissionSettings = {
    origin: getOrigin(source),
    file: source.file,
    line: part.line,
    root: source.root,
    ...rules,
    whyNothingAllowed: isGuardBroken
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

/** Reads the fields of `permissions` and collects their problems. */
class PermissionReader {
  readonly #whole: Part;
  readonly #problems: PermissionProblem[] = [];

  constructor(whole: Part) {
    this.#whole = whole;
    if (whole.fields === null) {
      this.#report(whole, `"permissions": expected an object, found ${describePart(whole)}`, true);
    }
    for (const name of whole.repeated) {
      const why = `"permissions.${name}" appears more than once: only the last one counts; merge them`;
      this.#report(this.#find(name) ?? whole, why, true);
    }
    for (const { part, why } of findMisspeltPermissions(whole.fields ?? new Map())) {
      this.#report(part, why, true);
    }
  }

  get problems(): readonly PermissionProblem[] {
    return this.#problems;
  }

  /** A deny or ask rule that can be read only in part counts as it is probably meant. */
  readRules(behavior: PermissionBehavior): readonly WrittenRule[] {
    return this.readTexts(behavior).flatMap(({ text, line }) => {
      const problem = findRuleProblem(behavior, text);
      if (problem === null) return [{ text, line }];
      const repaired = behavior === 'allow' ? null : repairRule(behavior, text);
      const reading = repaired === null ? '' : ` (it counts as ${JSON.stringify(repaired)})`;
      this.#report({ line }, `${problem}${reading}`, behavior !== 'allow');
      return [text, ...(repaired === null ? [] : [repaired])].map((rule) => ({ text: rule, line }));
    });
  }

  readTexts(name: PermissionBehavior | 'additionalDirectories'): readonly WrittenRule[] {
    const list = this.#find(name);
    if (list === undefined) return [];
    const guards = name === 'deny' || name === 'ask';
    if (list.items === null) {
      const why = `"permissions.${name}": expected a list of strings, found ${describePart(list)}`;
      this.#report(list, why, guards);
    }
    // One rule without a list is clear enough to deny.
    const items = list.items ?? (guards ? [list] : []);
    return items.flatMap((item) => {
      const { value, line } = item;
      if (typeof value === 'string' && value.trim() !== '') return [{ text: value, line }];
      if (item === list) return [];
      const why = `"permissions.${name}": expected a string, found ${describePart(item)}`;
      this.#report(item, why, guards);
      return [];
    });
  }

  readMode(): PermissionMode | null {
    const part = this.#find('defaultMode');
    if (part === undefined) return null;
    if (part.value === 'manual') return 'default';
    if (isPermissionMode(part.value)) return part.value;
    const expected = `"permissions.defaultMode": expected ${PERMISSION_MODES.join(', ')}`;
    this.#report(part, `${expected}, found ${describePart(part)}`, true);
    return null;
  }

  readForbidsBypass(): boolean {
    const part = this.#find('disableBypassPermissionsMode');
    if (part === undefined) return false;
    const isKnown = part.value === 'disable' || part.value === true;
    if (!isKnown) {
      const expected = '"permissions.disableBypassPermissionsMode": expected "disable"';
      this.#report(part, `${expected}, found ${describePart(part)}`, true);
    }
    return isKnown;
  }

  #find(name: string): Part | undefined {
    return this.#whole.fields?.get(name);
  }

  #report({ line }: Pick<Part, 'line'>, why: string, mayHideGuard: boolean): void {
    this.#problems.push({ text: `line ${line}: ${why}`, mayHideGuard });
  }
}

/** A rule for an unknown tool never matches, which would go unnoticed. */
function findRuleProblem(behavior: PermissionBehavior, text: string): string | null {
  const parsed = parsePermissionRule({ behavior, text, source: '' });
  if (typeof parsed === 'string') return parsed;
  const [tool = ''] = text.trim().split('(', 1);
  return tool.includes('*') ? null : describeMisspelledTool(tool);
}

/** `Bash(rm -rf`, `Bash (rm *)` and `bash(rm *)` are clear enough to deny. */
function repairRule(behavior: PermissionBehavior, text: string): string | null {
  const [, tool = '', content] = /^\s*([\w-]+)\s*(?:[([{](.*?)[)\]}\s,;]*)?$/s.exec(text) ?? [];
  if (tool === '') return null;
  const name = findIntendedTool(tool) ?? tool;
  const repaired = content === undefined ? name : `${name}(${content})`;
  return typeof parsePermissionRule({ behavior, text: repaired, source: '' }) === 'string'
    ? null
    : repaired;
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

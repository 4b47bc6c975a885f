import { findClosestName } from '../../../base/did-you-mean.ts';
import { getOwnValue } from '../../../base/json.ts';
import type { Part } from '../../../base/located-json.ts';
import { CLAUDE_EVENT_NAMES, isClaudeEvent } from '../events.ts';
import type { IgnoredPart } from './parse-events.ts';

/** The keys of a settings file that guard something; a misspelt one would silently guard nothing. */
const GUARDING_KEYS = [
  'hooks',
  'permissions',
  'sandbox',
  'enabledPlugins',
  'allowManagedHooksOnly',
  'strictPluginOnlyCustomization',
  'disabledMcpjsonServers',
  'deniedMcpServers',
] as const;

/** Keys of Claude Code that are close to one of these. */
const OTHER_KEYS = ['enabledMcpjsonServers', 'allowedMcpServers', 'allowManagedMcpServersOnly'];

const KEYS_OF_PERMISSIONS = [
  'allow',
  'ask',
  'deny',
  'defaultMode',
  'additionalDirectories',
  'disableBypassPermissionsMode',
] as const;
type PermissionKey = (typeof KEYS_OF_PERMISSIONS)[number];

/** Keys that Claude Code reads there, and that guard nothing here. */
const OTHER_KEYS_OF_PERMISSIONS = ['disableAutoMode', 'skipDangerousModePermissionPrompt'];

/** Other words for the same lists. */
const SYNONYMS: Readonly<Record<string, PermissionKey>> = {
  block: 'deny',
  blocked: 'deny',
  blocklist: 'deny',
  blacklist: 'deny',
  denied: 'deny',
  denies: 'deny',
  denylist: 'deny',
  disallow: 'deny',
  disallowed: 'deny',
  forbid: 'deny',
  forbidden: 'deny',
  reject: 'deny',
  asked: 'ask',
  confirm: 'ask',
  prompt: 'ask',
};

/** Finds top-level keys of a settings file that are misspelt or belong elsewhere. */
export function findMisspeltSettings(fields: ReadonlyMap<string, Part>): readonly IgnoredPart[] {
  return [...fields].flatMap(([name, { line }]) => {
    const why = explainSetting(name);
    return why === null ? [] : [{ line, why, mayHideGate: true as const }];
  });
}

/** The same for a plugin's files, of which only `hooks` is read. */
export function findMisspeltHooks(fields: ReadonlyMap<string, Part>): readonly IgnoredPart[] {
  return [...fields].flatMap(([name, { line }]) => {
    const isMisspelt = !isKnown(name, ['hooks']) && findMeant(name, ['hooks']) !== null;
    if (!isMisspelt) return [];
    return [{ line, why: suggest(name, 'hooks'), mayHideGate: true as const }];
  });
}

function explainSetting(name: string): string | null {
  if (isKnown(name, [...GUARDING_KEYS, ...OTHER_KEYS]) || isClaudeEvent(name)) return null;
  const key = findMeant(name, GUARDING_KEYS);
  if (key !== null) return suggest(name, key);
  const rules = findRuleKey(name);
  if (rules !== null) return `"${name}" is not read here; did you mean "permissions.${rules}"?`;
  const event = findMeant(name, CLAUDE_EVENT_NAMES);
  if (event === null) return null;
  return `"${name}" is not read here; did you mean {"hooks": {"${event}": [ … ]}}?`;
}

/** A rule of its own key, which is written outside of `permissions`; `allow` there guards nothing. */
function findRuleKey(name: string): PermissionKey | null {
  const key = findMeant(name, ['deny', 'ask', 'defaultMode', 'disableBypassPermissionsMode']);
  return key ?? getOwnValue(SYNONYMS, normalize(name)) ?? null;
}

/** Finds keys of `permissions` that nothing reads. */
export function findMisspeltPermissions(
  fields: ReadonlyMap<string, Part>,
): readonly { readonly part: Part; readonly why: string }[] {
  return [...fields].flatMap(([name, part]) => {
    if (isKnown(name, [...KEYS_OF_PERMISSIONS, ...OTHER_KEYS_OF_PERMISSIONS])) return [];
    const key =
      findMeant(name, KEYS_OF_PERMISSIONS) ?? getOwnValue(SYNONYMS, normalize(name)) ?? null;
    const meant = key === null ? '' : `; did you mean "permissions.${key}"?`;
    return [{ part, why: `"permissions.${name}" is not read${meant}` }];
  });
}

/** A key that starts with such a sign is commented out on purpose, or is for an editor. */
function isKnown(name: string, keys: readonly string[]): boolean {
  return keys.includes(name) || /^(?:_|\/\/|#|\$|x-)/.test(name);
}

function findMeant<Name extends string>(name: string, keys: readonly Name[]): Name | null {
  return findClosestName(name.trim(), keys);
}

function normalize(name: string): string {
  return name
    .trim()
    .replaceAll(/[_\s-]/g, '')
    .toLowerCase();
}

function suggest(name: string, key: string): string {
  return `"${name}" is not read; did you mean "${key}"?`;
}

import { isDeepStrictEqual } from 'node:util';
import { createChangeCheck } from '../base/file-state.ts';
import { memoizePerWave } from '../base/memoize.ts';
import type { DiscoveredUnit } from '../dialects/discovery.ts';
import type { Wave } from '../hooks/handler.ts';
import { computeSha256 } from '../trust/file-map.ts';
import { loadConfig } from './config.ts';
import type { DisabledHook, Settings } from './settings.ts';

type DisabledHooks = Settings['hooks.disabled'];

/**
 * Returns the disabled hooks, read again when the file has changed, so that disabling by another process
 * applies at once. A flag overrides the file.
 */
export function createDisabledHooksReader(
  settings: Settings,
  configFile: string | null,
): (wave?: Wave) => DisabledHooks {
  let disabled = settings['hooks.disabled'];
  if (configFile === null) return () => disabled;
  const hasChanged = createChangeCheck(configFile);
  if (!isSameList(readDisabled(configFile) ?? [], disabled)) return () => disabled;
  return memoizePerWave(() => {
    if (hasChanged()) disabled = readDisabled(configFile) ?? disabled;
    return disabled;
  });
}

/** Most lists are empty, and loading the comparison of Node takes as long as reading the settings. */
function isSameList(one: DisabledHooks, other: DisabledHooks): boolean {
  return (one.length === 0 && other.length === 0) || isDeepStrictEqual(one, other);
}

/** Null when the setting is invalid. */
function readDisabled(file: string): DisabledHooks | null {
  const sources = { homeFile: file, workspaceFiles: [], env: {}, flags: {} };
  const { settings, origins, problems } = loadConfig(sources);
  const isUnderstood = problems.length === 0 || origins['hooks.disabled'] !== undefined;
  return isUnderstood ? settings['hooks.disabled'] : null;
}

type HookIdentity = Pick<DiscoveredUnit, 'id' | 'ownId' | 'root' | 'line' | 'binds' | 'identity'>;

/** The entry that disables this hook. */
export function createDisabledEntry(hook: HookIdentity): DisabledHook {
  const text = getEntryText(hook);
  const { ownId: id, root } = hook;
  return text === null ? { id, root } : { id, root, sha256: computeSha256(text) };
}

/**
 * Whether an entry disables this hook. The id of a hook in a settings file depends on its command and on
 * the hooks before it, so another hook may get the same id: then the hash of its text decides.
 */
export function isEntryForHook(entry: DisabledHook, hook: HookIdentity): boolean {
  if (!isInRoot(entry, hook) || !hasSameBaseName(entry, hook)) return false;
  const text = entry.sha256 === undefined ? null : getEntryText(hook);
  return text === null ? hasName(entry, hook) : computeSha256(text) === entry.sha256;
}

/** Whether a former hook with this id was disabled, and another one has the id now. */
export function hasInheritedName(entry: DisabledHook, hook: HookIdentity): boolean {
  return isInRoot(entry, hook) && hasName(entry, hook) && !isEntryForHook(entry, hook);
}

function isInRoot({ root }: DisabledHook, hook: HookIdentity): boolean {
  return root === null || root === hook.root;
}

function hasName({ id }: DisabledHook, hook: HookIdentity): boolean {
  return id === hook.id || id === hook.ownId;
}

/** Compares ids without the `~2` suffix of repeated ids, which depends on the order. */
function hasSameBaseName({ id }: DisabledHook, hook: HookIdentity): boolean {
  const name = stripSuffix(id);
  return name === stripSuffix(hook.id) || name === stripSuffix(hook.ownId);
}

function stripSuffix(id: string): string {
  return id.replace(/~\d+$/u, '');
}

function getEntryText({ line, binds, identity }: HookIdentity): string | null {
  if (identity !== undefined) return identity;
  return line === null ? null : (binds.text ?? null);
}

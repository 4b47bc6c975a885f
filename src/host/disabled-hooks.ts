import { isDeepStrictEqual } from 'node:util';
import { memoizePerWave } from '../base/memoize.ts';
import type { FoundHook } from '../dialects/dialect.ts';
import type { Wave } from '../hooks/handler.ts';
import { computeSha256 } from '../trust/file-map.ts';
import { loadConfig } from './config.ts';
import type { DisabledHook, Settings } from './settings.ts';
import { createChangeCheck } from './trust.ts';

type Disabled = Settings['hooks.disabled'];

/**
 * The hooks that are switched off at each call: what another process switches off must not run once
 * more. What a flag set stands above the file and stays.
 */
export function createDisabledHooksReader(
  settings: Settings,
  configFile: string | null,
): (wave?: Wave) => Disabled {
  let disabled = settings['hooks.disabled'];
  if (configFile === null) return () => disabled;
  const hasChanged = createChangeCheck(configFile);
  if (!isDeepStrictEqual(readDisabled(configFile) ?? [], disabled)) return () => disabled;
  return memoizePerWave(() => {
    if (hasChanged()) disabled = readDisabled(configFile) ?? disabled;
    return disabled;
  });
}

/** Null when what is written cannot be understood. */
function readDisabled(file: string): Disabled | null {
  const sources = { homeFile: file, workspaceFiles: [], env: {}, flags: {} };
  const { settings, origins, problems } = loadConfig(sources);
  const isUnderstood = problems.length === 0 || origins['hooks.disabled'] !== undefined;
  return isUnderstood ? settings['hooks.disabled'] : null;
}

type Named = Pick<FoundHook, 'id' | 'ownId' | 'root' | 'line' | 'binds' | 'plugin'>;

/** How a person's wish to switch this hook off is written down. */
export function createDisabledEntry(hook: Named): DisabledHook {
  const text = entryTextOf(hook);
  const { ownId: id, root } = hook;
  return text === null ? { id, root } : { id, root, sha256: computeSha256(text) };
}

/**
 * Whether an entry of the switched-off hooks means this one. An entry of a settings file has its id
 * from what it runs and from those before it, so another may come to have it: its text decides then.
 */
export function isEntryForHook(entry: DisabledHook, hook: Named): boolean {
  if (!isInRoot(entry, hook) || !hasFamilyName(entry, hook)) return false;
  const text = entry.sha256 === undefined ? null : entryTextOf(hook);
  return text === null ? hasName(entry, hook) : computeSha256(text) === entry.sha256;
}

/** Whether what had this hook's name was switched off, and something else stands there now. */
export function hasInheritedName(entry: DisabledHook, hook: Named): boolean {
  return isInRoot(entry, hook) && hasName(entry, hook) && !isEntryForHook(entry, hook);
}

function isInRoot({ root }: DisabledHook, hook: Named): boolean {
  return root === null || root === hook.root;
}

function hasName({ id }: DisabledHook, hook: Named): boolean {
  return id === hook.id || id === hook.ownId;
}

/** The name without the mark that tells entries of the same name apart, which their order decides. */
function hasFamilyName({ id }: DisabledHook, hook: Named): boolean {
  const name = familyName(id);
  return name === familyName(hook.id) || name === familyName(hook.ownId);
}

function familyName(id: string): string {
  return id.replace(/~\d+$/u, '');
}

/** Two plugins may have one name, and which of them is the first changes with what lies there. */
function entryTextOf({ line, binds, plugin }: Named): string | null {
  if (plugin !== undefined) return plugin.file;
  return line === null ? null : (binds.text ?? null);
}

import { existsSync } from 'node:fs';
import path from 'node:path';
import { findRealPath, isInside } from '../../base/paths.ts';
import type { FoundHook } from '../../dialects/dialect.ts';
import { trustUnit } from '../../host/hook-set.ts';
import { readBytes } from '../../trust/bind-unit.ts';
import { MAX_BYTES, type TrustUnit } from '../../trust/collect-unit.ts';
import {
  type UntrackedReference,
  findUntrackedReferences,
} from '../../trust/untracked-references.ts';
import { formatCount } from './print.ts';

/** What a hook, or a script that it runs, names and trust does not cover, in words. */
export function listUncoveredNames(hook: FoundHook): readonly string[] {
  // What settings allow names commands and files of which none is run for it.
  if (hook.permissions !== undefined || hook.runsNothing === true) return [];
  const unit = trustUnit(hook);
  const { text, ...rest } = unit;
  const own =
    text === undefined
      ? findUntrackedReferences(unit, readScript(unit.entry))
      : [...findUntrackedReferences(unit, text), ...listScriptReferences(rest)];
  const shown = hook.plugin === undefined ? own : own.filter((each) => !isProvided(each, hook));
  return [...new Set([...shown.map(({ name }) => name), ...listSeparateDirectories(hook)])];
}

/** What a plugin gets from its host, or from modules that are bound with it. */
function isProvided({ kind, name }: UntrackedReference, { binds, plugin }: FoundHook): boolean {
  if (kind !== 'package' || plugin === undefined) return false;
  const [first = '', second = ''] = name.split('/');
  const owner = name.startsWith('@') ? `${first}/${second}` : first;
  if (/^@cline\/(?:agents|core|llms|sdk|shared)$/u.test(owner)) return true;
  const bound = binds.directories.map((directory) => findRealPath(directory) ?? directory);
  return listModuleDirectories(plugin.file, bound).some(
    (modules) => binds.apart?.includes(modules) !== true && existsSync(path.join(modules, owner)),
  );
}

function listModuleDirectories(file: string, bound: readonly string[]): readonly string[] {
  const place = path.dirname(file);
  if (!bound.some((directory) => isInside(directory, place))) return [];
  return [path.join(place, 'node_modules'), ...listModuleDirectories(place, bound)];
}

/** Directories that lie with it and belong to others. */
function listSeparateDirectories({ binds, root }: FoundHook): readonly string[] {
  return (binds.apart ?? []).map((directory) => path.relative(root ?? '', directory));
}

/** The scripts that an entry of a configuration file runs. */
function listScriptReferences(unit: TrustUnit): readonly UntrackedReference[] {
  return unit.files.flatMap((file) =>
    findUntrackedReferences({ ...unit, entry: file }, readScript(file)),
  );
}

function readScript(file: string): string {
  try {
    return readBytes(file, MAX_BYTES)?.toString('utf8') ?? '';
  } catch {
    // A hook that cannot be read is reported as such; there is nothing to look for in it.
    return '';
  }
}

/** `2 hooks and 1 plugin`; what is neither goes by the name of hooks. */
export function formatFoundCount(found: readonly { readonly plugin?: unknown }[]): string {
  const plugins = found.filter(({ plugin }) => plugin !== undefined).length;
  const hooks = found.length - plugins;
  if (plugins === 0) return formatCount(hooks, 'hook');
  const ofPlugins = formatCount(plugins, 'plugin');
  return hooks === 0 ? ofPlugins : `${formatCount(hooks, 'hook')} and ${ofPlugins}`;
}

/** What to do about hooks and plugins that nobody trusts; null when there are none. */
export function formatReviewHint(waiting: readonly { readonly plugin?: unknown }[]): string | null {
  if (waiting.length === 0) return null;
  const verb = waiting.length === 1 ? 'does' : 'do';
  return `${formatFoundCount(waiting)} ${verb} not run until you have looked: \`hookline trust\``;
}

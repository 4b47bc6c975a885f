import { existsSync } from 'node:fs';
import path from 'node:path';
import { findRealPath, isInside } from '../../base/paths.ts';
import type { FoundHook } from '../../dialects/dialect.ts';
import { trustUnit } from '../../host/hook-set.ts';
import { readBytes } from '../../trust/bytes.ts';
import { MAX_BYTES, type TrustUnit } from '../../trust/collect.ts';
import { type UntrackedReference, findUntrackedReferences } from '../../trust/unbound.ts';

/** What a hook, or a script that it runs, names and trust does not cover, in words. */
export function describeUnbound(hook: FoundHook): readonly string[] {
  // What settings allow names commands and files of which none is run for it.
  if (hook.permissions !== undefined || hook.runsNothing === true) return [];
  const unit = trustUnit(hook);
  const { text, ...rest } = unit;
  const own =
    text === undefined
      ? findUntrackedReferences(unit, readScript(unit.entry))
      : [...findUntrackedReferences(unit, text), ...mentionsInScripts(rest)];
  const shown = hook.plugin === undefined ? own : own.filter((each) => !isAtHand(each, hook));
  return [...new Set([...shown.map(({ name }) => name), ...apartNames(hook)])];
}

/** What a plugin gets from its host, or from modules that are bound with it. */
function isAtHand({ kind, name }: UntrackedReference, { binds, plugin }: FoundHook): boolean {
  if (kind !== 'package' || plugin === undefined) return false;
  const [first = '', second = ''] = name.split('/');
  const owner = name.startsWith('@') ? `${first}/${second}` : first;
  if (/^@cline\/(?:agents|core|llms|sdk|shared)$/u.test(owner)) return true;
  const bound = binds.directories.map((directory) => findRealPath(directory) ?? directory);
  return modulesAbove(plugin.file, bound).some(
    (modules) => binds.apart?.includes(modules) !== true && existsSync(path.join(modules, owner)),
  );
}

function modulesAbove(file: string, bound: readonly string[]): readonly string[] {
  const place = path.dirname(file);
  if (!bound.some((directory) => isInside(directory, place))) return [];
  return [path.join(place, 'node_modules'), ...modulesAbove(place, bound)];
}

/** Directories that lie with it and belong to others. */
function apartNames({ binds, root }: FoundHook): readonly string[] {
  return (binds.apart ?? []).map((directory) => path.relative(root ?? '', directory));
}

/** The scripts that an entry of a configuration file runs. */
function mentionsInScripts(unit: TrustUnit): readonly UntrackedReference[] {
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

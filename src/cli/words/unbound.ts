import { existsSync } from 'node:fs';
import path from 'node:path';
import { findRealPath, isInside } from '../../base/paths.ts';
import type { DiscoveredUnit, FoundPlugin } from '../../dialects/discovery.ts';
import { type HookStatus, trustUnit } from '../../host/hook-set.ts';
import { readBytes } from '../../trust/bytes.ts';
import { MAX_BYTES, type TrustUnit } from '../../trust/collect.ts';
import { type UnboundMention, unboundMentions } from '../../trust/unbound.ts';

/** What a hook, or a script that it runs, names and trust does not cover, in words. */
export function describeUnbound({
  hook,
  found,
}: Pick<HookStatus, 'hook' | 'found'>): readonly string[] {
  // What settings allow names commands and files of which none is run for it.
  if (found.kind === 'permissions' || hook.runsNothing === true) return [];
  const unit = trustUnit(hook);
  const { text, ...rest } = unit;
  const own =
    text === undefined
      ? unboundMentions(unit, readScript(unit.entry))
      : [...unboundMentions(unit, text), ...mentionsInScripts(rest)];
  const shown = found.kind === 'plugin' ? own.filter((each) => !isAtHand(each, found)) : own;
  return [...new Set([...shown.map(({ name }) => name), ...apartNames(hook)])];
}

/** What a plugin gets from its host, or from modules that are bound with it. */
function isAtHand(
  { kind, name }: UnboundMention,
  { unit: { binds }, entry }: FoundPlugin,
): boolean {
  if (kind !== 'package') return false;
  const [first = '', second = ''] = name.split('/');
  const owner = name.startsWith('@') ? `${first}/${second}` : first;
  if (/^@cline\/(?:agents|core|llms|sdk|shared)$/u.test(owner)) return true;
  const bound = binds.directories.map((directory) => findRealPath(directory) ?? directory);
  return modulesAbove(entry.file, bound).some(
    (modules) => binds.apart?.includes(modules) !== true && existsSync(path.join(modules, owner)),
  );
}

function modulesAbove(file: string, bound: readonly string[]): readonly string[] {
  const place = path.dirname(file);
  if (!bound.some((directory) => isInside(directory, place))) return [];
  return [path.join(place, 'node_modules'), ...modulesAbove(place, bound)];
}

/** Directories that lie with it and belong to others. */
function apartNames({ binds, root }: DiscoveredUnit): readonly string[] {
  return (binds.apart ?? []).map((directory) => path.relative(root ?? '', directory));
}

/** The scripts that an entry of a configuration file runs. */
function mentionsInScripts(unit: TrustUnit): readonly UnboundMention[] {
  return unit.files.flatMap((file) => unboundMentions({ ...unit, entry: file }, readScript(file)));
}

function readScript(file: string): string {
  try {
    return readBytes(file, MAX_BYTES)?.toString('utf8') ?? '';
  } catch {
    // A hook that cannot be read is reported as such; there is nothing to look for in it.
    return '';
  }
}

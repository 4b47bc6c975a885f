import { existsSync } from 'node:fs';
import path from 'node:path';
import { isHooklineError } from '../../base/errors.ts';
import { findRealPath, isInside } from '../../base/paths.ts';
import type { DiscoveredUnit, FoundPlugin, Discovered } from '../../dialects/discovery.ts';
import { type ListedUnit, toTrustUnit } from '../../host/hook-set.ts';
import { readBytes } from '../../trust/bind-unit.ts';
import type { Trust } from '../../host/open-trust.ts';
import { type Collection, MAX_BYTES, type TrustUnit } from '../../trust/collect-unit.ts';
import { isInstalledPackage } from '../../trust/follow-references.ts';
import {
  type UntrackedReference,
  findUntrackedReferences,
} from '../../trust/untracked-references.ts';
import { formatCount } from './print.ts';

/** What a hook or its scripts name and trust does not cover. */
export interface Uncovered {
  readonly names: readonly string[];
  /** Interpreters outside of the workspace. */
  readonly interpreters: readonly string[];
}

export const NOTHING_UNCOVERED: Uncovered = { names: [], interpreters: [] };

/** Lists both, the interpreters marked. */
export function listUncoveredNames({ names, interpreters }: Uncovered): readonly string[] {
  return [...names, ...interpreters.map((name) => `${name} (interpreter)`)];
}

export function findUncovered(
  { hook, found }: Pick<ListedUnit, 'hook' | 'found'>,
  { checker }: Pick<Trust, 'checker'>,
): Uncovered {
  // Permission rules and includes name commands and files, but run nothing.
  const runsNothing = found.kind === 'permissions' || found.kind === 'include';
  if (runsNothing || hook.runsNothing === true) return NOTHING_UNCOVERED;
  const unit = toTrustUnit(found.unit);
  const { text, ...rest } = unit;
  const collection = tryCollect(unit, checker);
  const bound = new Set(collection?.files.values());
  const scripts = listScripts(unit, collection);
  const own = [
    ...(text === undefined ? [] : findUntrackedReferences(unit, text, () => bound)),
    ...scripts.flatMap((file) =>
      findUntrackedReferences({ ...rest, entry: file }, readScript(file), () => bound),
    ),
  ];
  const references = found.kind === 'plugin' ? own.filter((each) => !isProvided(each, found)) : own;
  const names = references.map(({ name }) => name);
  return {
    names: [
      ...new Set([...names, ...listSeparateDirectories(hook), ...(collection?.uncovered ?? [])]),
    ],
    interpreters: [...(collection?.interpreters ?? [])],
  };
}

/** Null when the unit cannot be bound, which is reported where it is trusted. */
function tryCollect(unit: TrustUnit, checker: Trust['checker']): Collection | null {
  try {
    return checker.collect(unit);
  } catch (error) {
    if (isHooklineError(error)) return null;
    throw error;
  }
}

const MAX_SCRIPTS = 100;

/** The scripts that an entry runs, and those that they load or start; not those of installed packages. */
function listScripts(unit: TrustUnit, collection: Collection | null): readonly string[] {
  const followed = [...(collection?.followed ?? [])].flatMap((key) => {
    const file = collection?.files.get(key);
    return file === undefined || isInstalledPackage(file) ? [] : [file];
  });
  const named = unit.text === undefined ? [unit.entry, ...unit.files] : unit.files;
  return [...new Set([...named, ...followed])].slice(0, MAX_SCRIPTS);
}

/** Modules that the host provides or that are bound with the plugin. */
function isProvided(
  { kind, name }: UntrackedReference,
  { unit: { binds }, entry }: FoundPlugin,
): boolean {
  if (kind !== 'package') return false;
  const [first = '', second = ''] = name.split('/');
  const owner = name.startsWith('@') ? `${first}/${second}` : first;
  if (/^@cline\/(?:agents|core|llms|sdk|shared)$/u.test(owner)) return true;
  const bound = binds.directories.map((directory) => findRealPath(directory) ?? directory);
  return listModuleDirectories(entry.file, bound).some(
    (modules) => binds.apart?.includes(modules) !== true && existsSync(path.join(modules, owner)),
  );
}

function listModuleDirectories(file: string, bound: readonly string[]): readonly string[] {
  const parent = path.dirname(file);
  if (!bound.some((directory) => isInside(directory, parent))) return [];
  return [path.join(parent, 'node_modules'), ...listModuleDirectories(parent, bound)];
}

/** Directories inside the plugin that are not bound. */
function listSeparateDirectories({ binds, root }: DiscoveredUnit): readonly string[] {
  return (binds.apart ?? []).map((directory) => path.relative(root ?? '', directory));
}

function readScript(file: string): string {
  try {
    return readBytes(file, MAX_BYTES)?.toString('utf8') ?? '';
  } catch {
    // An unreadable hook is reported elsewhere.
    return '';
  }
}

/** `2 hooks and 1 plugin`; rules and servers count as hooks. */
export function formatFoundCount(found: readonly Pick<Discovered, 'kind'>[]): string {
  const plugins = found.filter(({ kind }) => kind === 'plugin').length;
  const includes = found.filter(({ kind }) => kind === 'include').length;
  const hooks = found.length - plugins - includes;
  const others = [
    ...(plugins === 0 ? [] : [formatCount(plugins, 'plugin')]),
    ...(includes === 0 ? [] : [formatCount(includes, 'include')]),
  ];
  const counts =
    hooks === 0 && others.length > 0 ? others : [formatCount(hooks, 'hook'), ...others];
  return counts.join(' and ');
}

/** The hint for hooks and plugins that need review; null when there are none. */
export function formatReviewHint(waiting: readonly Pick<Discovered, 'kind'>[]): string | null {
  if (waiting.length === 0) return null;
  const verb = waiting.length === 1 ? 'needs' : 'need';
  return `${formatFoundCount(waiting)} ${verb} review: run \`hookline trust\``;
}

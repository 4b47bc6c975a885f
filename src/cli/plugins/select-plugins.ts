import { existsSync } from 'node:fs';
import path from 'node:path';
import { HooklineError } from '../../base/errors.ts';
import { isInside } from '../../base/paths.ts';
import { findClosestName } from '../../base/did-you-mean.ts';
import type { Host } from '../../host/create-host.ts';
import type { ListedUnit } from '../../host/hook-set.ts';
import type { PluginEntry } from '../../plugins/entry.ts';
import { hasOwnName } from '../../plugins/find/module-text.ts';
import { removeHashMark } from '../../plugins/install/layout.ts';
import { type InstallRecord, readRecord } from '../../plugins/install/record.ts';

/** A plugin of this session, and whether it may be loaded. */
export interface ListedPlugin {
  readonly entry: PluginEntry;
  readonly status: ListedUnit;
  /** Null for one that was copied here; the record is null when another program installed it. */
  readonly install: { readonly directory: string; readonly record: InstallRecord | null } | null;
}

/** Every plugin that was found, in declared order. */
export function collectPlugins(host: Pick<Host, 'hooks'>): readonly ListedPlugin[] {
  return host.hooks().flatMap((status): readonly ListedPlugin[] => {
    const { hook, found } = status;
    if (found.kind !== 'plugin') return [];
    return [{ entry: found.entry, status, install: findInstall(hook.path) }];
  });
}

/** Finds the installation that a file belongs to, by its path. */
function findInstall(file: string): ListedPlugin['install'] {
  const parts = file.split(path.sep);
  const start = parts.lastIndexOf('_installed');
  if (start === -1) return null;
  const end = parts.findIndex((part, at) => at > start && removeHashMark(part) !== null);
  if (end === -1) return null;
  const directory = parts.slice(0, end + 1).join(path.sep);
  return { directory, record: readRecord(directory) };
}

/** Selects all entries of the one plugin with this name or path. */
export function selectPlugin(
  all: readonly ListedPlugin[],
  nameOrPath: string,
  cwd: string,
): readonly ListedPlugin[] {
  const exact = all.filter(
    ({ status: { hook } }) => hook.id === nameOrPath || hook.ownId === nameOrPath,
  );
  if (exact.length === 1) return exact;
  const file = path.resolve(cwd, nameOrPath);
  const byPath = all.filter((plugin) => listPaths(plugin).includes(file));
  const matches = byPath.length > 0 ? byPath : selectByName(all, nameOrPath);
  const homes = new Set(matches.map(getHome));
  if (homes.size === 1) return matches;
  if (homes.size > 1) throw createAmbiguousError(matches, nameOrPath);
  throw isPathLike(nameOrPath) && !existsSync(file)
    ? createMissingError(file)
    : createUnknownError(all, nameOrPath);
}

/** Selects the plugins at a path or below it. */
export function selectPluginsBelow(
  all: readonly ListedPlugin[],
  place: string,
): readonly ListedPlugin[] {
  return all.filter(({ status: { hook }, entry }) =>
    [hook.path, entry.file].some((file) => isInside(place, file)),
  );
}

/** Selects by the name of its file or package, else by the name in its code. */
function selectByName(all: readonly ListedPlugin[], pluginName: string): readonly ListedPlugin[] {
  const low = pluginName.toLowerCase();
  const namesakes = all.filter((each) =>
    listNames(each).some((name) => name.toLowerCase() === low),
  );
  if (namesakes.length > 0) return namesakes;
  return all.filter(({ entry }) => hasOwnName(entry.file, pluginName));
}

function listNames({ entry, status: { hook }, install }: ListedPlugin): readonly string[] {
  const base = path.basename(hook.path);
  const directory = install === null ? null : path.basename(install.directory);
  return [
    entry.label,
    base,
    base.replace(/\.m?[tj]s$/iu, ''),
    ...(entry.package === null ? [] : [entry.package.name]),
    ...(install?.record ? [install.record.name] : []),
    ...(directory === null ? [] : [directory, removeHashMark(directory) ?? directory]),
  ];
}

function listPaths({ entry, status: { hook }, install }: ListedPlugin): readonly string[] {
  return [
    hook.path,
    entry.file,
    ...(entry.package === null ? [] : [entry.package.directory]),
    ...(install === null ? [] : [install.directory]),
  ];
}

/** The path that all entries of one plugin share. */
function getHome({ entry, install }: ListedPlugin): string {
  return install?.directory ?? entry.package?.directory ?? entry.file;
}

/** A name may have a slash, too: `@scope/name`. */
function isPathLike(nameOrPath: string): boolean {
  return /^(?:\.{1,2}|~)?[/\\]|\.m?[tj]s$/iu.test(nameOrPath);
}

function createMissingError(file: string): HooklineError {
  return new HooklineError('PLUGIN_UNKNOWN', {
    message: `no file or directory at ${file}`,
    hint: 'Expected the path of a .ts, .mts, .js or .mjs file or of a directory with one, or the name of a plugin that is found here.',
  });
}

function createUnknownError(all: readonly ListedPlugin[], nameOrPath: string): HooklineError {
  const close = findClosestName(nameOrPath, all.flatMap(listNames));
  const there = [...new Set(all.map(({ entry }) => entry.label))].join(', ');
  const others = there === '' ? 'No plugins found.' : `Plugins: ${there}.`;
  return new HooklineError('PLUGIN_UNKNOWN', {
    message: `plugin ${JSON.stringify(nameOrPath)} not found`,
    hint: close === null ? others : `Did you mean ${close}?`,
  });
}

function createAmbiguousError(matches: readonly ListedPlugin[], nameOrPath: string): HooklineError {
  const ids = matches.map(({ status: { hook } }) => hook.id);
  return new HooklineError('PLUGIN_UNKNOWN', {
    message: `several plugins are called ${JSON.stringify(nameOrPath)}: ${ids.join(', ')}`,
    hint: 'Pass the id or path of one of them.',
  });
}

import { removeAbortListener, addAbortListener, clampTimerDelay } from '../../base/abort.ts';
import type { PluginEntry } from '../entry.ts';
import { LoadedPlugin } from '../loaded-plugin.ts';
import { runAsPlugin } from '../plugin-ownership.ts';
import { importModule } from './import-module.ts';
import type { Loading, LoadRequest } from './loading.ts';

export { releaseInstances } from './module-instances.ts';

/**
 * Imports one plugin, as a separate module for each copy. Never throws: an error in the plugin's code
 * becomes a failure with its reason, its location and what to do.
 */
export async function loadPlugin(request: LoadRequest): Promise<Loading> {
  const { entry, signal } = request;
  if (DECLARATIONS.test(entry.file)) return { kind: 'helper' };
  if (signal?.aborted === true) return toAborted(entry);
  return loadWithTimeout(load(request), request);
}

const DECLARATIONS = /\.d\.[cm]?ts$/;

async function load(request: LoadRequest): Promise<Loading> {
  try {
    const imported = await runAsPlugin(request.entry.file, () => importModule(request));
    if ('problem' in imported) return toFailure(imported.problem);
    return pickPlugin(imported.module, request);
  } catch (error) {
    const { explainLoadError } = await import('./explain-load-error.ts');
    return toFailure(explainLoadError(error, request.entry));
  }
}

type Exports = Readonly<Record<string, unknown>>;

/** Picks the export `default`, or else `plugin`. The manifest is validated later. */
function pickPlugin(exports: Exports, { entry, onIssue }: LoadRequest): Loading {
  const { file, package: home } = entry;
  const exported = unwrapDefault(exports['default']) ?? exports['plugin'];
  const problem = findProblem(exported);
  if (problem !== null) return { kind: 'failed', message: `${file} ${problem}` };
  if (isPluginLike(exported)) return new LoadedPlugin(exported, entry, onIssue);
  const other = Object.keys(exports).find((name) => isWholePlugin(exports[name]));
  if (other !== undefined) {
    const message = `${file} exports a plugin as "${other}"; export it as default, or as "plugin"`;
    return { kind: 'failed', message };
  }
  if (home === null) return { kind: 'helper' };
  const reason =
    home.isBare === true ? 'was installed as one' : `its package ${home.name} lists it as one`;
  const message = `${file} exports no plugin, and ${reason}; export an object with "name" and "manifest" as default`;
  return { kind: 'failed', message };
}

/** A module that was converted between ESM and CommonJS has its default export one level deeper. */
function unwrapDefault(exported: unknown): unknown {
  return has(exported, 'default') && !isPluginLike(exported) ? exported['default'] : exported;
}

function findProblem(exported: unknown): string | null {
  if (typeof exported === 'function') {
    return 'exports a function, and a plugin is an object; export what the function returns';
  }
  if (exported instanceof Promise) {
    return 'exports a promise, and a plugin is an object; export what it comes to, with `await`';
  }
  if (Array.isArray(exported) && exported.some(isPluginLike)) {
    return 'exports a list, and a file has one plugin; give each a file of its own';
  }
  return null;
}

const PARTS = ['name', 'manifest', 'setup', 'hooks'];

/** Whether the export looks like a plugin. */
function isPluginLike(exported: unknown): boolean {
  return PARTS.some((part) => has(exported, part));
}

function isWholePlugin(exported: unknown): boolean {
  return has(exported, 'name') && has(exported, 'manifest');
}

/** Getters of foreign objects may throw; the next reader reports that. */
function has(exported: unknown, name: string): exported is Exports {
  try {
    return typeof exported === 'object' && exported !== null && name in exported;
  } catch {
    return true;
  }
}

function toFailure(message: string): Loading {
  return { kind: 'failed', message };
}

/** Resolves with a failure when the import takes too long or is aborted; a later result is ignored. */
function loadWithTimeout(
  loading: Promise<Loading>,
  { entry, timeoutMs, signal }: LoadRequest,
): Promise<Loading> {
  return new Promise((resolve, reject) => {
    const settle = (result: Loading): void => {
      clearTimeout(timer);
      if (signal !== undefined) removeAbortListener(signal, abortLoading);
      resolve(result);
    };
    const timer = setTimeout(
      () => settle(toTimedOut(entry, timeoutMs)),
      clampTimerDelay(timeoutMs),
    );
    const abortLoading = (): void => settle(toAborted(entry));
    if (signal !== undefined) addAbortListener(signal, abortLoading);
    loading.then(settle, reject);
  });
}

function toAborted({ file }: PluginEntry): Loading {
  return toFailure(`importing ${file} was given up`);
}

function toTimedOut({ file }: PluginEntry, timeoutMs: number): Loading {
  const advice =
    'do what takes long in its setup, a hook or a tool, not while the file is imported';
  return toFailure(`importing ${file} took longer than ${timeoutMs} ms; ${advice}`);
}

import type { PluginEntry } from '../entry.ts';
import type { LoadedPlugin } from '../loaded-plugin.ts';
import { HooklineError } from '../../base/errors.ts';

/** What a package that the host itself stands for exports, by specifier (`@cline/core`); null for others. */
export type ProvidedModules = (specifier: string) => Readonly<Record<string, unknown>> | null;

export interface LoadRequest {
  readonly entry: PluginEntry;
  /** The plugin that the entry belongs to, where it is another file than its own. */
  readonly owner?: PluginEntry;
  readonly provided: ProvidedModules;
  /** Where translated modules are kept; null keeps none. Safe to delete at any time. */
  readonly cacheDirectory: string | null;
  /** Each copy is a module of its own, with its own variables: one for each session. */
  readonly copy: string;
  /** How long importing it may take. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** What importing came to; foreign code's failures are values. */
export type Loading =
  | LoadedPlugin
  /** A module without a plugin in it, which others import. */
  | { readonly kind: 'helper' }
  | { readonly kind: 'failed'; readonly message: string };

export type Names = Readonly<Record<string, unknown>>;

// They are taken from no directory, whatever lies there: a plugin works with the host that runs it.
const CLINE = /^@cline\/(?:core|sdk|agents|shared|llms)(?:\/|$)/;

/** Whether the host itself stands for a module. */
export function isProvided(specifier: string, provided: ProvidedModules): boolean {
  return CLINE.test(specifier) || provided(specifier) !== null;
}

/**
 * What a module that the host stands for exports to a plugin. A name that it does not have is there as
 * well, and says so when it is used: a missing one would keep the whole plugin from being imported.
 */
export function createProvidedNames(specifier: string, provided: ProvidedModules): Names {
  const exports = provided(specifier) ?? {};
  const names: Names = new Proxy(exports, {
    get(target, key): unknown {
      if (typeof key === 'symbol' || key in target) return Reflect.get(target, key);
      if (key === 'default') return names;
      // Who awaits a module must not take it for a promise; `__esModule` is what CommonJS asks for.
      if (key === 'then') return undefined;
      return key === '__esModule' ? true : createMissingName(key, specifier);
    },
  });
  return names;
}

const NEVER_MISSING = ['then', 'toJSON', 'asymmetricMatch', '$$typeof'];

function createMissingName(name: string, specifier: string): unknown {
  const stub = function unsupported(): never {
    throw new HooklineError('SDK_UNSUPPORTED', {
      message: `${name} of ${specifier} does not exist in Hookline: whatever needs it cannot be used here`,
      hint: 'The rest of the plugin works; catch this where it is optional.',
    });
  };
  return new Proxy(stub, {
    get(target, key): unknown {
      const isPlain = typeof key === 'symbol' || key in target || NEVER_MISSING.includes(key);
      return isPlain ? Reflect.get(target, key) : createMissingName(`${name}.${key}`, specifier);
    },
  });
}

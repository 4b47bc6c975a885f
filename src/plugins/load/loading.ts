import type { OnIssue } from '../plugin-issue.ts';
import type { PluginEntry } from '../entry.ts';
import type { LoadedPlugin } from '../loaded-plugin.ts';
import { HooklineError } from '../../base/errors.ts';

/** The exports of a package that the host provides, by specifier (`@cline/core`); null for others. */
export type ProvidedModules = (specifier: string) => Readonly<Record<string, unknown>> | null;

export interface LoadRequest {
  readonly entry: PluginEntry;
  /** The plugin of the entry, when the entry is another file of that plugin. */
  readonly owner?: PluginEntry;
  readonly provided: ProvidedModules;
  /** Where transpiled modules are cached; null disables the cache. Safe to delete at any time. */
  readonly cacheDirectory: string | null;
  /** Each copy is a separate module with its own variables: one for each session. */
  readonly copy: string;
  /** The time limit of the import. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Gets the failures of the plugin's hooks. */
  readonly onIssue?: OnIssue;
}

/** The result of an import; errors of foreign code are values. */
export type Loading =
  | LoadedPlugin
  /** A module without a plugin in it, which plugins import. */
  | { readonly kind: 'helper' }
  | { readonly kind: 'failed'; readonly message: string };

export type Names = Readonly<Record<string, unknown>>;

// These packages are never resolved from a directory: a plugin works with the host that runs it.
const CLINE = /^@cline(?:bot)?\/(?:core|sdk|agents|shared|llms)(?:\/|$)/;

/** Whether the host provides a module. */
export function isProvided(specifier: string, provided: ProvidedModules): boolean {
  return CLINE.test(specifier) || provided(specifier) !== null;
}

/**
 * The exports of a module that the host provides. A name that the module does not have exists as well, and
 * throws when it is used, because a missing name would fail the import of the whole plugin.
 */
export function createProvidedNames(specifier: string, provided: ProvidedModules): Names {
  const exports = provided(specifier) ?? {};
  const names: Names = new Proxy(exports, {
    get(target, key): unknown {
      if (typeof key === 'symbol' || key in target) return Reflect.get(target, key);
      if (key === 'default') return names;
      // Without `then`, because `await` would take the module for a promise; CommonJS checks `__esModule`.
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

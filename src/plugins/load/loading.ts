import type { PluginEntry } from '../entry.ts';

/** What a package that the host itself stands for exports, by specifier (`@cline/core`); null for others. */
export type ProvidedModules = (specifier: string) => Readonly<Record<string, unknown>> | null;

export interface LoadRequest {
  readonly entry: PluginEntry;
  readonly provided: ProvidedModules;
  /** Where translated modules are kept; null keeps none. Safe to delete at any time. */
  readonly cacheDirectory: string | null;
  /** Each copy is a module of its own, with its own variables: one for each session. */
  readonly copy: string;
  /** How long importing it may take. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** A file of a plugin; `owner` says of which, when it is not the one that the plugin is in. */
export interface ModuleRequest extends LoadRequest {
  readonly owner?: PluginEntry;
}

/** What importing came to; foreign code's failures are values. */
export type Loading =
  | { readonly kind: 'loaded'; readonly plugin: unknown }
  /** A module without a plugin in it, which others import. */
  | { readonly kind: 'helper' }
  | { readonly kind: 'failed'; readonly message: string };

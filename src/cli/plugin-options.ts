import type { PluginOptions } from '../host/plugins/plugin-options.ts';

/** How the program treats the plugins of every session that it opens. */
export function pluginOptions({ strict }: { readonly strict?: boolean }): PluginOptions {
  return {
    provided: async () => (await import('../sdk/provided/load-provided.ts')).loadProvidedModules(),
    ...(strict === true ? { isStrict: true } : {}),
  };
}

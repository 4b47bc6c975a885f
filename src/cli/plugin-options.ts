import type { PluginOptions } from '../host/plugins/plugin-options.ts';
import { keepStdout } from './words/output.ts';

interface PluginFlags {
  readonly strict?: boolean;
  readonly debug?: boolean;
}

/** How the program treats the plugins of every session that it opens. */
export function pluginOptions({ strict, debug }: PluginFlags): PluginOptions {
  return {
    provided: async () =>
      (await import('../compat/cline/provided/load-provided.ts')).loadProvidedModules(),
    ...(strict === true ? { isStrict: true } : {}),
    ...(debug === true ? { showsLog: true } : {}),
  };
}

/** For commands whose stdout is for programs: plugins that are imported write nothing there. */
export function silentPluginOptions(flags: PluginFlags): PluginOptions {
  const { provided, ...options } = pluginOptions(flags);
  return {
    ...options,
    async provided() {
      keepStdout();
      return (await provided?.()) ?? (() => null);
    },
  };
}

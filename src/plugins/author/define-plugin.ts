import type { AgentPlugin } from '../contract/plugin.ts';

/**
 * A plugin, checked by the compiler as it is written: `setup` and hooks know what they are given, and a
 * name that no plugin has is an error. What comes back is the object itself.
 */
export function definePlugin(plugin: AgentPlugin): AgentPlugin {
  return plugin;
}

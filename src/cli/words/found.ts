import { plural } from './print.ts';

/** `2 hooks and 1 plugin`; what is neither goes by the name of hooks. */
export function countFound(found: readonly { readonly plugin?: unknown }[]): string {
  const plugins = found.filter(({ plugin }) => plugin !== undefined).length;
  const hooks = found.length - plugins;
  if (plugins === 0) return plural(hooks, 'hook');
  const ofPlugins = plural(plugins, 'plugin');
  return hooks === 0 ? ofPlugins : `${plural(hooks, 'hook')} and ${ofPlugins}`;
}

/** What to do about hooks and plugins that nobody trusts; null when there are none. */
export function adviceToLook(waiting: readonly { readonly plugin?: unknown }[]): string | null {
  if (waiting.length === 0) return null;
  const verb = waiting.length === 1 ? 'does' : 'do';
  return `${countFound(waiting)} ${verb} not run until you have looked: \`hookline trust\``;
}

import type { Discovered } from '../../dialects/discovery.ts';
import { plural } from './print.ts';

/** `2 hooks and 1 plugin`; what is neither goes by the name of hooks. */
export function countFound(found: readonly Pick<Discovered, 'kind'>[]): string {
  const plugins = found.filter(({ kind }) => kind === 'plugin').length;
  const hooks = found.length - plugins;
  if (plugins === 0) return plural(hooks, 'hook');
  const ofPlugins = plural(plugins, 'plugin');
  return hooks === 0 ? ofPlugins : `${plural(hooks, 'hook')} and ${ofPlugins}`;
}

/** What to do about hooks and plugins that nobody trusts; null when there are none. */
export function adviceToLook(waiting: readonly Pick<Discovered, 'kind'>[]): string | null {
  if (waiting.length === 0) return null;
  const verb = waiting.length === 1 ? 'does' : 'do';
  return `${countFound(waiting)} ${verb} not run until you have looked: \`hookline trust\``;
}

import type {
  Discovered,
  DiscoveredUnit,
  DiscoveredWithUnit,
  FoundHook,
} from '../dialects/discovery.ts';
import type { ServerConfig } from '../mcp/server-config.ts';
import type { PermissionSettings } from '../permissions/permissions.ts';
import type { PluginEntry } from '../plugins/entry.ts';

/**
 * A unit with the fields of what it belongs to, as programs read it from `Host.hooks()`. Inside, `found`
 * says which kind it is.
 */
export interface ListedHook extends DiscoveredUnit, Omit<FoundHook, 'kind' | 'unit'> {
  readonly permissions?: PermissionSettings;
  readonly mcpServer?: ServerConfig;
  readonly plugin?: PluginEntry;
}

export function createListedHook(found: DiscoveredWithUnit): ListedHook {
  const { unit } = found;
  if (found.kind !== 'hook') return extendUnit(unit, { ...NO_HOOK, ...listOwnFields(found) });
  const { events, matcher, timeoutMs, onFailure } = found;
  const toHandlers = found.toHandlers.bind(found);
  return extendUnit(unit, { events, matcher, timeoutMs, onFailure, toHandlers });
}

/** Programs read these fields of every unit, also of those that are not hooks. */
const NO_HOOK = {
  events: [],
  matcher: null,
  timeoutMs: 0,
  onFailure: 'open',
  toHandlers: () => [],
} as const satisfies Omit<FoundHook, 'kind' | 'unit'>;

function listOwnFields(found: Exclude<Discovered, FoundHook>) {
  if (found.kind === 'permissions') return { permissions: found.settings };
  if (found.kind === 'include') return {};
  return found.kind === 'plugin' ? { plugin: found.entry } : { mcpServer: found.server };
}

/** A copy with further fields. It copies getters as getters, because they parse files on first use. */
function extendUnit<Fields extends object>(
  unit: DiscoveredUnit,
  fields: Fields,
): DiscoveredUnit & Fields;
function extendUnit(unit: DiscoveredUnit, fields: object): object {
  const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(unit));
  return Object.assign(copy, fields);
}

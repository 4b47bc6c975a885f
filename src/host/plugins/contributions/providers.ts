import {
  type CustomProvider,
  type CustomProviders,
  registeredProviders,
} from '../../../agent/models/custom-provider.ts';
import { parseService, createServiceProvider } from '../../../agent/models/service-provider.ts';
import { isBuiltInProvider } from '../../../agent/models/providers.ts';
import { getErrorMessage } from '../../../base/errors.ts';
import { isRecord } from '../../../base/json.ts';
import type { AgentExtensionProvider } from '../../../plugins/contract/plugin.ts';
import type { OnIssue, PluginIssue } from '../../../plugins/plugin-issue.ts';
import type { ActivePlugin } from '../../../plugins/loaded-plugin.ts';

/** Lists the providers that the plugins of one session registered with `api.registerProvider`. */
export function listProviders(
  active: readonly Pick<ActivePlugin, 'name' | 'contributions'>[],
  onIssue: OnIssue,
): readonly CustomProvider[] {
  const chosen = new Map<string, CustomProvider>();
  for (const { name: plugin, contributions } of active) {
    const report: Report = (level, message) =>
      onIssue({ plugin, phase: 'provider', level, message });
    for (const contributed of contributions.providers) {
      const provider = createProvider(contributed, plugin, chosen, report);
      if (provider !== null) chosen.set(provider.id, provider);
    }
  }
  reportRefused(onIssue);
  return [...chosen.values()];
}

/** Reports providers that were registered for the process during set-up under a reserved name. */
function reportRefused(onIssue: OnIssue): void {
  for (const { id, from } of registeredProviders.takeRefused()) {
    onIssue({
      plugin: from,
      phase: 'provider',
      level: 'warning',
      message: describeReservedName(id),
    });
  }
}

type Report = (level: PluginIssue['level'], message: string) => void;

/** Getters of foreign objects may throw. */
function createProvider(
  contributed: AgentExtensionProvider,
  plugin: string,
  chosen: ReadonlyMap<string, CustomProvider>,
  report: Report,
): CustomProvider | null {
  try {
    return readProvider(contributed, plugin, chosen, report);
  } catch (error) {
    report('error', `one of its providers cannot be read: ${getErrorMessage(error)}`);
    return null;
  }
}

function readProvider(
  { name, metadata }: AgentExtensionProvider,
  plugin: string,
  chosen: ReadonlyMap<string, CustomProvider>,
  report: Report,
): CustomProvider | null {
  const id = name.trim();
  const problem = explainClash(id, chosen);
  if (problem !== null) {
    report('warning', problem);
    return null;
  }
  const fields = readFields(isRecord(metadata) ? metadata : {});
  if (fields['baseUrl'] === undefined) {
    if (registeredProviders.find(id) === null) report('warning', describeUnserved(id));
    return null;
  }
  const read = parseService(id, fields);
  if (!read.ok) {
    report('error', `the provider ${JSON.stringify(id)} is left out: ${read.why}`);
    return null;
  }
  for (const warning of read.warnings) report('warning', `the provider "${id}": ${warning}`);
  return createServiceProvider(read.service, `the plugin "${plugin}"`);
}

function explainClash(id: string, chosen: ReadonlyMap<string, CustomProvider>): string | null {
  if (isBuiltInProvider(id)) return describeReservedName(id);
  const other = chosen.get(id);
  if (other === undefined) return null;
  return `the provider "${id}" is left out: ${other.from} registered one of this name before`;
}

function describeReservedName(id: string): string {
  return `the provider "${id}" is left out: this name is Hookline's own, and the key for it must not go elsewhere; register it under another`;
}

function describeUnserved(id: string): string {
  return `the provider "${id}" serves nothing: metadata.baseUrl says where it is reached, or Llms.registerHandler makes its answers`;
}

/** Cline's own example puts the whole collection into the metadata as well. */
function readFields(metadata: Record<string, unknown>): Record<string, unknown> {
  const collection = metadata['clineModelCollection'];
  if (!isRecord(collection)) return metadata;
  const { provider, models } = collection;
  return { ...(isRecord(provider) ? provider : {}), models, ...metadata };
}

/** All providers of a session: those of its own plugins, and those registered for the process. */
export function createProviders(own: () => readonly CustomProvider[]): CustomProviders {
  return {
    find(id) {
      const shared = registeredProviders.find(id);
      if (shared?.kind === 'handler') return shared;
      return own().find((each) => each.id === id) ?? shared;
    },
    ids: () => [...new Set([...own().map(({ id }) => id), ...registeredProviders.ids()])],
  };
}

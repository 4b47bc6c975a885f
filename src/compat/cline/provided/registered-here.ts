import { registeredProviders } from '../../../agent/models/custom-provider.ts';
import type { RegisteredHere } from '../../../plugins/isolation/child/hosted-plugin.ts';

/**
 * What a plugin has registered with `Llms` in this process, which is its own: services can be described
 * to its host, code cannot. Loads nothing where nothing was registered.
 */
export async function collectRegistered(): Promise<RegisteredHere> {
  const ids = registeredProviders.ids();
  if (ids.length === 0) return { services: [], handlers: [] };
  const { findCollection } = await import('../llms/catalog.ts');
  const isService = (id: string): boolean => registeredProviders.find(id)?.kind === 'service';
  return {
    services: ids.filter(isService).map((id) => ({
      name: id,
      metadata: { clineModelCollection: findCollection(id) },
    })),
    handlers: ids.filter((id) => !isService(id)),
  };
}

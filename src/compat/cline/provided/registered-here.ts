import { registeredProviders } from '../../../agent/models/custom-provider.ts';
import type { RegisteredHere } from '../../../plugins/isolation/child/hosted-plugin.ts';

/**
 * Collects what an isolated plugin has registered with `Llms` in its process: services can be sent to
 * the host, code cannot. Loads nothing where nothing was registered.
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

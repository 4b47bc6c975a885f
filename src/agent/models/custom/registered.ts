import { isOwnProvider } from '../providers.ts';
import type { CustomProvider, CustomProviders } from './custom-provider.ts';

/** What was registered for the whole process, by whichever plugin or script. */
export interface RegisteredProviders extends CustomProviders {
  /** The last of an id counts. One of Hookline's own names is refused: its key would go elsewhere. */
  add(provider: CustomProvider): void;
  /** Whether there was one. */
  remove(kind: CustomProvider['kind'], id: string): boolean;
  /** Those that were refused since somebody last asked. */
  takeRefused(): readonly CustomProvider[];
}

export function createRegisteredProviders(): RegisteredProviders {
  const kinds = {
    handler: new Map<string, CustomProvider>(),
    service: new Map<string, CustomProvider>(),
  };
  let refused: CustomProvider[] = [];
  return {
    add(provider) {
      if (isOwnProvider(provider.id)) refused.push(provider);
      else kinds[provider.kind].set(provider.id, provider);
    },
    remove: (kind, id) => kinds[kind].delete(id),
    // Whoever brings a handler and describes the service as well wants the handler asked.
    find: (id) => kinds.handler.get(id) ?? kinds.service.get(id) ?? null,
    ids: () => [...new Set([...kinds.handler.keys(), ...kinds.service.keys()])],
    takeRefused() {
      const told = refused;
      refused = [];
      return told;
    },
  };
}

/** The one of this process. */
export const registeredProviders = createRegisteredProviders();

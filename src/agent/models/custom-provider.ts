import type { Model } from './model.ts';
import { type ModelChoice, isBuiltInProvider } from './providers.ts';

/** A model provider that a plugin or a program registered. */
export interface CustomProvider {
  readonly id: string;
  /** `service`: an endpoint with a known wire format. `handler`: code that creates the answers. */
  readonly kind: 'service' | 'handler';
  /** Who registered it, for messages: `the plugin "x"`. */
  readonly from: string;
  /** Opens one of its models without sending anything. Throws only HooklineError. */
  open(choice: CustomChoice): Promise<Model>;
}

export interface CustomChoice extends ModelChoice {
  /** Key variables of built-in providers that the user allows this provider to receive. */
  readonly passedKeys: readonly string[];
}

/** Finds a provider whose name is not a built-in one. */
export interface CustomProviders {
  find(id: string): CustomProvider | null;
  ids(): readonly string[];
}

/** Providers registered for the whole process by plugins or scripts. */
export interface RegisteredProviders extends CustomProviders {
  /**
   * The last provider of an id wins. Built-in names are refused, because their key would be sent elsewhere.
   */
  add(provider: CustomProvider): void;
  /** Returns whether it was registered. */
  remove(kind: CustomProvider['kind'], id: string): boolean;
  /** Returns and clears the refused providers. */
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
      if (isBuiltInProvider(provider.id)) refused.push(provider);
      else kinds[provider.kind].set(provider.id, provider);
    },
    remove: (kind, id) => kinds[kind].delete(id),
    // A handler wins over a service with the same id.
    find: (id) => kinds.handler.get(id) ?? kinds.service.get(id) ?? null,
    ids: () => [...new Set([...kinds.handler.keys(), ...kinds.service.keys()])],
    takeRefused() {
      const taken = refused;
      refused = [];
      return taken;
    },
  };
}

/** The registry of this process. */
export const registeredProviders = createRegisteredProviders();

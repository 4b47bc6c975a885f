import type { Model } from './model.ts';
import { type ModelChoice, isBuiltInProvider } from './providers.ts';

/** A provider that a plugin or a program brought, beside those that Hookline has itself. */
export interface CustomProvider {
  readonly id: string;
  /** `service`: an address that speaks a known format. `handler`: code that makes the answers. */
  readonly kind: 'service' | 'handler';
  /** Who brought it, for sentences: `the plugin "x"`. */
  readonly from: string;
  /** Opens one of its models. Nothing is sent yet. Throws HooklineErrors only. */
  open(choice: CustomChoice): Promise<Model>;
}

export interface CustomChoice extends ModelChoice {
  /** Variables with keys of Hookline's own providers that may go anywhere, as the person said. */
  readonly passedKeys: readonly string[];
}

/** Where a model's provider is looked for when its name is none of Hookline's own. */
export interface CustomProviders {
  find(id: string): CustomProvider | null;
  ids(): readonly string[];
}

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
      if (isBuiltInProvider(provider.id)) refused.push(provider);
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

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

/** Providers that plugins or scripts register. */
export class RegisteredProviders implements CustomProviders {
  readonly #kinds = {
    handler: new Map<string, CustomProvider>(),
    service: new Map<string, CustomProvider>(),
  };
  #refused: CustomProvider[] = [];

  /**
   * The last provider of an id wins. Built-in names are refused, because their key would be sent elsewhere.
   */
  add(provider: CustomProvider): void {
    if (isBuiltInProvider(provider.id)) this.#refused.push(provider);
    else this.#kinds[provider.kind].set(provider.id, provider);
  }

  /** Returns whether it was registered. */
  remove(kind: CustomProvider['kind'], id: string): boolean {
    return this.#kinds[kind].delete(id);
  }

  /** A handler wins over a service with the same id. */
  find(id: string): CustomProvider | null {
    return this.#kinds.handler.get(id) ?? this.#kinds.service.get(id) ?? null;
  }

  ids(): readonly string[] {
    return [...new Set([...this.#kinds.handler.keys(), ...this.#kinds.service.keys()])];
  }

  /** Returns and clears the refused providers. */
  takeRefused(): readonly CustomProvider[] {
    const refused = this.#refused;
    this.#refused = [];
    return refused;
  }
}

/** The registry of this process: `Llms` of `@cline/llms` registers for every session. */
export const registeredProviders = new RegisteredProviders();

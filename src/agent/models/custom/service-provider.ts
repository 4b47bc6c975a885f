import { openService, type Provider } from '../providers.ts';
import type { Wire } from '../thoughts.ts';
import type { CustomChoice, CustomProvider } from './custom-provider.ts';
import { keyFor } from './keys.ts';
import { type ModelDetails, withDetails } from './model-details.ts';

/** A service that somebody described: where it is and what it speaks. */
export interface ServiceDescription {
  readonly id: string;
  /** As a person calls it. */
  readonly label: string;
  readonly wire: Wire;
  readonly baseUrl: string | null;
  readonly defaultModel: string | null;
  readonly keyVariables: readonly string[];
  /** Sent with every request, unless the session says otherwise. */
  readonly headers: Readonly<Record<string, string>>;
  readonly models: ReadonlyMap<string, ModelDetails>;
}

/** A provider that is reached like Hookline's own, at the address that was described. */
export function serviceProvider(service: ServiceDescription, from: string): CustomProvider {
  const { id, headers, models, wire } = service;
  return {
    id,
    kind: 'service',
    from,
    async open(choice) {
      const model = await openService(rowOf(service, from), {
        ...choice,
        baseUrl: choice.baseUrl ?? service.baseUrl,
        key: keyFor({ ...service, from }, choice),
        // Which key it may have is settled; nothing else is looked for.
        env: {},
        transport: withHeaders(choice, headers),
      });
      const details = models.get(model.id);
      return details === undefined ? model : withDetails(model, details, wire === 'anthropic');
    },
  };
}

function withHeaders({ transport = {} }: CustomChoice, headers: Readonly<Record<string, string>>) {
  return { ...transport, headers: { ...headers, ...transport.headers } };
}

const USUAL_PATHS: Readonly<Record<Wire, string>> = {
  anthropic: '/v1',
  openai: '/v1',
  google: '/v1beta',
  chat: '/v1',
};

function rowOf(service: ServiceDescription, from: string): Provider {
  const { id, label, wire, defaultModel, baseUrl, keyVariables } = service;
  return {
    name: id,
    aliases: [],
    label,
    wire,
    defaultModel,
    baseUrl,
    usualPath: USUAL_PATHS[wire],
    keyVariables,
    needsKey: keyVariables.length > 0,
    // Of the others nobody knows what their servers take.
    takesSchema: wire !== 'chat',
    about: `It comes from ${from}.`,
  };
}

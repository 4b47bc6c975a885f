import type { CustomChoice, CustomProvider } from '../../../agent/models/custom-provider.ts';
import { type KeyRecipient, resolveKey } from '../../../agent/models/service-provider.ts';
import { parseDetails, withDetails } from '../../../agent/models/model-details.ts';
import type { RequestTarget } from '../../../agent/models/failures.ts';
import type { Model, ModelRequest } from '../../../agent/models/model.ts';
import { findModelFacts } from '../../../agent/models/prices.ts';
import { dropUndefined } from '../../../base/defined.ts';
import { HooklineError, isHooklineError, getErrorMessage } from '../../../base/errors.ts';
import { isRecord, getTypeName } from '../../../base/json.ts';
import { startTimeLimit, waitOrAbort } from '../../../base/abort.ts';
import type { ApiHandler, ProviderConfig, ModelCollection } from './api-handler.ts';
import { findCollection } from './catalog.ts';
import { streamFromHandler } from './handler-model.ts';
import { STREAM_LIMITS, type StreamLimits } from './handler-stream.ts';

export type Factory = (config: ProviderConfig) => ApiHandler | Promise<ApiHandler>;

const FROM = 'Llms.registerHandler';

/** A provider that is implemented by code. */
export function createHandlerProvider(
  id: string,
  factory: Factory,
  limits: StreamLimits = STREAM_LIMITS,
): CustomProvider {
  return {
    id,
    kind: 'handler',
    from: FROM,
    async open(choice) {
      const collection = findCollection(id);
      const recipient = createKeyRecipient(id, collection);
      const key = resolveKey(recipient, choice);
      const config = createConfig(choice, collection, key);
      const described = describeModel(await createFirstHandler(factory, config));
      const modelId = config.modelId === '' ? described.id : config.modelId;
      if (modelId === '') throw createNoModelError(id);
      const info = { ...described.info, ...collection?.models[modelId] };
      const target = createRequestTarget(
        { ...recipient, model: modelId, baseUrl: config.baseUrl ?? null },
        key,
      );
      const createHandler = async (
        request: ModelRequest,
        signal: AbortSignal,
      ): Promise<ApiHandler> =>
        checkHandler(await factory({ ...config, ...readSettings(request), abortSignal: signal }));
      const model: Model = {
        provider: id,
        id: modelId,
        ...findModelFacts(modelId),
        stream: (request, signal) =>
          streamFromHandler({ target, limits, createHandler }, request, signal),
      };
      return withDetails(model, parseDetails(info), false);
    },
  };
}

function createKeyRecipient(id: string, collection: ModelCollection | undefined): KeyRecipient {
  const { name = id, env = [], baseUrl = null } = collection?.provider ?? {};
  return { id, label: name, from: FROM, baseUrl, keyVariables: env };
}

function createConfig(
  choice: CustomChoice,
  collection: ModelCollection | undefined,
  key: string | null,
): ProviderConfig {
  const { provider, transport = {} } = choice;
  const baseUrl = choice.baseUrl ?? collection?.provider.baseUrl;
  const modelId = choice.model ?? collection?.provider.defaultModelId ?? '';
  const modelInfo = collection?.models[modelId];
  return {
    providerId: provider,
    modelId,
    ...(key === null ? {} : { apiKey: key }),
    ...dropUndefined({
      baseUrl,
      fetch: transport.fetch,
      knownModels: collection?.models,
      modelInfo,
    }),
    ...(transport.headers === undefined ? {} : { headers: { ...transport.headers } }),
  };
}

function readSettings(request: ModelRequest): Partial<ProviderConfig> {
  const { maxOutputTokens, temperature, effort, thinking } = request;
  return dropUndefined({ maxOutputTokens, temperature, reasoningEffort: effort, thinking });
}

const MAKE_MS = 30_000;

/** The first handler describes the model, and proves that handlers can be created. */
async function createFirstHandler(factory: Factory, config: ProviderConfig): Promise<ApiHandler> {
  const limit = startTimeLimit(new AbortController().signal, MAKE_MS);
  const work = async (): Promise<ApiHandler> => factory(config);
  try {
    return checkHandler(await waitOrAbort(work(), limit.signal));
  } catch (error) {
    if (isHooklineError(error)) throw error;
    const why = limit.hasExpired()
      ? `it took longer than ${MAKE_MS / 1000} s`
      : getErrorMessage(error);
    throw new HooklineError('MODEL_FAILED', {
      message: `provider "${config.providerId}" of ${FROM} cannot be used: its handler could not be made: ${why}`,
      cause: error,
    });
  } finally {
    limit.clear();
  }
}

function checkHandler(value: unknown): ApiHandler {
  if (isHandler(value)) return value;
  const found = isRecord(value) ? 'an object without it' : getTypeName(value);
  throw new HooklineError('MODEL_FAILED', {
    message: `expected the factory of ${FROM} to give a handler with createMessage, found ${found}`,
  });
}

function isHandler(value: unknown): value is ApiHandler {
  return isRecord(value) && typeof value['createMessage'] === 'function';
}

/** Some handlers do not describe their model, or throw when they are asked to. */
function describeModel(handler: ApiHandler): { id: string; info: Record<string, unknown> } {
  try {
    const model: unknown = handler.getModel();
    const { id, info } = isRecord(model) ? model : {};
    return { id: typeof id === 'string' ? id : '', info: isRecord(info) ? info : {} };
  } catch {
    return { id: '', info: {} };
  }
}

function createNoModelError(id: string): HooklineError {
  return new HooklineError('MODEL_UNKNOWN', {
    message: `provider "${id}" needs the name of a model, and none was given`,
    hint: `Set it with --model or in the configuration. It comes from ${FROM}.`,
  });
}

function createRequestTarget(
  recipient: KeyRecipient & { readonly model: string },
  key: string | null,
): RequestTarget {
  const { label, model, baseUrl, keyVariables } = recipient;
  const [variable] = keyVariables;
  const set = variable === undefined ? '' : `set ${variable}, or `;
  return {
    provider: label,
    model,
    baseUrl: baseUrl ?? 'the address that its code uses',
    keyHint: `${set}pass --key`,
    secrets: key === null ? [] : [key],
  };
}

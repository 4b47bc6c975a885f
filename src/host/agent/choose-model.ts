import type { Model } from '../../agent/models/model.ts';
import { scripted } from '../../agent/models/scripted.ts';
import { HooklineError } from '../../base/errors.ts';
import type { Settings } from '../settings.ts';
import type { ModelWish } from './agent-options.ts';

export interface ModelSource {
  readonly wish: Model | ModelWish | undefined;
  readonly settings: Settings;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The session's model, opened once, and others of the same provider by name. */
export interface Models {
  own(): Promise<Model>;
  named(name: string | null): Promise<Model>;
  /** The one that a person asks for: of the same provider, or `provider/model`. Throws MODEL_UNKNOWN. */
  other(name: string): Promise<Model>;
}

export function createModels(source: ModelSource): Models {
  let opened: Promise<Model> | null = null;
  const own = (): Promise<Model> => {
    opened ??= chooseModel(source, null);
    return opened;
  };
  return {
    own,
    async named(name) {
      const model = await own();
      if (name === null || name === 'inherit' || name === model.id || !isWish(source.wish)) {
        return model;
      }
      const { provider } = model;
      // Claude's short names mean nothing to other providers, and sub-agents must work there, too.
      if (provider === 'scripted' || SHORT_NAME.test(name)) return model;
      return chooseModel(source, name);
    },
    async other(name) {
      const model = await own();
      if (!isWish(source.wish)) return onlyOne(model, name);
      // A script plays whatever model it is asked to be.
      if (model.provider === 'scripted') return { ...model, id: name };
      return chooseModel(await wishFor(source, model.provider, name), null);
    },
  };
}

/** A name with a slash may be another provider's, or a name as some services have it. */
async function wishFor(source: ModelSource, own: string, name: string): Promise<ModelSource> {
  const { PROVIDER_NAMES } = await import('../../agent/models/providers.ts');
  const [provider = '', ...rest] = name.split('/');
  const isOther = rest.length > 0 && PROVIDER_NAMES.includes(provider) && provider !== own;
  if (!isOther) {
    const model = own === 'anthropic' ? await spelledOut(name) : name;
    return { ...source, wish: { ...wishOf(source), provider: own, model } };
  }
  return { ...source, wish: { provider, model: rest.join('/') } };
}

const SHORT_NAME = /^(?:sonnet|opus|haiku|fable)$/;

/** Whoever asks for `sonnet` means the newest of that name. */
async function spelledOut(name: string): Promise<string> {
  if (!SHORT_NAME.test(name)) return name;
  const { pricedModels } = await import('../../agent/models/prices.ts');
  return pricedModels(`claude-${name}`)[0] ?? name;
}

function wishOf({ wish }: ModelSource): ModelWish {
  return isWish(wish) ? (wish ?? {}) : {};
}

function onlyOne(model: Model, name: string): Model {
  if (name === model.id) return model;
  throw new HooklineError('MODEL_UNKNOWN', {
    message: `this host was given one model, ${model.id}; ${JSON.stringify(name)} cannot be found by name`,
    hint: 'Give the host a provider and a name instead of a model.',
  });
}

function isWish(wish: Model | ModelWish | undefined): wish is ModelWish | undefined {
  return wish === undefined || !('stream' in wish);
}

async function chooseModel(
  { wish, settings, env }: ModelSource,
  name: string | null,
): Promise<Model> {
  if (!isWish(wish)) return wish;
  const { script } = wish ?? {};
  const provider =
    wish?.provider ?? (script === undefined ? settings['model.provider'] : 'scripted');
  const isConfigured = provider === settings['model.provider'];
  const configured = (value: string): string | null =>
    isConfigured && value !== '' ? value : null;
  if (script !== undefined && provider === 'scripted') {
    return scripted(script, wish?.model === undefined ? {} : { id: wish.model });
  }
  const { openModel } = await import('../../agent/models/providers.ts');
  return openModel({
    provider,
    model: name ?? wish?.model ?? configured(settings['model.id']),
    baseUrl: wish?.baseUrl ?? configured(settings['model.baseUrl']),
    key: wish?.key ?? configured(settings['model.key']),
    env,
    ...(wish?.transport === undefined ? {} : { transport: wish.transport }),
    ...(script === undefined ? {} : { script }),
  });
}

import type { CustomProviders } from '../../agent/models/custom-provider.ts';
import type { Model } from '../../agent/models/model.ts';
import type { ModelChoice } from '../../agent/models/providers.ts';
import { createScriptedModel } from '../../agent/models/scripted.ts';
import { HooklineError, isHooklineError } from '../../base/errors.ts';
import type { Settings } from '../settings.ts';
import type { ModelWish } from './agent-options.ts';

export interface ModelSource {
  readonly wish: Model | ModelWish | undefined;
  readonly settings: Settings;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Asked for whatever is none of Hookline's own; by default what was registered for the process. */
  readonly providers?: CustomProviders;
}

/** The session's model, opened once, and others of the same provider by name. */
export interface Models {
  own(): Promise<Model>;
  /** The same; where only its key is missing, one that says so when it is asked. */
  ownOrNone(): Promise<Model>;
  named(name: string | null): Promise<Model>;
  /** The one that a person asks for: of the same provider, or `provider/model`. Throws MODEL_UNKNOWN. */
  other(name: string): Promise<Model>;
  /** The same for one session, whose plugins may be what serves the model. */
  forSession(providers: CustomProviders): Models;
}

/** Whoever shares a model of Hookline's own shares it opened: a script goes on where it is. */
export function createModels(source: ModelSource, shared?: () => Promise<Model>): Models {
  let opened: Promise<Model> | null = null;
  const own = async (): Promise<Model> => {
    if (shared !== undefined && (await isOwn(source))) return shared();
    opened ??= chooseModel(source, null).catch((error: unknown) => {
      // A plugin that is loaded later may bring what is missing now.
      opened = null;
      throw error;
    });
    return opened;
  };
  return {
    own,
    ownOrNone: () => own().catch((error: unknown) => modelWithoutKey(source, error)),
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
    forSession: (providers) => createModels({ ...source, providers }, own),
  };
}

/** Who asks for no more than a command of a plugin needs no key for it. */
async function modelWithoutKey({ wish, settings }: ModelSource, error: unknown): Promise<Model> {
  if (!isHooklineError(error) || error.code !== 'MODEL_KEY_MISSING' || !isWish(wish)) throw error;
  const failure = {
    class: 'authentication_failed',
    message: error.message,
    status: null,
    isRetryable: false,
    retryAfterMs: null,
  } as const;
  const id = wish?.model ?? settings['model.id'];
  const { findModelFacts } = await import('../../agent/models/prices.ts');
  return {
    ...findModelFacts(id),
    provider: wishedProvider(wish, settings),
    id,
    async *stream() {
      yield { type: 'failure', failure };
    },
  };
}

async function isOwn({ wish, settings }: ModelSource): Promise<boolean> {
  if (!isWish(wish)) return true;
  const { isBuiltInProvider } = await import('../../agent/models/providers.ts');
  return isBuiltInProvider(wishedProvider(wish, settings));
}

function wishedProvider(wish: ModelWish | undefined, settings: Settings): string {
  const usual = wish?.script === undefined ? settings['model.provider'] : 'scripted';
  return wish?.provider ?? usual;
}

/** A name with a slash may be another provider's, or a name as some services have it. */
async function wishFor(source: ModelSource, own: string, name: string): Promise<ModelSource> {
  const { PROVIDER_NAMES } = await import('../../agent/models/providers.ts');
  const [provider = '', ...rest] = name.split('/');
  const brought = (await broughtTo(source)).find(provider);
  const isKnown = PROVIDER_NAMES.includes(provider) || brought !== null;
  const isOther = rest.length > 0 && isKnown && provider !== own;
  if (!isOther) {
    const model = own === 'anthropic' ? await spelledOut(name) : name;
    return { ...source, wish: { ...wishOf(source), provider: own, model } };
  }
  return { ...source, wish: { provider, model: rest.join('/') } };
}

async function broughtTo({ providers }: ModelSource): Promise<CustomProviders> {
  if (providers !== undefined) return providers;
  return (await import('../../agent/models/custom-provider.ts')).registeredProviders;
}

const SHORT_NAME = /^(?:sonnet|opus|haiku|fable)$/;

/** Whoever asks for `sonnet` means the newest of that name. */
async function spelledOut(name: string): Promise<string> {
  if (!SHORT_NAME.test(name)) return name;
  const { listPricedModels } = await import('../../agent/models/prices.ts');
  return listPricedModels(`claude-${name}`)[0] ?? name;
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

async function chooseModel(source: ModelSource, name: string | null): Promise<Model> {
  const { wish, settings, env } = source;
  if (!isWish(wish)) return wish;
  const { script } = wish ?? {};
  const provider = wishedProvider(wish, settings);
  const isConfigured = provider === settings['model.provider'];
  const configured = (value: string): string | null =>
    isConfigured && value !== '' ? value : null;
  if (script !== undefined && provider === 'scripted') {
    return createScriptedModel(script, wish?.model === undefined ? {} : { id: wish.model });
  }
  return openChosen(source, {
    provider,
    model: name ?? wish?.model ?? configured(settings['model.id']),
    baseUrl: wish?.baseUrl ?? configured(settings['model.baseUrl']),
    key: wish?.key ?? configured(settings['model.key']),
    env,
    ...(wish?.transport === undefined ? {} : { transport: wish.transport }),
    ...(script === undefined ? {} : { script }),
  });
}

/** Hookline's own names mean its own providers, whatever plugins bring. */
async function openChosen(source: ModelSource, choice: ModelChoice): Promise<Model> {
  const { isBuiltInProvider, openModel } = await import('../../agent/models/providers.ts');
  if (isBuiltInProvider(choice.provider)) return openModel(choice);
  const brought = await broughtTo(source);
  const custom = brought.find(choice.provider);
  if (custom === null) return openModel({ ...choice, others: brought.ids() });
  return custom.open({ ...choice, passedKeys: source.settings['env.pass'] });
}

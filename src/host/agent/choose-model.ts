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
  /** Providers beside Hookline's own; by default those registered for the process. */
  readonly providers?: CustomProviders;
}

/** The session's model, opened once, and others of the same provider by name. */
export interface Models {
  openOwn(): Promise<Model>;
  /** The same; where only its key is missing, a model that fails with that message. */
  openOwnOrKeyless(): Promise<Model>;
  openNamed(name: string | null): Promise<Model>;
  /** The model that a user names: of the same provider, or `provider/model`. Throws MODEL_UNKNOWN. */
  openOther(name: string): Promise<Model>;
  /** The same for one session, whose plugins may serve the model. */
  forSession(providers: CustomProviders): Models;
}

/** Sessions share one opened model of Hookline's own, so that a script continues where it is. */
export function createModels(source: ModelSource, shared?: () => Promise<Model>): Models {
  let opened: Promise<Model> | null = null;
  const own = async (): Promise<Model> => {
    if (shared !== undefined && (await isBuiltIn(source))) return shared();
    opened ??= chooseModel(source, null).catch((error: unknown) => {
      // A plugin that is loaded later may register the missing provider.
      opened = null;
      throw error;
    });
    return opened;
  };
  return {
    openOwn: own,
    openOwnOrKeyless: () => own().catch((error: unknown) => createKeylessModel(source, error)),
    async openNamed(name) {
      const model = await own();
      if (name === null || name === 'inherit' || name === model.id || !isWish(source.wish)) {
        return model;
      }
      const { provider } = model;
      // Claude's short names mean nothing to other providers, and sub-agents must work there, too.
      if (provider === 'scripted' || SHORT_NAME.test(name)) return model;
      return chooseModel(source, name);
    },
    async openOther(name) {
      const model = await own();
      if (!isWish(source.wish)) return checkOnlyModel(model, name);
      // A script stands for any model.
      if (model.provider === 'scripted') return { ...model, id: name };
      return chooseModel(await resolveWish(source, model.provider, name), null);
    },
    forSession: (providers) => createModels({ ...source, providers }, own),
  };
}

/** A session that only runs a plugin's command needs no key. */
async function createKeylessModel({ wish, settings }: ModelSource, error: unknown): Promise<Model> {
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
    provider: readProvider(wish, settings),
    id,
    async *stream() {
      yield { type: 'failure', failure };
    },
  };
}

async function isBuiltIn({ wish, settings }: ModelSource): Promise<boolean> {
  if (!isWish(wish)) return true;
  const { isBuiltInProvider } = await import('../../agent/models/providers.ts');
  return isBuiltInProvider(readProvider(wish, settings));
}

function readProvider(wish: ModelWish | undefined, settings: Settings): string {
  const usual = wish?.script === undefined ? settings['model.provider'] : 'scripted';
  return wish?.provider ?? usual;
}

/** A name with a slash names another provider, or is a name that some services use. */
async function resolveWish(source: ModelSource, own: string, name: string): Promise<ModelSource> {
  const { PROVIDER_NAMES } = await import('../../agent/models/providers.ts');
  const [provider = '', ...rest] = name.split('/');
  const providers = (await loadProviders(source)).find(provider);
  const isKnown = PROVIDER_NAMES.includes(provider) || providers !== null;
  const isOther = rest.length > 0 && isKnown && provider !== own;
  if (!isOther) {
    const model = own === 'anthropic' ? await expandShortName(name) : name;
    return { ...source, wish: { ...getWish(source), provider: own, model } };
  }
  return { ...source, wish: { provider, model: rest.join('/') } };
}

async function loadProviders({ providers }: ModelSource): Promise<CustomProviders> {
  if (providers !== undefined) return providers;
  return (await import('../../agent/models/custom-provider.ts')).registeredProviders;
}

const SHORT_NAME = /^(?:sonnet|opus|haiku|fable)$/;

/** `sonnet` means the newest model of that name. */
async function expandShortName(name: string): Promise<string> {
  if (!SHORT_NAME.test(name)) return name;
  const { listPricedModels } = await import('../../agent/models/prices.ts');
  return listPricedModels(`claude-${name}`)[0] ?? name;
}

function getWish({ wish }: ModelSource): ModelWish {
  return isWish(wish) ? (wish ?? {}) : {};
}

function checkOnlyModel(model: Model, name: string): Model {
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
  const provider = readProvider(wish, settings);
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

/** Names of Hookline's own providers cannot be taken over by plugins. */
async function openChosen(source: ModelSource, choice: ModelChoice): Promise<Model> {
  const { isBuiltInProvider, openModel } = await import('../../agent/models/providers.ts');
  if (isBuiltInProvider(choice.provider)) return openModel(choice);
  const providers = await loadProviders(source);
  const custom = providers.find(choice.provider);
  if (custom === null) return openModel({ ...choice, others: providers.ids() });
  return custom.open({ ...choice, passedKeys: source.settings['env.pass'] });
}

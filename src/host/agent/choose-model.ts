import { type CustomProviders, registeredProviders } from '../../agent/models/custom-provider.ts';
import type { Model } from '../../agent/models/model.ts';
import { findModelFacts, listPricedModels } from '../../agent/models/prices.ts';
import {
  isBuiltInProvider,
  type ModelChoice,
  openModel,
  PROVIDER_NAMES,
} from '../../agent/models/providers.ts';
import { createScriptedModel } from '../../agent/models/scripted.ts';
import { dropUndefined } from '../../base/defined.ts';
import { HooklineError, isHooklineError } from '../../base/errors.ts';
import type { Settings } from '../settings.ts';
import type { ModelWish } from './agent-options.ts';

interface ModelSource {
  readonly wish: Model | ModelWish | undefined;
  readonly settings: Settings;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Providers beside Hookline's own; by default those registered for the process. */
  readonly providers?: CustomProviders;
}

/** The session's model, opened once, and others of the same provider by name. */
export class Models {
  readonly #source: ModelSource;
  readonly #shared: (() => Promise<Model>) | undefined;
  #opened: Promise<Model> | null = null;

  /** Sessions share one opened model of Hookline's own, so that a script continues where it is. */
  constructor(source: ModelSource, shared?: () => Promise<Model>) {
    this.#source = source;
    this.#shared = shared;
  }

  async openOwn(): Promise<Model> {
    if (this.#shared !== undefined && isBuiltIn(this.#source)) return this.#shared();
    this.#opened ??= chooseModel(this.#source, null).catch((error: unknown) => {
      // A plugin that is loaded later may register the missing provider.
      this.#opened = null;
      throw error;
    });
    return this.#opened;
  }

  /** Opens the session's model; where only its key is missing, one that fails with that message. */
  openOwnOrKeyless(): Promise<Model> {
    return this.openOwn().catch((error: unknown) => createKeylessModel(this.#source, error));
  }

  async openNamed(name: string | null): Promise<Model> {
    const model = await this.openOwn();
    if (name === null || name === 'inherit' || name === model.id || !isWish(this.#source.wish)) {
      return model;
    }
    // Claude's short names mean nothing to other providers, and sub-agents must work there, too.
    if (model.provider === 'scripted' || SHORT_NAME.test(name)) return model;
    return chooseModel(this.#source, name);
  }

  /** Opens the model that a user names: of the same provider, or `provider/model`. Throws MODEL_UNKNOWN. */
  async openOther(name: string): Promise<Model> {
    const model = await this.openOwn();
    if (!isWish(this.#source.wish)) return checkOnlyModel(model, name);
    // A script replaces any model.
    if (model.provider === 'scripted') return { ...model, id: name };
    return chooseModel(resolveWish(this.#source, model.provider, name), null);
  }

  /** Returns the models of one session, whose plugins may serve them. */
  forSession(providers: CustomProviders): Models {
    return new Models({ ...this.#source, providers }, () => this.openOwn());
  }
}

/** A session that only runs a plugin's command needs no key. */
function createKeylessModel({ wish, settings }: ModelSource, error: unknown): Model {
  if (!isHooklineError(error) || error.code !== 'MODEL_KEY_MISSING' || !isWish(wish)) throw error;
  const failure = {
    class: 'authentication_failed',
    message: error.message,
    status: null,
    isRetryable: false,
    retryAfterMs: null,
  } as const;
  const id = wish?.model ?? settings['model.id'];
  return {
    ...findModelFacts(id),
    provider: readProvider(wish, settings),
    id,
    async *stream() {
      yield { type: 'failure', failure };
    },
  };
}

function isBuiltIn({ wish, settings }: ModelSource): boolean {
  if (!isWish(wish)) return true;
  return isBuiltInProvider(readProvider(wish, settings));
}

function readProvider(wish: ModelWish | undefined, settings: Settings): string {
  const usual = wish?.script === undefined ? settings['model.provider'] : 'scripted';
  return wish?.provider ?? usual;
}

/** A name with a slash names another provider, or is a name that some services use. */
function resolveWish(source: ModelSource, own: string, name: string): ModelSource {
  const [provider = '', ...rest] = name.split('/');
  const custom = (source.providers ?? registeredProviders).find(provider);
  const isKnown = PROVIDER_NAMES.includes(provider) || custom !== null;
  const isOther = rest.length > 0 && isKnown && provider !== own;
  if (!isOther) {
    const model = own === 'anthropic' ? expandShortName(name) : name;
    return { ...source, wish: { ...getWish(source), provider: own, model } };
  }
  return { ...source, wish: { provider, model: rest.join('/') } };
}

const SHORT_NAME = /^(?:sonnet|opus|haiku|fable)$/;

/** `sonnet` means the newest model of that name. */
function expandShortName(name: string): string {
  if (!SHORT_NAME.test(name)) return name;
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
  const selectConfigured = (value: string): string | null =>
    isConfigured && value !== '' ? value : null;
  if (script !== undefined && provider === 'scripted') {
    return createScriptedModel(script, dropUndefined({ id: wish?.model }));
  }
  return openChosen(source, {
    provider,
    model: name ?? wish?.model ?? selectConfigured(settings['model.id']),
    baseUrl: wish?.baseUrl ?? selectConfigured(settings['model.baseUrl']),
    key: wish?.key ?? selectConfigured(settings['model.key']),
    env,
    ...dropUndefined({ transport: wish?.transport, script }),
  });
}

/** Names of Hookline's own providers cannot be taken over by plugins. */
async function openChosen(source: ModelSource, choice: ModelChoice): Promise<Model> {
  if (isBuiltInProvider(choice.provider)) return openModel(choice);
  const providers = source.providers ?? registeredProviders;
  const custom = providers.find(choice.provider);
  if (custom === null) return openModel({ ...choice, others: providers.ids() });
  return custom.open({ ...choice, passedKeys: source.settings['env.pass'] });
}

import { type CustomProviders, registeredProviders } from '../../agent/models/custom-provider.ts';
import type { Model } from '../../agent/models/model.ts';
import { findModelFacts, listPricedModels } from '../../agent/models/prices.ts';
import {
  isBuiltInProvider,
  isCataloguedService,
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
  readonly selection: Model | ModelWish | undefined;
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
    if (
      name === null ||
      name === 'inherit' ||
      name === model.id ||
      !isSelection(this.#source.selection)
    ) {
      return model;
    }
    // Claude's short names mean nothing to other providers, and sub-agents must work there, too.
    if (model.provider === 'scripted' || SHORT_NAME.test(name)) return model;
    return chooseModel(this.#source, name);
  }

  /** Opens the model that a user names: of the same provider, or `provider/model`. Throws MODEL_UNKNOWN. */
  async openOther(name: string): Promise<Model> {
    const model = await this.openOwn();
    if (!isSelection(this.#source.selection)) return checkOnlyModel(model, name);
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
function createKeylessModel({ selection, settings }: ModelSource, error: unknown): Model {
  const isKeyMissing = isHooklineError(error) && error.code === 'MODEL_KEY_MISSING';
  if (!isKeyMissing || !isSelection(selection)) throw error;
  const failure = {
    class: 'authentication_failed',
    message: error.message,
    status: null,
    isRetryable: false,
    retryAfterMs: null,
  } as const;
  const id = selection?.model ?? settings['model.id'];
  return {
    ...findModelFacts(id),
    provider: readProvider(selection, settings),
    id,
    async *stream() {
      yield { type: 'failure', failure };
    },
  };
}

function isBuiltIn({ selection, settings }: ModelSource): boolean {
  if (!isSelection(selection)) return true;
  return isBuiltInProvider(readProvider(selection, settings));
}

function readProvider(selection: ModelWish | undefined, settings: Settings): string {
  const usual = selection?.script === undefined ? settings['model.provider'] : 'scripted';
  return selection?.provider ?? usual;
}

/** A name with a slash names another provider, or is a name that some services use. */
function resolveWish(source: ModelSource, own: string, name: string): ModelSource {
  const [provider = '', ...rest] = name.split('/');
  const custom = (source.providers ?? registeredProviders).find(provider);
  const isKnown =
    PROVIDER_NAMES.includes(provider) ||
    custom !== null ||
    (isCataloguedService(provider) && PLAIN_NAMES.includes(own));
  const isOther = rest.length > 0 && isKnown && provider !== own;
  if (!isOther) {
    const model = own === 'anthropic' ? expandShortName(name) : name;
    return { ...source, selection: { ...getSelection(source), provider: own, model } };
  }
  return { ...source, selection: { provider, model: rest.join('/') } };
}

/** Providers whose models have no slash in their names, so that what stands before one is a service. */
const PLAIN_NAMES = ['anthropic', 'openai', 'gemini'];

const SHORT_NAME = /^(?:sonnet|opus|haiku|fable)$/;

/** `sonnet` means the newest model of that name. */
function expandShortName(name: string): string {
  if (!SHORT_NAME.test(name)) return name;
  return listPricedModels(`claude-${name}`)[0] ?? name;
}

function getSelection({ selection }: ModelSource): ModelWish {
  return isSelection(selection) ? (selection ?? {}) : {};
}

function checkOnlyModel(model: Model, name: string): Model {
  if (name === model.id) return model;
  throw new HooklineError('MODEL_UNKNOWN', {
    message: `this host was given one model, ${model.id}; ${JSON.stringify(name)} cannot be found by name`,
    hint: 'Give the host a provider and a name instead of a model.',
  });
}

function isSelection(selection: Model | ModelWish | undefined): selection is ModelWish | undefined {
  return selection === undefined || !('stream' in selection);
}

async function chooseModel(source: ModelSource, name: string | null): Promise<Model> {
  const { selection, settings, env } = source;
  if (!isSelection(selection)) return selection;
  const { script } = selection ?? {};
  const provider = readProvider(selection, settings);
  const isConfigured = provider === settings['model.provider'];
  const selectConfigured = (value: string): string | null =>
    isConfigured && value !== '' ? value : null;
  if (script !== undefined && provider === 'scripted') {
    return createScriptedModel(script, dropUndefined({ id: selection?.model }));
  }
  return openChosen(source, {
    provider,
    model: name ?? selection?.model ?? selectConfigured(settings['model.id']),
    baseUrl: selection?.baseUrl ?? selectConfigured(settings['model.baseUrl']),
    key: selection?.key ?? selectConfigured(settings['model.key']),
    env,
    ...dropUndefined({ transport: selection?.transport, script }),
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

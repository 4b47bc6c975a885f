import { HooklineError, getErrorMessage } from '../../../base/errors.ts';
import type {
  AgentExtensionAutomationEventType,
  AgentExtensionCommand,
  AgentExtensionMcpServer,
  AgentExtensionMessageBuilder,
  AgentExtensionProvider,
  AgentExtensionRule,
  AgentPlugin,
  PluginManifest,
  PluginSetupContext,
} from '../../../plugins/contract/plugin.ts';
import type { AgentTool } from '../../../plugins/contract/tool.ts';
import { type ActivePlugin, LoadedPlugin } from '../../../plugins/loaded-plugin.ts';
import { readManifest } from '../../../plugins/manifest.ts';
import { formatToleratedViolation, setUpPlugin } from '../../../plugins/set-up-plugin.ts';

export interface ContributionRegistryOptions {
  extensions?: readonly AgentPlugin[];
  setupContext?: PluginSetupContext;
}

export interface SetupOptions {
  /** A setup that throws costs that plugin only; the first error is thrown when all others are done. */
  tolerateSetupErrors?: boolean;
}

/** What all plugins of a registry contributed, in the order of the plugins. */
export interface RegistrySnapshot {
  tools: AgentTool[];
  commands: AgentExtensionCommand[];
  rules: AgentExtensionRule[];
  messageBuilder: AgentExtensionMessageBuilder[];
  providers: AgentExtensionProvider[];
  automationEventTypes: AgentExtensionAutomationEventType[];
  mcpServers: AgentExtensionMcpServer[];
}

const PHASES = ['resolve', 'validate', 'setup', 'activate', 'run'] as const;
type Phase = (typeof PHASES)[number];

/** Plugins without a session, step by step, as `@cline/shared` has it; each step is taken once. */
export class ContributionRegistry {
  readonly #extensions: readonly AgentPlugin[];
  readonly #context: PluginSetupContext;
  #plugins: readonly ActivePlugin[] = [];
  #active: readonly ActivePlugin[] = [];
  #phase: Phase = 'resolve';

  constructor({ extensions = [], setupContext = {} }: ContributionRegistryOptions = {}) {
    this.#extensions = extensions;
    this.#context = setupContext;
  }

  resolve(): void {
    if (this.#phase !== 'resolve') return;
    this.#plugins = this.#extensions.map((plugin, place) => new LoadedPlugin(plugin, place));
    this.#phase = 'validate';
  }

  /** Throws PLUGIN_INVALID for the first plugin that is none. */
  validate(): void {
    this.resolve();
    if (this.#phase !== 'validate') return;
    this.#plugins.forEach(checkManifest);
    this.#phase = 'setup';
  }

  async setup({ tolerateSetupErrors = false }: SetupOptions = {}): Promise<void> {
    this.validate();
    if (this.#phase !== 'setup') return;
    const active: ActivePlugin[] = [];
    const errors: unknown[] = [];
    for (const each of this.#plugins.filter(({ plugin }) => plugin.disabled !== true)) {
      try {
        await setUpActive(each, this.#context);
        active.push(each);
      } catch (error) {
        if (!tolerateSetupErrors) throw error;
        errors.push(error);
      }
    }
    this.#active = active;
    this.#phase = 'activate';
    if (errors.length > 0) throw toError(errors[0]);
  }

  /** Throws PLUGIN_INVALID before the plugins were set up. */
  activate(): void {
    if (this.#phase === 'run') return;
    if (this.#phase !== 'activate') {
      throw new HooklineError('PLUGIN_INVALID', {
        message: `the registry was to be activated in its phase "${this.#phase}", before its plugins were set up`,
        hint: 'Call initialize(), or resolve(), validate() and setup() before it.',
      });
    }
    this.#phase = 'run';
  }

  async initialize(options: SetupOptions = {}): Promise<void> {
    try {
      await this.setup(options);
    } finally {
      if (this.#phase === 'activate') this.activate();
    }
  }

  isActivated(): boolean {
    return this.#phase === 'run';
  }

  getValidatedExtensions(): AgentPlugin[] {
    const isValidated = PHASES.indexOf(this.#phase) > PHASES.indexOf('validate');
    return isValidated ? this.#plugins.map(({ plugin }) => plugin) : [];
  }

  getRegistrySnapshot(): RegistrySnapshot {
    const all = this.#active.map(({ contributions }) => contributions);
    return {
      tools: all.flatMap(({ tools }) => tools),
      commands: all.flatMap(({ commands }) => commands),
      rules: all.flatMap(({ rules }) => rules),
      messageBuilder: all.flatMap(({ messageBuilders }) => messageBuilders),
      providers: all.flatMap(({ providers }) => providers),
      automationEventTypes: all.flatMap(({ automationEventTypes }) => automationEventTypes),
      mcpServers: all.flatMap(({ mcpServers }) => mcpServers),
    };
  }

  getRegisteredTools(): AgentTool[] {
    return this.getRegistrySnapshot().tools;
  }

  getRegisteredRules(): AgentExtensionRule[] {
    return this.getRegistrySnapshot().rules;
  }

  getRegisteredAutomationEventTypes(): AgentExtensionAutomationEventType[] {
    return this.getRegistrySnapshot().automationEventTypes;
  }

  getRegisteredMcpServers(): AgentExtensionMcpServer[] {
    return this.getRegistrySnapshot().mcpServers;
  }
}

export function createContributionRegistry(
  options: ContributionRegistryOptions = {},
): ContributionRegistry {
  return new ContributionRegistry(options);
}

function checkManifest({ plugin, name }: ActivePlugin): void {
  const { problem } = readManifest(plugin, name);
  if (problem === null) return;
  throw new HooklineError('PLUGIN_INVALID', {
    message: `Invalid manifest for extension "${name}": ${problem}`,
  });
}

/** Names of providers and models without spaces around them; a list that has none left stays as it was. */
export function normalizePluginManifest(manifest: PluginManifest): PluginManifest {
  const trimNames = (names: readonly string[]): string[] =>
    names.map((name) => name.trim()).filter((name) => name !== '');
  const fields = (['providerIds', 'modelIds'] as const).flatMap((key) => {
    const names = trimNames(manifest[key] ?? []);
    return names.length === 0 ? [] : [[key, names] as const];
  });
  return { ...manifest, ...Object.fromEntries(fields) };
}

async function setUpActive(active: ActivePlugin, context: PluginSetupContext): Promise<void> {
  const knowsAutomation = active.plugin.manifest.capabilities.includes('automationEvents');
  await setUpPlugin(active, knowsAutomation ? context : { ...context, automation: undefined }, {
    isStrict: false,
    onViolation: (rule) => context.logger?.log(`${active.name}: ${formatToleratedViolation(rule)}`),
  });
}

function toError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  return new HooklineError('PLUGIN_INVALID', { message: getErrorMessage(thrown), cause: thrown });
}

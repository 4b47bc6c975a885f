import type { SlashCommand } from '../../agent/instructions/commands.ts';
import type { SessionOptions } from '../../agent/session/prepare-session.ts';
import type { Session } from '../../agent/session/session.ts';
import type { Tool } from '../../agent/tools/tool.ts';
import { listToolSpecs } from '../../agent/tools/toolsets.ts';
import { getOwnValue } from '../../base/json.ts';
import type { AgentExtensionCommand } from '../../plugins/contract/plugin.ts';
import type { AgentToolDefinition } from '../../plugins/contract/runtime-hooks.ts';
import { checkPlugins } from '../plugins/check-plugins.ts';
import type { ModelTarget } from '../plugins/load-plugins.ts';
import type { PluginOptions } from '../plugins/plugin-options.ts';
import { SessionPlugins } from '../plugins/session-plugins.ts';
import type { Settings } from '../settings.ts';
import type { AgentOptions } from './agent-options.ts';
import type { SessionServices } from './session-services.ts';

/**
 * Opens the plugins of a session. `emitEvent` does what they ask for, such as steering; the signal aborts
 * the opening.
 */
export function openSessionPlugins(
  { opened, options, notice, mcp, sessions }: SessionServices,
  id: string,
  emitEvent: (name: string, payload: unknown) => void,
  signal: AbortSignal | undefined,
): Promise<SessionPlugins> {
  const findSession = (): Session | undefined => sessions.get(id)?.session;
  const readModel = () => findSession()?.state().model ?? null;
  return SessionPlugins.open({
    sessionId: id,
    opened,
    options: options.plugins ?? {},
    find: () => checkPlugins(opened, options.plugins),
    target: () => selectTarget(options, opened.config.settings, readModel()),
    mcp,
    agents: () => findSession()?.agents ?? NO_AGENTS,
    model: readModel,
    offered: () => listSdkTools(findSession()?.tools() ?? [], options),
    emitEvent,
    notice,
    signal,
  });
}

/** Before the session is open. */
const NO_AGENTS: Session['agents'] = new Map();

/** Selects the model for which plugins are loaded: that of the session, or the configured one before that. */
function selectTarget(
  { model, plugins = {} }: Pick<AgentOptions, 'model' | 'plugins'>,
  settings: Settings,
  serving: ServingModel | null,
): ModelTarget {
  const first = findServingModel(model, settings);
  const now = serving ?? first;
  // `providerId` is the embedder's name for the provider that the session began with.
  return toModelTarget(now, now.provider === first.provider ? plugins : {});
}

interface ServingModel {
  readonly provider: string;
  readonly id: string | null;
}

/** Cline's names of the providers that have another name here. */
const CLINE_NAMES: Readonly<Record<string, readonly string[]>> = {
  openai: ['openai-native'],
  'openai-compatible': ['openai'],
};

function toModelTarget({ provider, id }: ServingModel, { providerId }: PluginOptions): ModelTarget {
  const names = [provider, ...(getOwnValue(CLINE_NAMES, provider) ?? [])];
  return { providers: providerId === undefined ? names : [providerId, provider], model: id };
}

/** Reads the provider and model of a session without options. */
export function readDefaultTarget(settings: Settings): ModelTarget {
  return toModelTarget(findServingModel(undefined, settings), {});
}

/** Finds the provider and model of a session, as far as known before the model is opened. */
function findServingModel(model: AgentOptions['model'], settings: Settings): ServingModel {
  if (model !== undefined && 'stream' in model) return model;
  const usual = settings['model.provider'];
  const provider = model?.provider ?? (model?.script === undefined ? usual : 'scripted');
  const configured =
    provider === usual && settings['model.id'] !== '' ? settings['model.id'] : null;
  return { provider, id: model?.model ?? configured };
}

/** Lists the tools in the vocabulary of Cline's SDK. */
function listSdkTools(
  tools: readonly Tool[],
  { offers }: AgentOptions,
): readonly AgentToolDefinition[] {
  const specs = listToolSpecs('cline-sdk', tools).filter(({ name }) => offers?.(name) ?? true);
  return specs.map(({ name, description, schema }) => ({
    name,
    description,
    inputSchema: { ...schema },
  }));
}

type PluginParts = Pick<
  SessionOptions,
  'answerCommand' | 'beforeRun' | 'rules' | 'commands' | 'shapeRequest' | 'onEvent'
>;

/** Creates what plugins contribute to a session beside tools and hooks. */
export function createPluginParts(
  plugins: SessionPlugins,
  { mcp, options, emit }: SessionServices,
): PluginParts {
  return {
    answerCommand: (prompt, signal) => plugins.runCommand(prompt, signal),
    beforeRun: () => plugins.refresh(),
    rules: () => plugins.rules(),
    commands: () => [...mcp.commands(), ...plugins.commands().flatMap(toSlashCommand)],
    // Message builders of plugins come first, then the embedder.
    async shapeRequest(request, signal) {
      const built = await plugins.shapeRequest(request, signal);
      return options.shapeRequest?.(built, signal) ?? built;
    },
    onEvent(event) {
      emit(event);
      plugins.notify(event);
    },
  };
}

/** Converts a plugin's command for completion and lists of commands. */
function toSlashCommand(command: AgentExtensionCommand): SlashCommand[] {
  if (command.handler === undefined) return [];
  const { name, description = '' } = command;
  return [
    {
      name: name.trim().replace(/^\//, ''),
      description,
      argumentHint: null,
      allowedTools: [],
      model: null,
      source: 'plugin',
      file: '',
      text: '',
    },
  ];
}

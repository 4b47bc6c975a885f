import type { SlashCommand } from '../../agent/knowledge/commands.ts';
import type { SessionOptions } from '../../agent/session/prepare-session.ts';
import type { Tool } from '../../agent/tools/tool.ts';
import { specsFor } from '../../agent/tools/toolsets.ts';
import type { AgentExtensionCommand } from '../../plugins/contract/plugin.ts';
import type { AgentToolDefinition } from '../../plugins/contract/runtime-hooks.ts';
import { foundPlugins } from '../plugins/found-plugins.ts';
import type { ModelTarget } from '../plugins/load-plugins.ts';
import type { PluginOptions } from '../plugins/plugin-options.ts';
import { SessionPlugins } from '../plugins/session-plugins.ts';
import type { Settings } from '../settings.ts';
import type { AgentOptions } from './agent-options.ts';
import type { Making, SessionsRequest } from './session-request.ts';

/** Opens the plugins of a session. */
export async function pluginsFor(
  { opened, options, notice, mcp, pluginSource: source }: SessionsRequest,
  { emitEvent, sessions, onPlugins, signal }: Making,
  sessionId: string,
): Promise<SessionPlugins> {
  const readModel = () => sessions.get(sessionId)?.state().model ?? null;
  const plugins = await SessionPlugins.open({
    sessionId,
    opened,
    options: options.plugins ?? {},
    find: () => foundPlugins(opened, options.plugins),
    target: () => getTarget(options, opened.config.settings, readModel()),
    source,
    mcp,
    messages: () => sessions.get(sessionId)?.messages() ?? [],
    model: readModel,
    offered: () => sdkSpecs(sessions.get(sessionId)?.tools() ?? [], options),
    emitEvent: (name, payload) => emitEvent(sessionId, name, payload),
    notice,
    signal,
  });
  onPlugins(sessionId, plugins);
  return plugins;
}

/** The model that plugins are selected for: the one that serves the session, or the configured one before that. */
function getTarget(
  { model, plugins = {} }: Pick<AgentOptions, 'model' | 'plugins'>,
  settings: Settings,
  serving: ServingModel | null,
): ModelTarget {
  const first = wantedModel(model, settings);
  const now = serving ?? first;
  // The embedding program's own name for the provider means the one that the session began with.
  return targetOf(now, now.provider === first.provider ? plugins : {});
}

interface ServingModel {
  readonly provider: string;
  readonly id: string | null;
}

/** What Cline calls the providers that have another name here. */
const CLINE_NAMES: Readonly<Record<string, readonly string[]>> = {
  openai: ['openai-native'],
  'openai-compatible': ['openai'],
};

function targetOf({ provider, id }: ServingModel, { providerId }: PluginOptions): ModelTarget {
  const names = [provider, ...(CLINE_NAMES[provider] ?? [])];
  return { providers: providerId === undefined ? names : [providerId, provider], model: id };
}

/** Whom a session would be served by of which nothing else is said. */
export function usualTarget(settings: Settings): ModelTarget {
  return targetOf(wantedModel(undefined, settings), {});
}

/** Who serves the session, as far as that is known before the model is opened. */
function wantedModel(model: AgentOptions['model'], settings: Settings): ServingModel {
  if (model !== undefined && 'stream' in model) return model;
  const usual = settings['model.provider'];
  const provider = model?.provider ?? (model?.script === undefined ? usual : 'scripted');
  const configured =
    provider === usual && settings['model.id'] !== '' ? settings['model.id'] : null;
  return { provider, id: model?.model ?? configured };
}

/** The tools as Cline's SDK would tell a model of them. */
function sdkSpecs(
  tools: readonly Tool[],
  { offers }: AgentOptions,
): readonly AgentToolDefinition[] {
  const specs = specsFor('cline-sdk', tools).filter(({ name }) => offers?.(name) ?? true);
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

/** What a session takes from its plugins beside tools and hooks. */
export function pluginParts(
  plugins: SessionPlugins,
  { mcp, options, emit }: SessionsRequest,
): PluginParts {
  return {
    answerCommand: (prompt, signal) => plugins.command(prompt, signal),
    beforeRun: () => plugins.refresh(),
    rules: () => plugins.rules(),
    commands: () => [...mcp.commands(), ...plugins.commands().flatMap(commandOf)],
    // Message builders come first, then whoever embeds the agent.
    async shapeRequest(asked, signal) {
      const built = await plugins.shapeRequest(asked, signal);
      return options.shapeRequest?.(built, signal) ?? built;
    },
    onEvent(event) {
      emit(event);
      plugins.hear(event);
    },
  };
}

/** For those who complete what a person types, and list what there is. */
function commandOf(command: AgentExtensionCommand): SlashCommand[] {
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

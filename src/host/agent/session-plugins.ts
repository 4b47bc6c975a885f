import type { SlashCommand } from '../../agent/knowledge/commands.ts';
import type { SessionOptions } from '../../agent/session/prepare-session.ts';
import type { Tool } from '../../agent/tools/tool.ts';
import { specsFor } from '../../agent/tools/toolsets.ts';
import type { AgentExtensionCommand } from '../../plugins/contract/plugin.ts';
import type { AgentToolDefinition } from '../../plugins/contract/runtime-hooks.ts';
import type { OpenedHooks } from '../open-hooks.ts';
import { foundPlugins } from '../plugins/found-plugins.ts';
import type { ModelTarget } from '../plugins/load-plugins.ts';
import type { PluginOptions } from '../plugins/plugin-options.ts';
import type { SessionPlugins } from '../plugins/session-plugins.ts';
import type { Settings } from '../settings.ts';
import type { AgentOptions } from './agent-options.ts';
import type { Making, SessionsRequest } from './session-request.ts';

/** The plugins of a session that is being opened; null when it has none, so that nothing of them is loaded. */
export async function pluginsFor(
  request: SessionsRequest,
  { emitEvent, sessions, signal }: Making,
  sessionId: string,
): Promise<SessionPlugins | null> {
  const { opened, options, notice, mcp, pluginSource: source } = request;
  const wanted = options.plugins ?? {};
  if (!hasPlugins(wanted, opened)) return null;
  const { openSessionPlugins } = await import('../plugins/session-plugins.ts');
  return openSessionPlugins({
    sessionId,
    opened,
    options: wanted,
    target: targetOf(wantedModel(options.model, opened.config.settings), wanted),
    source,
    mcp,
    messages: () => sessions.get(sessionId)?.messages() ?? [],
    offered: () => sdkSpecs(sessions.get(sessionId)?.tools() ?? [], options),
    emitEvent: (name, payload) => emitEvent(sessionId, name, payload),
    notice,
    ...(signal === undefined ? {} : { signal }),
  });
}

function hasPlugins(options: PluginOptions, opened: OpenedHooks): boolean {
  const { objects = [], extraTools = [] } = options;
  return objects.length + extraTools.length > 0 || foundPlugins(opened, options).length > 0;
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

interface Joined {
  readonly request: SessionsRequest;
  /** The model that the session uses now. */
  readonly current: () => ServingModel;
}

/** What a session takes from its plugins beside tools and hooks. */
export function pluginParts(
  plugins: SessionPlugins | null,
  { request: { mcp, options, emit }, current }: Joined,
): PluginParts {
  if (plugins === null) {
    const { shapeRequest } = options;
    const shaping = shapeRequest === undefined ? {} : { shapeRequest };
    return { commands: () => mcp.commands(), onEvent: emit, ...shaping };
  }
  return {
    answerCommand: (prompt, signal) => plugins.command(prompt, signal),
    beforeRun: () => plugins.refresh(targetOf(current(), options.plugins ?? {})),
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

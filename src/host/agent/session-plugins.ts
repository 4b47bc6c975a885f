import { getErrorMessage } from '../../base/errors.ts';
import type { SlashCommand } from '../../agent/instructions/commands.ts';
import type { SessionOptions } from '../../agent/session/prepare-session.ts';
import type { Tool } from '../../agent/tools/tool.ts';
import { listToolSpecs } from '../../agent/tools/toolsets.ts';
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

/** The plugins of one session, once it has any: then, and not before, something of them is loaded. */
export interface PluginsIfAny {
  /** Null while there are none. */
  now(): SessionPlugins | null;
  /** Takes up what has come, gone or changed, and what is made for another model; between two runs only. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

/** Looks whether a session has plugins, now and before each run, and opens them when it does. */
export async function pluginsFor(
  request: SessionsRequest,
  making: Making,
  sessionId: string,
): Promise<PluginsIfAny> {
  const { opened, options, notice } = request;
  const wanted = options.plugins ?? {};
  const { sessions, onPlugins, signal } = making;
  let plugins: SessionPlugins | null = null;
  const openIfAny = async (target: ModelTarget, aborting?: AbortSignal): Promise<void> => {
    if (!hasPlugins(wanted, opened)) return;
    plugins = await openPlugins(request, making, { sessionId, target, signal: aborting });
    onPlugins(sessionId, plugins);
  };
  const first = wantedModel(options.model, opened.config.settings);
  await openIfAny(targetOf(first, wanted), signal);
  return {
    now: () => plugins,
    async refresh() {
      const { model } = sessions.get(sessionId)?.state() ?? {};
      const serving = model ?? first;
      // What plugins call the provider, they call the one that the session began with.
      const target = targetOf(serving, serving.provider === first.provider ? wanted : {});
      if (plugins !== null) return plugins.refresh(target);
      await openIfAny(target).catch((error: unknown) =>
        notice(`plugins have come, but cannot be loaded: ${getErrorMessage(error)}`),
      );
    },
    async close() {
      await plugins?.close();
    },
  };
}

interface Opening {
  readonly sessionId: string;
  readonly target: ModelTarget;
  readonly signal: AbortSignal | undefined;
}

async function openPlugins(
  { opened, options, notice, mcp, pluginSource: source }: SessionsRequest,
  { emitEvent, sessions }: Making,
  { sessionId, target, signal }: Opening,
): Promise<SessionPlugins> {
  const { openSessionPlugins } = await import('../plugins/session-plugins.ts');
  return openSessionPlugins({
    sessionId,
    opened,
    options: options.plugins ?? {},
    target,
    source,
    mcp,
    messages: () => sessions.get(sessionId)?.messages() ?? [],
    model: () => sessions.get(sessionId)?.state().model ?? null,
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

/** What a session takes from its plugins beside tools and hooks. */
export function pluginParts(
  plugins: PluginsIfAny,
  { mcp, options, emit }: SessionsRequest,
): PluginParts {
  return {
    answerCommand: async (prompt, signal) => plugins.now()?.command(prompt, signal) ?? null,
    beforeRun: () => plugins.refresh(),
    rules: () => plugins.now()?.rules() ?? '',
    commands: () => {
      const own = plugins.now()?.commands() ?? [];
      return [...mcp.commands(), ...own.flatMap(commandOf)];
    },
    // Message builders come first, then whoever embeds the agent.
    async shapeRequest(asked, signal) {
      const built = (await plugins.now()?.shapeRequest(asked, signal)) ?? asked;
      return options.shapeRequest?.(built, signal) ?? built;
    },
    onEvent(event) {
      emit(event);
      plugins.now()?.hear(event);
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

import { messageOf } from '../../base/errors.ts';
import type { SlashCommand } from '../../agent/knowledge/commands.ts';
import type { SessionOptions } from '../../agent/session/prepare-session.ts';
import type { Session } from '../../agent/session/session.ts';
import type { Tool } from '../../agent/tools/tool.ts';
import { specsFor } from '../../agent/tools/toolsets.ts';
import type { AgentExtensionCommand } from '../../plugins/contract/plugin.ts';
import type { AgentToolDefinition } from '../../plugins/contract/runtime-hooks.ts';
import type { OpenedHooks } from '../open-hooks.ts';
import { foundPlugins } from '../plugins/found-plugins.ts';
import type { ModelTarget } from '../plugins/load-plugins.ts';
import type { PluginOptions } from '../plugins/plugin-options.ts';
import type { PluginSource } from '../plugins/plugin-source.ts';
import type { SessionPlugins } from '../plugins/session-plugins.ts';
import type { Settings } from '../settings.ts';
import type { AgentOptions } from './agent-options.ts';
import type { SessionServices } from './session-services.ts';

/** The plugins of one session. Their code is loaded only when the session has any. */
export interface LazyPlugins {
  /** Null while there are none. */
  current(): SessionPlugins | null;
  /** Loads added, removed and changed plugins, and those for another model; between two runs only. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

export interface SessionPluginParts {
  readonly id: string;
  /** Holds the handlers of its plugins for its engine. */
  readonly pluginHandlers: PluginSource;
  /** Does what plugins of the session ask for: steering, further prompts. */
  readonly emitEvent: (name: string, payload: unknown) => void;
  /** Aborts the opening. */
  readonly signal: AbortSignal | undefined;
}

/** Looks whether a session has plugins, now and before each run, and opens them when it does. */
export async function openPluginsIfAny(
  services: SessionServices,
  parts: SessionPluginParts,
): Promise<LazyPlugins> {
  const { opened, options, notice, sessions } = services;
  const wanted = options.plugins ?? {};
  let plugins: SessionPlugins | null = null;
  const openIfAny = async (target: ModelTarget, signal?: AbortSignal): Promise<void> => {
    if (!hasPlugins(wanted, opened)) return;
    plugins = await loadPlugins(services, { ...parts, signal }, target);
  };
  const first = findServingModel(options.model, opened.config.settings);
  await openIfAny(toModelTarget(first, wanted), parts.signal);
  return {
    current: () => plugins,
    async refresh() {
      const { model } = sessions.get(parts.id)?.session.state() ?? {};
      const serving = model ?? first;
      // `providerId` is the embedder's name for the provider that the session began with.
      const target = toModelTarget(serving, serving.provider === first.provider ? wanted : {});
      if (plugins !== null) return plugins.refresh(target);
      await openIfAny(target).catch((error: unknown) =>
        notice(`plugins have come, but cannot be loaded: ${messageOf(error)}`),
      );
    },
    async close() {
      await plugins?.close();
    },
  };
}

async function loadPlugins(
  { opened, options, notice, mcp, sessions }: SessionServices,
  { id, pluginHandlers, emitEvent, signal }: SessionPluginParts,
  target: ModelTarget,
): Promise<SessionPlugins> {
  const { openSessionPlugins } = await import('../plugins/session-plugins.ts');
  const session = (): Session | undefined => sessions.get(id)?.session;
  return openSessionPlugins({
    sessionId: id,
    opened,
    options: options.plugins ?? {},
    target,
    source: pluginHandlers,
    mcp,
    messages: () => session()?.messages() ?? [],
    model: () => session()?.state().model ?? null,
    offered: () => listSdkTools(session()?.tools() ?? [], options),
    emitEvent,
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

/** Cline's names of the providers that have another name here. */
const CLINE_NAMES: Readonly<Record<string, readonly string[]>> = {
  openai: ['openai-native'],
  'openai-compatible': ['openai'],
};

function toModelTarget({ provider, id }: ServingModel, { providerId }: PluginOptions): ModelTarget {
  const names = [provider, ...(CLINE_NAMES[provider] ?? [])];
  return { providers: providerId === undefined ? names : [providerId, provider], model: id };
}

/** The provider and model of a session without options. */
export function usualTarget(settings: Settings): ModelTarget {
  return toModelTarget(findServingModel(undefined, settings), {});
}

/** The provider and model of a session, as far as known before the model is opened. */
function findServingModel(model: AgentOptions['model'], settings: Settings): ServingModel {
  if (model !== undefined && 'stream' in model) return model;
  const usual = settings['model.provider'];
  const provider = model?.provider ?? (model?.script === undefined ? usual : 'scripted');
  const configured =
    provider === usual && settings['model.id'] !== '' ? settings['model.id'] : null;
  return { provider, id: model?.model ?? configured };
}

/** The tools in the vocabulary of Cline's SDK. */
function listSdkTools(
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

/** What plugins contribute to a session beside tools and hooks. */
export function createPluginParts(
  plugins: LazyPlugins,
  { mcp, options, emit }: SessionServices,
): PluginParts {
  return {
    answerCommand: async (prompt, signal) => plugins.current()?.command(prompt, signal) ?? null,
    beforeRun: () => plugins.refresh(),
    rules: () => plugins.current()?.rules() ?? '',
    commands: () => {
      const own = plugins.current()?.commands() ?? [];
      return [...mcp.commands(), ...own.flatMap(toSlashCommand)];
    },
    // Message builders of plugins come first, then the embedder.
    async shapeRequest(asked, signal) {
      const built = (await plugins.current()?.shapeRequest(asked, signal)) ?? asked;
      return options.shapeRequest?.(built, signal) ?? built;
    },
    onEvent(event) {
      emit(event);
      plugins.current()?.hear(event);
    },
  };
}

/** For completion and lists of commands. */
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

import type { ModelRequest } from '../../agent/models/model.ts';
import type { Tool } from '../../agent/tools/tool.ts';
import { fromProviderMessages } from '../../dialects/cline-plugin/builder-messages.ts';
import { HooklineError } from '../../base/errors.ts';
import { pluginPathsIn } from '../input/ignored-options.ts';
import type { Host, HostOptions } from '../../host/create-host.ts';
import { createHost } from '../../host/create-host.ts';
import { openPlugins, type OpenedPlugins } from '../../host/plugins/open-plugins.ts';
import { readWorkspaceInfo } from '../../host/plugins/workspace-info.ts';
import type { OnIssue } from '../../plugins/issue.ts';
import type { AgentPlugin, PluginSetupContext } from '../../plugins/contract/plugin.ts';
import type { AgentRuntimeEvent } from '../../plugins/contract/runtime-hooks.ts';
import { resolveSessionId } from '../../sessions/session-id.ts';
import type { Message } from '../../sessions/messages.ts';
import { programAsPerson } from './person.ts';
import { resolveProviderId } from '../provider-ids.ts';
import type { ClineCoreOptions, ClineCoreStartInput, CoreSessionConfig } from '../start-input.ts';
import { chooseTools, specsOf } from './choose-tools.ts';
import { permissionModeOf } from './permission-mode.ts';
import { isOffered, policyHandler, type ToolPolicies } from './tool-policies.ts';

export interface OpenRequest {
  readonly id: string;
  readonly core: ClineCoreOptions;
  readonly input: ClineCoreStartInput;
  /** Where the session works, absolute. */
  readonly cwd: string;
  /** Gives up the opening. */
  readonly signal: AbortSignal;
  readonly onIssue: OnIssue;
  readonly onNotice: (text: string) => void;
  readonly onNews: (event: AgentRuntimeEvent) => void;
  /** What plugins want done: steering, further prompts. */
  readonly emitEvent: (name: string, payload: unknown) => void;
}

/** A session's host and plugins, ready to be started. */
export interface OpenedSession {
  readonly host: Host;
  readonly plugins: OpenedPlugins;
}

const HOOK_TIMEOUT_MS = 60_000;
const SETUP_TIMEOUT_MS = 30_000;
const DISPOSE_TIMEOUT_MS = 3_000;

/** Opens a host of its own for a session: each has its workspace, plugins, hooks and model. */
export async function openSession(request: OpenRequest): Promise<OpenedSession> {
  const { input, onIssue } = request;
  // Whatever is wrong with what was given is found before anything of a plugin runs.
  const provider = resolveProviderId(input.config.providerId);
  saidBefore(input);
  const paths = pluginPathsIn(input);
  if (paths.length > 0) onIssue(noPaths(paths));
  const standing: Standing = { session: null, chosen: [] };
  const plugins = await pluginsFor(request, standing);
  try {
    return await joinHost(request, { plugins, provider, standing });
  } catch (error) {
    await plugins.dispose();
    throw error;
  }
}

/** What plugins ask about before it is there. */
interface Standing {
  session: Started | null;
  chosen: readonly Tool[];
}

function pluginsFor(request: OpenRequest, standing: Standing): Promise<OpenedPlugins> {
  const { id, input, signal, onIssue, onNews } = request;
  const { config } = input;
  const hookTimeoutMs = config.hookTimeoutMs ?? HOOK_TIMEOUT_MS;
  const offers = offersOf(request);
  return openPlugins({
    sessionId: id,
    plugins: pluginsOf(config),
    extraTools: config.extraTools ?? [],
    context: setupContext(request),
    isStrict: config.strictPlugins === true,
    failsClosed: config.hookErrorMode === 'throw',
    hookTimeoutMs,
    setupTimeoutMs: SETUP_TIMEOUT_MS,
    disposeTimeoutMs: Math.min(hookTimeoutMs, DISPOSE_TIMEOUT_MS),
    signal,
    messages: () => standing.session?.messages() ?? [],
    offered: () => specsOf(standing.chosen).filter(({ name }) => offers(name)),
    onIssue,
    onNews,
  });
}

interface Joining {
  readonly plugins: OpenedPlugins;
  readonly provider: string;
  readonly standing: Standing;
}

async function joinHost(request: OpenRequest, joining: Joining): Promise<OpenedSession> {
  const { id, core, input, onNotice } = request;
  const { plugins, standing } = joining;
  const policies = policiesOf(request);
  const capabilities = { ...core.capabilities, ...input.capabilities };
  const iteration = (): number => plugins.snapshots.of(id).iteration;
  const program = programAsPerson({ sessionId: id, capabilities, policies, iteration });
  const choose = toolChooser(request, plugins);
  const host = await createHost({
    ...hostOptions(request, joining),
    ...(program === null ? {} : { person: program.person }),
    // The first request must know every tool, also where somebody can be asked.
    waitsForServers: hasServerTools(input.config),
    chooseTools: (all) => (standing.chosen = choose(all)),
    offers: offersOf(request),
    sources: [{ handlers: () => [policyHandler(policies)] }, plugins.source],
    onNotice,
  });
  standing.session = { messages: () => host.session(id).messages() };
  host.subscribe((event) => {
    program?.hear(event);
    plugins.hear(event);
  });
  return { host, plugins };
}

function policiesOf({ core, input }: OpenRequest): ToolPolicies {
  return { ...core.toolPolicies, ...input.config.toolPolicies, ...input.toolPolicies };
}

function offersOf(request: OpenRequest): (name: string) => boolean {
  const policies = policiesOf(request);
  return (name) => isOffered(policies, name);
}

function hasServerTools({ enableTools, disableMcpSettingsTools }: CoreSessionConfig): boolean {
  return enableTools !== false && disableMcpSettingsTools !== true;
}

function toolChooser(request: OpenRequest, { tools: pluginTools }: OpenedPlugins) {
  const { core, input, onIssue } = request;
  const { toolExecutors } = { ...core.capabilities, ...input.capabilities };
  return chooseTools({
    offers: offersOf(request),
    hasOwnTools: input.config.enableTools !== false,
    hasServerTools: hasServerTools(input.config),
    maySpawn: input.config.enableSpawnAgent !== false,
    mayAsk: toolExecutors?.askQuestion !== undefined,
    pluginTools,
    onClash: (tool, other) => onIssue(clash(tool, other)),
  });
}

interface Started {
  messages(): readonly Message[];
}

function clash(tool: string, other: string) {
  return {
    plugin: 'host',
    phase: 'tool',
    level: 'warning',
    message: `the tool ${tool} is left out: ${other} has this name`,
  } as const;
}

/** What is asked for and not done must not look as if it were. */
function noPaths(paths: readonly string[]) {
  return {
    plugin: 'host',
    phase: 'validate',
    level: 'error',
    message: `plugins are not loaded from files yet, so ${paths.join(', ')} is left out; import the plugin and give it in config.extensions`,
  } as const;
}

/** Hooks of the program itself are those of a plugin that comes first. */
function pluginsOf({ hooks, extensions = [] }: CoreSessionConfig): readonly AgentPlugin[] {
  if (hooks === undefined) return extensions;
  const own: AgentPlugin = {
    name: 'config.hooks',
    manifest: { capabilities: ['hooks'] },
    hooks,
  };
  return [own, ...extensions];
}

function setupContext({ id, core, input, cwd, emitEvent }: OpenRequest): PluginSetupContext {
  const { config } = input;
  const given = config.extensionContext ?? {};
  const logger = given.logger ?? config.logger ?? core.logger;
  const telemetry = given.telemetry ?? config.telemetry ?? core.telemetry;
  const { clientName, distinctId } = core;
  const client = given.client ?? (clientName === undefined ? undefined : { name: clientName });
  const user = given.user ?? (distinctId === undefined ? undefined : { distinctId });
  return {
    session: { sessionId: id },
    client,
    user,
    workspaceInfo: { ...readWorkspaceInfo(config.workspaceRoot ?? cwd), ...given.workspace },
    cwd,
    automation: given.automation,
    logger,
    telemetry,
    emitEvent,
  };
}

function hostOptions(
  { core, input, cwd }: OpenRequest,
  { plugins, provider }: Joining,
): HostOptions {
  const { config } = input;
  const { systemPrompt = '', apiKey, baseUrl, headers, maxIterations, workspaceRoot } = config;
  const fetch = config.fetch ?? core.fetch;
  const mode = input.mode ?? config.mode ?? 'act';
  return {
    cwd,
    ...(workspaceRoot === undefined ? {} : { roots: [workspaceRoot] }),
    ...(config.trust === undefined ? {} : { trust: config.trust }),
    model: {
      provider,
      model: config.modelId,
      ...(apiKey === undefined || apiKey === '' ? {} : { key: apiKey }),
      ...(baseUrl === undefined ? {} : { baseUrl }),
      ...(config.script === undefined ? {} : { script: config.script }),
      transport: {
        ...(fetch === undefined ? {} : { fetch }),
        ...(headers === undefined ? {} : { headers }),
      },
    },
    toolset: 'cline-sdk',
    permissionMode: permissionModeOf(mode),
    ...(maxIterations === undefined ? {} : { maxTurns: maxIterations }),
    tools: () => plugins.tools,
    systemPrompt: {
      whole: () => [systemPrompt, plugins.rules()].filter((text) => text !== '').join('\n\n'),
    },
    shapeRequest: async (request, signal) =>
      withSettings(await plugins.shapeRequest(request, signal), config),
  };
}

/** What was set for the session holds where no hook set it for this request. */
function withSettings(request: ModelRequest, config: CoreSessionConfig): ModelRequest {
  const { temperature, maxTokensPerTurn, reasoningEffort, thinking } = config;
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokensPerTurn === undefined ? {} : { maxOutputTokens: maxTokensPerTurn }),
    ...(reasoningEffort === undefined ? {} : { effort: reasoningEffort }),
    ...(thinking === undefined ? {} : { thinking }),
    ...request,
  };
}

/** Starts it: a stored one again, or a new one that takes some messages as said. */
export async function beginSession({ host }: OpenedSession, request: OpenRequest): Promise<void> {
  const { id, input, signal } = request;
  const isStored = input.config.sessionId !== undefined && isKnown(host, id);
  if (isStored) await host.start({ resume: id, idle: true, signal });
  else await host.start({ id, said: saidBefore(input), signal });
}

function saidBefore({ initialMessages = [] }: ClineCoreStartInput): readonly Message[] {
  if (Array.isArray(initialMessages) && initialMessages.length === 0) return [];
  const said = fromProviderMessages(initialMessages);
  if (typeof said !== 'string') return said;
  throw new HooklineError('USAGE_INVALID', {
    message: `initialMessages cannot be used: ${said.replace('it gave', 'there is')}`,
    hint: 'Each message is { role: "user" | "assistant", content: a text or a list of blocks }.',
  });
}

function isKnown({ stateDirectory }: Host, id: string): boolean {
  if (stateDirectory === null) return false;
  try {
    return resolveSessionId(stateDirectory, id) === id;
  } catch {
    return false;
  }
}

import type { ModelRequest } from '../../agent/models/model.ts';
import type { Tool } from '../../agent/tools/tool.ts';
import { fromProviderMessages } from '../../dialects/cline-plugin/builder-messages.ts';
import { HooklineError } from '../../base/errors.ts';
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
import { chooseTools, policyHandler, specsOf, type ToolPolicies } from './tool-policies.ts';

export interface OpenRequest {
  readonly id: string;
  readonly core: ClineCoreOptions;
  readonly input: ClineCoreStartInput;
  /** Where the session works, absolute. */
  readonly cwd: string;
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

/** Opens a host of its own for a session: each has its workspace, plugins, hooks and model. */
export async function openSession(request: OpenRequest): Promise<OpenedSession> {
  const { id, core, input, onNotice } = request;
  const { config } = input;
  const policies: ToolPolicies = {
    ...core.toolPolicies,
    ...config.toolPolicies,
    ...input.toolPolicies,
  };
  const capabilities = { ...core.capabilities, ...input.capabilities };
  let session: Started | null = null;
  const messages = (): readonly Message[] => session?.messages() ?? [];
  const choose = chooseTools({
    policies,
    hasOwnTools: config.enableTools !== false,
    maySpawn: config.enableSpawnAgent !== false,
    mayAsk: capabilities.toolExecutors?.askQuestion !== undefined,
    onClash: (tool) => request.onIssue(clash(tool)),
  });
  let chosen: readonly Tool[] = [];
  if (config.pluginPaths !== undefined) request.onIssue(noPaths(config.pluginPaths));
  const plugins = await openPlugins({
    sessionId: id,
    plugins: pluginsOf(config),
    extraTools: config.extraTools ?? [],
    context: setupContext(request),
    isStrict: config.strictPlugins === true,
    failsClosed: config.hookErrorMode === 'throw',
    hookTimeoutMs: config.hookTimeoutMs ?? HOOK_TIMEOUT_MS,
    setupTimeoutMs: SETUP_TIMEOUT_MS,
    messages,
    offered: () => specsOf(chosen),
    onIssue: request.onIssue,
    onNews: request.onNews,
  });
  const iteration = (): number => plugins.snapshots.of(id).iteration;
  const program = programAsPerson({ sessionId: id, capabilities, policies, iteration });
  const host = await createHost({
    ...hostOptions(request, plugins),
    ...(program === null ? {} : { person: program.person }),
    chooseTools: (all) => (chosen = choose(all)),
    sources: [{ handlers: () => [policyHandler(policies)] }, plugins.source],
    onNotice,
  });
  session = { messages: () => host.session(id).messages() };
  host.subscribe((event) => {
    program?.hear(event);
    plugins.hear(event);
  });
  return { host, plugins };
}

interface Started {
  messages(): readonly Message[];
}

function clash(tool: string) {
  return {
    plugin: 'host',
    phase: 'tool',
    level: 'warning',
    message: `the tool ${tool} is left out: one of Hookline's own has this name`,
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
  const client = given.client ?? (core.clientName === undefined ? null : { name: core.clientName });
  const user =
    given.user ?? (core.distinctId === undefined ? null : { distinctId: core.distinctId });
  return {
    session: { sessionId: id },
    ...(client === null ? {} : { client }),
    ...(user === null ? {} : { user }),
    workspaceInfo: { ...readWorkspaceInfo(config.workspaceRoot ?? cwd), ...given.workspace },
    cwd,
    ...(given.automation === undefined ? {} : { automation: given.automation }),
    ...(logger === undefined ? {} : { logger }),
    ...(telemetry === undefined ? {} : { telemetry }),
    emitEvent,
  };
}

function hostOptions({ core, input, cwd }: OpenRequest, plugins: OpenedPlugins): HostOptions {
  const { config } = input;
  const { systemPrompt = '', apiKey, baseUrl, headers, maxIterations, workspaceRoot } = config;
  const fetch = config.fetch ?? core.fetch;
  const mode = input.mode ?? config.mode ?? 'act';
  return {
    cwd,
    ...(workspaceRoot === undefined ? {} : { roots: [workspaceRoot] }),
    ...(config.trust === undefined ? {} : { trust: config.trust }),
    model: {
      provider: resolveProviderId(config.providerId),
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
    // Cline's SDK asks for nothing that no policy wants asked; deny rules hold all the same.
    permissionMode: mode === 'plan' ? 'plan' : 'bypassPermissions',
    ...(maxIterations === undefined ? {} : { maxTurns: maxIterations }),
    tools: () => plugins.tools,
    systemPrompt: {
      whole: () => [systemPrompt, plugins.rules()].filter((text) => text !== '').join('\n\n'),
    },
    shapeRequest: async (request) => withSettings(await plugins.shapeRequest(request), config),
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
  const { id, input } = request;
  const isStored = input.config.sessionId !== undefined && isKnown(host, id);
  if (isStored) {
    await host.start({ resume: id, idle: true });
    return;
  }
  const { initialMessages } = input;
  const said = initialMessages === undefined ? [] : fromProviderMessages(initialMessages);
  if (typeof said === 'string' && initialMessages?.length !== 0) {
    throw new HooklineError('USAGE_INVALID', {
      message: `initialMessages cannot be used: ${said.replace('it gave', 'there is')}`,
      hint: 'Each message is { role: "user" | "assistant", content: a text or a list of blocks }.',
    });
  }
  await host.start({ id, ...(typeof said === 'string' ? {} : { said }) });
}

function isKnown({ stateDirectory }: Host, id: string): boolean {
  if (stateDirectory === null) return false;
  try {
    return resolveSessionId(stateDirectory, id) === id;
  } catch {
    return false;
  }
}

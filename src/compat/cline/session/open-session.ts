import path from 'node:path';
import type { ModelRequest } from '../../../agent/models/model.ts';
import type { PromptQueue } from '../../../agent/session/prompt-queue.ts';
import { fromProviderMessages } from '../../../plugins/messages/provider-messages.ts';
import { dropUndefined } from '../../../base/defined.ts';
import { HooklineError } from '../../../base/errors.ts';
import { type Host, type HostOptions, createHost } from '../../../host/create-host.ts';
import { explainNameTaken } from '../../../host/plugins/contributions/tool-name-conflicts.ts';
import type { GivenContext, PluginOptions } from '../../../host/plugins/plugin-options.ts';
import type { OnIssue } from '../../../plugins/plugin-issue.ts';
import type { AgentPlugin } from '../../../plugins/contract/plugin.ts';
import type { AgentRuntimeEvent } from '../../../plugins/contract/runtime-hooks.ts';
import { resolveSessionId } from '../../../sessions/session-id.ts';
import type { Message } from '../../../sessions/messages.ts';
import { createProgramUser } from './program-user.ts';
import { resolveProviderId } from '../llms/catalog.ts';
import type { ClineCoreOptions, ClineCoreStartInput, CoreSessionConfig } from '../start-input.ts';
import {
  toPermissionMode,
  isOffered,
  createPolicyHandler,
  type ToolPolicies,
} from './tool-policies.ts';
import { TOOLS } from '../../../agent/tools/index.ts';
import type { Tool } from '../../../agent/tools/tool.ts';
import { listToolSpecs } from '../../../agent/tools/toolsets.ts';
import { removeFileHooks } from '../provided/agent-hooks.ts';
import { TOOL_NAMES } from '../../../tool-vocabularies/tool-views.ts';

export interface OpenRequest {
  readonly id: string;
  readonly core: ClineCoreOptions;
  readonly input: ClineCoreStartInput;
  /** The absolute directory of the session. */
  readonly cwd: string;
  /** Aborts the opening. */
  readonly signal: AbortSignal;
  readonly pendingPrompts: PromptQueue;
  readonly onIssue: OnIssue;
  readonly onNotice: (text: string) => void;
  readonly onEvent: (event: AgentRuntimeEvent) => void;
  /** Receives events of plugins, such as prompts to steer or to queue. */
  readonly emitEvent: (name: string, payload: unknown) => void;
}

/** Opens a separate host for a session: each has its workspace, plugins, hooks and model. */
export async function openSessionHost(request: OpenRequest): Promise<Host> {
  const { id, core, input, onNotice } = request;
  // Invalid input is reported before any code of a plugin runs.
  readInitialMessages(input);
  const policies = mergePolicies(request);
  const capabilities = { ...core.capabilities, ...input.capabilities };
  const person = createProgramUser(id, capabilities, policies);
  return createHost({
    ...createHostOptions(request),
    ...(person === null ? {} : { person }),
    // The first request must have the tools of all servers, also where a user can be asked.
    waitsForServers: hasServerTools(input.config),
    plugins: createPluginOptions(request),
    chooseTools: createToolChooser(request),
    offers: createOfferCheck(request),
    sources: [{ handlers: () => [createPolicyHandler(policies)] }],
    onNotice,
  });
}

function createPluginOptions(request: OpenRequest): PluginOptions {
  const { input, onIssue, onEvent } = request;
  const { config } = input;
  return {
    objects: listPluginObjects(config),
    extraTools: config.extraTools ?? [],
    context: () => createSetupContext(request),
    isStrict: config.strictPlugins === true,
    failsClosed: config.hookErrorMode === 'throw',
    ...readTimeouts(config),
    ...dropUndefined({ isolation: config.pluginIsolation }),
    providerId: config.providerId,
    discovers: shouldLoadFromDisk(input),
    provided: async () => (await import('../provided.ts')).findProvidedModule,
    onIssue,
    onNews: onEvent,
  };
}

function readTimeouts(config: CoreSessionConfig): Partial<PluginOptions> {
  const { hookTimeoutMs, pluginImportTimeoutMs, pluginSetupTimeoutMs } = config;
  return dropUndefined({
    hookTimeoutMs,
    importTimeoutMs: pluginImportTimeoutMs,
    setupTimeoutMs: pluginSetupTimeoutMs,
  });
}

/** `localRuntime.configExtensions` names what is looked for; without it everything is. */
function shouldLoadFromDisk({ localRuntime }: ClineCoreStartInput): boolean {
  const extensions = localRuntime?.['configExtensions'];
  return !Array.isArray(extensions) || extensions.includes('plugins');
}

function mergePolicies({ core, input }: OpenRequest): ToolPolicies {
  return { ...core.toolPolicies, ...input.config.toolPolicies, ...input.toolPolicies };
}

function createOfferCheck(request: OpenRequest): (name: string) => boolean {
  const policies = mergePolicies(request);
  return (name) => isOffered(policies, name);
}

function hasServerTools({ enableTools, disableMcpSettingsTools }: CoreSessionConfig): boolean {
  return enableTools !== false && disableMcpSettingsTools !== true;
}

/** Hooks of the program itself become the first plugin. */
function listPluginObjects({ hooks, extensions = [] }: CoreSessionConfig): readonly AgentPlugin[] {
  const ownHooks = hooks === undefined ? undefined : removeFileHooks(hooks);
  if (ownHooks === undefined) return extensions;
  const own: AgentPlugin = {
    name: 'config.hooks',
    manifest: { capabilities: ['hooks'] },
    hooks: ownHooks,
  };
  return [own, ...extensions];
}

function createSetupContext({ core, input, emitEvent }: OpenRequest): GivenContext {
  const { config } = input;
  const context = config.extensionContext ?? {};
  const logger = context.logger ?? config.logger ?? core.logger;
  const telemetry = context.telemetry ?? config.telemetry ?? core.telemetry;
  const { clientName, distinctId } = core;
  const client = context.client ?? (clientName === undefined ? undefined : { name: clientName });
  const user = context.user ?? (distinctId === undefined ? undefined : { distinctId });
  return {
    client,
    user,
    ...dropUndefined({ workspaceInfo: context.workspace }),
    automation: context.automation,
    logger,
    telemetry,
    emitEvent,
  };
}

/** The limits of Cline's SDK. */
const EMPTY_ANSWER_RETRIES = 2;
const CLINE_LOOPS = { sameCalls: 5, failedCalls: Number.POSITIVE_INFINITY, failedTurns: 6 };

function createHostOptions({ core, input, cwd }: OpenRequest): HostOptions {
  const { config } = input;
  const provider = resolveProviderId(config.providerId);
  const paths = listPluginPaths(input);
  const { systemPrompt = '', apiKey, baseUrl, headers, maxIterations, workspaceRoot } = config;
  const fetch = config.fetch ?? core.fetch;
  const mode = input.mode ?? config.mode ?? 'act';
  return {
    cwd,
    ...(workspaceRoot === undefined ? {} : { roots: [workspaceRoot] }),
    ...dropUndefined({ trust: config.trust, maxTurns: maxIterations }),
    model: {
      provider,
      model: config.modelId,
      ...(apiKey === undefined || apiKey === '' ? {} : { key: apiKey }),
      ...dropUndefined({ baseUrl, script: config.script }),
      transport: dropUndefined({ fetch, headers }),
    },
    toolset: 'cline-sdk',
    permissionMode: toPermissionMode(mode),
    loops: CLINE_LOOPS,
    emptyAnswerRetries: EMPTY_ANSWER_RETRIES,
    checksWholeTurn: true,
    ...(paths.length === 0 ? {} : { pluginPaths: paths.map((each) => path.resolve(cwd, each)) }),
    systemPrompt: { build: () => systemPrompt },
    shapeRequest: async (request) => withSettings(request, config),
  };
}

/** Settings of the session, overridden by what hooks set for this request. */
function withSettings(request: ModelRequest, config: CoreSessionConfig): ModelRequest {
  const { temperature, maxTokensPerTurn, reasoningEffort, thinking } = config;
  return {
    ...dropUndefined({
      temperature,
      maxOutputTokens: maxTokensPerTurn,
      effort: reasoningEffort,
      thinking,
    }),
    ...request,
  };
}

/** Resumes a stored session, or starts a new one with the initial messages. */
export async function startSession(host: Host, request: OpenRequest): Promise<void> {
  const { id, input, signal, pendingPrompts } = request;
  const isStored = input.config.sessionId !== undefined && isStoredSession(host, id);
  const selection = isStored ? { resume: id } : { id, said: readInitialMessages(input) };
  await host.start({ ...selection, idle: true, signal, pendingPrompts });
}

function readInitialMessages({ initialMessages = [] }: ClineCoreStartInput): readonly Message[] {
  if (Array.isArray(initialMessages) && initialMessages.length === 0) return [];
  const messages = fromProviderMessages(initialMessages);
  if (typeof messages !== 'string') return messages;
  throw new HooklineError('USAGE_INVALID', {
    message: `initialMessages cannot be used: ${messages.replace('it gave', 'there is')}`,
    hint: 'Each message is { role: "user" | "assistant", content: a text or a list of blocks }.',
  });
}

function isStoredSession({ stateDirectory }: Host, id: string): boolean {
  if (stateDirectory === null) return false;
  try {
    return resolveSessionId(stateDirectory, id) === id;
  } catch {
    return false;
  }
}

/** Hookline's tools that Cline's SDK also has, in its order. */
const OWN = ['Read', 'Grep', 'Bash', 'WebFetch', 'Write', 'Edit', 'Skill'];

/** Chooses a session's tools: those of plugins and the program, then Hookline's, then those of servers. */
function createToolChooser(
  request: OpenRequest,
): (all: readonly Tool[], ofPlugins: readonly Tool[]) => readonly Tool[] {
  const reported = new Set<string>();
  const { input, onIssue } = request;
  const offers = createOfferCheck(request);
  return (all, ofPlugins) => {
    const own = input.config.enableTools === false ? [] : listOwnTools(all, request);
    const isForeign = (tool: Tool): boolean => !TOOLS.includes(tool);
    const foreign = hasServerTools(input.config) ? all.filter(isForeign) : [];
    const free = ofPlugins.filter((tool) => {
      const { name } = tool;
      const other = findOwner(name, own, foreign);
      if (other !== null && !reported.has(name)) onIssue(explainNameTaken(tool, other));
      if (other !== null) reported.add(name);
      return other === null;
    });
    return [...free, ...own, ...foreign].filter((tool) => listToolNames(tool).some(offers));
  };
}

function listOwnTools(all: readonly Tool[], { core, input }: OpenRequest): readonly Tool[] {
  const { toolExecutors } = { ...core.capabilities, ...input.capabilities };
  const names = [
    ...OWN,
    ...(toolExecutors?.askQuestion === undefined ? [] : ['AskUserQuestion']),
    ...(input.config.enableSpawnAgent === false ? [] : ['Agent']),
  ];
  return names.flatMap((name) => all.find((tool) => tool.name === name) ?? []);
}

/** Describes whose tool has this name already; null when it is free. */
function findOwner(name: string, own: readonly Tool[], foreign: readonly Tool[]): string | null {
  const has = (tools: readonly Tool[]): boolean =>
    tools.some((tool) => tool.name === name || listToolNames(tool).includes(name));
  if (has(own)) return "one of Hookline's own";
  return has(foreign) ? 'one of an MCP server' : null;
}

/** The names under which a tool can be used; a patch that makes a file needs what writes files. */
function listToolNames(tool: Tool): readonly string[] {
  const sdkNames = TOOL_NAMES.find(({ claude }) => claude === tool.name)?.sdk ?? [];
  return [...new Set([...listToolSpecs('cline-sdk', [tool]).map(({ name }) => name), ...sdkNames])];
}

/** Lists the plugin files that the start input names. */
function listPluginPaths({ config, localRuntime }: ClineCoreStartInput): readonly string[] {
  const paths: unknown = localRuntime?.['pluginPaths'];
  const further = Array.isArray(paths) ? paths.map(String) : [];
  return [...(config.pluginPaths ?? []), ...further];
}

import path from 'node:path';
import type { ModelRequest } from '../../agent/models/model.ts';
import { fromProviderMessages } from '../../dialects/cline-plugin/builder-messages.ts';
import { HooklineError } from '../../base/errors.ts';
import { pluginPathsIn } from '../input/ignored-options.ts';
import type { Host, HostOptions } from '../../host/create-host.ts';
import { createHost } from '../../host/create-host.ts';
import { nameTaken } from '../../host/plugins/contributions/free-names.ts';
import type { GivenContext, PluginOptions } from '../../host/plugins/plugin-options.ts';
import type { OnIssue } from '../../plugins/issue.ts';
import type { AgentPlugin } from '../../plugins/contract/plugin.ts';
import type { AgentRuntimeEvent } from '../../plugins/contract/runtime-hooks.ts';
import { resolveSessionId } from '../../sessions/session-id.ts';
import type { Message } from '../../sessions/messages.ts';
import { programAsPerson } from './person.ts';
import { resolveProviderId } from '../provider-ids.ts';
import type { ClineCoreOptions, ClineCoreStartInput, CoreSessionConfig } from '../start-input.ts';
import { chooseTools } from './choose-tools.ts';
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

/** A session's host, ready to be started. */
export interface OpenedSession {
  readonly host: Host;
  readonly id: string;
}

/** Opens a host of its own for a session: each has its workspace, plugins, hooks and model. */
export async function openSession(request: OpenRequest): Promise<OpenedSession> {
  const { id, core, input, onNotice } = request;
  // Whatever is wrong with what was given is found before anything of a plugin runs.
  saidBefore(input);
  const policies = policiesOf(request);
  const capabilities = { ...core.capabilities, ...input.capabilities };
  const program = programAsPerson({ sessionId: id, capabilities, policies });
  const host = await createHost({
    ...hostOptions(request),
    ...(program === null ? {} : { person: program.person }),
    // The first request must know every tool, also where somebody can be asked.
    waitsForServers: hasServerTools(input.config),
    plugins: pluginOptions(request),
    chooseTools: toolChooser(request),
    offers: offersOf(request),
    sources: [{ handlers: () => [policyHandler(policies)] }],
    onNotice,
  });
  if (program !== null) host.subscribe((event) => program.hear(event));
  return { host, id };
}

function pluginOptions(request: OpenRequest): PluginOptions {
  const { input, onIssue, onNews } = request;
  const { config } = input;
  return {
    objects: objectsOf(config),
    extraTools: config.extraTools ?? [],
    context: () => setupContext(request),
    isStrict: config.strictPlugins === true,
    failsClosed: config.hookErrorMode === 'throw',
    ...timesIn(config),
    ...(config.pluginIsolation === undefined ? {} : { isolation: config.pluginIsolation }),
    providerId: config.providerId,
    discovers: loadsFromDisk(input),
    provided: async () => (await import('../provided.ts')).providedModules,
    onIssue,
    onNews,
  };
}

function timesIn(config: CoreSessionConfig): Partial<PluginOptions> {
  const { hookTimeoutMs, pluginImportTimeoutMs, pluginSetupTimeoutMs } = config;
  return {
    ...(hookTimeoutMs === undefined ? {} : { hookTimeoutMs }),
    ...(pluginImportTimeoutMs === undefined ? {} : { importTimeoutMs: pluginImportTimeoutMs }),
    ...(pluginSetupTimeoutMs === undefined ? {} : { setupTimeoutMs: pluginSetupTimeoutMs }),
  };
}

/** `localRuntime.configExtensions` names what is looked for; without it everything is. */
function loadsFromDisk({ localRuntime }: ClineCoreStartInput): boolean {
  const wanted = localRuntime?.['configExtensions'];
  return !Array.isArray(wanted) || wanted.includes('plugins');
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

function toolChooser(request: OpenRequest) {
  const { core, input, onIssue } = request;
  const { toolExecutors } = { ...core.capabilities, ...input.capabilities };
  return chooseTools({
    offers: offersOf(request),
    hasOwnTools: input.config.enableTools !== false,
    hasServerTools: hasServerTools(input.config),
    maySpawn: input.config.enableSpawnAgent !== false,
    mayAsk: toolExecutors?.askQuestion !== undefined,
    onClash: (tool, other) => onIssue(nameTaken(tool, other)),
  });
}

/** Hooks of the program itself are those of a plugin that comes first. */
function objectsOf({ hooks, extensions = [] }: CoreSessionConfig): readonly AgentPlugin[] {
  if (hooks === undefined) return extensions;
  const own: AgentPlugin = {
    name: 'config.hooks',
    manifest: { capabilities: ['hooks'] },
    hooks,
  };
  return [own, ...extensions];
}

function setupContext({ core, input, emitEvent }: OpenRequest): GivenContext {
  const { config } = input;
  const given = config.extensionContext ?? {};
  const logger = given.logger ?? config.logger ?? core.logger;
  const telemetry = given.telemetry ?? config.telemetry ?? core.telemetry;
  const { clientName, distinctId } = core;
  const client = given.client ?? (clientName === undefined ? undefined : { name: clientName });
  const user = given.user ?? (distinctId === undefined ? undefined : { distinctId });
  return {
    client,
    user,
    ...(given.workspace === undefined ? {} : { workspaceInfo: given.workspace }),
    automation: given.automation,
    logger,
    telemetry,
    emitEvent,
  };
}

/** As many as Cline's SDK lets pass. */
const CLINE_LOOPS = { sameCalls: 5, failedCalls: Number.POSITIVE_INFINITY, failedTurns: 6 };

function hostOptions({ core, input, cwd }: OpenRequest): HostOptions {
  const { config } = input;
  const provider = resolveProviderId(config.providerId);
  const paths = pluginPathsIn(input);
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
    loops: CLINE_LOOPS,
    ...(paths.length === 0 ? {} : { pluginPaths: paths.map((each) => path.resolve(cwd, each)) }),
    systemPrompt: { build: () => systemPrompt },
    shapeRequest: async (request) => withSettings(request, config),
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

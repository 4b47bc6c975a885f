import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ModelRequest } from '../../../agent/models/model.ts';
import type { RunResult } from '../../../agent/runtime-event.ts';
import { HooklineError, getErrorMessage } from '../../../base/errors.ts';
import { isRecord } from '../../../base/json.ts';
import { fromAgentMessages, toAgentMessages } from '../../../dialects/cline-plugin/messages.ts';
import type { AgentOptions } from '../../../host/agent/agent-options.ts';
import { readSurroundings, type Surroundings } from '../../../host/config.ts';
import { createHost, type Host, type HostOptions } from '../../../host/create-host.ts';
import type { AgentMessage } from '../../../plugins/contract/message.ts';
import type { AgentPlugin } from '../../../plugins/contract/plugin.ts';
import type { AgentRunResult, AgentRuntimeEvent } from '../../../plugins/contract/runtime-hooks.ts';
import { resolveProviderId } from '../../provider-ids.ts';
import { programAsPerson } from '../../session/person.ts';
import { isOffered, policyHandler } from '../../session/tool-policies.ts';
import type { AgentRuntimeConfig, AgentRuntimePlugin } from './agent-config.ts';
import { modelOf } from './agent-model.ts';

export interface OpenAgentRequest {
  readonly config: AgentRuntimeConfig;
  readonly agentId: string;
  readonly said: readonly AgentMessage[];
  readonly onEvent: (event: AgentRuntimeEvent) => void;
}

/** A standalone agent at work. */
export interface OpenedAgent {
  run(prompt: string): Promise<AgentRunResult>;
  abort(reason: string): void;
  messages(): readonly AgentMessage[];
  close(): Promise<void>;
}

/** Opens a session that has nothing but what it is given: no hooks, files, instructions or tools of this machine. */
export async function openAgent(request: OpenAgentRequest): Promise<OpenedAgent> {
  const { agentId, said } = request;
  const place = emptyPlace(readSurroundings());
  const results: AgentRunResult[] = [];
  try {
    const host = await openHost(request, place, results);
    const starting = host.start({ id: agentId, said: fromAgentMessages(said) });
    await starting.catch(async (error: unknown) => {
      await host.dispose();
      throw error;
    });
    return openedAgent(host, agentId, results);
  } finally {
    // Whoever never disposes of an agent must not leave directories behind.
    rmSync(place.cwd, { recursive: true, force: true });
  }
}

async function openHost(
  request: OpenAgentRequest,
  place: AgentPlace,
  results: AgentRunResult[],
): Promise<Host> {
  const { config, agentId, onEvent } = request;
  const { requestToolApproval, toolPolicies: policies = {} } = config;
  const log = (text: string): void => config.logger?.log(text);
  const program = programAsPerson({
    sessionId: agentId,
    policies,
    capabilities: requestToolApproval === undefined ? {} : { requestToolApproval },
  });
  const host = await createHost({
    ...place,
    ...agentOptions(config),
    ...(program === null ? {} : { person: program.person }),
    offers: (name) => isOffered(policies, name),
    sources: [{ handlers: () => [policyHandler(policies)] }],
    plugins: {
      objects: [keeper(results), ...(await pluginsOf(request))],
      extraTools: config.tools ?? [],
      discovers: false,
      onIssue: ({ plugin, message }) => log(`${plugin}: ${message}`),
      onNews: onEvent,
    },
    onNotice: log,
  });
  if (program !== null) host.subscribe((event) => program.hear(event));
  return host;
}

function openedAgent(host: Host, agentId: string, results: AgentRunResult[]): OpenedAgent {
  const messages = (): AgentMessage[] => toAgentMessages(host.session(agentId).messages());
  return {
    async run(prompt) {
      results.length = 0;
      const run = await host.send(agentId, prompt);
      return results.at(-1) ?? unheardResult(run, { agentId, messages: messages() });
    },
    abort: (reason) => void host.abort(agentId, reason).catch(() => undefined),
    messages,
    close: () => host.dispose(),
  };
}

/** Of a prompt that never became a run, nobody tells the plugins. */
function unheardResult(
  { status, text, iterations, usage, reason }: RunResult,
  known: Pick<AgentRunResult, 'agentId' | 'messages'>,
): AgentRunResult {
  return {
    ...known,
    runId: '',
    status,
    iterations,
    outputText: text,
    usage: { ...usage },
    ...(reason === null ? {} : { stopReason: reason }),
  };
}

/** A place where nothing lies, so that nothing is found; keys of providers are still known. */
function emptyPlace(surroundings: Surroundings): AgentPlace {
  const {
    HOOKLINE_HOME: _state,
    CLAUDE_CONFIG_DIR: _claude,
    CLINE_DIR: _cline,
    ...env
  } = surroundings.env;
  const cwd = realpathSync(mkdtempSync(path.join(tmpdir(), 'hookline-agent-')));
  return {
    surroundings: { ...surroundings, env, home: null, cwd },
    cwd,
    roots: [cwd],
    dialects: [],
    flags: { 'trace.enabled': false },
  };
}

interface AgentPlace extends Pick<HostOptions, 'surroundings' | 'roots' | 'dialects' | 'flags'> {
  readonly cwd: string;
}

function agentOptions(config: AgentRuntimeConfig): AgentOptions {
  const { maxIterations, systemPrompt = '', modelOptions = {} } = config;
  return {
    model: modelWish(config),
    toolset: 'cline-sdk',
    permissionMode: 'bypassPermissions',
    ...(maxIterations === undefined ? {} : { maxTurns: maxIterations }),
    systemPrompt: { build: () => systemPrompt },
    chooseTools: (_own, ofPlugins) => ofPlugins,
    shapeRequest: async (request) => ({ ...settingsOf(modelOptions), ...request }),
  };
}

function modelWish(config: AgentRuntimeConfig): NonNullable<AgentOptions['model']> {
  if (isOwnModel(config)) return modelOf(config.model, config.modelOptions ?? {});
  const { providerId, modelId, apiKey, baseUrl, headers, fetch, script } = config;
  return {
    provider: resolveProviderId(providerId),
    model: modelId,
    ...(apiKey === undefined || apiKey === '' ? {} : { key: apiKey }),
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(script === undefined ? {} : { script }),
    transport: {
      ...(fetch === undefined ? {} : { fetch }),
      ...(headers === undefined ? {} : { headers }),
    },
  };
}

function isOwnModel(
  config: AgentRuntimeConfig,
): config is Extract<AgentRuntimeConfig, { model: object }> {
  return isRecord(config['model']);
}

function settingsOf(given: Record<string, unknown>): Partial<ModelRequest> {
  const { temperature, maxTokens, reasoningEffort, thinking } = given;
  return {
    ...(typeof temperature === 'number' ? { temperature } : {}),
    ...(typeof maxTokens === 'number' ? { maxOutputTokens: maxTokens } : {}),
    ...(typeof reasoningEffort === 'string' ? { effort: reasoningEffort } : {}),
    ...(typeof thinking === 'boolean' ? { thinking } : {}),
  };
}

/** How a run ended is told to plugins, in their words; this one keeps it. */
function keeper(results: AgentRunResult[]): AgentPlugin {
  return {
    name: 'agent',
    manifest: { capabilities: ['hooks'] },
    hooks: { afterRun: ({ result }) => void results.push(result) },
  };
}

async function pluginsOf({ config, agentId }: OpenAgentRequest): Promise<readonly AgentPlugin[]> {
  const { hooks, plugins = [], agentRole, systemPrompt } = config;
  const own: readonly AgentPlugin[] =
    hooks === undefined
      ? []
      : [{ name: 'config.hooks', manifest: { capabilities: ['hooks'] }, hooks }];
  const context = {
    agentId,
    ...(agentRole === undefined ? {} : { agentRole }),
    ...(systemPrompt === undefined ? {} : { systemPrompt }),
  };
  const others = plugins.map(async (plugin) =>
    isSessionPlugin(plugin) ? plugin : setUp(plugin, context),
  );
  return [...own, ...(await Promise.all(others))];
}

function isSessionPlugin(plugin: AgentRuntimePlugin | AgentPlugin): plugin is AgentPlugin {
  return plugin.manifest !== undefined;
}

/** One whose setup fails is told of as any other plugin's is. */
async function setUp(
  plugin: AgentRuntimePlugin,
  context: Parameters<NonNullable<AgentRuntimePlugin['setup']>>[0],
): Promise<AgentPlugin> {
  const manifest: AgentPlugin['manifest'] = { capabilities: ['tools', 'hooks'] };
  const { name } = plugin;
  try {
    const { tools = [], hooks = {} } = (await plugin.setup?.(context)) ?? {};
    const setup: AgentPlugin['setup'] = (api) => tools.forEach((tool) => api.registerTool(tool));
    return { name, manifest, hooks, setup };
  } catch (error) {
    const setup = (): never => {
      throw new HooklineError('PLUGIN_INVALID', { message: getErrorMessage(error), cause: error });
    };
    return { name, manifest, hooks: {}, setup };
  }
}

import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ModelRequest, Model } from '../../../agent/models/model.ts';
import type { RunResult } from '../../../agent/runtime-event.ts';
import { HooklineError, getErrorMessage } from '../../../base/errors.ts';
import { isRecord } from '../../../base/json.ts';
import { fromAgentMessages, toAgentMessages } from '../../../plugins/messages/agent-messages.ts';
import type { AgentOptions } from '../../../host/agent/agent-options.ts';
import { readSurroundings, type Surroundings } from '../../../host/config.ts';
import { createHost, type Host, type HostOptions } from '../../../host/create-host.ts';
import type { AgentMessage } from '../../../plugins/contract/message.ts';
import type { AgentPlugin } from '../../../plugins/contract/plugin.ts';
import type { AgentRunResult, AgentRuntimeEvent } from '../../../plugins/contract/runtime-hooks.ts';
import { resolveProviderId } from '../provider-ids.ts';
import { createProgramUser } from '../session/person.ts';
import { isOffered, createPolicyHandler } from '../session/tool-policies.ts';
import type {
  AgentRuntimeConfig,
  AgentRuntimePlugin,
  AgentModel,
  AgentModelEvent,
} from './agent-config.ts';
import type { ApiHandler, ApiStreamChunk } from '../llms/api-handler.ts';
import { streamFromHandler } from '../llms/handler-model.ts';
import { STREAM_LIMITS } from '../llms/handler-stream.ts';

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
  const place = createEmptyPlace(readSurroundings());
  const results: AgentRunResult[] = [];
  try {
    const host = await openHost(request, place, results);
    const starting = host.start({ id: agentId, said: fromAgentMessages(said) });
    await starting.catch(async (error: unknown) => {
      await host.dispose();
      throw error;
    });
    return toOpenedAgent(host, agentId, results);
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
  const program = createProgramUser({
    sessionId: agentId,
    policies,
    capabilities: requestToolApproval === undefined ? {} : { requestToolApproval },
  });
  const host = await createHost({
    ...place,
    ...buildAgentOptions(config),
    ...(program === null ? {} : { person: program.person }),
    offers: (name) => isOffered(policies, name),
    sources: [{ handlers: () => [createPolicyHandler(policies)] }],
    plugins: {
      objects: [createKeeper(results), ...(await listPlugins(request))],
      extraTools: config.tools ?? [],
      discovers: false,
      onIssue: ({ plugin, message }) => log(`${plugin}: ${message}`),
      onNews: onEvent,
    },
    onNotice: log,
  });
  if (program !== null) host.subscribe((event) => program.observe(event));
  return host;
}

function toOpenedAgent(host: Host, agentId: string, results: AgentRunResult[]): OpenedAgent {
  const messages = (): AgentMessage[] => toAgentMessages(host.session(agentId).messages());
  return {
    async run(prompt) {
      results.length = 0;
      const run = await host.send(agentId, prompt);
      return results.at(-1) ?? createUnheardResult(run, { agentId, messages: messages() });
    },
    abort: (reason) => void host.abort(agentId, reason).catch(() => undefined),
    messages,
    close: () => host.dispose(),
  };
}

/** Of a prompt that never became a run, nobody tells the plugins. */
function createUnheardResult(
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
function createEmptyPlace(surroundings: Surroundings): AgentPlace {
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

function buildAgentOptions(config: AgentRuntimeConfig): AgentOptions {
  const { maxIterations, systemPrompt = '', modelOptions = {} } = config;
  return {
    model: toModelWish(config),
    toolset: 'cline-sdk',
    permissionMode: 'bypassPermissions',
    ...(maxIterations === undefined ? {} : { maxTurns: maxIterations }),
    systemPrompt: { build: () => systemPrompt },
    chooseTools: (_own, ofPlugins) => ofPlugins,
    shapeRequest: async (request) => ({ ...readSettings(modelOptions), ...request }),
  };
}

function toModelWish(config: AgentRuntimeConfig): NonNullable<AgentOptions['model']> {
  if (isOwnModel(config)) return createModel(config.model, config.modelOptions ?? {});
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

function readSettings(given: Record<string, unknown>): Partial<ModelRequest> {
  const { temperature, maxTokens, reasoningEffort, thinking } = given;
  return {
    ...(typeof temperature === 'number' ? { temperature } : {}),
    ...(typeof maxTokens === 'number' ? { maxOutputTokens: maxTokens } : {}),
    ...(typeof reasoningEffort === 'string' ? { effort: reasoningEffort } : {}),
    ...(typeof thinking === 'boolean' ? { thinking } : {}),
  };
}

/** How a run ended is told to plugins, in their words; this one keeps it. */
function createKeeper(results: AgentRunResult[]): AgentPlugin {
  return {
    name: 'agent',
    manifest: { capabilities: ['hooks'] },
    hooks: { afterRun: ({ result }) => void results.push(result) },
  };
}

async function listPlugins({ config, agentId }: OpenAgentRequest): Promise<readonly AgentPlugin[]> {
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

const ASKED = {
  provider: 'The agent’s own model',
  model: 'own',
  baseUrl: '',
  keyHint: '',
  secrets: [],
};

/** A program's own model as one that sessions can ask. */
function createModel(own: AgentModel, options: Record<string, unknown>): Model {
  return {
    provider: 'own',
    id: 'own',
    contextTokens: 200_000,
    prices: null,
    stream(request, signal) {
      const make = async (_request: ModelRequest, both: AbortSignal): Promise<ApiHandler> =>
        createHandler(() => askedStream(own, { request, options, signal: both }));
      return streamFromHandler({ asked: ASKED, limits: STREAM_LIMITS, make }, request, signal);
    },
  };
}

function createHandler(stream: () => AsyncGenerator<ApiStreamChunk>): ApiHandler {
  return {
    createMessage: stream,
    getMessages: (_system, messages) => messages,
    getModel: () => ({ id: ASKED.model, info: { id: ASKED.model } }),
  };
}

interface Asking {
  readonly request: ModelRequest;
  readonly options: Record<string, unknown>;
  readonly signal: AbortSignal;
}

async function* askedStream(
  own: AgentModel,
  { request, options, signal }: Asking,
): AsyncGenerator<ApiStreamChunk> {
  const { system, messages, tools, temperature, maxOutputTokens } = request;
  const events = await own.stream({
    systemPrompt: system,
    messages: toAgentMessages(messages),
    tools: tools.map(({ name, description, schema }) => ({
      name,
      description,
      inputSchema: { ...schema },
    })),
    signal,
    options: {
      ...options,
      ...(temperature === undefined ? {} : { temperature }),
      ...(maxOutputTokens === undefined ? {} : { maxTokens: maxOutputTokens }),
    },
  });
  for await (const event of events) yield* readChunks(event);
}

const ID = 'own';

function readChunks(event: AgentModelEvent): readonly ApiStreamChunk[] {
  switch (event.type) {
    case 'text-delta':
      return [{ type: 'text', text: event.text, id: ID }];
    case 'reasoning-delta':
      return [{ type: 'reasoning', reasoning: event.text, id: ID }];
    case 'tool-call-delta':
      return [toCall(event)];
    case 'usage': {
      const { inputTokens = 0, outputTokens = 0, ...cached } = event.usage;
      return [{ type: 'usage', inputTokens, outputTokens, ...cached, id: ID }];
    }
    case 'finish':
      return [toEnd(event)];
    case 'media':
    case 'tool-result':
      return [];
  }
}

type Event<Type extends AgentModelEvent['type']> = Extract<AgentModelEvent, { type: Type }>;

function toCall(event: Event<'tool-call-delta'>): ApiStreamChunk {
  const { index, toolCallId, toolName, inputText, input } = event;
  return {
    type: 'tool_calls',
    id: ID,
    tool_call: {
      ...(toolCallId === undefined ? {} : { call_id: toolCallId }),
      ...(index === undefined ? {} : { index }),
      function: {
        ...(toolName === undefined ? {} : { name: toolName }),
        arguments: inputText ?? (input === undefined ? '' : JSON.stringify(input)),
      },
    },
  };
}

function toEnd({ reason, error }: Event<'finish'>): ApiStreamChunk {
  const isFailed = reason === 'error' || reason === 'aborted';
  return {
    type: 'done',
    id: ID,
    success: !isFailed,
    ...(isFailed ? { error: error ?? `it ended with "${reason}"` } : {}),
    ...(reason === 'max-tokens' ? { incompleteReason: 'max_tokens' } : {}),
  };
}

import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ModelRequest, Model } from '../../../agent/models/model.ts';
import type { RunResult } from '../../../agent/runtime-event.ts';
import type { Session } from '../../../agent/session/session.ts';
import { dropUndefined } from '../../../base/defined.ts';
import { HooklineError, getErrorMessage } from '../../../base/errors.ts';
import { isRecord } from '../../../base/json.ts';
import { fromAgentMessages, toAgentMessages } from '../../../plugins/messages/agent-messages.ts';
import type { AgentOptions } from '../../../host/agent/agent-options.ts';
import type { Surroundings } from '../../../dialects/machine.ts';
import { readSurroundings } from '../../../host/surroundings.ts';
import { createHost, type Host, type HostOptions } from '../../../host/create-host.ts';
import type { AgentMessage } from '../../../plugins/contract/message.ts';
import type { AgentPlugin } from '../../../plugins/contract/plugin.ts';
import type { AgentRunResult, AgentRuntimeEvent } from '../../../plugins/contract/runtime-hooks.ts';
import { resolveProviderId } from '../llms/catalog.ts';
import { createProgramUser } from '../session/program-user.ts';
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

/** A standalone agent whose session is open. */
export class OpenedAgent {
  readonly #host: Host;
  readonly #session: Session;
  /** Results of runs in the format of plugins; only the last one is used. */
  readonly #results: AgentRunResult[];

  constructor(host: Host, session: Session, results: AgentRunResult[]) {
    this.#host = host;
    this.#session = session;
    this.#results = results;
  }

  async run(prompt: string): Promise<AgentRunResult> {
    this.#results.length = 0;
    const run = await this.#session.send(prompt);
    return this.#results.at(-1) ?? createUnstartedResult(run, this.#session.id, this.messages());
  }

  abort(reason: string): void {
    this.#session.abort(reason);
  }

  messages(): AgentMessage[] {
    return toAgentMessages(this.#session.messages());
  }

  close(): Promise<void> {
    return this.#host.dispose();
  }
}

/** Opens a session without hooks, files, instructions or tools of this machine. */
export async function openAgent(
  config: AgentRuntimeConfig,
  agentId: string,
  messages: readonly AgentMessage[],
  onEvent: (event: AgentRuntimeEvent) => void,
): Promise<OpenedAgent> {
  const place = createEmptyPlace(readSurroundings());
  const results: AgentRunResult[] = [];
  try {
    const plugins = [createResultRecorder(results), ...(await listPlugins(config, agentId))];
    const host = await openHost(config, agentId, place, plugins, onEvent);
    const starting = host.start({ id: agentId, said: fromAgentMessages(messages) });
    await starting.catch(async (error: unknown) => {
      await host.dispose();
      throw error;
    });
    return new OpenedAgent(host, host.session(agentId), results);
  } finally {
    // Removed at once, because programs may never dispose of an agent.
    rmSync(place.cwd, { recursive: true, force: true });
  }
}

async function openHost(
  config: AgentRuntimeConfig,
  agentId: string,
  place: HostOptions,
  plugins: readonly AgentPlugin[],
  onEvent: (event: AgentRuntimeEvent) => void,
): Promise<Host> {
  const { requestToolApproval, toolPolicies: policies = {} } = config;
  const log = (text: string): void => config.logger?.log(text);
  const capabilities = dropUndefined({ requestToolApproval });
  const person = createProgramUser(agentId, capabilities, policies);
  return createHost({
    ...place,
    ...buildAgentOptions(config),
    ...(person === null ? {} : { person }),
    offers: (name) => isOffered(policies, name),
    sources: [{ handlers: () => [createPolicyHandler(policies)] }],
    plugins: {
      objects: plugins,
      extraTools: config.tools ?? [],
      discovers: false,
      onIssue: ({ plugin, message }) => log(`${plugin}: ${message}`),
      onNews: onEvent,
    },
    onNotice: log,
  });
}

/** The result of a prompt that did not start a run, of which plugins have none. */
function createUnstartedResult(
  { status, text, iterations, usage, reason }: RunResult,
  agentId: string,
  messages: AgentMessage[],
): AgentRunResult {
  return {
    agentId,
    messages,
    runId: '',
    status,
    iterations,
    outputText: text,
    usage: { ...usage },
    ...(reason === null ? {} : { stopReason: reason }),
  };
}

/** Creates an empty directory, so that nothing is found; keys of providers stay in the environment. */
function createEmptyPlace(surroundings: Surroundings) {
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

function buildAgentOptions(config: AgentRuntimeConfig): AgentOptions {
  const { maxIterations, systemPrompt = '', modelOptions = {} } = config;
  return {
    model: toModelWish(config),
    toolset: 'cline-sdk',
    permissionMode: 'bypassPermissions',
    ...dropUndefined({ maxTurns: maxIterations }),
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
    ...dropUndefined({ baseUrl, script }),
    transport: dropUndefined({ fetch, headers }),
  };
}

function isOwnModel(
  config: AgentRuntimeConfig,
): config is Extract<AgentRuntimeConfig, { model: object }> {
  return isRecord(config['model']);
}

function readSettings(options: Record<string, unknown>): Partial<ModelRequest> {
  const { temperature, maxTokens, reasoningEffort, thinking } = options;
  return {
    ...(typeof temperature === 'number' ? { temperature } : {}),
    ...(typeof maxTokens === 'number' ? { maxOutputTokens: maxTokens } : {}),
    ...(typeof reasoningEffort === 'string' ? { effort: reasoningEffort } : {}),
    ...(typeof thinking === 'boolean' ? { thinking } : {}),
  };
}

/** A plugin that records results of runs, because only plugins get them in Cline's format. */
function createResultRecorder(results: AgentRunResult[]): AgentPlugin {
  return {
    name: 'agent',
    manifest: { capabilities: ['hooks'] },
    hooks: { afterRun: ({ result }) => void results.push(result) },
  };
}

async function listPlugins(
  config: AgentRuntimeConfig,
  agentId: string,
): Promise<readonly AgentPlugin[]> {
  const { hooks, plugins = [], agentRole, systemPrompt } = config;
  const own: readonly AgentPlugin[] =
    hooks === undefined
      ? []
      : [{ name: 'config.hooks', manifest: { capabilities: ['hooks'] }, hooks }];
  const context = { agentId, ...dropUndefined({ agentRole, systemPrompt }) };
  const others = plugins.map(async (plugin) =>
    isSessionPlugin(plugin) ? plugin : toSessionPlugin(plugin, context),
  );
  return [...own, ...(await Promise.all(others))];
}

function isSessionPlugin(plugin: AgentRuntimePlugin | AgentPlugin): plugin is AgentPlugin {
  return plugin.manifest !== undefined;
}

/** A failed setup is reported as that of any other plugin. */
async function toSessionPlugin(
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

const REQUEST_TARGET = {
  provider: 'The agent’s own model',
  model: 'own',
  baseUrl: '',
  keyHint: '',
  secrets: [],
};

/** Wraps a program's own model for sessions. */
function createModel(own: AgentModel, options: Record<string, unknown>): Model {
  return {
    provider: 'own',
    id: 'own',
    contextTokens: 200_000,
    prices: null,
    stream(request, signal) {
      const createOwnHandler = async (
        _request: ModelRequest,
        both: AbortSignal,
      ): Promise<ApiHandler> => createHandler(() => streamChunks(own, request, options, both));
      return streamFromHandler(
        { target: REQUEST_TARGET, limits: STREAM_LIMITS, createHandler: createOwnHandler },
        request,
        signal,
      );
    },
  };
}

function createHandler(stream: () => AsyncGenerator<ApiStreamChunk>): ApiHandler {
  return {
    createMessage: stream,
    getMessages: (_system, messages) => messages,
    getModel: () => ({ id: REQUEST_TARGET.model, info: { id: REQUEST_TARGET.model } }),
  };
}

async function* streamChunks(
  own: AgentModel,
  request: ModelRequest,
  options: Record<string, unknown>,
  signal: AbortSignal,
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
    options: { ...options, ...dropUndefined({ temperature, maxTokens: maxOutputTokens }) },
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
      ...dropUndefined({ call_id: toolCallId, index }),
      function: {
        ...dropUndefined({ name: toolName }),
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

import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Model, ModelFailure, ModelRequest } from '../../../agent/models/model.ts';
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
import type { PluginOptions, StandaloneAgent } from '../../../host/plugins/plugin-options.ts';
import type { AgentMessage } from '../../../plugins/contract/message.ts';
import type { AgentPlugin } from '../../../plugins/contract/plugin.ts';
import type { ImageBlock, Message } from '../../../sessions/messages.ts';
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
  readonly #prompts: GivenPrompts;

  constructor(host: Host, session: Session, results: AgentRunResult[], prompts: GivenPrompts) {
    this.#host = host;
    this.#session = session;
    this.#results = results;
    this.#prompts = prompts;
  }

  async run(prompt: AgentPrompt): Promise<AgentRunResult> {
    this.#results.length = 0;
    this.#prompts.expect(prompt);
    this.#session.show(prompt.images);
    const run = await this.#session.send(prompt.text);
    const [result] = this.#results.slice(-1);
    return result ?? createUnstartedResult(run, this.#session.id, this.#messages());
  }

  abort(reason: string): void {
    this.#session.abort(reason);
  }

  #messages(): AgentMessage[] {
    return toAgentMessages(this.#session.messages());
  }

  close(): Promise<void> {
    return this.#host.dispose();
  }
}

/** A prompt for the session, and the message that it was made of. */
export interface AgentPrompt {
  readonly text: string;
  readonly images: readonly ImageBlock[];
  /** Null for a prompt that is only a text. */
  readonly message: AgentMessage | null;
}

/** Finds the program's message of a prompt again when the conversation gets the prompt. */
class GivenPrompts {
  #expected: AgentPrompt | null = null;

  expect(prompt: AgentPrompt): void {
    this.#expected = prompt;
  }

  readonly find = ({ role, content: [first] }: Message): AgentMessage | null => {
    const prompt = this.#expected;
    const isPrompt = role === 'user' && first?.type === 'text' && first.text === prompt?.text;
    if (!isPrompt || prompt === null) return null;
    this.#expected = null;
    return prompt.message;
  };
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
  const prompts = new GivenPrompts();
  const turns = new CurrentTurn(config, agentId);
  try {
    const plugins = [createResultRecorder(results), ...(await listPlugins(config, agentId))];
    const standalone = describeStandalone(config, agentId, prompts, turns);
    const host = await openHost(config, agentId, {
      place,
      plugins: {
        objects: plugins,
        standalone,
        onNews(event) {
          turns.observe(event);
          onEvent(event);
        },
      },
      model: toModelWish(config, turns),
    });
    const starting = host.start({ id: agentId, said: fromAgentMessages(messages) });
    await starting.catch(async (error: unknown) => {
      await host.dispose();
      throw error;
    });
    return new OpenedAgent(host, host.session(agentId), results, prompts);
  } finally {
    // Removed at once, because programs may never dispose of an agent.
    rmSync(place.cwd, { recursive: true, force: true });
  }
}

/** The run and the turn that a request is made in, for its metadata. */
class CurrentTurn {
  readonly #options: Record<string, unknown>;
  readonly #requester: Readonly<Record<string, string>>;
  #last: { readonly runId?: string; readonly iteration: number } = { iteration: 0 };

  constructor(config: AgentRuntimeConfig, agentId: string) {
    const { distinctId, clientName, clientVersion, clineCoreVersion } = config;
    const { sessionId = agentId, conversationId = agentId } = config;
    const client = { distinctId, clientName, clientVersion, clineCoreVersion };
    this.#requester = dropUndefined({ ...client, sessionId, agentId, conversationId });
    this.#options = config.modelOptions ?? {};
  }

  observe({ type, snapshot: { runId, iteration } }: AgentRuntimeEvent): void {
    if (type === 'turn-started') this.#last = { ...dropUndefined({ runId }), iteration };
  }

  /** The options of a request in that turn, or in another one. */
  readonly requestOptions: StandaloneAgent['requestOptions'] = ({ runId, iteration }) => {
    const own = isRecord(this.#options['metadata']) ? this.#options['metadata'] : {};
    const metadata = { ...own, ...this.#requester, ...dropUndefined({ runId }), iteration };
    return { ...this.#options, metadata };
  };

  currentOptions(): Record<string, unknown> {
    return this.requestOptions(this.#last);
  }
}

function describeStandalone(
  config: AgentRuntimeConfig,
  agentId: string,
  prompts: GivenPrompts,
  turns: CurrentTurn,
): StandaloneAgent {
  const { agentRole, conversationId = agentId, sessionId, messageModelInfo } = config;
  const { toolContextMetadata, toolExecution, parentAgentId } = config;
  return {
    conversationId,
    ...dropUndefined({ agentRole, sessionId, messageModelInfo, toolContextMetadata }),
    ...dropUndefined({ parentAgentId: parentAgentId ?? undefined }),
    runsToolsInParallel: toolExecution === 'parallel',
    requestOptions: turns.requestOptions,
    findPrompt: prompts.find,
  };
}

async function openHost(
  config: AgentRuntimeConfig,
  agentId: string,
  parts: {
    readonly place: HostOptions;
    readonly plugins: PluginOptions;
    readonly model: ReturnType<typeof toModelWish>;
  },
): Promise<Host> {
  const { place, plugins, model } = parts;
  const { requestToolApproval, toolPolicies: policies = {} } = config;
  const log = (text: string): void => config.logger?.log(text);
  const capabilities = dropUndefined({ requestToolApproval });
  const person = createProgramUser(agentId, capabilities, policies);
  return createHost({
    ...place,
    ...buildAgentOptions(config),
    model,
    ...(person === null ? {} : { person }),
    offers: (name) => isOffered(policies, name),
    sources: [{ handlers: () => [createPolicyHandler(policies)] }],
    plugins: {
      ...plugins,
      extraTools: config.tools ?? [],
      discovers: false,
      onIssue: ({ plugin, message }) => log(`${plugin}: ${message}`),
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
    toolset: 'cline-sdk',
    permissionMode: 'bypassPermissions',
    ...dropUndefined({ maxTurns: maxIterations }),
    // An empty answer fails at once, as in Cline.
    emptyAnswerRetries: 0,
    systemPrompt: { build: () => systemPrompt },
    chooseTools: (_own, ofPlugins) => ofPlugins,
    shapeRequest: async (request) => ({ ...readSettings(modelOptions), ...request }),
  };
}

function toModelWish(
  config: AgentRuntimeConfig,
  turns: CurrentTurn,
): NonNullable<AgentOptions['model']> {
  if (isOwnModel(config)) return createModel(config.model, turns);
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
function createModel(own: AgentModel, turns: CurrentTurn): Model {
  return {
    provider: 'own',
    id: 'own',
    contextTokens: 200_000,
    prices: null,
    stream(request, signal) {
      const createOwnHandler = async (
        _request: ModelRequest,
        both: AbortSignal,
      ): Promise<ApiHandler> => createHandler(() => streamChunks(own, request, turns, both));
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

/** What the model throws is its answer, too: it is not repeated, and the result has its message. */
async function* streamChunks(
  ...args: Parameters<typeof requestChunks>
): AsyncGenerator<ApiStreamChunk> {
  try {
    yield* requestChunks(...args);
  } catch (error) {
    yield toEnd({ type: 'finish', reason: 'error', error: getErrorMessage(error) });
  }
}

async function* requestChunks(
  own: AgentModel,
  request: ModelRequest,
  turns: CurrentTurn,
  signal: AbortSignal,
): AsyncGenerator<ApiStreamChunk> {
  const { system, messages, tools, temperature, maxOutputTokens, ownOptions } = request;
  const settings = dropUndefined({ temperature, maxTokens: maxOutputTokens });
  const events = await own.stream({
    systemPrompt: system,
    messages: toAgentMessages(messages),
    tools: tools.map(({ name, description, schema }) => ({
      name,
      description,
      inputSchema: { ...schema },
    })),
    signal,
    options: { ...turns.currentOptions(), ...settings, ...ownOptions },
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
      return event.execution === undefined ? [toCall(event)] : startActivity(event);
    case 'usage': {
      const { inputTokens = 0, outputTokens = 0, ...cached } = event.usage;
      return [{ type: 'usage', inputTokens, outputTokens, ...cached, id: ID }];
    }
    case 'finish':
      return [toEnd(event)];
    case 'media':
      return [{ type: 'media', media: event.media, id: ID }];
    case 'tool-result': {
      const { type: _type, ...activity } = event;
      return [{ type: 'model_tool', activity, id: ID }];
    }
  }
}

type Event<Type extends AgentModelEvent['type']> = Extract<AgentModelEvent, { type: Type }>;

function toCall(event: Event<'tool-call-delta'>): ApiStreamChunk {
  const { index, toolCallId, toolName, inputText = '', input, metadata } = event;
  const text = typeof input === 'string' ? input : inputText;
  return {
    type: 'tool_calls',
    id: ID,
    tool_call: {
      ...dropUndefined({ call_id: toolCallId, index, metadata }),
      function: {
        ...dropUndefined({ name: toolName }),
        arguments: isRecord(input) ? input : text,
      },
    },
  };
}

/** Parts of its input say nothing yet: the result comes with the whole of it. */
function startActivity(event: Event<'tool-call-delta'>): readonly ApiStreamChunk[] {
  const { toolCallId, toolName, input, execution } = event;
  if (toolCallId === undefined || toolName === undefined || execution === undefined) return [];
  const activity = { toolCallId, toolName, execution, ...dropUndefined({ input }) };
  return [{ type: 'model_tool', activity, id: ID }];
}

function toEnd(event: Event<'finish'>): ApiStreamChunk {
  const { reason } = event;
  if (reason === 'error' || reason === 'aborted') {
    return { type: 'done', id: ID, success: false, failure: toFailure(event) };
  }
  return {
    type: 'done',
    id: ID,
    success: true,
    ...(reason === 'max-tokens' ? { incompleteReason: 'max_tokens' } : {}),
  };
}

/** The model knows best whether its error may pass: only what it calls retryable is repeated. */
function toFailure({ reason, error, errorClass, errorRetryable }: Event<'finish'>): ModelFailure {
  const isTooLong = errorClass === 'context_window_exceeded';
  const others = errorClass === 'auth' ? 'authentication_failed' : 'unknown';
  return {
    class: isTooLong ? 'invalid_request' : others,
    message: error ?? (reason === 'aborted' ? 'Run aborted' : 'Model stream failed'),
    ...(isTooLong ? { details: 'the context window is exceeded' } : {}),
    status: null,
    isRetryable: errorRetryable === true,
    retryAfterMs: null,
  };
}

import { randomUUID } from 'node:crypto';
import { dropUndefined } from '../../../base/defined.ts';
import type { AgentMessageMetrics } from '../../../plugins/contract/message.ts';
import {
  type AgentTool,
  type AgentToolContext,
  createTool,
} from '../../../plugins/contract/tool.ts';
import { readSurroundings } from '../../../host/surroundings.ts';
import { getErrorMessage } from '../../../base/errors.ts';
import { isRecord } from '../../../base/json.ts';
import { createAgent } from '../agent/agent.ts';
import { createInputError } from '../errors.ts';
import type { AgentRuntimeConfig } from '../agent/agent-config.ts';

type Execute<Args extends readonly unknown[]> = (
  ...args: [...Args, context: AgentToolContext]
) => unknown;

/** How a program does what the tools are for. */
export interface ToolExecutors {
  readFile?: Execute<[request: { path: string; start_line?: number; end_line?: number }]>;
  search?: Execute<[query: string, cwd: string]>;
  bash?: Execute<[command: string, cwd: string]>;
  webFetch?: Execute<[url: string, prompt: string]>;
  editor?: Execute<[input: Record<string, unknown>, cwd: string]>;
  applyPatch?: Execute<[input: Record<string, unknown>, cwd: string]>;
  askQuestion?: Execute<[question: string, options: string[]]>;
}

export interface CreateDefaultToolsOptions {
  executors: ToolExecutors;
  cwd?: string;
  enableReadFiles?: boolean;
  enableSearch?: boolean;
  enableBash?: boolean;
  enableWebFetch?: boolean;
  enableEditor?: boolean;
  enableApplyPatch?: boolean;
  enableAskQuestion?: boolean;
  [further: string]: unknown;
}

/** The tools of Cline's SDK, each with the executor that the program gives; those without one are left out. */
export function createDefaultTools(options: CreateDefaultToolsOptions): AgentTool[] {
  const { executors, cwd = readSurroundings().cwd } = options;
  const { readFile, search, bash, webFetch, editor, applyPatch, askQuestion } = executors;
  const tools: readonly (AgentTool | false | undefined)[] = [
    options.enableReadFiles !== false && readFile && createReadTool(readFile),
    options.enableSearch !== false &&
      search &&
      createListTool(
        'search_codebase',
        'Searches files with regular expressions.',
        { key: 'queries', otherKeys: ['query'] },
        (query, context) => search(query, cwd, context),
      ),
    options.enableBash !== false &&
      bash &&
      createListTool(
        'run_commands',
        'Runs shell commands.',
        { key: 'commands', otherKeys: ['command', 'cmd'] },
        (command, context) => bash(command, cwd, context),
      ),
    options.enableWebFetch !== false && webFetch && createFetchTool(webFetch),
    options.enableEditor !== false &&
      editor &&
      createEditTool(
        'editor',
        'Makes or changes a file.',
        ['path', 'new_text'],
        ['old_text'],
        (input, context) => editor(input, cwd, context),
      ),
    options.enableApplyPatch === true &&
      applyPatch &&
      createEditTool('apply_patch', 'Applies a patch.', ['input'], [], (input, context) =>
        applyPatch(input, cwd, context),
      ),
    options.enableAskQuestion !== false && askQuestion && createAskTool(askQuestion),
  ];
  return tools.filter((tool) => typeof tool === 'object');
}

const TEXT = { type: 'string' };

function defineObject(properties: Record<string, object>, required: readonly string[]) {
  return { type: 'object', properties, required: [...required], additionalProperties: false };
}

/** One result for each part of a call; a part that fails leaves the others. */
async function collectResults<Part>(
  parts: readonly Part[],
  describe: (part: Part) => string,
  run: (part: Part) => unknown,
) {
  return Promise.all(
    parts.map(async (part) => {
      const query = describe(part);
      try {
        return { query, result: await run(part), success: true };
      } catch (error) {
        return { query, result: '', error: getErrorMessage(error), success: false };
      }
    }),
  );
}

function createListTool(
  name: string,
  description: string,
  { key, otherKeys }: { readonly key: string; readonly otherKeys: readonly string[] },
  run: (item: string, context: AgentToolContext) => unknown,
): AgentTool {
  return toAnyTool(
    createTool({
      name,
      description,
      inputSchema: defineTolerantObject({ [key]: { type: 'array', items: TEXT } }),
      execute: (input, context) =>
        collectResults(listItems(input, [key, ...otherKeys]), String, (item) => run(item, context)),
    }),
  );
}

/** Models leave the list out, or name it otherwise: what can only be meant is done. */
function defineTolerantObject(properties: Record<string, object>) {
  return { type: 'object', properties };
}

/** `"ls"`, `["ls"]`, `{ commands: "ls" }`, `{ command: "ls" }` and `{ commands: [{ command, args }] }` name one command. */
function listItems(input: unknown, keys: readonly string[]): readonly string[] {
  if (typeof input === 'string') return [input];
  if (Array.isArray(input)) return input.flatMap((each: unknown) => listItems(each, keys));
  if (!isRecord(input)) return [];
  const args: unknown = input['args'];
  const found = keys.flatMap((key) => listItems(input[key], keys));
  return Array.isArray(args) ? found.map((item) => [item, ...args.map(String)].join(' ')) : found;
}

interface FileRequest {
  path: string;
  start_line?: number;
  end_line?: number;
}

function createReadTool(readFile: NonNullable<ToolExecutors['readFile']>): AgentTool {
  const line = { type: 'integer' };
  const file = defineObject({ path: TEXT, start_line: line, end_line: line }, ['path']);
  return toAnyTool(
    createTool({
      name: 'read_files',
      description: 'Reads files, or lines of them.',
      inputSchema: defineTolerantObject({ files: { type: 'array', items: file } }),
      execute: (input, context) =>
        collectResults(
          listFileRequests(input),
          ({ path }) => path,
          (request) => readFile(request, context),
        ),
    }),
  );
}

const LIST_KEYS = ['files', 'paths', 'file_paths'];
const PATH_KEYS = ['path', 'file_path', 'filePath'];

function listFileRequests(input: unknown): readonly FileRequest[] {
  if (typeof input === 'string') return [{ path: input }];
  if (Array.isArray(input)) return input.flatMap((each: unknown) => listFileRequests(each));
  if (!isRecord(input)) return [];
  const { start_line: start, end_line: end } = input;
  const lines = dropUndefined({
    start_line: typeof start === 'number' ? start : undefined,
    end_line: typeof end === 'number' ? end : undefined,
  });
  const own = PATH_KEYS.flatMap((key) => {
    const file = input[key];
    return typeof file === 'string' ? [{ path: file, ...lines }] : [];
  });
  return [...own, ...LIST_KEYS.flatMap((key) => listFileRequests(input[key]))];
}

function createFetchTool(webFetch: NonNullable<ToolExecutors['webFetch']>): AgentTool {
  const request = defineObject({ url: TEXT, prompt: TEXT }, ['url', 'prompt']);
  return toAnyTool(
    createTool<{ requests: { url: string; prompt: string }[] }>({
      name: 'fetch_web_content',
      description: 'Fetches pages and answers a question about each.',
      inputSchema: defineObject({ requests: { type: 'array', items: request } }, ['requests']),
      execute: ({ requests }, context) =>
        collectResults(
          requests,
          ({ url }) => url,
          ({ url, prompt }) => webFetch(url, prompt, context),
        ),
    }),
  );
}

function createEditTool(
  name: string,
  description: string,
  required: readonly string[],
  optional: readonly string[],
  run: (input: Record<string, unknown>, context: AgentToolContext) => unknown,
): AgentTool {
  const texts = [...required, ...optional].map((key): [string, object] => [key, TEXT]);
  const line = name === 'editor' ? { insert_line: { type: 'integer' } } : {};
  return toAnyTool(
    createTool<Record<string, unknown>>({
      name,
      description,
      inputSchema: defineObject({ ...Object.fromEntries(texts), ...line }, required),
      async execute(input, context) {
        const about = `edit:${String(input[required[0] ?? ''])}`;
        const [result] = await collectResults(
          [input],
          () => about,
          (each) => run(each, context),
        );
        return result;
      },
    }),
  );
}

function createAskTool(ask: NonNullable<ToolExecutors['askQuestion']>): AgentTool {
  return toAnyTool(
    createTool<{ question: string; options: string[] }>({
      name: 'ask_question',
      description: 'Asks the user a question with two to five answers.',
      inputSchema: defineObject({ question: TEXT, options: { type: 'array', items: TEXT } }, [
        'question',
        'options',
      ]),
      execute: ({ question, options }, context) => ask(question, options, context),
    }),
  );
}

/** The schema guarantees the input of a tool, whatever its type is to the outside. */
function toAnyTool<Input>(tool: AgentTool<Input>): AgentTool {
  const execute: unknown = Reflect.get(tool, 'execute');
  if (typeof execute !== 'function') throw createInputError(tool.name, 'a tool', tool, '');
  return {
    ...tool,
    execute: (input, context): unknown => Reflect.apply(execute, tool, [input, context]),
  };
}

export interface SpawnAgentToolConfig {
  configProvider: { getRuntimeConfig(): AgentRuntimeConfig & { maxIterations?: number } };
  defaultMaxIterations?: number;
  subAgentTools?: readonly AgentTool[];
  createSubAgentTools?(
    input: SpawnAgentInput,
    context: AgentToolContext,
  ): readonly AgentTool[] | Promise<readonly AgentTool[]>;
  hooks?: AgentRuntimeConfig['hooks'];
  toolPolicies?: AgentRuntimeConfig['toolPolicies'];
  requestToolApproval?: AgentRuntimeConfig['requestToolApproval'];
  [further: string]: unknown;
}

export interface SpawnAgentInput {
  systemPrompt: string;
  task: string;
}

/** A tool with which the model gives a task to another standalone agent. */
export function createSpawnAgentTool(config: SpawnAgentToolConfig): AgentTool {
  return toAnyTool(
    createTool<SpawnAgentInput>({
      name: 'spawn_agent',
      description:
        'Gives a task to another agent with its own instructions, and returns its answer.',
      inputSchema: defineObject({ systemPrompt: TEXT, task: TEXT }, ['systemPrompt', 'task']),
      timeoutMs: SPAWN_TIMEOUT_MS,
      execute: (input, context) => runSubAgent(config, input, context),
    }),
  );
}

/** The agent has limits of its own: its iterations, and the abort of its parent. */
const SPAWN_TIMEOUT_MS = 86_400_000;

async function runSubAgent(
  config: SpawnAgentToolConfig,
  input: SpawnAgentInput,
  context: AgentToolContext,
) {
  const runtime = config.configProvider.getRuntimeConfig();
  const { hooks, toolPolicies, requestToolApproval, defaultMaxIterations } = config;
  const maxIterations = runtime.maxIterations ?? defaultMaxIterations;
  const agent = createAgent({
    ...runtime,
    agentId: `agent_${randomUUID()}`,
    systemPrompt: input.systemPrompt,
    parentAgentId: context.agentId,
    agentRole: 'subagent',
    tools: (await config.createSubAgentTools?.(input, context)) ?? config.subAgentTools ?? [],
    ...dropUndefined({ hooks, toolPolicies, requestToolApproval, maxIterations }),
  });
  const abort = (): void => agent.abort('the parent was aborted');
  context.signal?.addEventListener('abort', abort, { once: true });
  try {
    const { outputText: text, iterations, status, usage } = await agent.run(input.task);
    const finishReason = status === 'failed' ? 'error' : status;
    return { text, iterations, finishReason, usage: toTokens(usage) };
  } finally {
    context.signal?.removeEventListener('abort', abort);
    await agent.dispose();
  }
}

function toTokens({ inputTokens = 0, outputTokens = 0 }: AgentMessageMetrics) {
  return { inputTokens, outputTokens };
}

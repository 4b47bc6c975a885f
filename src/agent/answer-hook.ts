import { HooklineError } from '../base/errors.ts';
import type { ModelQuestion } from '../hooks/model-question.ts';
import {
  getToolCalls,
  getMessageText,
  createUserMessage,
  type Message,
  type ToolUseBlock,
} from '../sessions/messages.ts';
import type { Permissions } from '../permissions/permissions.ts';
import type { Agent } from './agent.ts';
import { normalizeMessages } from './conversation/normalize-messages.ts';
import type { Model, ModelChunk, ModelEnd, ToolSpec } from './models/model.ts';
import { streamWithRetries } from './models/retry.ts';
import { prepareToolCall } from './tools/prepare-tool-call.ts';
import type { Tool } from './tools/tool.ts';
import type { ToolContext } from './tools/tool-context.ts';

interface HookAnswerOptions {
  readonly openModel: (name: string | null) => Promise<Model>;
  readonly tools: readonly Tool[];
  readonly openToolContext: () => ToolContext;
  readonly permissions: Permissions;
}

const MAX_TURNS = 50;
const ANSWER_TOOL = 'StructuredOutput';

/** Asks the model a hook's question. Its tool calls run no hooks, and only read. */
export async function answerHook(
  options: HookAnswerOptions,
  question: ModelQuestion,
  signal: AbortSignal,
): Promise<string> {
  const model = await options.openModel(question.model);
  if (question.kind === 'agent') return answerWithTools(options, question, model, signal);
  const messages = [createUserMessage(question.prompt)];
  const end = await askModel(model, question, messages, [], signal);
  return getMessageText({ role: 'assistant', content: end.content });
}

/** Asks the model about a page that a tool fetched. */
export function createBriefQuestion(agent: () => Agent) {
  return async (prompt: string, signal: AbortSignal): Promise<string> => {
    const { model, recordUsage } = agent();
    const request = {
      system: '',
      messages: [createUserMessage(prompt)],
      tools: [],
      thinking: false,
    };
    const end = await readEnd(streamWithRetries(model, request, { signal }), signal);
    recordUsage(end.usage);
    return getMessageText({ role: 'assistant', content: end.content });
  };
}

async function askModel(
  model: Model,
  question: ModelQuestion,
  messages: readonly Message[],
  tools: readonly ToolSpec[],
  signal: AbortSignal,
): Promise<ModelEnd> {
  const isAgent = question.kind === 'agent';
  const request = {
    system: isAgent ? formatAgentSystem(question.transcriptPath) : PROMPT_SYSTEM,
    messages,
    tools,
    thinking: false,
    ...(isAgent ? {} : { answerSchema: question.schema }),
  };
  return readEnd(streamWithRetries(model, request, { signal }), signal);
}

async function readEnd(chunks: AsyncIterable<ModelChunk>, signal: AbortSignal): Promise<ModelEnd> {
  for await (const chunk of chunks) {
    if (chunk.type === 'end') return chunk;
    if (chunk.type === 'failure') {
      signal.throwIfAborted();
      throw new HooklineError('MODEL_FAILED', { message: chunk.failure.message });
    }
  }
  throw new HooklineError('MODEL_FAILED', { message: 'the model ended without an answer' });
}

const PROMPT_SYSTEM =
  'You judge one moment in the work of a coding agent for a hook. Answer with one JSON object and nothing else: {"ok": true} when the condition is met, {"ok": false, "reason": "…"} when it is not.';

function formatAgentSystem(transcriptPath: string | null): string {
  const transcript =
    transcriptPath === null ? '' : ` The transcript of the session is in ${transcriptPath}.`;
  return `You check a condition for a hook of a coding agent, with tools that only look at things.${transcript} When you know the answer, call ${ANSWER_TOOL}.`;
}

async function answerWithTools(
  options: HookAnswerOptions,
  question: ModelQuestion,
  model: Model,
  signal: AbortSignal,
): Promise<string> {
  const readTools = options.tools.filter(({ kind }) => kind === 'read');
  const specs = [...readTools.map(toSpec), createAnswerTool(question.schema)];
  const toolContext = options.openToolContext();
  const messages: Message[] = [createUserMessage(question.prompt)];
  try {
    for (let turn = 0; turn < MAX_TURNS; turn++) {
      const sentMessages = normalizeMessages(messages);
      const { content } = await askModel(model, question, sentMessages, specs, signal);
      const message = { role: 'assistant', content } as const;
      const calls = getToolCalls(message);
      const answer = calls.find(({ name }) => name === ANSWER_TOOL);
      if (answer !== undefined) return JSON.stringify(answer.input);
      if (calls.length === 0) return getMessageText(message);
      messages.push(message);
      for (const call of calls) {
        messages.push(await runReadCall(call, readTools, toolContext, options.permissions, signal));
      }
    }
  } finally {
    await toolContext.shells.closeAll();
  }
  throw new HooklineError('MODEL_FAILED', { message: `no answer after ${MAX_TURNS} turns` });
}

function toSpec({ name, description, schema }: Tool): ToolSpec {
  return { name, description, schema };
}

function createAnswerTool(schema: Readonly<Record<string, unknown>>): ToolSpec {
  return { name: ANSWER_TOOL, description: 'Gives the answer.', schema };
}

async function runReadCall(
  call: ToolUseBlock,
  readTools: readonly Tool[],
  toolContext: ToolContext,
  permissions: Permissions,
  signal: AbortSignal,
): Promise<Message> {
  const prepared = prepareToolCall(
    { name: call.name, input: call.input },
    { context: toolContext, tools: readTools },
  );
  const createResult = (content: string, isError: boolean): Message => ({
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: call.id, content, is_error: isError }],
  });
  if (typeof prepared === 'string') return createResult(prepared, true);
  const refused = prepared.parts
    .map(({ names, input, kind }) =>
      permissions.judge({ names, input, kind, cwd: toolContext.cwd() }),
    )
    .find(({ effect }) => effect !== 'allow');
  if (refused !== undefined) return createResult(refused.reason, true);
  const output = await prepared.run({ callId: call.id, signal, onProgress: () => undefined });
  const text = output.success ? output.text : (output.error ?? output.text);
  return createResult(text, !output.success);
}

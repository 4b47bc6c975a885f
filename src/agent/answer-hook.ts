import { HooklineError } from '../base/errors.ts';
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

/** What a `prompt` or `agent` hook asks. */
export interface HookQuestion {
  readonly kind: 'prompt' | 'agent';
  readonly prompt: string;
  readonly model: string | null;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly transcriptPath: string | null;
}

export interface AnswerMeans {
  readonly modelFor: (name: string | null) => Promise<Model>;
  readonly tools: readonly Tool[];
  readonly bench: () => ToolContext;
  readonly permissions: Permissions;
}

const MAX_TURNS = 50;
const ANSWER_TOOL = 'StructuredOutput';

/** Puts a hook's question to the model. Its own calls reach no hooks, and only look at things. */
export async function answerHook(
  means: AnswerMeans,
  question: HookQuestion,
  signal: AbortSignal,
): Promise<string> {
  const model = await means.modelFor(question.model);
  if (question.kind === 'agent') return answerWithTools(means, { question, model }, signal);
  const end = await ask(
    model,
    { messages: [createUserMessage(question.prompt)], question, tools: [] },
    signal,
  );
  return getMessageText({ role: 'assistant', content: end.content });
}

/** A small question of a tool about a page that it fetched. */
export function askBriefly(agent: () => Agent) {
  return async (prompt: string, signal: AbortSignal): Promise<string> => {
    const { model, spend } = agent();
    const request = {
      system: '',
      messages: [createUserMessage(prompt)],
      tools: [],
      thinking: false,
    };
    const end = await endOf(streamWithRetries(model, request, { signal }), signal);
    spend(end.usage);
    return getMessageText({ role: 'assistant', content: end.content });
  };
}

interface Asked {
  readonly messages: readonly Message[];
  readonly question: HookQuestion;
  readonly tools: readonly ToolSpec[];
}

async function ask(
  model: Model,
  { messages, question, tools }: Asked,
  signal: AbortSignal,
): Promise<ModelEnd> {
  const isAgent = question.kind === 'agent';
  const request = {
    system: isAgent ? agentSystem(question.transcriptPath) : PROMPT_SYSTEM,
    messages,
    tools,
    thinking: false,
    ...(isAgent ? {} : { answerSchema: question.schema }),
  };
  return endOf(streamWithRetries(model, request, { signal }), signal);
}

async function endOf(chunks: AsyncIterable<ModelChunk>, signal: AbortSignal): Promise<ModelEnd> {
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

function agentSystem(transcriptPath: string | null): string {
  const transcript =
    transcriptPath === null ? '' : ` The transcript of the session is in ${transcriptPath}.`;
  return `You check a condition for a hook of a coding agent, with tools that only look at things.${transcript} When you know the answer, call ${ANSWER_TOOL}.`;
}

interface Answering {
  readonly question: HookQuestion;
  readonly model: Model;
}

async function answerWithTools(
  means: AnswerMeans,
  { question, model }: Answering,
  signal: AbortSignal,
): Promise<string> {
  const looking = means.tools.filter(({ kind }) => kind === 'read');
  const tools = [...looking.map(specOf), answerTool(question.schema)];
  const bench = means.bench();
  const messages: Message[] = [createUserMessage(question.prompt)];
  try {
    for (let turn = 0; turn < MAX_TURNS; turn++) {
      const given = { messages: normalizeMessages(messages), question, tools };
      const { content } = await ask(model, given, signal);
      const message = { role: 'assistant', content } as const;
      const calls = getToolCalls(message);
      const answer = calls.find(({ name }) => name === ANSWER_TOOL);
      if (answer !== undefined) return JSON.stringify(answer.input);
      if (calls.length === 0) return getMessageText(message);
      messages.push(message);
      for (const call of calls) {
        messages.push(await answerCall({ ...means, bench, looking }, call, signal));
      }
    }
  } finally {
    await bench.shells.closeAll();
  }
  throw new HooklineError('MODEL_FAILED', { message: `no answer after ${MAX_TURNS} turns` });
}

function specOf({ name, description, schema }: Tool): ToolSpec {
  return { name, description, schema };
}

function answerTool(schema: Readonly<Record<string, unknown>>): ToolSpec {
  return { name: ANSWER_TOOL, description: 'Gives the answer.', schema };
}

interface Looking {
  readonly permissions: Permissions;
  readonly bench: ToolContext;
  readonly looking: readonly Tool[];
}

async function answerCall(
  { permissions, bench, looking }: Looking,
  call: ToolUseBlock,
  signal: AbortSignal,
): Promise<Message> {
  const prepared = prepareToolCall(
    { name: call.name, input: call.input },
    { context: bench, tools: looking },
  );
  const answer = (content: string, isError: boolean): Message => ({
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: call.id, content, is_error: isError }],
  });
  if (typeof prepared === 'string') return answer(prepared, true);
  const refused = prepared.parts
    .map(({ names, input, kind }) => permissions.judge({ names, input, kind, cwd: bench.cwd() }))
    .find(({ effect }) => effect !== 'allow');
  if (refused !== undefined) return answer(refused.reason, true);
  const output = await prepared.run({ callId: call.id, signal, onProgress: () => undefined });
  return answer(output.success ? output.text : (output.error ?? output.text), !output.success);
}

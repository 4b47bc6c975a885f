import { isChatCompletionBody, LLMock } from '@copilotkit/aimock';
import { onTestFinished } from 'vitest';
import { BugError } from '../../src/base/errors.ts';

/** One answer of the service. */
export interface ServiceTurn {
  readonly text?: string;
  readonly tools?: readonly { readonly name: string; readonly input: object }[];
}

export interface Service {
  readonly mock: LLMock;
  readonly url: string;
  /** What the model was sent, whatever the wire format, in OpenAI's chat format. */
  requests(): readonly Sent[];
}

export interface Sent {
  readonly model: string;
  /** The whole system prompt. */
  readonly system: string;
  readonly messages: readonly SentMessage[];
  readonly tools: readonly string[];
}

export interface SentMessage {
  readonly role: string;
  readonly text: string;
  readonly calls: readonly string[];
}

/** aimock on a free port, which answers with these turns one after the other. */
export async function startService(turns: readonly ServiceTurn[]): Promise<Service> {
  const mock = new LLMock({ port: 0, logLevel: 'silent' });
  let next = 0;
  mock.on({}, () => answerOf(turns[next] ?? { text: 'There are no more turns.' }, next++));
  await mock.start();
  onTestFinished(() => mock.stop());
  return {
    mock,
    url: mock.url,
    requests: () => mock.getRequests().map(({ body }) => sentOf(body)),
  };
}

/** The flags for a run whose model it is, in the format of OpenAI's chat. */
export function flagsFor({ url }: Pick<Service, 'url'>): readonly string[] {
  return ['-P', 'openai-compatible', '-m', 'gpt-4o', '--base-url', url];
}

function answerOf({ text = '', tools = [] }: ServiceTurn, turn: number) {
  const toolCalls = tools.map(({ name, input }, index) => ({
    id: `call_${turn}_${index}`,
    name,
    arguments: JSON.stringify(input),
  }));
  if (toolCalls.length === 0) return { content: text, usage: USAGE };
  return { ...(text === '' ? {} : { content: text }), toolCalls, usage: USAGE };
}

/** Each service reads the names that are its own. */
const USAGE = {
  input_tokens: 100,
  output_tokens: 10,
  prompt_tokens: 100,
  completion_tokens: 10,
  total_tokens: 110,
  promptTokenCount: 100,
  candidatesTokenCount: 10,
  totalTokenCount: 110,
};

type Body = Parameters<typeof isChatCompletionBody>[0];

function sentOf(body: Body): Sent {
  if (!isChatCompletionBody(body)) throw new BugError(`no request: ${JSON.stringify(body)}`);
  const messages = body.messages.map(({ role, content, tool_calls: calls = [] }) => ({
    role,
    text: textOf(content),
    calls: calls.map((call) => call.function.name),
  }));
  return {
    model: body.model,
    system: messages
      .filter(({ role }) => role === 'system')
      .map(({ text }) => text)
      .join('\n'),
    messages: messages.filter(({ role }) => role !== 'system').reduce(joinAnswer, []),
    tools: (body.tools ?? []).map((tool) => tool.function.name),
  };
}

/** OpenAI's responses have text and calls of one answer in separate items. */
function joinAnswer(before: readonly SentMessage[], next: SentMessage): readonly SentMessage[] {
  const last = before.at(-1);
  if (last?.role !== 'assistant' || next.role !== 'assistant') return [...before, next];
  const joined = { text: last.text + next.text, calls: [...last.calls, ...next.calls] };
  return [...before.slice(0, -1), { role: 'assistant', ...joined }];
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map(partText).join('\n');
}

function partText(part: unknown): string {
  if (typeof part !== 'object' || part === null || !('text' in part)) return '';
  return typeof part.text === 'string' ? part.text : '';
}

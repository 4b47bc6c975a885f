import { expect, test } from 'vitest';
import { createScriptedModel } from '../../../src/agent/models/scripted.ts';
import type { Message } from '../../../src/sessions/messages.ts';
import { collect, endOf, failureOf, request } from './services.ts';

test('a turn streams its text and its calls, and ends with the whole answer', async () => {
  const model = createScriptedModel([
    {
      thinking: 'Which file?',
      text: 'I read  it now.\n',
      tools: [{ name: 'Read', input: { file_path: '/a' } }],
      usage: { inputTokens: 100, outputTokens: 20 },
    },
  ]);

  expect(await collect(model, request('read'))).toEqual([
    { type: 'thinking-delta', text: 'Which ' },
    { type: 'thinking-delta', text: 'file?' },
    { type: 'text-delta', text: 'I ' },
    { type: 'text-delta', text: 'read  ' },
    { type: 'text-delta', text: 'it ' },
    { type: 'text-delta', text: 'now.\n' },
    { type: 'input-delta', id: 'call_1', name: 'Read', text: '{"file_path":"/a"}' },
    {
      type: 'end',
      content: [
        { type: 'thinking', thinking: 'Which file?' },
        { type: 'text', text: 'I read  it now.\n' },
        { type: 'tool_use', id: 'call_1', name: 'Read', input: { file_path: '/a' } },
      ],
      finishReason: 'tool-calls',
      usage: { inputTokens: 100, outputTokens: 20, cacheReadTokens: 0, cacheWriteTokens: 0 },
    },
  ]);
});

test('each request consumes the next turn, and one too many is a clear failure', async () => {
  const model = createScriptedModel([{ text: 'one' }, {}]);

  expect((await endOf(model, request('a'))).content).toEqual([{ type: 'text', text: 'one' }]);
  expect(await endOf(model, request('b'))).toMatchObject({ content: [], finishReason: 'stop' });
  expect(await failureOf(model, request('c'))).toEqual({
    class: 'invalid_request',
    message: 'The script has 2 turns and was asked for more; add a turn to it.',
    status: null,
    isRetryable: false,
    retryAfterMs: null,
  });
});

test('usage that the script does not give grows with the conversation', async () => {
  const model = createScriptedModel([
    { text: 'short' },
    { text: 'a much longer answer than before' },
  ]);

  const first = await endOf(model, request('hello'));
  const messages: readonly Message[] = [
    ...request('hello').messages,
    { role: 'assistant', content: first.content },
    ...request('and now?').messages,
  ];
  const second = await endOf(model, request({ messages }));

  expect(first.usage.inputTokens).toBeGreaterThan(0);
  expect(second.usage.inputTokens).toBeGreaterThan(first.usage.inputTokens);
  expect(second.usage.outputTokens).toBeGreaterThan(first.usage.outputTokens);
});

test('calls are numbered on, also after those of a resumed session', async () => {
  const call = { name: 'Bash', input: { command: 'true' } };
  const model = createScriptedModel([
    { tools: [call, { ...call, id: 'mine' }, call] },
    { tools: [call] },
    { tools: [call] },
  ]);
  const idsOf = async (messages: readonly Message[]): Promise<readonly string[]> =>
    (await endOf(model, request({ messages }))).content.flatMap((block) =>
      block.type === 'tool_use' ? [block.id] : [],
    );
  const resumed: readonly Message[] = [
    { role: 'assistant', content: [{ type: 'tool_use', id: 'call_7', name: 'Bash', input: {} }] },
  ];

  expect(await idsOf([])).toEqual(['call_1', 'mine', 'call_2']);
  expect(await idsOf(resumed)).toEqual(['call_8']);
  expect(await idsOf([])).toEqual(['call_9']);
});

test('a scripted failure comes after the text of its turn', async () => {
  const model = createScriptedModel([
    { text: 'I beg', failure: { class: 'overloaded', status: 529 } },
    { failure: { class: 'unknown', message: 'Gone.', retryable: true } },
  ]);

  expect(await collect(model, request('a'))).toEqual([
    { type: 'text-delta', text: 'I ' },
    { type: 'text-delta', text: 'beg' },
    {
      type: 'failure',
      failure: {
        class: 'overloaded',
        message: 'The script says that the model fails with overloaded.',
        status: 529,
        isRetryable: true,
        retryAfterMs: null,
      },
    },
  ]);
  expect(await failureOf(model, request('b'))).toMatchObject({
    class: 'unknown',
    message: 'Gone.',
    isRetryable: true,
  });
});

test('arguments that are no JSON are written as a text', async () => {
  const model = createScriptedModel([{ tools: [{ name: 'Read', input: '{"file' }] }]);
  const { content } = await endOf(model, request('a'));
  expect(content).toEqual([{ type: 'tool_use', id: 'call_1', name: 'Read', input: '{"file' }]);
});

test('an abort ends the answer', async () => {
  const model = createScriptedModel([{ text: 'one two three' }, { text: 'never' }]);
  const controller = new AbortController();

  const kinds: string[] = [];
  for await (const chunk of model.stream(request('a'), controller.signal)) {
    kinds.push(chunk.type === 'failure' ? chunk.failure.class : chunk.type);
    controller.abort();
  }

  expect(kinds).toEqual(['text-delta', 'aborted']);
  expect(await collect(model, request('b'), controller.signal)).toMatchObject([
    { failure: { class: 'aborted' } },
  ]);
});

test('it costs nothing unless it has a price', () => {
  expect(createScriptedModel([]).prices).toEqual({
    input: 0,
    output: 0,
    cacheRead: 0,
    cacheWrite: 0,
  });
  expect(createScriptedModel([], { prices: null, id: 'twin', contextTokens: 10 })).toMatchObject({
    prices: null,
    id: 'twin',
    contextTokens: 10,
  });
});

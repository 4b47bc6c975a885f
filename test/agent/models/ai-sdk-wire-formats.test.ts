import { describe, expect, test } from 'vitest';
import type { ToolSpec } from '../../../src/agent/models/model.ts';
import { streamWithRetries } from '../../../src/agent/models/retry.ts';
import { getToolCalls, type Message } from '../../../src/sessions/messages.ts';
import {
  collect,
  deadService,
  endOf,
  failureOf,
  KEY,
  mockService,
  open,
  request,
  WIRES,
} from './services.ts';

const READ: ToolSpec = {
  name: 'Read',
  description: 'Reads a file.',
  schema: { type: 'object', properties: { file_path: { type: 'string' } } },
};

const USAGE = {
  anthropic: { input_tokens: 11, output_tokens: 7 },
  openai: { input_tokens: 11, output_tokens: 7 },
  'openai-compatible': { prompt_tokens: 11, completion_tokens: 7 },
  gemini: { promptTokenCount: 11, candidatesTokenCount: 7 },
};

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

describe.each(WIRES)('%s', (provider) => {
  test('streams a text in pieces and ends with the whole and its usage', async () => {
    const mock = await mockService();
    const usage = USAGE[provider];
    mock.onMessage('greet', { content: 'Good morning to you.', usage }, { chunkSize: 5 });
    const model = await open({ provider, baseUrl: mock.url });

    const chunks = await collect(model, request('greet'));

    const deltas = chunks.flatMap((chunk) => (chunk.type === 'text-delta' ? [chunk.text] : []));
    expect(deltas.length).toBeGreaterThan(1);
    expect(deltas.join('')).toBe('Good morning to you.');
    expect(chunks.at(-1)).toEqual({
      type: 'end',
      content: [{ type: 'text', text: 'Good morning to you.' }],
      finishReason: 'stop',
      usage: { inputTokens: 11, outputTokens: 7, cacheReadTokens: 0, cacheWriteTokens: 0 },
    });
  });

  test('returns several calls of one answer in their order', async () => {
    const mock = await mockService();
    mock.onMessage('look', {
      content: 'I look.',
      toolCalls: [
        { name: 'Read', arguments: { file_path: '/a' } },
        { name: 'Read', arguments: { file_path: '/b' } },
      ],
    });
    const model = await open({ provider, baseUrl: mock.url });

    const { content, finishReason } = await endOf(
      model,
      request({ ...request('look'), tools: [READ] }),
    );

    expect(finishReason).toBe('tool-calls');
    expect(content.map(({ type }) => type)).toEqual(['text', 'tool_use', 'tool_use']);
    const calls = getToolCalls({ role: 'assistant', content });
    expect(calls.map(({ name, input }) => ({ name, input }))).toEqual([
      { name: 'Read', input: { file_path: '/a' } },
      { name: 'Read', input: { file_path: '/b' } },
    ]);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
  });

  test('sends calls, results and images back so that the service finds each', async () => {
    const mock = await mockService();
    mock.on({ turnIndex: 1 }, { content: 'Both read.' });
    const model = await open({ provider, baseUrl: mock.url });
    const messages: readonly Message[] = [
      { role: 'user', content: [{ type: 'text', text: 'look' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'call_1', name: 'Read', input: { file_path: '/a' } },
          { type: 'tool_use', id: 'call_2', name: 'Read', input: { file_path: '/b' } },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'call_1',
            content: [
              { type: 'text', text: 'a picture' },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } },
            ],
          },
          { type: 'tool_result', tool_use_id: 'call_2', content: 'second file', is_error: true },
        ],
      },
    ];
    const { content } = await endOf(model, request({ messages, tools: [READ] }));

    expect(content).toEqual([{ type: 'text', text: 'Both read.' }]);
    const sentBody = JSON.stringify(mock.getLastRequest()?.body);
    expect(sentBody).toContain('a picture');
    expect(sentBody).toContain('second file');
  });

  test.each([
    [429, 'rate_limit', true],
    [529, 'overloaded', true],
    [500, 'server_error', true],
    [503, 'server_error', true],
    [401, 'authentication_failed', false],
    [403, 'authentication_failed', false],
    [404, 'model_not_found', false],
    [400, 'invalid_request', false],
    [413, 'invalid_request', false],
  ] as const)('status %i is the failure %s', async (status, kind, isRetryable) => {
    const mock = await mockService();
    mock.onMessage('fail', { error: { message: `no, said ${KEY}` }, status, retryAfter: 7 });
    const model = await open({ provider, baseUrl: mock.url });

    const failure = await failureOf(model, request('fail'));

    expect(failure).toEqual({
      class: kind,
      message: expect.stringContaining(`(HTTP ${status})`),
      details: 'no, said ***',
      status,
      isRetryable,
      retryAfterMs: status === 429 ? 7000 : null,
    });
    expect(failure.message).not.toContain(KEY);
  });

  test('a service that is overloaded once is asked again', async () => {
    const mock = await mockService();
    mock.onMessage('greet', { content: 'Good morning.' });
    mock.nextRequestError(529, { message: 'Overloaded' });
    const model = await open({ provider, baseUrl: mock.url });

    const kinds: string[] = [];
    const answer = streamWithRetries(model, request('greet'), {
      signal: new AbortController().signal,
      wait: () => Promise.resolve(),
      onRetry: ({ failure }) => kinds.push(failure.class),
    });
    for await (const chunk of answer) kinds.push(chunk.type);

    expect(kinds).toEqual(['overloaded', 'text-delta', 'end']);
  });

  test('a stream that is cut in the middle is a transient failure', async () => {
    const mock = await mockService();
    const cut = { truncateAfterChunks: 6, chunkSize: 4, latency: 20 };
    mock.onMessage('cut', { content: 'a long text that never ends '.repeat(5) }, cut);
    const model = await open({ provider, baseUrl: mock.url });

    const chunks = await collect(model, request('cut'));

    const kinds = new Set(chunks.map(({ type }) => type));
    expect([...kinds]).toEqual(['text-delta', 'failure']);
    expect(chunks.at(-1)).toMatchObject({ failure: { class: 'protocol', isRetryable: true } });
  });

  test('an abort in the middle ends the stream with that', async () => {
    const mock = await mockService();
    mock.onMessage('slow', { content: 'word '.repeat(500) }, { chunkSize: 4, latency: 50 });
    const model = await open({ provider, baseUrl: mock.url });
    const controller = new AbortController();

    const kinds: string[] = [];
    for await (const chunk of model.stream(request('slow'), controller.signal)) {
      kinds.push(chunk.type === 'failure' ? chunk.failure.class : chunk.type);
      controller.abort();
    }

    expect(kinds[0]).toBe('text-delta');
    expect(kinds.at(-1)).toBe('aborted');
    expect(kinds).not.toContain('end');
  });

  test('a port on which no server listens is unreachable, with a hint', async () => {
    const deadUrl = await deadService();
    const model = await open({ provider, baseUrl: deadUrl });

    const failure = await failureOf(model, request('hello'));

    expect(failure).toMatchObject({
      class: 'unreachable',
      status: null,
      isRetryable: true,
      message: expect.stringContaining(deadUrl),
    });
    expect(failure.message).toContain('ECONNREFUSED');
    expect(failure.message).toContain('--base-url');
  });
});

import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import type { ToolSpec } from '../../../src/agent/models/model.ts';
import type { AssistantBlock, Message } from '../../../src/sessions/messages.ts';
import { collect, endOf, failureOf, open, rawService, request, sendEvents } from './services.ts';

const START = {
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'test-model',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: {
      input_tokens: 5,
      output_tokens: 1,
      cache_read_input_tokens: 20,
      cache_creation_input_tokens: 3,
    },
  },
};
const END = [
  { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } },
  { type: 'message_stop' },
];
const TEXT = [
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'I begin' } },
];
const ANSWERED = [
  START,
  ...TEXT,
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } },
  { type: 'message_stop' },
];

const GREP: ToolSpec = {
  name: 'Grep',
  description: 'Searches.',
  schema: { type: 'object', properties: { pattern: { type: 'string' } } },
};

function answering(events: Parameters<typeof sendEvents>[1]): (to: ServerResponse) => void {
  return (response) => {
    sendEvents(response, events);
    response.end();
  };
}

test('arguments that are no JSON come back as the text that the model wrote', async () => {
  const call = { type: 'tool_use', id: 'toolu_1', name: 'Grep', input: {} };
  const brokenDelta = { type: 'input_json_delta', partial_json: '{"pattern": oops' };
  const baseUrl = await rawService(
    answering([
      START,
      { type: 'content_block_start', index: 0, content_block: call },
      { type: 'content_block_delta', index: 0, delta: brokenDelta },
      { type: 'content_block_stop', index: 0 },
      ...END,
    ]),
  );
  const model = await open({ provider: 'anthropic', baseUrl });

  const chunks = await collect(model, request({ ...request('search'), tools: [GREP] }));

  expect(chunks).toEqual([
    { type: 'input-delta', id: 'toolu_1', name: 'Grep', text: '{"pattern": oops' },
    {
      type: 'end',
      content: [{ type: 'tool_use', id: 'toolu_1', name: 'Grep', input: '{"pattern": oops' }],
      finishReason: 'tool-calls',
      usage: { inputTokens: 5, outputTokens: 9, cacheReadTokens: 20, cacheWriteTokens: 3 },
    },
  ]);
});

test('a call of a tool that was not offered is returned with its input', async () => {
  const call = { type: 'tool_use', id: 'toolu_1', name: 'Fly', input: {} };
  const baseUrl = await rawService(
    answering([
      START,
      { type: 'content_block_start', index: 0, content_block: call },
      {
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'input_json_delta', partial_json: '{"to":"Mars"}' },
      },
      { type: 'content_block_stop', index: 0 },
      ...END,
    ]),
  );
  const model = await open({ provider: 'anthropic', baseUrl });

  const { content } = await endOf(model, request({ ...request('fly'), tools: [GREP] }));

  expect(content).toEqual([
    { type: 'tool_use', id: 'toolu_1', name: 'Fly', input: { to: 'Mars' } },
  ]);
});

test('an overload that is announced within the stream is an overload', async () => {
  const error = { type: 'overloaded_error', message: 'Overloaded' };
  const baseUrl = await rawService(answering([START, ...TEXT, { type: 'error', error }]));
  const model = await open({ provider: 'anthropic', baseUrl });

  const chunks = await collect(model, request('hello'));

  expect(chunks).toEqual([
    { type: 'text-delta', text: 'I begin' },
    {
      type: 'failure',
      failure: {
        class: 'overloaded',
        message: 'Anthropic is overloaded and could not serve test-model.',
        details: 'Overloaded',
        status: null,
        isRetryable: true,
        retryAfterMs: null,
      },
    },
  ]);
});

test.each([
  ['anthropic', [START, ...TEXT]],
  ['openai-compatible', [{ type: 'x', choices: [{ index: 0, delta: { content: 'I begin' } }] }]],
  ['gemini', [{ type: 'x', candidates: [{ content: { parts: [{ text: 'I begin' }] } }] }]],
] as const)(
  'an answer of %s that ends early without an error is no answer',
  async (provider, events) => {
    const baseUrl = await rawService(answering(events));
    const model = await open({ provider, baseUrl });

    const chunks = await collect(model, request('hello'));

    expect(chunks).toEqual([
      { type: 'text-delta', text: 'I begin' },
      {
        type: 'failure',
        failure: expect.objectContaining({ class: 'protocol', isRetryable: true, status: null }),
      },
    ]);
  },
);

test('an HTML page instead of an answer is reported as a wrong address', async () => {
  const baseUrl = await rawService((response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end('<html><body>Welcome</body></html>');
  });
  const model = await open({ provider: 'anthropic', baseUrl });

  const failure = await failureOf(model, request('hello'));

  expect(failure).toEqual({
    class: 'protocol',
    message: `Anthropic sent no readable answer; if this persists, check the address ${baseUrl}/v1 (--base-url).`,
    status: null,
    isRetryable: true,
    retryAfterMs: null,
  });
});

test('a key that is refused by Gemini is an authentication failure, though the status is 400', async () => {
  const baseUrl = await rawService((response) => {
    response.writeHead(400, { 'content-type': 'application/json' });
    const error = { code: 400, message: 'API key not valid.', status: 'INVALID_ARGUMENT' };
    response.end(JSON.stringify([{ error }]));
  });
  const model = await open({ provider: 'gemini', baseUrl });

  const failure = await failureOf(model, request('hello'));

  expect(failure).toEqual({
    class: 'authentication_failed',
    message:
      'Gemini rejected the API key (HTTP 400); set GEMINI_API_KEY, or "model.key" in the configuration, or pass --key.',
    details: 'API key not valid.',
    status: 400,
    isRetryable: false,
    retryAfterMs: null,
  });
});

test.each([
  ['anthropic', 400, { type: 'invalid_request_error', message: 'Your credit balance is too low' }],
  ['openai', 429, { code: 'insufficient_quota', message: 'You exceeded your current quota' }],
  ['openrouter', 402, { code: 402, message: 'Insufficient credits' }],
] as const)('the payment error of %s is a billing failure', async (provider, status, error) => {
  const baseUrl = await rawService((response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error }));
  });
  const model = await open({ provider, baseUrl });

  const failure = await failureOf(model, request('hello'));

  expect(failure).toMatchObject({ class: 'billing_error', isRetryable: false, status });
  expect(failure.message).toContain(error.message);
});

test('thoughts keep their signature and go back with it, but not to another service', async () => {
  const bodies: string[] = [];
  const thinking = { type: 'thinking', thinking: '', signature: '' };
  const events = [
    START,
    { type: 'content_block_start', index: 0, content_block: thinking },
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm.' } },
    {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'signature_delta', signature: 'c2ln' },
    },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'content_block_start',
      index: 1,
      content_block: { type: 'redacted_thinking', data: 'aGlk' },
    },
    { type: 'content_block_stop', index: 1 },
    ...TEXT.map((event) => ({ ...event, index: 2 })),
    { type: 'content_block_stop', index: 2 },
    ...END,
  ];
  const baseUrl = await rawService((response, { body }) => {
    bodies.push(body);
    answering(events)(response);
  });
  const model = await open({ provider: 'anthropic', baseUrl });

  const { content } = await endOf(model, request('hello'));
  const expected: readonly AssistantBlock[] = [
    { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
    { type: 'thinking', thinking: '', signature: 'redacted:aGlk' },
    { type: 'text', text: 'I begin' },
  ];
  expect(content).toEqual(expected);

  const messages: readonly Message[] = [
    ...request('hello').messages,
    { role: 'assistant', content },
    ...request('go on').messages,
  ];
  await endOf(model, request({ messages }));
  const sentBody: unknown = JSON.parse(bodies[1] ?? '');
  expect(sentBody).toMatchObject({
    system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'hello' }] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
          { type: 'redacted_thinking', data: 'aGlk' },
          { type: 'text', text: 'I begin' },
        ],
      },
      {
        role: 'user',
        content: [{ type: 'text', text: 'go on', cache_control: { type: 'ephemeral' } }],
      },
    ],
  });
});

test('an abort while the service is silent ends the stream', async () => {
  const silent = await rawService((response) => {
    sendEvents(response, [START, ...TEXT]);
  });
  const model = await open({ provider: 'anthropic', baseUrl: silent });
  const controller = new AbortController();

  const kinds: string[] = [];
  for await (const chunk of model.stream(request('hello'), controller.signal)) {
    kinds.push(chunk.type === 'failure' ? chunk.failure.class : chunk.type);
    controller.abort();
  }

  expect(kinds).toEqual(['text-delta', 'aborted']);
});

test('an abort before anything came is an abort, and sends nothing', async () => {
  let requests = 0;
  const baseUrl = await rawService((response) => {
    requests += 1;
    response.end();
  });
  const model = await open({ provider: 'anthropic', baseUrl });

  const chunks = await collect(model, request('hello'), AbortSignal.abort());

  expect(chunks).toEqual([
    {
      type: 'failure',
      failure: {
        class: 'aborted',
        message: 'The request to Anthropic was aborted.',
        status: null,
        isRetryable: false,
        retryAfterMs: null,
      },
    },
  ]);
  expect(requests).toBe(0);
});

test('a reader that goes away ends the connection', async () => {
  let closed: Promise<unknown> = Promise.resolve();
  const baseUrl = await rawService((response) => {
    closed = once(response, 'close');
    sendEvents(response, [START, ...TEXT]);
  });
  const model = await open({ provider: 'anthropic', baseUrl });

  for await (const chunk of model.stream(request('hello'), new AbortController().signal)) {
    expect(chunk).toEqual({ type: 'text-delta', text: 'I begin' });
    break;
  }

  await closed;
});

test('an answer that must follow a schema is asked for in the service’s own way', async () => {
  const bodies: Record<string, unknown>[] = [];
  const baseUrl = await rawService((response, { body }) => {
    const parsed: Record<string, unknown> = JSON.parse(body);
    bodies.push(parsed);
    answering(ANSWERED)(response);
  });
  const answerSchema = {
    type: 'object',
    properties: { ok: { type: 'boolean' } },
    required: ['ok'],
    additionalProperties: false,
  };
  const question = request({ ...request('well?'), answerSchema, thinking: false, effort: 'low' });

  const claude = await open({ provider: 'anthropic', model: 'claude-haiku-5-5', baseUrl });
  await endOf(claude, question);
  const ollama = await open({ provider: 'ollama', model: 'qwen', baseUrl });
  await collect(ollama, question);
  const plain = await open({ provider: 'openai-compatible', model: 'local', baseUrl });
  await collect(plain, question);

  expect(bodies[0]).toMatchObject({
    thinking: { type: 'disabled' },
    output_config: { effort: 'low', format: { type: 'json_schema', schema: answerSchema } },
  });
  expect(bodies[1]).toMatchObject({
    reasoning_effort: 'low',
    response_format: { type: 'json_schema', json_schema: { schema: answerSchema } },
    stream_options: { include_usage: true },
  });
  expect(bodies[2]).not.toHaveProperty('response_format');
});

test('OpenAI is asked to store nothing', async () => {
  const bodies: string[] = [];
  const baseUrl = await rawService((response, { body }) => {
    bodies.push(body);
    response.writeHead(500).end();
  });
  const model = await open({ provider: 'openai', model: 'gpt-6.1-sol', baseUrl });

  await collect(model, request('hello'));

  expect(JSON.parse(bodies[0] ?? '')).toMatchObject({
    store: false,
    include: ['reasoning.encrypted_content'],
  });
});

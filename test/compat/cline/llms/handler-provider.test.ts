import { afterEach, describe, expect, it, vi } from 'vitest';
import { eventually } from '../../../base/directory.ts';
import type { Model, ModelFailure } from '../../../../src/agent/models/model.ts';
import { streamWithRetries } from '../../../../src/agent/models/retry.ts';
import { isHooklineError } from '../../../../src/base/errors.ts';
import { createHandlerProvider } from '../../../../src/compat/cline/llms/handler-provider.ts';
import {
  STREAM_LIMITS,
  type StreamLimits,
} from '../../../../src/compat/cline/llms/handler-stream.ts';
import type * as Llms from '../../../../src/compat/cline/llms/llms.ts';
import {
  collect,
  deadService,
  endOf,
  failureOf,
  KEY,
  request,
} from '../../../agent/models/services.ts';
import { runWith } from './provider-fixture.ts';

afterEach(() => vi.unstubAllEnvs());

type Chunk = Llms.ApiStreamChunk;

/** A handler in whose place anything may stand, as foreign code has it. */
function handler(createMessage: unknown, more: object = {}): Llms.ApiHandler {
  return { createMessage, getModel: () => ({ id: 'm', info: { id: 'm' } }), ...more } as never;
}

function open(made: unknown, limits: Partial<StreamLimits> = {}): Promise<Model> {
  const factory = typeof made === 'function' ? made : () => made;
  return createHandlerProvider('code', factory as never, { ...STREAM_LIMITS, ...limits }).open({
    provider: 'code',
    model: 'm',
    baseUrl: null,
    key: KEY,
    env: {},
    passedKeys: [],
  });
}

function openWithChunks(chunks: readonly unknown[]): Promise<Model> {
  return open(
    handler(async function* () {
      yield* chunks;
    }),
  );
}

const text = (words: string): Chunk => ({ type: 'text', text: words, id: 'x' });
const call = (called: object, more: object = {}): Chunk => ({
  type: 'tool_calls',
  id: 'x',
  tool_call: { function: {}, ...called, ...more },
});

async function contentOf(chunks: readonly unknown[]): Promise<unknown> {
  return (await endOf(await openWithChunks(chunks), request('hello'))).content;
}

describe('the chunks of a handler', () => {
  it('become deltas and one answer', async () => {
    const model = await openWithChunks([
      { type: 'reasoning', reasoning: 'Hm, ', id: 'x' },
      { type: 'reasoning', reasoning: 'yes.', signature: 'signed', id: 'x' },
      text('Good '),
      text('morning.'),
      call({ call_id: 'a', function: { name: 'Read', arguments: { file_path: '/a' } } }),
      { type: 'usage', inputTokens: 30, outputTokens: 5, cacheReadTokens: 10, id: 'x' },
      { type: 'usage', inputTokens: 0, outputTokens: 2, totalCost: 0.5, id: 'x' },
      { type: 'media', media: {}, id: 'x' },
      { type: 'done', success: true, id: 'x' },
    ]);
    expect(await collect(model, request('hello'))).toEqual([
      { type: 'thinking-delta', text: 'Hm, ' },
      { type: 'thinking-delta', text: 'yes.' },
      { type: 'text-delta', text: 'Good ' },
      { type: 'text-delta', text: 'morning.' },
      { type: 'input-delta', id: 'a', name: 'Read', text: '{"file_path":"/a"}' },
      {
        type: 'end',
        content: [
          { type: 'thinking', thinking: 'Hm, yes.', signature: 'signed' },
          { type: 'text', text: 'Good morning.' },
          { type: 'tool_use', id: 'a', name: 'Read', input: { file_path: '/a' } },
        ],
        finishReason: 'tool-calls',
        usage: {
          inputTokens: 20,
          outputTokens: 7,
          cacheReadTokens: 10,
          cacheWriteTokens: 0,
          costUsd: 0.5,
        },
      },
    ]);
  });

  it('count cached tokens apart where they are more than the input', async () => {
    const usage = { type: 'usage', inputTokens: 100, outputTokens: 5, cacheReadTokens: 9000 };
    const end = await endOf(await openWithChunks([text('a'), usage]), request('hello'));
    expect(end.usage).toMatchObject({ inputTokens: 100, cacheReadTokens: 9000 });
  });

  it.each([
    [
      'by id',
      [
        call({ call_id: 'a', function: { name: 'Read', arguments: '{"n"' } }),
        call({ call_id: 'b', function: { name: 'Glob', arguments: '{"m"' } }),
        call({ call_id: 'a', function: { arguments: ':1}' } }),
        call({ call_id: 'b', function: { arguments: ':2}' } }),
      ],
    ],
    [
      'by the id of the function',
      [
        call({ function: { id: 'a', name: 'Read', arguments: '{"n":1}' } }),
        call({ function: { id: 'b', name: 'Glob', arguments: '{"m":' } }),
        call({ function: { id: 'b', arguments: '2}' } }),
      ],
    ],
    [
      'by place',
      [
        call({ call_id: 'a', function: { name: 'Read' } }, { index: 0 }),
        call({ call_id: 'b', function: { name: 'Glob' } }, { index: 1 }),
        call({ function: { arguments: '{"n":1}' } }, { index: 0 }),
        call({ function: { arguments: '{"m":2}' } }, { index: 1 }),
      ],
    ],
    [
      'by order',
      [
        call({ call_id: 'a', function: { name: 'Read' } }),
        call({ function: { arguments: '{"n":' } }),
        call({ function: { arguments: '1}' } }),
        call({ call_id: 'b', function: { name: 'Glob' } }),
        call({ function: { arguments: '{"m":2}' } }),
      ],
    ],
  ])('with parts of calls are put together %s', async (_how, chunks) => {
    expect(await contentOf(chunks)).toEqual([
      { type: 'tool_use', id: 'a', name: 'Read', input: { n: 1 } },
      { type: 'tool_use', id: 'b', name: 'Glob', input: { m: 2 } },
    ]);
  });

  it('with calls without ids give each one of its own', async () => {
    const createNamedCall = (name: string): Chunk => call({ function: { name, arguments: {} } });
    expect(await contentOf([createNamedCall('Read'), createNamedCall('Read')])).toEqual([
      { type: 'tool_use', id: expect.stringMatching(/^call_/), name: 'Read', input: {} },
      { type: 'tool_use', id: expect.stringMatching(/^call_/), name: 'Read', input: {} },
    ]);
  });

  it('with arguments that are no JSON keep them as they are', async () => {
    expect(
      await contentOf([call({ call_id: 'a', function: { name: 'Read', arguments: '{"n' } })]),
    ).toEqual([{ type: 'tool_use', id: 'a', name: 'Read', input: '{"n' }]);
  });

  it.each([
    ['max_output_tokens', 'length'],
    ['max-tokens', 'length'],
    ['content_filter', 'content-filter'],
    ['tired', 'other'],
    [undefined, 'stop'],
  ])('that are done for %s end with %s', async (incompleteReason, finishReason) => {
    const done = { type: 'done', success: true, id: 'x', incompleteReason };
    const end = await endOf(await openWithChunks([text('So far'), done]), request('hello'));
    expect(end.finishReason).toBe(finishReason);
  });

  it('that are malformed are ignored', async () => {
    const nonsense = [
      null,
      undefined,
      5,
      'text',
      [],
      {},
      { type: 'text' },
      { type: 'text', text: 5 },
      { type: 'reasoning', reasoning: {} },
      { type: 'tool_calls' },
      { type: 'tool_calls', tool_call: { function: 'Read' } },
      { type: 'usage', inputTokens: Number.NaN, outputTokens: -5, totalCost: 'much' },
      { type: 'weather', sun: true },
    ];
    const end = await endOf(
      await openWithChunks([...nonsense, text('Sense.'), ...nonsense]),
      request('a'),
    );
    expect(end).toEqual({
      type: 'end',
      content: [{ type: 'text', text: 'Sense.' }],
      finishReason: 'stop',
      usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
    });
  });

  it('may come from any kind of iterable, also a promised one', async () => {
    const model = await open(handler(async () => [text('From a list.')]));
    expect((await endOf(model, request('a'))).content).toEqual([
      { type: 'text', text: 'From a list.' },
    ]);
  });

  it('without usage are asked for it afterwards', async () => {
    const usage = { type: 'usage', inputTokens: 3, outputTokens: 4, id: 'x' };
    const ownHandler = handler(() => [text('a')], { getApiStreamUsage: async () => usage });
    expect((await endOf(await open(ownHandler), request('a'))).usage).toMatchObject({
      inputTokens: 3,
      outputTokens: 4,
    });
    const silent = handler(() => [text('a')], {
      getApiStreamUsage: async () => {
        throw new Error('no usage today');
      },
    });
    expect((await endOf(await open(silent), request('a'))).usage).toMatchObject({ inputTokens: 0 });
  });
});

function failing(error: unknown, before: readonly Chunk[] = []): Promise<Model> {
  return open(
    handler(async function* () {
      yield* before;
      throw error;
    }),
  );
}

describe('a handler that fails', () => {
  it.each([
    ['a plain error', new Error('boom'), 'protocol', true],
    ['a mistake of its code', new TypeError('x is not a function'), 'unknown', false],
    ['no error at all', 'just words', 'protocol', true],
    ['too many requests, in words', new Error('Rate limit reached'), 'rate_limit', true],
    ['a refused key, in words', new Error('401 Unauthorized'), 'authentication_failed', false],
    ['a long prompt', new Error('prompt is too long: 210000 tokens'), 'invalid_request', false],
    ['a status', Object.assign(new Error('slow'), { status: 429 }), 'rate_limit', true],
    [
      'another status',
      Object.assign(new Error('bad'), { statusCode: 400 }),
      'invalid_request',
      false,
    ],
    [
      'a network code',
      Object.assign(new Error('x'), { code: 'ECONNREFUSED' }),
      'unreachable',
      true,
    ],
  ])('with %s is a failure by value', async (_what, error, kind, isRetryable) => {
    const failure = await failureOf(await failing(error), request('hello'));
    expect({ class: failure.class, isRetryable: failure.isRetryable }).toEqual({
      class: kind,
      isRetryable,
    });
    expect(failure.message).toMatch(/^code /);
  });

  it('in the middle keeps what it sent before', async () => {
    const chunks = await collect(await failing(new Error('boom'), [text('Good')]), request('a'));
    expect(chunks).toEqual([
      { type: 'text-delta', text: 'Good' },
      {
        type: 'failure',
        failure: {
          class: 'protocol',
          message: 'code failed: boom',
          status: null,
          isRetryable: true,
          retryAfterMs: null,
        },
      },
    ]);
  });

  it('never prints the key', async () => {
    const failure = await failureOf(await failing(new Error(`no, said ${KEY}`)), request('a'));
    expect(failure.message).toBe('code failed: no, said ***');
  });

  it('by reporting its end without success passes its reason on', async () => {
    const done = { type: 'done', success: false, error: 'the model is overloaded', id: 'x' };
    expect(await failureOf(await openWithChunks([text('a'), done]), request('a'))).toMatchObject({
      class: 'overloaded',
      message: 'code failed: the model is overloaded',
      isRetryable: true,
    });
    const silent = { type: 'done', success: false, id: 'x' };
    expect(await failureOf(await openWithChunks([silent]), request('a'))).toMatchObject({
      message: 'code failed: it says that it failed, and not why',
    });
  });

  it.each([
    ['nothing', [], 'it ended without an answer'],
    ['only nonsense', [{}, 7], 'it ended without an answer'],
    ['a call without a name', [call({ call_id: 'a' })], 'it called a tool without naming it'],
  ])('by giving %s', async (_what, chunks, why) => {
    expect(await failureOf(await openWithChunks(chunks), request('a'))).toMatchObject({
      class: 'protocol',
      message: `code failed: ${why}`,
    });
  });

  it.each([
    ['no stream', () => undefined, 'found undefined'],
    ['a text', () => 'hello', 'found string'],
    ['a promise of nothing', async () => null, 'found null'],
    [
      'a stream that is none',
      () => ({ [Symbol.asyncIterator]: () => ({ next: () => 5 }) }),
      'gives no chunks',
    ],
    ['cyclic arguments', () => [cyclicCall()], 'circular'],
  ])('by giving %s', async (_what, createMessage, why) => {
    const failure = await failureOf(await open(handler(createMessage)), request('a'));
    expect(failure.message).toContain(why);
    expect(failure.isRetryable).toBe(false);
  });

  it('once is asked again, as any model is', async () => {
    let askCount = 0;
    const model = await open(
      handler(async function* () {
        askCount += 1;
        if (askCount === 1) throw new Error('overloaded');
        yield text('Better.');
      }),
    );
    const kinds: string[] = [];
    const answer = streamWithRetries(model, request('hello'), {
      signal: new AbortController().signal,
      wait: () => Promise.resolve(),
      onRetry: ({ failure }) => kinds.push(failure.class),
    });
    for await (const chunk of answer) kinds.push(chunk.type);
    expect(kinds).toEqual(['overloaded', 'text-delta', 'end']);
  });

  it('for ever ends the run with that, and nothing else', async () => {
    const model = await failing(new TypeError('undefined is not iterable'));
    expect(await runWith(model)).toMatchObject({
      status: 'failed',
      reason: expect.stringContaining('code failed: undefined is not iterable'),
    });
  });

  it('because no server listens is unreachable', async () => {
    const deadUrl = await deadService();
    const model = await open(
      handler(async function* () {
        await fetch(deadUrl);
        yield text('never');
      }),
    );
    expect(await failureOf(model, request('a'))).toMatchObject({
      class: 'unreachable',
      isRetryable: true,
    });
  });
});

function cyclicCall(): Chunk {
  const input: Record<string, unknown> = {};
  input['self'] = input;
  return call({ call_id: 'a', function: { name: 'Read', arguments: input } });
}

describe('a handler that does not end', () => {
  it('is given up when nothing comes', async () => {
    const model = await open(
      handler(() => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) })),
      { silentMs: 30 },
    );
    expect(await failureOf(model, request('a'))).toMatchObject({
      class: 'protocol',
      message: 'code failed: its answer never ended: nothing came for 0 s',
      isRetryable: true,
    });
  });

  it('is given up when too much comes', async () => {
    const flood = handler(async function* () {
      for (;;) yield text('word '.repeat(1000));
    });
    const model = await open(flood, { characters: 100_000 });
    expect(await failureOf(model, request('a'))).toMatchObject({
      message: 'code failed: its answer never ended: it said more than 100000 characters',
      isRetryable: false,
    });
    const nonsense = handler(function* () {
      for (;;) yield {};
    });
    expect(await failureOf(await open(nonsense, { chunks: 5000 }), request('a'))).toMatchObject({
      message: 'code failed: its answer never ended: it gave more than 5000 chunks',
    });
  });

  it('but sent its end has answered', async () => {
    const model = await open(
      handler(async function* () {
        yield text('All of it.');
        yield { type: 'done', success: true, id: 'x' };
        await new Promise(() => {});
      }),
      { afterDoneMs: 30 },
    );
    expect((await endOf(model, request('a'))).content).toEqual([
      { type: 'text', text: 'All of it.' },
    ]);
  });

  it('receives an abort, and is not waited for', async () => {
    const events: string[] = [];
    const controller = new AbortController();
    let input: AbortSignal | undefined;
    const ownHandler = handler(
      async function* () {
        yield text('Begun.');
        controller.abort();
        await new Promise(() => {});
      },
      {
        setAbortSignal: (signal: AbortSignal) => void (input = signal),
        abort() {
          events.push('abort');
          throw new Error('no abort today');
        },
      },
    );
    expect(await collect(await open(ownHandler), request('a'), controller.signal)).toEqual([
      { type: 'text-delta', text: 'Begun.' },
      { type: 'failure', failure: expect.objectContaining({ class: 'aborted' }) },
    ]);
    expect(input?.aborted).toBe(true);
    expect(events).toEqual(['abort']);
  });

  it('and never waits for anything is aborted all the same', async () => {
    const ownHandler = handler(async function* () {
      for (;;) yield text('on and on ');
    });
    const model = await open(ownHandler);
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 20);
    const chunks = await collect(model, request('a'), controller.signal);
    expect(chunks.at(-1)).toMatchObject({ failure: { class: 'aborted' } });
  });

  it('is aborted before it begins', async () => {
    const model = await open(
      handler(async function* () {
        yield text('never');
      }),
    );
    expect(await collect(model, request('a'), AbortSignal.abort())).toMatchObject([
      { type: 'failure', failure: { class: 'aborted' } },
    ]);
  });

  it('is left when its chunks are not read any more', async () => {
    let input: AbortSignal | undefined;
    const streamClosed = new Promise<void>((resolve) => {
      const ownHandler = handler(
        async function* () {
          try {
            for (;;) yield text('more ');
          } finally {
            resolve();
          }
        },
        { setAbortSignal: (signal: AbortSignal) => void (input = signal) },
      );
      void open(ownHandler).then(async (model) => {
        for await (const chunk of model.stream(request('a'), new AbortController().signal)) {
          if (chunk.type === 'text-delta') break;
        }
      });
    });
    await streamClosed;
    await eventually(() => expect(input?.aborted).toBe(true));
  });
});

describe('a handler that cannot be made', () => {
  async function refusal(made: unknown): Promise<string> {
    const error: unknown = await open(made).catch((thrown: unknown) => thrown);
    if (!isHooklineError(error)) throw new Error(`no refusal: ${String(error)}`);
    return `${error.code}: ${error.message}`;
  }

  it.each([
    [
      'throws',
      () => {
        throw new Error('no driver');
      },
      'its handler could not be made: no driver',
    ],
    [
      'rejects',
      async () => {
        throw new Error('later');
      },
      'its handler could not be made: later',
    ],
    ['gives nothing', () => undefined, 'a handler with createMessage, found undefined'],
    [
      'gives something else',
      () => ({}),
      'a handler with createMessage, found an object without it',
    ],
  ])('because its factory %s is reported when the model is opened', async (_what, factory, why) => {
    expect(await refusal(factory)).toContain(why);
    expect(await refusal(factory)).toMatch(/^MODEL_FAILED: /);
  });

  it('later fails that request', async () => {
    let createCount = 0;
    const model = await open(() => {
      createCount += 1;
      if (createCount > 1) throw new Error('only once');
      return handler(() => []);
    });
    expect(await failureOf(model, request('a'))).toMatchObject({
      message: 'code failed: only once',
    });
  });

  it('needs no entry about its model', async () => {
    const model = await open(
      handler(() => [text('a')], {
        getModel() {
          throw new Error('no model today');
        },
      }),
    );
    expect(model).toMatchObject({ id: 'm', contextTokens: 128_000, prices: null });
  });
});

it('each request has a handler of its own, with its settings', async () => {
  const configs: Llms.ProviderConfig[] = [];
  const model = await open((config: Llms.ProviderConfig) => {
    configs.push(config);
    return handler(() => [text('a')]);
  });
  const requestOptions = { maxOutputTokens: 50, temperature: 0.5, effort: 'high', thinking: true };
  await collect(model, { ...request('a'), ...requestOptions });
  await collect(model, request('a'));
  expect(configs.map(({ abortSignal, ...config }) => config)).toEqual([
    { providerId: 'code', modelId: 'm', apiKey: KEY },
    {
      providerId: 'code',
      modelId: 'm',
      apiKey: KEY,
      maxOutputTokens: 50,
      temperature: 0.5,
      reasoningEffort: 'high',
      thinking: true,
    },
    { providerId: 'code', modelId: 'm', apiKey: KEY },
  ]);
});

it('a failure of one of Hookline’s own models is passed on whole', async () => {
  const failure: ModelFailure = {
    class: 'rate_limit',
    message: 'Anthropic was asked too often.',
    status: 429,
    isRetryable: true,
    retryAfterMs: 7000,
  };
  const done = { type: 'done', success: false, error: failure.message, id: 'x', failure };
  expect(await failureOf(await openWithChunks([done]), request('a'))).toEqual(failure);
});

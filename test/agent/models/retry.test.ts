import { expect, test } from 'vitest';
import type { Model, ModelChunk, ModelFailure } from '../../../src/agent/models/model.ts';
import {
  streamWithRetries,
  type Retry,
  type RetryOptions,
} from '../../../src/agent/models/retry.ts';
import { createScriptedModel, type ScriptTurn } from '../../../src/agent/models/scripted.ts';
import { request } from './services.ts';

const BUSY: ScriptTurn = { failure: { class: 'overloaded', status: 529 } };

interface Run {
  readonly chunks: readonly ModelChunk[];
  readonly retries: readonly Retry[];
  readonly waits: readonly number[];
}

async function run(model: Model, options: Partial<RetryOptions> = {}): Promise<Run> {
  const chunks: ModelChunk[] = [];
  const retries: Retry[] = [];
  const waits: number[] = [];
  const answer = streamWithRetries(model, request('hello'), {
    signal: new AbortController().signal,
    onRetry: (retry) => retries.push(retry),
    wait: async (delayMs) => void waits.push(delayMs),
    random: () => 1,
    ...options,
  });
  for await (const chunk of answer) chunks.push(chunk);
  return { chunks, retries, waits };
}

/** A model that fails as given, always. */
function failing(failure: Partial<ModelFailure>): Model {
  const fullFailure: ModelFailure = {
    class: 'rate_limit',
    message: 'Too many.',
    status: 429,
    isRetryable: true,
    retryAfterMs: null,
    ...failure,
  };
  return {
    ...createScriptedModel([]),
    async *stream() {
      yield { type: 'failure', failure: fullFailure };
    },
  };
}

test('a transient failure is retried, and the waits double', async () => {
  const { chunks, retries, waits } = await run(
    createScriptedModel([BUSY, BUSY, BUSY, { text: 'Hello.' }]),
  );

  expect(waits).toEqual([1000, 2000, 4000]);
  expect(chunks.map(({ type }) => type)).toEqual(['text-delta', 'end']);
  expect(
    retries.map(({ attempt, maxRetries, delayMs, discardsOutput }) => ({
      attempt,
      maxRetries,
      delayMs,
      discardsOutput,
    })),
  ).toEqual([
    { attempt: 1, maxRetries: 4, delayMs: 1000, discardsOutput: false },
    { attempt: 2, maxRetries: 4, delayMs: 2000, discardsOutput: false },
    { attempt: 3, maxRetries: 4, delayMs: 4000, discardsOutput: false },
  ]);
});

test('jitter takes away up to half', async () => {
  const { waits } = await run(createScriptedModel([BUSY, BUSY, { text: 'x' }]), {
    random: () => 0,
  });
  expect(waits).toEqual([500, 1000]);
});

test('after the last retry the failure is returned', async () => {
  const { chunks, retries } = await run(failing({}));
  expect(retries).toHaveLength(4);
  expect(chunks).toEqual([
    {
      type: 'failure',
      failure: {
        class: 'rate_limit',
        message: 'Too many.',
        status: 429,
        isRetryable: true,
        retryAfterMs: null,
      },
    },
  ]);
});

test('a permanent failure is not retried', async () => {
  const { chunks, retries } = await run(failing({ class: 'billing_error', isRetryable: false }));
  expect(retries).toEqual([]);
  expect(chunks).toHaveLength(1);
});

test('the delay that a service names is waited for, up to a minute', async () => {
  expect((await run(failing({ retryAfterMs: 20_000 }), { maxRetries: 1 })).waits).toEqual([20_000]);
  expect((await run(failing({ retryAfterMs: 600_000 }), { maxRetries: 1 })).waits).toEqual([
    60_000,
  ]);
  expect((await run(failing({ retryAfterMs: 5 }), { maxRetries: 1 })).waits).toEqual([1000]);
});

test('an answer that broke off is begun anew, and its reader gets the signal to discard it', async () => {
  const broken: ScriptTurn = { text: 'I beg', failure: { class: 'protocol' } };
  let text = '';
  const answer = streamWithRetries(
    createScriptedModel([broken, { text: 'I begin.' }]),
    request('hello'),
    {
      signal: new AbortController().signal,
      wait: () => Promise.resolve(),
      onRetry: ({ discardsOutput }) => {
        expect(discardsOutput).toBe(true);
        text = '';
      },
    },
  );
  for await (const chunk of answer) if (chunk.type === 'text-delta') text += chunk.text;
  expect(text).toBe('I begin.');
});

test('an abort during the wait ends it at once', async () => {
  const controller = new AbortController();
  const { chunks } = await run(failing({ retryAfterMs: 50_000 }), {
    signal: controller.signal,
    wait: async () => controller.abort(),
  });
  expect(chunks).toEqual([
    {
      type: 'failure',
      failure: {
        class: 'aborted',
        message: 'The request was aborted while waiting to repeat it. Before that: Too many.',
        status: 429,
        isRetryable: false,
        retryAfterMs: null,
      },
    },
  ]);
});

test('the wait between retries ends with the signal', async () => {
  const controller = new AbortController();
  const answer = streamWithRetries(failing({ retryAfterMs: 50_000 }), request('hello'), {
    signal: controller.signal,
    onRetry: () => setImmediate(() => controller.abort()),
  });
  const kinds: string[] = [];
  for await (const chunk of answer) if (chunk.type === 'failure') kinds.push(chunk.failure.class);
  expect(kinds).toEqual(['aborted']);
});

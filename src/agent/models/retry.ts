import { setTimeout as sleep } from 'node:timers/promises';
import type { Model, ModelChunk, ModelFailure, ModelRequest } from './model.ts';

const FIRST_DELAY_MS = 1000;
const MAX_DELAY_MS = 60_000;
const DEFAULT_MAX_RETRIES = 4;

export interface Retry {
  readonly failure: ModelFailure;
  /** 1 for the first retry. */
  readonly attempt: number;
  readonly maxRetries: number;
  readonly delayMs: number;
  /** Whether parts of the failed answer were already emitted; they are void. */
  readonly discardsOutput: boolean;
}

export interface RetryOptions {
  readonly signal: AbortSignal;
  /** Called before each wait. Emitted output of the failed answer must be discarded. */
  readonly onRetry?: (retry: Retry) => void;
  /** Must end soon after the signal aborts, and never reject. */
  readonly wait?: (delayMs: number, signal: AbortSignal) => Promise<void>;
  readonly maxRetries?: number;
  /** A number from 0 to 1, for the jitter. */
  readonly random?: () => number;
}

/** Streams a model's answer and retries retryable failures. Ends with one `end` or `failure`. */
export async function* streamWithRetries(
  model: Model,
  request: ModelRequest,
  options: RetryOptions,
): AsyncGenerator<ModelChunk, void, undefined> {
  const { signal, onRetry, wait = waitUntilAborted, random = Math.random } = options;
  const maxRetries = options.maxRetries ?? DEFAULT_MAX_RETRIES;
  for (let attempt = 1; ; attempt++) {
    const failed = yield* streamOnce(model, request, signal);
    if (failed === null) return;
    if (!failed.failure.isRetryable || attempt > maxRetries || signal.aborted) {
      yield { type: 'failure', failure: failed.failure };
      return;
    }
    const delayMs = computeDelay(attempt, failed.failure, random());
    onRetry?.({ ...failed, attempt, maxRetries, delayMs });
    await wait(delayMs, signal);
    if (signal.aborted) {
      yield { type: 'failure', failure: createAbortedFailure(failed.failure) };
      return;
    }
  }
}

/** Yields everything but the failure, which it returns. */
async function* streamOnce(
  model: Model,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelChunk, Pick<Retry, 'failure' | 'discardsOutput'> | null, undefined> {
  let discardsOutput = false;
  for await (const chunk of model.stream(request, signal)) {
    if (chunk.type === 'failure') return { failure: chunk.failure, discardsOutput };
    yield chunk;
    discardsOutput = true;
  }
  return null;
}

/** Exponential backoff, half of it jitter; never shorter than the service's Retry-After. */
function computeDelay(attempt: number, { retryAfterMs }: ModelFailure, random: number): number {
  const backoff = FIRST_DELAY_MS * 2 ** (attempt - 1);
  const jittered = Math.round(backoff * (0.5 + random / 2));
  return Math.min(MAX_DELAY_MS, Math.max(jittered, retryAfterMs ?? 0));
}

async function waitUntilAborted(delayMs: number, signal: AbortSignal): Promise<void> {
  await sleep(delayMs, undefined, { signal }).catch(() => undefined);
}

function createAbortedFailure(failure: ModelFailure): ModelFailure {
  return {
    class: 'aborted',
    message: `The request was aborted while waiting to repeat it. Before that: ${failure.message}`,
    status: failure.status,
    isRetryable: false,
    retryAfterMs: null,
  };
}

import { setImmediate as nextTurn } from 'node:timers/promises';
import { HooklineError } from '../../../base/errors.ts';
import { isRecord, getTypeName } from '../../../base/json.ts';
import { startTimeLimit, waitOrAbort } from '../../../base/abort.ts';

/** How long a handler's stream may be silent, and how much it may send. */
export interface StreamLimits {
  readonly silentMs: number;
  /** How long it may still be read after the chunk `done`. */
  readonly afterDoneMs: number;
  readonly chunks: number;
  readonly characters: number;
}

/** The silence that other clients tolerate on a connection. */
export const STREAM_LIMITS: StreamLimits = {
  silentMs: 300_000,
  afterDoneMs: 2000,
  chunks: 1_000_000,
  characters: 32_000_000,
};

/** A handler that never waits would block the event loop, and an abort with it. */
const CHUNKS_IN_A_ROW = 200;

/**
 * Reads the chunks of a handler's stream, whatever kind of stream it is. `isDone`: whether the handler
 * has sent its last chunk. Throws when the stream does, and at its limits.
 */
export async function* readStream(
  stream: unknown,
  signal: AbortSignal,
  limits: StreamLimits,
  isDone: () => boolean,
): AsyncGenerator<unknown, void, undefined> {
  const iterator = getIterator(await withTimeLimit(stream, signal, limits.silentMs));
  try {
    for (let count = 1; ; count++) {
      if (count > limits.chunks) {
        throw createStreamError(`it gave more than ${limits.chunks} chunks`);
      }
      if (count % CHUNKS_IN_A_ROW === 0) await nextTurn();
      signal.throwIfAborted();
      const silentMs = isDone() ? limits.afterDoneMs : limits.silentMs;
      const next = await readNext(iterator, signal, silentMs, isDone);
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    closeIterator(iterator);
  }
}

type Chunks = AsyncIterator<unknown, unknown> | Iterator<unknown, unknown>;

function getIterator(stream: unknown): Chunks {
  if (isIterable(stream)) {
    return Symbol.asyncIterator in stream
      ? stream[Symbol.asyncIterator]()
      : stream[Symbol.iterator]();
  }
  throw new HooklineError('MODEL_FAILED', {
    message: `expected createMessage to give a stream of chunks, found ${getTypeName(stream)}`,
  });
}

function isIterable(value: unknown): value is AsyncIterable<unknown> | Iterable<unknown> {
  if (!isRecord(value) && !Array.isArray(value)) return false;
  return Symbol.asyncIterator in value || Symbol.iterator in value;
}

async function readNext(
  iterator: Chunks,
  signal: AbortSignal,
  silentMs: number,
  isDone: () => boolean,
): Promise<IteratorResult<unknown, unknown>> {
  const next = await withTimeLimit(iterator.next(), signal, silentMs, isDone);
  if (next === null) return { done: true, value: undefined };
  if (isRecord(next)) return { done: next.done === true, value: next.value };
  throw createStreamError('its stream gives no chunks');
}

/** Null when the time is over and the answer is complete without it. */
async function withTimeLimit<Value>(
  work: Value | Promise<Value>,
  signal: AbortSignal,
  silentMs: number,
  isEnough: () => boolean = () => false,
): Promise<Value | null> {
  const limit = startTimeLimit(signal, silentMs);
  try {
    return await waitOrAbort(Promise.resolve(work), limit.signal);
  } catch (error) {
    if (!limit.hasExpired()) throw error;
    if (isEnough()) return null;
    throw createStreamError(`nothing came for ${Math.round(silentMs / 1000)} s`, {
      code: 'ETIMEDOUT',
    });
  } finally {
    limit.clear();
  }
}

function createStreamError(why: string, cause?: { readonly code: string }): HooklineError {
  return new HooklineError('MODEL_FAILED', { message: `its answer never ended: ${why}`, cause });
}

/** Not awaited, because the stream of an aborted request may never end. */
function closeIterator(iterator: Chunks): void {
  const work = async (): Promise<unknown> => iterator.return?.();
  work().catch(() => undefined);
}

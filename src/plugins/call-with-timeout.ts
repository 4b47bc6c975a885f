import { HooklineError } from '../base/errors.ts';
import { startTimeLimit, waitOrAbort } from '../base/abort.ts';

/** The time limit of a call into a plugin. */
export interface CallTimeout {
  /** The name of the call in the timeout message. */
  readonly what?: string;
  readonly timeoutMs: number;
  /** The setting that raises the limit. */
  readonly setting?: string;
  /** The caller's signal; when it aborts, the call is not awaited any longer. */
  readonly signal?: AbortSignal;
}

const LONG_MS = 10_000;

/** Calls `say` when the work takes long, and continues to wait, because silence looks like a hang. */
export async function notifyIfSlow<Value>(work: Promise<Value>, say: () => void): Promise<Value> {
  const timer = setTimeout(say, LONG_MS);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}

/** Calls a plugin's code with a time limit. Throws what the code throws, and on a timeout. */
export async function callWithTimeout<Value>(
  work: () => Value | Promise<Value>,
  bounds: CallTimeout,
): Promise<Value> {
  const { what = 'it', timeoutMs, setting = 'config.hookTimeoutMs' } = bounds;
  const { signal = new AbortController().signal } = bounds;
  const limit = startTimeLimit(signal, timeoutMs);
  const begin = async (): Promise<Value> => work();
  try {
    return await waitOrAbort(begin(), limit.signal);
  } catch (error) {
    if (!limit.hasExpired()) throw error;
    throw new HooklineError('PLUGIN_INVALID', {
      message: `${what} did not answer within ${timeoutMs} ms`,
      hint: `Do what takes long in a tool, or allow more with ${setting}.`,
    });
  } finally {
    limit.clear();
  }
}

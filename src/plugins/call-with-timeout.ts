import { HooklineError } from '../base/errors.ts';
import { startTimeLimit, waitOrAbort } from '../base/abort.ts';

/** How long a part of a plugin is waited for. */
export interface CallTimeout {
  /** What it is called in the sentence that it took too long. */
  readonly what?: string;
  readonly timeoutMs: number;
  /** What allows it more time. */
  readonly setting?: string;
  /** Of whoever waits; after it, nothing is waited for. */
  readonly signal?: AbortSignal;
}

const LONG_MS = 10_000;

/** Says so when something takes long, and goes on waiting for it: silence looks like a program that hangs. */
export async function notifyIfSlow<Value>(work: Promise<Value>, say: () => void): Promise<Value> {
  const timer = setTimeout(say, LONG_MS);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}

/** Does a plugin's work and waits for it as long as it may take. Throws what it throws, and when its time is over. */
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

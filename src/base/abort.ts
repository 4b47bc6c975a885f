import { setMaxListeners } from 'node:events';

type Callback = () => void;

const callbacksBySignal = new WeakMap<AbortSignal, Set<Callback>>();

/**
 * Calls back when the signal aborts, until `removeAbortListener`. Adding a listener to a signal takes
 * longer than a short call, so all callbacks of a signal share one. No callback may throw: those after
 * it would not be called.
 */
export function addAbortListener(signal: AbortSignal, callback: Callback): void {
  const existing = callbacksBySignal.get(signal);
  if (existing !== undefined) {
    existing.add(callback);
    return;
  }
  callbacksBySignal.set(signal, new Set([callback]));
  // Node.js 20 would report more than ten listeners of a signal as a leak.
  if (signal instanceof EventTarget) setMaxListeners(0, signal);
  signal.addEventListener('abort', callAll);
}

/** Without callbacks the listener is removed, because AbortSignal.any keeps a signal alive that has one. */
export function removeAbortListener(signal: AbortSignal, callback: Callback): void {
  const callbacks = callbacksBySignal.get(signal);
  if (callbacks === undefined || !callbacks.delete(callback) || callbacks.size > 0) return;
  callbacksBySignal.delete(signal);
  signal.removeEventListener('abort', callAll);
}

function callAll(this: AbortSignal): void {
  const callbacks = callbacksBySignal.get(this) ?? new Set();
  callbacksBySignal.delete(this);
  for (const callback of callbacks) callback();
}

/** Waits for work that may not listen to the signal; throws the reason of the abort. */
export async function waitOrAbort<Value>(
  work: Promise<Value>,
  signal: AbortSignal,
): Promise<Value> {
  // A failure after the abort would be an unhandled rejection.
  work.catch(() => undefined);
  signal.throwIfAborted();
  let stopListening = (): void => undefined;
  const aborted = new Promise<void>((resolve) => {
    const onAbort = (): void => resolve();
    addAbortListener(signal, onAbort);
    stopListening = () => removeAbortListener(signal, onAbort);
  });
  try {
    await Promise.race([work, aborted]);
    signal.throwIfAborted();
    return await work;
  } finally {
    stopListening();
  }
}

/** A longer delay makes setTimeout fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A delay that setTimeout accepts; NaN becomes the longest one. */
export function clampTimerDelay(ms: number): number {
  return Number.isNaN(ms) ? MAX_TIMER_MS : Math.min(ms, MAX_TIMER_MS);
}

/**
 * Aborts work when its caller aborts, or when its time is over. Uses a timer of its own: Node.js 20 may
 * collect an AbortSignal.timeout that only AbortSignal.any refers to.
 */
export function startTimeLimit(
  caller: AbortSignal,
  timeoutMs: number,
): {
  readonly signal: AbortSignal;
  /** Whether the timeout was what aborted the signal. */
  hasExpired(): boolean;
  /** Must be called when the work is done. */
  clear(): void;
} {
  const limit = new AbortController();
  let hasExpired = false;
  const follow = (): void => limit.abort();
  const timer = setTimeout(() => {
    hasExpired = !limit.signal.aborted;
    limit.abort();
  }, clampTimerDelay(timeoutMs));
  if (caller.aborted) follow();
  caller.addEventListener('abort', follow);
  return {
    signal: limit.signal,
    hasExpired: () => hasExpired,
    clear() {
      clearTimeout(timer);
      caller.removeEventListener('abort', follow);
    },
  };
}

import { setMaxListeners } from 'node:events';

type Callback = () => void;

const waiting = new WeakMap<AbortSignal, Set<Callback>>();

/**
 * Calls back when the signal aborts, until `offAbort`. A signal takes longer to take a listener than
 * a short call may last, so all who wait for it at the same time share one. No callback may throw:
 * those after it would not be called.
 */
export function addAbortListener(signal: AbortSignal, callback: Callback): void {
  const others = waiting.get(signal);
  if (others !== undefined) {
    others.add(callback);
    return;
  }
  waiting.set(signal, new Set([callback]));
  // Whoever else listens, Node.js 20 would report many listeners as a leak.
  if (signal instanceof EventTarget) setMaxListeners(0, signal);
  signal.addEventListener('abort', callAll);
}

/** With nobody left to wait, the signal is let go: one that joins others lives as long as it is listened to. */
export function removeAbortListener(signal: AbortSignal, callback: Callback): void {
  const callbacks = waiting.get(signal);
  if (callbacks === undefined || !callbacks.delete(callback) || callbacks.size > 0) return;
  waiting.delete(signal);
  signal.removeEventListener('abort', callAll);
}

function callAll(this: AbortSignal): void {
  const callbacks = waiting.get(this) ?? new Set();
  waiting.delete(this);
  for (const callback of callbacks) callback();
}

/** Waits for work that may not listen to the signal; throws what the signal aborted for. */
export async function waitOrAbort<Value>(
  work: Promise<Value>,
  signal: AbortSignal,
): Promise<Value> {
  // Nobody hears of a failure that comes after the abort.
  work.catch(() => undefined);
  signal.throwIfAborted();
  let stopListening = (): void => undefined;
  const aborted = new Promise<void>((resolve) => {
    const goOn = (): void => resolve();
    addAbortListener(signal, goOn);
    stopListening = () => removeAbortListener(signal, goOn);
  });
  try {
    await Promise.race([work, aborted]);
    signal.throwIfAborted();
    return await work;
  } finally {
    stopListening();
  }
}

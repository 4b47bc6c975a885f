import { getErrorMessage } from './errors.ts';

/**
 * Calls an observer. What it throws becomes a warning that names `what` threw, because an observer must
 * not change the result of what it observes.
 */
export function callObserver<Value>(
  what: string,
  observer: ((value: Value) => void) | undefined,
  value: Value,
): void {
  try {
    observer?.(value);
  } catch (error) {
    process.emitWarning(`${what} threw: ${getErrorMessage(error)}`);
  }
}

/** Whether a callback returned a promise, of whatever library. */
export function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value;
}

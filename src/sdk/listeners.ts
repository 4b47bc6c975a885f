import { getErrorMessage } from '../base/errors.ts';
import { tell } from '../hooks/observers.ts';
import type { CoreSessionEvent } from './core-events.ts';

export type Listener = (event: CoreSessionEvent) => unknown;

/** Those who want to hear of sessions: of all, or of one. */
export interface Listeners {
  /** Each subscription is its own, also of one listener; returns the way to end it. */
  add(listener: Listener, sessionId: string | null): () => void;
  tell(event: CoreSessionEvent): void;
  clear(): void;
}

export function createListeners(): Listeners {
  const subscriptions = new Set<{ readonly listener: Listener; readonly wanted: string | null }>();
  return {
    add(listener, wanted) {
      const subscription = { listener, wanted };
      subscriptions.add(subscription);
      return () => void subscriptions.delete(subscription);
    },
    tell(event) {
      for (const { listener, wanted } of subscriptions) {
        if (wanted === null || wanted === event.payload.sessionId) tell(safely(listener), event);
      }
    },
    clear: () => subscriptions.clear(),
  };
}

/** Nobody waits for a listener, so that nobody else would hear that it failed later. */
function safely(listener: Listener): (event: CoreSessionEvent) => void {
  return (event) => {
    const result = listener(event);
    if (!(result instanceof Promise)) return;
    result.catch((error: unknown) =>
      process.emitWarning(`a subscriber to sessions failed: ${getErrorMessage(error)}`),
    );
  };
}

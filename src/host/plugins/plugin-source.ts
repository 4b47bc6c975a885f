import type { Handler, HandlerSource } from '../../hooks/handler.ts';

/** The handlers of one session's plugins, for the engine of that session. */
export interface PluginSource extends HandlerSource {
  /** Replaces all of them. */
  put(handlers: readonly Handler[]): void;
}

export function createPluginSource(): PluginSource {
  let current: readonly Handler[] = [];
  const listeners = new Set<() => void>();
  return {
    handlers: () => current,
    put(handlers) {
      current = handlers;
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

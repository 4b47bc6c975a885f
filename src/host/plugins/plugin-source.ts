import type { Handler, HandlerSource } from '../../hooks/handler.ts';

/** The hooks of every session's plugins, for the engine that all sessions of a host share. */
export interface PluginSource extends HandlerSource {
  /** Sets what the plugins of a session are asked with; none takes them away. */
  put(sessionId: string, handlers: readonly Handler[]): void;
}

export function createPluginSource(): PluginSource {
  const bySession = new Map<string, readonly Handler[]>();
  const listeners = new Set<() => void>();
  return {
    handlers() {
      const sessions = [...bySession];
      const [only] = sessions;
      // Nobody else's events come by, so that nothing need be asked of them.
      if (sessions.length === 1 && only !== undefined) return only[1];
      return sessions.flatMap(([id, handlers]) => handlers.map((each) => onlyIn(id, each)));
    },
    put(sessionId, handlers) {
      if (handlers.length === 0 && !bySession.has(sessionId)) return;
      if (handlers.length === 0) bySession.delete(sessionId);
      else bySession.set(sessionId, handlers);
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** A plugin of one session hears nothing of the others. */
function onlyIn(sessionId: string, handler: Handler): Handler {
  return {
    ...handler,
    id: `${handler.id}@${sessionId}`,
    get onFailure() {
      return handler.onFailure;
    },
    fits: (event, names, tool) =>
      event.sessionId === sessionId
        ? (handler.fits?.(event, names, tool) ?? null)
        : 'it belongs to another session',
  };
}

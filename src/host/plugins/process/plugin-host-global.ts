import { isRecord } from '../../../base/json.ts';

/** A session as plugins speak to it without being asked. */
export interface SpokenTo {
  readonly sessionId: string;
  readonly emitEvent: (name: string, payload: unknown) => void;
}

const sessions: SpokenTo[] = [];
const GLOBAL = '__clinePluginHost';

/**
 * Some plugins steer their session through a global object. It stands for all sessions of this
 * process: a plugin that does not say which one it means gets the one that was opened last.
 */
export function offerPluginHost(session: SpokenTo): () => void {
  sessions.push(session);
  if (!(GLOBAL in globalThis)) {
    Reflect.set(globalThis, GLOBAL, Object.freeze({ emitEvent }));
  }
  return () => {
    const place = sessions.indexOf(session);
    if (place < 0) return;
    sessions.splice(place, 1);
    if (sessions.length === 0) Reflect.deleteProperty(globalThis, GLOBAL);
  };
}

function emitEvent(name: string, payload?: unknown): void {
  const wanted = isRecord(payload) ? payload['sessionId'] : undefined;
  const session =
    typeof wanted === 'string'
      ? sessions.findLast(({ sessionId }) => sessionId === wanted)
      : sessions.at(-1);
  session?.emitEvent(name, payload);
}

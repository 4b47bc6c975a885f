import { isRecord } from '../base/json.ts';

/** A session as plugins speak to it without being asked. */
interface SpokenTo {
  takePluginEvent(name: string, payload: unknown): void;
}

type FindSession = (sessionId: string | null) => SpokenTo | null;

const finders: FindSession[] = [];
const GLOBAL = '__clinePluginHost';

/**
 * Some plugins steer their session through a global object. It stands for all hosts of this process:
 * a plugin that does not say which session it means gets the one that was opened last.
 */
export function offerPluginHost(find: FindSession): () => void {
  finders.push(find);
  if (!(GLOBAL in globalThis)) {
    Reflect.set(globalThis, GLOBAL, Object.freeze({ emitEvent }));
  }
  return () => {
    const place = finders.indexOf(find);
    if (place < 0) return;
    finders.splice(place, 1);
    if (finders.length === 0) Reflect.deleteProperty(globalThis, GLOBAL);
  };
}

function emitEvent(name: string, payload?: unknown): void {
  const wanted = isRecord(payload) ? payload['sessionId'] : undefined;
  const sessionId = typeof wanted === 'string' ? wanted : null;
  for (const find of finders.toReversed()) {
    const session = find(sessionId);
    if (session === null) continue;
    session.takePluginEvent(name, payload);
    return;
  }
}

import { isRecord } from '../../../base/json.ts';
import { getModuleRegistry } from '../../../plugins/load/module-instances.ts';

/** A session as plugins speak to it without being asked. */
interface HostedSession {
  readonly sessionId: string;
  readonly emitEvent: (name: string, payload: unknown) => void;
}

const sessions: HostedSession[] = [];
const GLOBAL = '__clinePluginHost';

/**
 * Some plugins steer their session through a global object. It stands for all sessions of this
 * process: a plugin on disk that does not say which one it means gets its own, an object of the
 * program, which many sessions may share, the one that was opened last.
 */
export function installPluginHost(session: HostedSession): () => void {
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
      : (findCallingSession() ?? sessions.at(-1));
  session?.emitEvent(name, payload);
}

/** Each session has a copy of a plugin's modules, and whoever calls stands in one of them. */
function findCallingSession(): HostedSession | undefined {
  if (sessions.length < 2) return undefined;
  const here = { stack: '' };
  Error.captureStackTrace(here, emitEvent);
  const copy = findInstance(here.stack);
  return sessions.find(({ sessionId }) => copy?.startsWith(`${sessionId}-`));
}

/** The copy of a plugin that a stack trace leads to, by the innermost call that stands in one; null when none takes part. */
function findInstance(stack: string): string | null {
  const places = [...getModuleRegistry().placed].flatMap(([copy, placed]) =>
    placed
      .flatMap(({ urls }) => [...urls.values()])
      // With the line that follows: the URL of one copy begins that of another.
      .map((url) => ({ copy, at: stack.indexOf(`${url}:`) })),
  );
  const found = places.filter(({ at }) => at >= 0).toSorted((one, other) => one.at - other.at);
  return found[0]?.copy ?? null;
}

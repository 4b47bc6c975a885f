import { setMaxListeners } from 'node:events';

/** The end of an engine, which every dispatch obeys and which waits for every dispatch. */
export interface Shutdown {
  readonly signal: AbortSignal;
  /** A signal that aborts with the caller's or when the engine closes, whichever is first. */
  with(callers: AbortSignal | undefined): AbortSignal;
  /** A dispatch begins; what comes back must be called when it is over. */
  enter(): () => void;
  /** Aborts, and settles when no dispatch is under way. */
  close(): Promise<void>;
}

export function createShutdown(): Shutdown {
  const controller = new AbortController();
  const { signal } = controller;
  // A caller mostly has one signal for many dispatches, and Node.js 20 never forgets what it joined.
  const joined = new WeakMap<AbortSignal, AbortSignal>();
  let underWay = 0;
  let whenOver: (() => void)[] = [];
  // Many handlers at once listen to one signal, which Node.js 20 would report as a leak.
  setMaxListeners(0, signal);

  function join(callers: AbortSignal): AbortSignal {
    const both = AbortSignal.any([callers, signal]);
    setMaxListeners(0, both);
    joined.set(callers, both);
    return both;
  }

  function leave(): void {
    underWay -= 1;
    if (underWay > 0) return;
    for (const goOn of whenOver) goOn();
    whenOver = [];
  }

  return {
    signal,
    with: (callers) => (callers === undefined ? signal : (joined.get(callers) ?? join(callers))),
    enter() {
      underWay += 1;
      return leave;
    },
    async close() {
      controller.abort(new DOMException('the hook engine was closed', 'AbortError'));
      if (underWay > 0) await new Promise<void>((resolve) => whenOver.push(resolve));
    },
  };
}

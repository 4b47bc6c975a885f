import type { Skipped } from '../decision.ts';
import type { Handler, HandlerInput } from '../handler.ts';
import type { EventViews } from './views.ts';

/** What a handler is to be asked, or why it does not run at all. */
export type Plan = readonly HandlerInput[] | Skipped;

export function planHandler(handler: Handler, views: EventViews): Plan {
  // Most handlers fit nothing, and of many each allocation counts.
  let inputs: HandlerInput[] | null = null;
  let misfit: string | null = null;
  for (const { input, names } of views.in(handler.vocabulary)) {
    const why = handler.fits?.(input.event, names(), input.tool) ?? null;
    if (why === null) (inputs ??= []).push(input);
    else misfit ??= why;
  }
  if (inputs === null) return misfitOf(handler, misfit ?? 'nothing here for it to look at');
  const why = handler.withheld?.() ?? null;
  return why === null ? inputs : { hook: handler.id, kind: 'withheld', why };
}

/** A handler as the engine keeps it. */
export interface KeptHandler extends Handler {
  /** What was last said of it when it did not fit, to be said again: most never fit, and a thousand new objects per event keep the collector busy. */
  misfit?: Skipped | null;
}

function misfitOf(handler: KeptHandler, why: string): Skipped {
  const last = handler.misfit;
  if (last?.why === why) return last;
  const misfit: Skipped = { hook: handler.id, kind: 'misfit', why };
  // Only the engine's own copy has a place for it.
  if (last !== undefined) handler.misfit = misfit;
  return misfit;
}

/** The handlers that do not run because the same hook is configured again, each with the one that does. */
export type Repeats = ReadonlyMap<Handler, Handler>;

const NO_REPEATS: Repeats = new Map();

export function findRepeats(handlers: readonly Handler[], views: EventViews): Repeats {
  const twins = twinsAmong(handlers);
  if (twins.length === 0) return NO_REPEATS;
  const repeats = new Map<Handler, Handler>();
  for (const same of twins) {
    const running = same.map((handler) => ({ handler, inputs: inputsOf(handler, views) }));
    const last = running.findLast(({ inputs }) => inputs.length > 0);
    if (last === undefined) continue;
    for (const { handler, inputs } of running) {
      if (handler !== last.handler && isCovered(inputs, last.inputs)) {
        repeats.set(handler, last.handler);
      }
    }
  }
  return repeats;
}

const knownTwins = new WeakMap<readonly Handler[], readonly (readonly Handler[])[]>();

/** Handlers that share their `sameAs` with others, by that; looked for once in every list. */
function twinsAmong(handlers: readonly Handler[]): readonly (readonly Handler[])[] {
  const known = knownTwins.get(handlers);
  if (known !== undefined) return known;
  const bySame = new Map<string, Handler[]>();
  for (const handler of handlers) {
    if (handler.sameAs === undefined) continue;
    const others = bySame.get(handler.sameAs);
    if (others === undefined) bySame.set(handler.sameAs, [handler]);
    else others.push(handler);
  }
  const twins = [...bySame.values()].filter((same) => same.length > 1);
  knownTwins.set(handlers, twins);
  return twins;
}

/** The parts of the call that it would be asked about. */
function inputsOf(handler: Handler, views: EventViews): readonly HandlerInput[] {
  try {
    const plan = planHandler(handler, views);
    return 'why' in plan ? [] : plan;
  } catch {
    // It is reported as failed when its own turn comes; until then it stands in nobody's way.
    return [];
  }
}

/** A hook that is asked about some parts of a call must not stand for one that is asked about more. */
function isCovered(inputs: readonly HandlerInput[], by: readonly HandlerInput[]): boolean {
  return inputs.length > 0 && inputs.every((input) => by.includes(input));
}

export function skipRepeat(handler: Handler, running: Handler): Skipped {
  const why = `the same hook is configured again as ${running.id}, which runs`;
  return { hook: handler.id, kind: 'repeat', why };
}

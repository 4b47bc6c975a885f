import { systemClock } from '../../base/clock.ts';
import {
  createHookEngine as createEngine,
  type HookEngine,
  type HookEngineOptions,
} from '../../hooks/engine.ts';
import type { Moment } from '../../hooks/facts.ts';
import type { HandlerSource } from '../../hooks/handler.ts';
import { readSurroundings } from '../config.ts';
import { createMoment } from '../moment.ts';
import { type HookSearch, openHooks } from '../open-hooks.ts';

export interface EmbeddedEngineOptions extends Omit<HookEngineOptions, 'moment'> {
  /** What you know of your session; the rest is filled in. */
  readonly moment?: Partial<Moment>;
}

/** An engine for an agent of your own: give it sources of hooks, fire events, obey the verdicts. */
export function createHookEngine({ moment, ...options }: EmbeddedEngineOptions): HookEngine {
  const surroundings = readSurroundings();
  return createEngine({
    ...options,
    moment: createMoment({ surroundings, clock: systemClock, known: moment ?? {} }),
  });
}

/** Cline's file hooks of a workspace and of the person, as a source for `createHookEngine`. */
export function clineFiles(search: HookSearch = {}): HandlerSource {
  return openHooks(search).hookSet;
}

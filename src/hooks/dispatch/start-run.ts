import { getErrorMessage } from '../../base/errors.ts';
import type { BackgroundPool } from '../background.ts';
import type { HookEvent } from '../facts.ts';
import type { Handler } from '../handler.ts';
import { type HandlerProgress, type LateOutcome, tell } from '../observers.ts';
import type { PlannedRun } from './plan.ts';
import {
  backgroundRun,
  type HandlerRun,
  isPromise,
  killedRun,
  type Ran,
  runHandler,
  thrownRun,
} from './run-handler.ts';
import type { Started } from './settle.ts';

/** What all runs need. */
export interface RunPorts {
  readonly background: BackgroundPool;
  /** Aborts when the engine closes; ends what runs in the background. */
  readonly closing: AbortSignal;
  readonly onLate: ((late: LateOutcome) => void) | undefined;
  readonly onProgress: ((progress: HandlerProgress) => void) | undefined;
}

/** The dispatch that a run is part of. */
export interface RunRequest {
  readonly id: () => string;
  readonly event: HookEvent;
  /** Aborts with the caller's signal and when the engine closes. */
  readonly signal: AbortSignal;
}

/** Begins a run as it was planned. */
export function start(ports: RunPorts, request: RunRequest, run: PlannedRun): Started {
  if ('thrown' in run) return { run, result: thrownRun(run, run.thrown) };
  return { run, result: startRun(ports, request, run) };
}

/** Tells whoever watches. */
function startRun(ports: RunPorts, request: RunRequest, run: HandlerRun): Ran | Promise<Ran> {
  if (run.handler.background === true) {
    ports.background.add(() => runBeside(ports, request, run));
    return backgroundRun(run);
  }
  tellProgress(ports, 'start', run.handler);
  return endRun(ports, request, runHandler(run, request.signal));
}

/** The rest of a run whose handler was asked already. */
export function endRun(
  ports: RunPorts,
  request: RunRequest,
  running: Ran | Promise<Ran>,
): Ran | Promise<Ran> {
  const finish = (ran: Ran): Ran => {
    tellProgress(ports, 'end', ran.handler);
    if (ran.late !== null) ports.background.track(announceLate(ports, request, ran.late));
    return ran;
  };
  return isPromise(running) ? running.then(finish) : finish(running);
}

export function tellProgress(
  { onProgress }: RunPorts,
  type: HandlerProgress['type'],
  { id: hook, event }: Handler,
): void {
  tell(onProgress, { type, hook, event });
}

async function runBeside(ports: RunPorts, request: RunRequest, run: HandlerRun): Promise<void> {
  const why = ports.closing.aborted
    ? 'was not started before the engine closed'
    : whyNoLonger(run.handler);
  const ran = why === null ? await runHandler(run, ports.closing) : killedRun(run, why);
  await announceLate(ports, request, ran.late ?? ran);
}

/** It may have waited for its turn, and what was trusted when it was chosen may have changed since. */
function whyNoLonger(handler: Handler): string | null {
  try {
    const why = handler.withheld?.() ?? null;
    return why === null ? null : `was not started: ${why}`;
  } catch (error) {
    return `was not started: whether it may run could not be found out: ${getErrorMessage(error)}`;
  }
}

async function announceLate(
  ports: RunPorts,
  { id, event }: RunRequest,
  late: Ran | Promise<Ran>,
): Promise<void> {
  const { outcome } = await late;
  tell(ports.onLate, { dispatchId: id(), event, outcome });
}

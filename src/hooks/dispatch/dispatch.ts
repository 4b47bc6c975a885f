import type { BackgroundPool } from './background.ts';
import { isRefusal, type Outcome, type Skipped, type Verdict } from '../decision.ts';
import type { HandlerProgress, LateOutcome } from '../observers.ts';
import { EVENTS } from '../events.ts';
import type { HookEvent } from '../facts.ts';
import type { Handler } from '../handler.ts';
import { mergeOutcomes } from '../merge.ts';
import { planHandler } from './plan.ts';
import { composeRewrites, knowsFinalInput, rewriteFailure, withInput } from './rewrites.ts';
import { backgroundRun, type HandlerRun, isPromise, type Ran, runHandler } from './run-handler.ts';
import { settleAll, type Started } from './settle.ts';
import { type EventViews, faceContext, type ReadText, viewEvent } from './views.ts';

export interface DispatchPorts {
  readonly background: BackgroundPool;
  /** Aborts when the engine closes; ends what runs in the background. */
  readonly closing: AbortSignal;
  readonly readText: ReadText | undefined;
  readonly onLate: ((late: LateOutcome) => void) | undefined;
  readonly onProgress: ((progress: HandlerProgress) => void) | undefined;
}

export interface DispatchRequest {
  readonly id: string;
  readonly event: HookEvent;
  readonly handlers: readonly Handler[];
  readonly signal: AbortSignal;
}

export interface Dispatched {
  readonly verdict: Verdict;
  readonly aborted: boolean;
}

export type RunDispatch = (request: DispatchRequest) => Promise<Dispatched>;

/** Both passes over the handlers of one event, then the merge. */
export function createDispatch(ports: DispatchPorts): RunDispatch {
  return async (request) => {
    const first = await runFirstPass(ports, request);
    const context = faceContext(request.event, ports.readText);
    const rewritten = composeRewrites(request.event, first.ran, context);
    const merge = (ran: readonly Ran[]): Verdict =>
      mergeOutcomes(
        {
          event: request.event.name,
          stop: EVENTS[request.event.name].stop,
          changes: EVENTS[request.event.name].changes,
          rewrittenInput: rewritten?.input ?? null,
        },
        ran.map((one) => one.outcome),
        first.skipped,
      );
    const verdict = merge(first.ran);
    if (request.signal.aborted) return { verdict, aborted: true };
    if (rewritten === null || isRefusal(verdict.effect)) return { verdict, aborted: false };
    const second = await runSecondPass(ports, request, first.ran, rewritten.input);
    return { verdict: merge([...first.ran, ...second]), aborted: request.signal.aborted };
  };
}

export function emptyVerdict(event: string): Verdict {
  return {
    event,
    effect: 'pass',
    stop: null,
    reasons: [],
    input: null,
    output: null,
    changes: {},
    context: [],
    messages: [],
    outcomes: [],
    skipped: [],
    slowest: null,
  };
}

interface Pass {
  readonly ran: readonly Ran[];
  readonly skipped: readonly Skipped[];
}

async function runFirstPass(ports: DispatchPorts, request: DispatchRequest): Promise<Pass> {
  const started: Started[] = [];
  const skipped: Skipped[] = [];
  let views = viewEvent(request.event, ports.readText);
  for (const handler of request.handlers) {
    if (handler.inOrder === true) {
      const before = await settleAll(started, request.signal);
      const refusedBy = earlierRefusal(before, handler);
      if (refusedBy !== null) {
        skipped.push({ hook: handler.id, why: `after ${refusedBy} refused` });
        continue;
      }
      views = viewsAfter(ports, request, before);
    }
    const planned = planHandler(handler, views);
    if (typeof planned === 'string') skipped.push({ hook: handler.id, why: planned });
    else started.push(...planned.map((input) => start(ports, request, { handler, input, pass: 1 })));
  }
  return { ran: await settleAll(started, request.signal), skipped };
}

async function runSecondPass(
  ports: DispatchPorts,
  request: DispatchRequest,
  first: readonly Ran[],
  input: unknown,
): Promise<readonly Ran[]> {
  const views = viewEvent(withInput(request.event, input), ports.readText);
  const started: Started[] = [];
  for (const handler of request.handlers) {
    if (handler.background === true) continue;
    const planned = planHandler(handler, views);
    if (typeof planned === 'string') continue;
    const unseen = planned.filter(
      ({ tool }) =>
        !knowsFinalInput(first, {
          handlerId: handler.id,
          part: tool?.part ?? null,
          input: tool?.input,
        }),
    );
    started.push(...unseen.map((seen) => start(ports, request, { handler, input: seen, pass: 2 })));
  }
  return settleAll(started, request.signal);
}

function start(ports: DispatchPorts, request: DispatchRequest, run: HandlerRun): Started {
  return { run, result: startRun(ports, request, run) };
}

function startRun(
  ports: DispatchPorts,
  request: DispatchRequest,
  run: HandlerRun,
): Ran | Promise<Ran> {
  if (run.handler.background === true) {
    ports.background.add(async () => {
      announceLate(ports, request, await runHandler(run, ports.closing));
    });
    return backgroundRun(run);
  }
  const { id: hook, event } = run.handler;
  ports.onProgress?.({ type: 'start', hook, event });
  const running = runHandler(run, request.signal);
  const finish = (ran: Ran): Ran => {
    ports.onProgress?.({ type: 'end', hook, event });
    void ran.late?.then((late) => announceLate(ports, request, late));
    return withUsableRewrite(ports, request, ran);
  };
  return isPromise(running) ? running.then(finish) : finish(running);
}

function announceLate(ports: DispatchPorts, { id, event }: DispatchRequest, ran: Ran): void {
  ports.onLate?.({ dispatchId: id, event, outcome: ran.outcome });
}

function withUsableRewrite(ports: DispatchPorts, request: DispatchRequest, ran: Ran): Ran {
  const context = faceContext(request.event, ports.readText);
  const failure = rewriteFailure(request.event, ran, context);
  if (failure === null) return ran;
  const effect = ran.outcome.onFailure === 'closed' ? 'deny' : 'pass';
  const outcome: Outcome = { ...ran.outcome, status: 'failed', effect, failure, decision: null };
  return { ...ran, outcome };
}

function earlierRefusal(ran: readonly Ran[], handler: Handler): string | null {
  const refusing = ran.find(
    ({ handler: other, outcome }) =>
      other.inOrder === true && other.dialect === handler.dialect && isRefusal(outcome.effect),
  );
  return refusing?.handler.id ?? null;
}

function viewsAfter(
  ports: DispatchPorts,
  { event }: DispatchRequest,
  before: readonly Ran[],
): EventViews {
  const rewritten = composeRewrites(event, before, faceContext(event, ports.readText));
  return viewEvent(rewritten === null ? event : withInput(event, rewritten.input), ports.readText);
}

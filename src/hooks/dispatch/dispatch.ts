import { messageOf } from '../../base/errors.ts';
import type { BackgroundPool } from './background.ts';
import { isRefusal, type Skipped, type Verdict } from '../decision.ts';
import { type HandlerProgress, type LateOutcome, tell } from '../observers.ts';
import { EVENTS, withChanges } from '../events.ts';
import type { HookEvent } from '../facts.ts';
import type { Handler } from '../handler.ts';
import { mergeOutcomes } from '../merge.ts';
import {
  type Candidate,
  findRepeats,
  isSkipped,
  planHandler,
  type Repeats,
  skipRepeat,
} from './plan.ts';
import { type AppliedRewrites, applyRewrites, knowsFinalInput, withInput } from './rewrites.ts';
import {
  backgroundRun,
  type HandlerRun,
  isPromise,
  killedRun,
  type Ran,
  runHandler,
  thrownRun,
} from './run-handler.ts';
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
  readonly handlers: readonly Candidate[];
  /** Who looked at the call before, when this event may rewrite it after them. */
  readonly gates: readonly Candidate[];
  /** Aborts with the caller's signal and when the engine closes. */
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
    const { ran, rewritten } = applied(ports, request, first.ran);
    const merge = (passes: Pass): Verdict =>
      mergeOutcomes(
        {
          event: request.event.name,
          stop: EVENTS[request.event.name].stop,
          changes: EVENTS[request.event.name].changes,
          rewrittenInput: rewritten?.input ?? null,
        },
        passes.ran.map((one) => one.outcome),
        passes.skipped,
      );
    const verdict = merge({ ran, skipped: first.skipped });
    if (request.signal.aborted) return { verdict, aborted: true };
    if (rewritten === null || isRefusal(verdict.effect)) return { verdict, aborted: false };
    const final = withInput(request.event, rewritten.input);
    const second = await runSecondPass(ports, { ...request, event: final }, ran);
    const gates = await askGatesAgain(ports, { ...request, event: final });
    const looked = { ran: [...second.ran, ...gates.ran], skipped: second.skipped };
    return {
      verdict: merge(bothPasses({ ran, skipped: first.skipped }, looked)),
      aborted: request.signal.aborted,
    };
  };
}

function bothPasses(first: Pass, second: Pass): Pass {
  const late = new Set(second.ran.map(({ handler }) => handler.id));
  return {
    ran: [...first.ran, ...second.ran],
    skipped: [...first.skipped.filter(({ hook }) => !late.has(hook)), ...second.skipped],
  };
}

interface Pass {
  readonly ran: readonly Ran[];
  readonly skipped: readonly Skipped[];
}

async function runFirstPass(ports: DispatchPorts, request: DispatchRequest): Promise<Pass> {
  const { event, handlers, signal } = request;
  const original = viewEvent(event, ports.readText);
  const first: PlanOfPass = { views: original, repeats: findRepeats(handlers, original), pass: 1 };
  const begun = beginPass(ports, request);
  let plan = first;
  let next = begun.untilOrdered(0, plan);
  for (let ordered = handlers[next]; ordered !== undefined; ordered = handlers[next]) {
    const before = applied(ports, request, await settleAll(begun.started, signal));
    const why = endOfChain(before.ran, ordered.handler, signal);
    if (why === null) {
      const seen = eventAfter(event, before);
      plan = seen === event ? first : { ...first, views: viewEvent(seen, ports.readText) };
      begun.add(planRuns(ordered, plan));
    } else {
      begun.add({ hook: ordered.handler.id, kind: 'order', why });
    }
    next = begun.untilOrdered(next + 1, plan);
  }
  return { ran: await settleAll(begun.started, signal), skipped: begun.skipped };
}

interface BegunPass {
  readonly started: readonly Started[];
  readonly skipped: readonly Skipped[];
  add(planned: PlannedRun[] | Skipped): void;
  /** Begins the handlers from there on that wait for nobody; the place of the first that does. */
  untilOrdered(from: number, plan: PlanOfPass): number;
}

function beginPass(ports: DispatchPorts, request: DispatchRequest): BegunPass {
  const { handlers } = request;
  const started: Started[] = [];
  const skipped: Skipped[] = [];
  const add: BegunPass['add'] = (planned) => {
    if (isSkipped(planned)) skipped.push(planned);
    else started.push(...planned.map((run) => start(ports, request, run)));
  };
  return {
    started,
    skipped,
    add,
    untilOrdered(from, plan) {
      let at = from;
      for (; at < handlers.length; at += 1) {
        const candidate = handlers[at];
        if (candidate === undefined || candidate.isOrdered) break;
        add(planRuns(candidate, plan));
      }
      return at;
    },
  };
}

async function runSecondPass(
  ports: DispatchPorts,
  request: DispatchRequest,
  first: readonly Ran[],
): Promise<Pass> {
  const views = viewEvent(request.event, ports.readText);
  const repeats = findRepeats(request.handlers, views);
  const plan: PlanOfPass = { views, repeats, pass: 2 };
  const started: Started[] = [];
  const skipped: Skipped[] = [];
  for (const candidate of request.handlers) {
    const { handler } = candidate;
    if (handler.background === true) continue;
    const planned = planRuns(candidate, plan);
    if (isSkipped(planned)) {
      skipped.push(...withheldSince(first, planned));
      continue;
    }
    const unseen = planned.filter(({ input }) => !knowsFinalInput(first, handler.id, input.tool));
    started.push(...unseen.map((run) => start(ports, request, run)));
  }
  return { ran: await settleAll(started, request.signal), skipped };
}

/** A call that is rewritten after it passed the gates of PreToolUse goes back to them. */
async function askGatesAgain(ports: DispatchPorts, request: DispatchRequest): Promise<Pass> {
  const { event, gates } = request;
  if (event.name !== 'PermissionRequest' || gates.length === 0) return { ran: [], skipped: [] };
  const call: HookEvent = { ...event, name: 'PreToolUse' };
  return runSecondPass(ports, { ...request, event: call, handlers: gates }, []);
}

/** A hook that was asked about the first input and may not be asked about the final one. */
function withheldSince(first: readonly Ran[], { hook, kind, why }: Skipped): Skipped[] {
  if (kind !== 'withheld' || !first.some((ran) => ran.handler.id === hook)) return [];
  return [{ hook, kind, why: `no second look at the rewritten input: ${why}` }];
}

interface PlannedRun extends HandlerRun {
  /** What the handler threw when it was asked whether it fits. */
  readonly thrown?: unknown;
}

interface PlanOfPass {
  readonly views: EventViews;
  readonly repeats: Repeats;
  readonly pass: 1 | 2;
}

function planRuns(
  candidate: Candidate,
  { views, repeats, pass }: PlanOfPass,
): PlannedRun[] | Skipped {
  const { handler } = candidate;
  try {
    const planned = planHandler(candidate, views);
    if (isSkipped(planned)) return planned;
    const running = repeats.get(candidate);
    if (running !== undefined) return skipRepeat(candidate, running);
    return planned.map((input) => ({ handler, input, pass }));
  } catch (thrown) {
    return [{ handler, input: { event: views.event, tool: null }, pass, thrown }];
  }
}

function start(ports: DispatchPorts, request: DispatchRequest, run: PlannedRun): Started {
  if ('thrown' in run) return { run, result: thrownRun(run, run.thrown) };
  return { run, result: startRun(ports, request, run) };
}

function startRun(
  ports: DispatchPorts,
  request: DispatchRequest,
  run: HandlerRun,
): Ran | Promise<Ran> {
  if (run.handler.background === true) {
    ports.background.add(() => runBeside(ports, request, run));
    return backgroundRun(run);
  }
  const { id: hook, event } = run.handler;
  tell(ports.onProgress, { type: 'start', hook, event });
  const running = runHandler(run, request.signal);
  const finish = (ran: Ran): Ran => {
    tell(ports.onProgress, { type: 'end', hook, event });
    if (ran.late !== null) ports.background.track(announceLate(ports, request, ran.late));
    return ran;
  };
  return isPromise(running) ? running.then(finish) : finish(running);
}

async function runBeside(
  ports: DispatchPorts,
  request: DispatchRequest,
  run: HandlerRun,
): Promise<void> {
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
    return `was not started: whether it may run could not be found out: ${messageOf(error)}`;
  }
}

async function announceLate(
  ports: DispatchPorts,
  { id, event }: DispatchRequest,
  late: Ran | Promise<Ran>,
): Promise<void> {
  const { outcome } = await late;
  tell(ports.onLate, { dispatchId: id, event, outcome });
}

/** Why the rest of an ordered chain does not run, or null when it goes on. */
function endOfChain(ran: readonly Ran[], handler: Handler, signal: AbortSignal): string | null {
  if (signal.aborted) return 'the dispatch was aborted before its turn';
  const refusing = ran.find(
    ({ handler: other, outcome }) =>
      other.inOrder === true && other.dialect === handler.dialect && isRefusal(outcome.effect),
  );
  return refusing === undefined ? null : `after ${refusing.handler.id} refused`;
}

function applied(
  ports: DispatchPorts,
  { event }: DispatchRequest,
  ran: readonly Ran[],
): AppliedRewrites {
  return applyRewrites(event, ran, faceContext(event, ports.readText));
}

/** The event as the handlers so far have left it; the same object when they changed nothing of it. */
function eventAfter(event: HookEvent, { ran, rewritten }: AppliedRewrites): HookEvent {
  const seen = rewritten === null ? event : withInput(event, rewritten.input);
  return ran.reduce((left, { outcome }) => withChanges(left, outcome.decision ?? {}), seen);
}

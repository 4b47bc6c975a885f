import { isRefusal, type Skipped, type Verdict } from './decision.ts';
import { EVENTS, withChanges } from './events.ts';
import type { HookEvent } from './facts.ts';
import type { Handler } from './handler.ts';
import { mergeOutcomes, mergePasses } from './merge.ts';
import {
  beginWave,
  type Candidate,
  findRepeats,
  isSkipped,
  type PlannedRun,
  type PlanOfPass,
  planRuns,
} from './plan.ts';
import {
  type AppliedRewrites,
  applyChangesInPlace,
  applyRewrites,
  knowsFinalInput,
  type Looked,
  withInput,
} from './rewrites.ts';
import type { Ran } from './run-handler.ts';
import { waitForHandlers, type Started } from './wait-for-handlers.ts';
import { type RunPorts, type RunRequest, start } from './start-run.ts';
import { goStraight, passedRuns, type StraightWay } from './straight.ts';
import { faceContext, type ReadText, viewEvent } from './event-views.ts';

export interface DispatchPorts extends RunPorts {
  readonly readText: ReadText | undefined;
}

export interface DispatchRequest extends RunRequest {
  readonly handlers: readonly Candidate[];
  /** Who looked at the call before, when this event may rewrite it after them. */
  readonly gates: readonly Candidate[];
}

export interface Dispatched {
  readonly verdict: Verdict;
  readonly aborted: boolean;
}

/** At once when all handlers answered at once and had nothing to say. */
export type RunDispatch = (request: DispatchRequest) => Dispatched | Promise<Dispatched>;

/** Both passes over the handlers of one event, then the merge. */
export function createDispatch(ports: DispatchPorts): RunDispatch {
  return (request) => {
    const { event, handlers, signal } = request;
    const views = viewEvent(event, ports.readText);
    const wave = beginWave();
    const repeats = findRepeats(handlers, views, wave);
    const plan: PlanOfPass = { views, repeats, pass: 1, wave };
    const way = goStraight(ports, request, plan);
    const isOver = way.next === handlers.length && way.started.length === 0;
    if (!isOver || isChangedInPlace(event)) {
      return runPasses(ports, request, { plan, way });
    }
    return {
      verdict: mergePasses(event.name, way.outcomes, way.skipped),
      aborted: signal.aborted,
    };
  };
}

/** What is left to do of a dispatch in which somebody has something to say. */
async function runPasses(
  ports: DispatchPorts,
  request: DispatchRequest,
  begun: FirstPass,
): Promise<Dispatched> {
  const first = await runFirstPass(ports, request, begun);
  const said = applied(ports, request, first.ran);
  const context = faceContext(request.event, ports.readText);
  const { ran, rewritten } = applyChangesInPlace(request.event, said, context);
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
  const { isInPlace } = rewritten;
  const second = await runSecondPass(ports, { ...request, event: final }, { ran, isInPlace });
  const gates = await askGatesAgain(ports, { ...request, event: final });
  const looked = { ran: [...second.ran, ...gates.ran], skipped: second.skipped };
  return {
    verdict: merge(bothPasses({ ran, skipped: first.skipped }, looked)),
    aborted: request.signal.aborted,
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

/** The first pass, as far as it went straight on. */
interface FirstPass {
  readonly plan: PlanOfPass;
  readonly way: StraightWay;
}

async function runFirstPass(
  ports: DispatchPorts,
  request: DispatchRequest,
  { plan: first, way }: FirstPass,
): Promise<Pass> {
  const { event, handlers, signal } = request;
  const begun = beginPass(ports, request, { plan: first, way });
  let { views } = first;
  let next = begun.untilOrdered(way.next, first);
  for (let ordered = handlers[next]; ordered !== undefined; ordered = handlers[next]) {
    const before = applied(ports, request, await waitForHandlers(begun.started, signal));
    const why = endOfChain(before.ran, ordered.handler, signal);
    if (why === null) {
      const seen = eventAfter(event, before);
      views = seen === event ? first.views : viewEvent(seen, ports.readText);
    }
    const plan = { ...first, views, wave: beginWave() };
    const { id: hook } = ordered.handler;
    begun.add(why === null ? planRuns(ordered, plan) : { hook, kind: 'order', why });
    next = begun.untilOrdered(next + 1, plan);
  }
  return { ran: await waitForHandlers(begun.started, signal), skipped: begun.skipped };
}

interface BegunPass {
  readonly started: readonly Started[];
  readonly skipped: readonly Skipped[];
  add(planned: PlannedRun[] | Skipped): void;
  /** Begins the handlers from there on that wait for nobody; the place of the first that does. */
  untilOrdered(from: number, plan: PlanOfPass): number;
}

function beginPass(
  ports: DispatchPorts,
  request: DispatchRequest,
  { plan, way }: FirstPass,
): BegunPass {
  const { handlers } = request;
  const passed = passedRuns(request, plan, way);
  const started: Started[] = [...passed.map((run) => ({ run, result: run })), ...way.started];
  const skipped = [...way.skipped];
  const add: BegunPass['add'] = (planned) => {
    if (isSkipped(planned)) skipped.push(planned);
    else started.push(...planned.map((run) => start(ports, request, run)));
  };
  return {
    started,
    skipped,
    add,
    untilOrdered(from, seen) {
      const runs: PlannedRun[] = [];
      let at = from;
      for (; at < handlers.length; at += 1) {
        const candidate = handlers[at];
        if (candidate === undefined || candidate.isOrdered) break;
        const planned = planRuns(candidate, seen);
        if (isSkipped(planned)) skipped.push(planned);
        else runs.push(...planned);
      }
      add(runs.length > 1 ? runs.map(prepareRun) : runs);
      return at;
    },
  };
}

function prepareRun(run: PlannedRun): PlannedRun {
  try {
    run.handler.prepare?.(run.input);
    return run;
  } catch (thrown) {
    return { ...run, thrown };
  }
}

async function runSecondPass(
  ports: DispatchPorts,
  request: DispatchRequest,
  first: Looked,
): Promise<Pass> {
  const views = viewEvent(request.event, ports.readText);
  const wave = beginWave();
  const repeats = findRepeats(request.handlers, views, wave);
  const plan: PlanOfPass = { views, repeats, pass: 2, wave };
  const started: Started[] = [];
  const skipped: Skipped[] = [];
  for (const candidate of request.handlers) {
    const { handler } = candidate;
    if (handler.background === true) continue;
    const planned = planRuns(candidate, plan);
    if (isSkipped(planned)) {
      skipped.push(...withheldSince(first.ran, planned));
      continue;
    }
    const unseen = planned.filter(({ input }) => !knowsFinalInput(first, handler.id, input.tool));
    started.push(...unseen.map((run) => start(ports, request, run)));
  }
  return { ran: await waitForHandlers(started, request.signal), skipped };
}

/** A call that is rewritten after it passed the gates of PreToolUse goes back to them. */
async function askGatesAgain(ports: DispatchPorts, request: DispatchRequest): Promise<Pass> {
  const { event, gates } = request;
  if (event.name !== 'PermissionRequest' || gates.length === 0) return { ran: [], skipped: [] };
  const call: HookEvent = { ...event, name: 'PreToolUse' };
  const nobody = { ran: [], isInPlace: false };
  return runSecondPass(ports, { ...request, event: call, handlers: gates }, nobody);
}

/** A hook that was asked about the first input and may not be asked about the final one. */
function withheldSince(first: readonly Ran[], { hook, kind, why }: Skipped): Skipped[] {
  if (kind !== 'withheld' || !first.some((ran) => ran.handler.id === hook)) return [];
  return [{ hook, kind, why: `no second look at the rewritten input: ${why}` }];
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

function isChangedInPlace(event: HookEvent): boolean {
  return 'handed' in event && event.handed !== undefined && event.handed.changes().length > 0;
}

/** The event as the handlers so far have left it; the same object when they changed nothing of it. */
function eventAfter(event: HookEvent, { ran, rewritten }: AppliedRewrites): HookEvent {
  const seen = rewritten === null ? event : withInput(event, rewritten.input);
  return ran.reduce((left, { outcome }) => withChanges(left, outcome.decision ?? {}), seen);
}

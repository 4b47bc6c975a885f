import { systemClock } from '../base/clock.ts';
import { isRefusal, type Skipped, type Verdict } from './decision.ts';
import { createViewContext, EventViews, type ReadText } from './event-views.ts';
import { EVENTS, withChanges } from './events.ts';
import type { HookEvent } from './facts.ts';
import type { Handler } from './handler.ts';
import { mergeOutcomes, hasAnswer } from './merge.ts';
import { recordExchanges } from './dispatch-record.ts';
import { type Candidate, createRun, type EndedRun, type HandlerRun, Planner } from './plan.ts';
import {
  type AppliedRewrites,
  applyChangesInPlace,
  applyRewrites,
  hasSeenFinalInput,
  withInput,
} from './rewrites.ts';
import { createThrownOutcome, type DispatchContext, runHandler } from './run-handler.ts';
import { waitForHandlers } from './wait-for-handlers.ts';

/** The handlers of one event, and what their dispatch needs besides. */
export interface Dispatch extends DispatchContext {
  readonly candidates: readonly Candidate[];
  /** Who looked at the call before, when this event may rewrite it after them. */
  readonly gates: readonly Candidate[];
  readonly readText: ReadText | undefined;
}

/** Runs both passes over the handlers of one event and merges them. Rejects only when the signal aborts. */
export async function runDispatch(dispatch: Dispatch): Promise<Verdict> {
  const { event, signal } = dispatch;
  const first = await runFirstPass(dispatch);
  const { ran, rewritten } = applyChangesInPlace(
    event,
    applyAll(dispatch, first.ended),
    createViewContext(event, dispatch.readText),
  );
  const input = rewritten?.input ?? null;
  const verdict = merge(event, { ended: ran, skipped: first.skipped }, input);
  if (rewritten === null || signal.aborted || isRefusal(verdict.effect)) {
    return finish(dispatch, ran, verdict);
  }
  const final = { ...dispatch, event: withInput(event, rewritten.input) };
  const second = await runSecondPass(final, ran, rewritten.isInPlace);
  const gates = await askGatesAgain(final);
  const again = new Set([...second.ended, ...gates].map(({ handler }) => handler.id));
  const ended = [...ran, ...second.ended, ...gates];
  const skipped = [...first.skipped.filter(({ hook }) => !again.has(hook)), ...second.skipped];
  return finish(dispatch, ended, merge(event, { ended, skipped }, input));
}

function merge(
  { name }: HookEvent,
  { ended, skipped }: PassResult,
  rewrittenInput: unknown,
): Verdict {
  const { stop, changes } = EVENTS[name];
  const outcomes = ended.map(({ outcome }) => outcome);
  return mergeOutcomes({ event: name, stop, changes, rewrittenInput }, outcomes, skipped);
}

/** Reports the dispatch to subscribers; throws when it was aborted. */
function finish(
  { id, event, signal, subscribers }: Dispatch,
  ended: readonly EndedRun[],
  verdict: Verdict,
): Verdict {
  const { aborted } = signal;
  if (subscribers.wantsRecords) {
    const exchanges = recordExchanges(ended);
    subscribers.notifyDispatch({ id: id(), event, verdict, aborted, exchanges });
  }
  if (aborted) signal.throwIfAborted();
  return verdict;
}

interface PassResult {
  readonly ended: readonly EndedRun[];
  readonly skipped: readonly Skipped[];
}

/** The runs of one pass over the handlers, in declared order. */
class Pass implements PassResult {
  readonly skipped: Skipped[] = [];
  /** Whether a handler has answered anything but a plain pass. */
  hasAnswer = false;
  readonly #dispatch: Dispatch;
  readonly #runs: HandlerRun[] = [];
  #started = 0;
  /** When the last handler ended, if the next one starts right then: reading the clock takes longer than most handlers. */
  #idleSince: number | null = null;
  #pending: Promise<void>[] = [];

  constructor(dispatch: Dispatch) {
    this.#dispatch = dispatch;
  }

  get ended(): readonly EndedRun[] {
    return this.#runs.filter((run) => isEnded(run));
  }

  /** Whether a handler was started that has not answered yet. */
  get isWaiting(): boolean {
    return this.#pending.length > 0;
  }

  /** Plans a candidate. One that throws meanwhile has failed. */
  plan(candidate: Candidate, planner: Planner): void {
    const { isUnconditional, condition } = candidate;
    if (!isUnconditional || !planner.views.has(condition.vocabulary)) this.#idleSince = null;
    try {
      const skipped = planner.plan(candidate, this.#runs);
      if (skipped !== null) this.skipped.push(skipped);
    } catch (error) {
      const input = { event: planner.views.event, tool: null };
      const run = createRun(candidate.handler, input, planner.pass);
      run.outcome = createThrownOutcome(run, error);
      this.#runs.push(run);
    }
  }

  /** Drops runs that were planned and not started. */
  drop(isUnneeded: (run: HandlerRun) => boolean): void {
    const planned = this.#runs.splice(this.#started);
    this.#runs.push(...planned.filter((run) => !isUnneeded(run)));
  }

  /** Starts what was planned since the last start, all of it together. */
  start(): void {
    // Several are prepared first, because Node.js is slow for a while after it started a process.
    if (this.#runs.length - this.#started > 1) this.#runs.slice(this.#started).forEach(prepareRun);
    for (; this.#started < this.#runs.length; this.#started += 1) {
      const run = this.#runs[this.#started];
      if (run === undefined) return;
      const startedAt = this.#idleSince ?? systemClock.elapsed();
      const pending = run.outcome === null ? runHandler(run, this.#dispatch, startedAt) : null;
      this.#idleSince = Number.isNaN(run.endedAt) ? null : run.endedAt;
      if (pending !== null) this.#pending.push(pending);
      else if (run.outcome !== null && hasAnswer(run.outcome)) this.hasAnswer = true;
    }
  }

  async wait(): Promise<void> {
    await waitForHandlers(this.#runs, this.#pending, this.#dispatch.signal);
    this.#pending = [];
    this.#idleSince = null;
    this.hasAnswer = this.ended.some(({ outcome }) => hasAnswer(outcome));
  }
}

function isEnded(run: HandlerRun): run is EndedRun {
  return run.outcome !== null;
}

function prepareRun(run: HandlerRun): void {
  try {
    if (run.outcome === null) run.handler.prepare?.(run.input);
  } catch (error) {
    run.outcome = createThrownOutcome(run, error);
  }
}

/** All handlers up to the next one in order start together; one in order waits for all before it. */
async function runFirstPass(dispatch: Dispatch): Promise<PassResult> {
  const { candidates, readText, event, signal } = dispatch;
  const pass = new Pass(dispatch);
  const views = new EventViews(event, readText);
  let planner = new Planner(views, 1, candidates);
  for (const candidate of candidates) {
    if (candidate.isOrdered) {
      pass.start();
      if (pass.isWaiting) {
        await pass.wait();
        planner = planner.renew();
      }
      const before = pass.hasAnswer ? applyAll(dispatch, pass.ended) : NOTHING_SAID;
      const why = findChainEnd(before, candidate.handler, signal);
      if (why !== null) {
        pass.skipped.push({ hook: candidate.handler.id, kind: 'order', why });
        continue;
      }
      const changed = changeEvent(event, before);
      if (changed !== planner.views.event) {
        planner = planner.renew(changed === event ? views : new EventViews(changed, readText));
      }
    }
    pass.plan(candidate, planner);
  }
  pass.start();
  if (pass.isWaiting) await pass.wait();
  return pass;
}

/** Shows the rewritten input to every handler that has not seen it. */
async function runSecondPass(
  dispatch: Dispatch,
  first: readonly EndedRun[],
  isInPlace: boolean,
): Promise<PassResult> {
  const { candidates, readText, event } = dispatch;
  const pass = new Pass(dispatch);
  const planner = new Planner(new EventViews(event, readText), 2, candidates);
  for (const candidate of candidates) {
    if (candidate.handler.background !== true) pass.plan(candidate, planner);
  }
  pass.drop((run) => hasSeenFinalInput(first, run, isInPlace));
  pass.start();
  if (pass.isWaiting) await pass.wait();
  return { ended: pass.ended, skipped: selectWithheldSince(first, pass.skipped) };
}

/** A call that is rewritten after it passed the gates of PreToolUse goes back to them. */
async function askGatesAgain(dispatch: Dispatch): Promise<readonly EndedRun[]> {
  const { event, gates } = dispatch;
  if (event.name !== 'PermissionRequest' || gates.length === 0) return [];
  const call: HookEvent = { ...event, name: 'PreToolUse' };
  const pass = await runSecondPass({ ...dispatch, event: call, candidates: gates }, [], false);
  return pass.ended;
}

/** Hooks that were asked about the first input and may not be asked about the final one. */
function selectWithheldSince(first: readonly EndedRun[], skipped: readonly Skipped[]): Skipped[] {
  const asked = new Set(first.map(({ handler }) => handler.id));
  return skipped
    .filter(({ hook, kind }) => kind === 'withheld' && asked.has(hook))
    .map(({ hook, kind, why }) => ({
      hook,
      kind,
      why: `no second look at the rewritten input: ${why}`,
    }));
}

const NOTHING_SAID: AppliedRewrites = { ran: [], rewritten: null };

/** Why the rest of an ordered chain does not run, or null when it goes on. */
function findChainEnd(
  { ran }: AppliedRewrites,
  { dialect }: Handler,
  signal: AbortSignal,
): string | null {
  if (signal.aborted) return 'the dispatch was aborted before its turn';
  const refusing = ran.find(
    ({ handler, outcome }) =>
      handler.inOrder === true && handler.dialect === dialect && isRefusal(outcome.effect),
  );
  return refusing === undefined ? null : `after ${refusing.handler.id} refused`;
}

function applyAll({ event, readText }: Dispatch, ended: readonly EndedRun[]): AppliedRewrites {
  return applyRewrites(event, ended, createViewContext(event, readText));
}

/** The event as the handlers so far have left it; the same object when they changed nothing of it. */
function changeEvent(event: HookEvent, { ran, rewritten }: AppliedRewrites): HookEvent {
  const withNewInput = rewritten === null ? event : withInput(event, rewritten.input);
  return ran.reduce(
    (changed, { outcome }) => withChanges(changed, outcome.decision ?? {}),
    withNewInput,
  );
}

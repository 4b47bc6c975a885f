import { systemClock } from '../base/clock.ts';
import { getErrorMessage } from '../base/errors.ts';
import type { BackgroundPool } from './background.ts';
import { findAnswerProblem } from './check-answer.ts';
import {
  type Decision,
  type Failure,
  type FailurePolicy,
  NO_DECISION,
  type Outcome,
} from './decision.ts';
import { EVENTS } from './events.ts';
import type { HookEvent } from './facts.ts';
import type { Answer, Exchange, Handler, ProgramReport } from './handler.ts';
import { type DispatchSubscribers, recordExchanges } from './dispatch-record.ts';
import type { HandlerRun } from './plan.ts';
import { restrictDecision } from './restrict-decision.ts';
import { type GivenAnswer, runWithinLimit } from './time-limit.ts';

/** The dispatch that handlers are run for. */
export interface DispatchContext {
  readonly id: () => string;
  readonly event: HookEvent;
  /** Aborts with the caller's signal and when the engine closes. */
  readonly signal: AbortSignal;
  /** Aborts when the engine closes; ends what runs in the background. */
  readonly shutdown: AbortSignal;
  readonly background: BackgroundPool;
  readonly subscribers: DispatchSubscribers;
}

/**
 * Runs a handler and sets the outcome of its run, whatever the handler does, throwing and hanging
 * included. Returns null when that has happened at once, else a promise that never rejects.
 */
export function runHandler(
  run: HandlerRun,
  context: DispatchContext,
  startedAt: number,
): Promise<void> | null {
  const { handler } = run;
  const { subscribers, background } = context;
  if (handler.background === true) {
    background.add(() => runInBackground(run, context));
    run.outcome = createOutcome(run, { durationMs: 0, status: 'background' });
    return null;
  }
  subscribers.notifyProgress('start', handler);
  try {
    const answer = callHandler(run, context.signal, subscribers);
    if (answer === undefined || !isPromise(answer)) {
      endRun(run, answer, startedAt, context);
      return null;
    }
    return answer
      .then((given) => endRun(run, given, startedAt, context))
      .catch((error: unknown) => endRun(run, describeThrown(error), startedAt, context));
  } catch (error) {
    endRun(run, describeThrown(error), startedAt, context);
    return null;
  }
}

function callHandler(
  run: HandlerRun,
  signal: AbortSignal,
  { wantsExchanges }: DispatchSubscribers,
): GivenAnswer {
  const { handler, input } = run;
  const { timeoutMs } = handler;
  const exchanges: Exchange[] | null = wantsExchanges ? [] : null;
  const report =
    exchanges === null ? undefined : (exchange: Exchange) => void exchanges.push(exchange);
  run.exchanges = exchanges;
  if (timeoutMs === undefined) return handler.run(input, signal, report);
  return runWithinLimit((limited) => handler.run(input, limited, report), signal, timeoutMs);
}

function isPromise<Value>(value: Value | Promise<Value>): value is Promise<Value> {
  return typeof value === 'object' && value !== null && 'then' in value;
}

function endRun(
  run: HandlerRun,
  given: Answer | undefined,
  startedAt: number,
  context: DispatchContext,
): void {
  run.outcome = readAnswer(run, given, startedAt);
  context.subscribers.notifyProgress('end', run.handler);
  if (run.outcome.status !== 'background' || given?.late === undefined) return;
  context.background.track(announceLate({ ...run }, given.late, startedAt, context));
  // What is reported from now on belongs to the late answer.
  run.exchanges = run.exchanges?.splice(0) ?? null;
}

/** The outcome of an answer. A late one comes when nobody waits for it any more. */
function readAnswer(
  run: HandlerRun,
  given: Answer | undefined,
  startedAt: number,
  isLate: boolean = run.handler.background === true,
): Outcome {
  run.endedAt = systemClock.elapsed();
  const durationMs = roundDuration(run.endedAt - startedAt);
  if (given === undefined) return createPassOutcome(run, durationMs);
  const problem = findAnswerProblem(given);
  const answer = problem === null ? (given ?? {}) : describeUnusable(problem);
  const { failure, program, notes: own = [], late } = answer;
  const status = late === undefined ? 'decided' : 'background';
  if (failure !== undefined) {
    const failed = withFailure(createOutcome(run, { durationMs, program, notes: own }), failure);
    return late === undefined ? failed : { ...failed, status };
  }
  const { decision, notes } = restrictDecision(run.handler.event, answer.decision ?? {}, isLate);
  return createOutcome(run, { durationMs, status, program, notes: [...own, ...notes], decision });
}

function describeThrown(error: unknown): Answer {
  return { failure: { kind: 'threw', message: getErrorMessage(error) } };
}

function describeUnusable(problem: string): Answer {
  return { failure: { kind: 'output', message: `its answer cannot be used: ${problem}` } };
}

/** Durations below this are mostly the time it takes to read the clock. */
const SHORTEST_DURATION_MS = 0.001;

function roundDuration(durationMs: number): number {
  return durationMs < SHORTEST_DURATION_MS ? 0 : durationMs;
}

/** The outcome of a run that was ended from outside, or had to be given up. */
export function createKilledOutcome(run: HandlerRun, message: string): Outcome {
  return withFailure(createOutcome(run, { durationMs: 0 }), { kind: 'killed', message });
}

/** The outcome of a run whose handler threw before it could be run. */
export function createThrownOutcome(run: HandlerRun, error: unknown): Outcome {
  const failure: Failure = { kind: 'threw', message: getErrorMessage(error) };
  return withFailure(createOutcome(run, { durationMs: 0 }), failure);
}

/** The same outcome as a failure; whether it refuses is up to the handler's policy. */
export function withFailure(outcome: Outcome, failure: Failure): Outcome {
  const effect = outcome.onFailure === 'closed' ? 'deny' : 'pass';
  return { ...outcome, status: 'failed', effect, failure };
}

const NO_NOTES: readonly string[] = Object.freeze([]);
const quickPasses = new WeakMap<Handler, Outcome>();

/** One frozen outcome stands for every pass of a handler that took no time, because most passes do. */
function createPassOutcome(run: HandlerRun, durationMs: number): Outcome {
  const facts = { durationMs, decision: NO_DECISION, notes: NO_NOTES };
  const { handler, input, pass } = run;
  if (durationMs > 0 || pass !== 1 || (input.tool?.part ?? null) !== null) {
    return createOutcome(run, facts);
  }
  const known = quickPasses.get(handler);
  if (known !== undefined) return known;
  const outcome = Object.freeze(createOutcome(run, facts));
  quickPasses.set(handler, outcome);
  return outcome;
}

interface RunFacts extends Partial<Pick<Outcome, 'status' | 'decision' | 'notes'>> {
  readonly durationMs: number;
  readonly program?: ProgramReport | undefined;
}

// Field by field: copies of objects that are then changed take V8 a hundred times as long.
function createOutcome({ handler, input, pass }: HandlerRun, facts: RunFacts): Outcome {
  const { durationMs, status = 'decided', decision = null, notes = [], program } = facts;
  return {
    hook: handler.id,
    dialect: handler.dialect,
    source: handler.source,
    status,
    effect: decision === null ? 'pass' : getPrintedEffect(decision),
    pass,
    part: input.tool?.part ?? null,
    exitCode: program?.exitCode ?? null,
    durationMs,
    failure: null,
    onFailure: getFailurePolicy(handler),
    notes,
    stdout: program?.stdout ?? null,
    stderr: program?.stderr ?? null,
    decision,
  };
}

function getPrintedEffect(decision: Decision): Outcome['effect'] {
  return decision.stop?.pending === 'skip' ? 'stop' : (decision.effect ?? 'pass');
}

/** An event that nobody can refuse has nothing to close. */
function getFailurePolicy(handler: Handler): FailurePolicy {
  return EVENTS[handler.event].refusal === null ? 'open' : handler.onFailure;
}

/** Runs a handler that nobody waits for. The run is a copy: that of the dispatch has its outcome already. */
async function runInBackground(planned: HandlerRun, context: DispatchContext): Promise<void> {
  const run = { ...planned };
  const why = context.shutdown.aborted
    ? 'was not started before the engine closed'
    : findWithheldReason(run.handler);
  if (why !== null) return notifyLate(run, createKilledOutcome(run, why), context);
  const startedAt = systemClock.elapsed();
  const askOnce = async (): Promise<Answer | undefined> => {
    const answer = await callHandler(run, context.shutdown, context.subscribers);
    return answer?.late instanceof Promise ? answer.late : answer;
  };
  await announceLate(run, askOnce(), startedAt, context);
}

/** It may have waited for its turn, and what was trusted when it was planned may have changed since. */
function findWithheldReason(handler: Handler): string | null {
  try {
    const why = handler.withheld?.() ?? null;
    return why === null ? null : `was not started: ${why}`;
  } catch (error) {
    return `was not started: whether it may run could not be found out: ${getErrorMessage(error)}`;
  }
}

async function announceLate(
  run: HandlerRun,
  late: Promise<Answer | undefined>,
  startedAt: number,
  context: DispatchContext,
): Promise<void> {
  const outcome = await late
    .then((answer) => readAnswer(run, answer, startedAt, true))
    .catch((error: unknown) => readAnswer(run, describeThrown(error), startedAt, true));
  notifyLate(run, outcome, context);
}

function notifyLate(
  { exchanges }: HandlerRun,
  outcome: Outcome,
  { id, event, subscribers }: DispatchContext,
): void {
  const recorded = recordExchanges([{ outcome, exchanges }]);
  subscribers.notifyLate({ dispatchId: id(), event, outcome, exchanges: recorded });
}

import { systemClock } from '../../base/clock.ts';
import { getErrorMessage } from '../../base/errors.ts';
import { admitDecision } from './admit.ts';
import { answerProblem } from './check-answer.ts';
import type { Decision, Failure, FailurePolicy, Outcome } from '../decision.ts';
import { EVENTS } from '../events.ts';
import type { Answer, Handler, HandlerInput, ProgramReport } from '../handler.ts';
import { type GivenAnswer, runWithinLimit } from './time-limit.ts';

export interface HandlerRun {
  readonly handler: Handler;
  readonly input: HandlerInput;
  readonly pass: 1 | 2;
}

/** One handler run that has ended, or has been moved to the background. */
export interface Ran extends HandlerRun {
  readonly outcome: Outcome;
  readonly late: Promise<Ran> | null;
}

/** Turns whatever a handler does, throwing and hanging included, into an outcome. */
export function runHandler(run: HandlerRun, signal: AbortSignal): Ran | Promise<Ran> {
  const startedAt = systemClock.elapsed();
  try {
    return takeAnswer(run, ask(run, signal), startedAt);
  } catch (error) {
    return thrownRun(run, error, startedAt);
  }
}

/** The same for a handler that was asked already. */
export function takeAnswer(
  run: HandlerRun,
  given: GivenAnswer,
  startedAt: number,
): Ran | Promise<Ran> {
  const when = { startedAt, isLate: run.handler.background === true };
  const finish = (answer: Answer | undefined): Ran => finishRun(run, answer, when);
  const fail = (error: unknown): Ran => finish(thrown(error));
  if (isPromise(given)) return given.then(finish).catch(fail);
  try {
    return finish(given);
  } catch (error) {
    return fail(error);
  }
}

export function isPromise<Value>(value: Value | Promise<Value>): value is Promise<Value> {
  return typeof value === 'object' && value !== null && 'then' in value;
}

/** The outcome of a handler that was started and is not waited for. */
export function backgroundRun(run: HandlerRun): Ran {
  return ranWith(run, outcomeOf(run, { durationMs: 0, status: 'background' }));
}

/** The outcome of a handler that was ended from outside, or had to be given up. */
export function killedRun(run: HandlerRun, message: string): Ran {
  const failure: Failure = { kind: 'killed', message };
  return ranWith(run, failedOutcome(outcomeOf(run, { durationMs: 0 }), failure));
}

/** The outcome of a handler that threw, maybe before it could be run. */
export function thrownRun(
  run: HandlerRun,
  error: unknown,
  startedAt: number = systemClock.elapsed(),
): Ran {
  return finishRun(run, thrown(error), { startedAt, isLate: run.handler.background === true });
}

/** The outcome of a handler that had nothing to say. */
export function passedOutcome(run: HandlerRun, durationMs: number): Outcome {
  return outcomeOf(run, { durationMs, decision: NO_DECISION, notes: NO_NOTES });
}

const NO_DECISION: Decision = Object.freeze({});
const NO_NOTES: readonly string[] = Object.freeze([]);

/** What took less than this took no time: most of it is the reading of the clock. */
const GRAIN_MS = 0.001;

export function durationBetween(startedAt: number, endedAt: number): number {
  const durationMs = endedAt - startedAt;
  return durationMs < GRAIN_MS ? 0 : durationMs;
}

function ask({ handler, input }: HandlerRun, signal: AbortSignal): GivenAnswer {
  const { timeoutMs } = handler;
  if (timeoutMs === undefined) return handler.run(input, signal);
  return runWithinLimit((limited) => handler.run(input, limited), signal, timeoutMs);
}

function thrown(error: unknown): Answer {
  return { failure: { kind: 'threw', message: getErrorMessage(error) } };
}

function finishRun(run: HandlerRun, given: Answer | undefined, when: Timing): Ran {
  const problem = answerProblem(given);
  const answer = problem === null ? (given ?? {}) : notUnderstood(problem);
  const outcome = answeredOutcome(run, answer, when);
  if (answer.late === undefined) return ranWith(run, outcome);
  const later = { ...when, isLate: true };
  const late = answer.late
    .then((answered) => finishRun(run, answered, later))
    .catch((error: unknown) => finishRun(run, thrown(error), later));
  return ranWith(run, { ...outcome, status: 'background' }, late);
}

interface Timing {
  readonly startedAt: number;
  /** Whether nobody waits for the answer any more. */
  readonly isLate: boolean;
}

function notUnderstood(problem: string): Answer {
  return { failure: { kind: 'output', message: `its answer cannot be used: ${problem}` } };
}

function ranWith(run: HandlerRun, outcome: Outcome, late: Promise<Ran> | null = null): Ran {
  return { handler: run.handler, input: run.input, pass: run.pass, outcome, late };
}

function answeredOutcome(run: HandlerRun, answer: Answer, { startedAt, isLate }: Timing): Outcome {
  const durationMs = durationBetween(startedAt, systemClock.elapsed());
  const { failure, program, notes: own = [] } = answer;
  if (failure !== undefined) {
    return failedOutcome(outcomeOf(run, { durationMs, program, notes: own }), failure);
  }
  const { decision, notes } = admitDecision(run.handler.event, answer.decision ?? {}, isLate);
  return outcomeOf(run, { durationMs, program, notes: [...own, ...notes], decision });
}

/** The same outcome as a failure; whether it refuses is up to the handler's policy. */
export function failedOutcome(outcome: Outcome, failure: Failure): Outcome {
  const effect = outcome.onFailure === 'closed' ? 'deny' : 'pass';
  return { ...outcome, status: 'failed', effect, failure };
}

/** What is known of a run beside whose it is; what is not said of it did not happen. */
interface Happened {
  readonly durationMs: number;
  readonly status?: Outcome['status'];
  readonly decision?: Decision;
  readonly notes?: readonly string[];
  readonly program?: ProgramReport | undefined;
}

// Field by field: copies of objects that are then changed take V8 a hundred times as long.
function outcomeOf({ handler, input, pass }: HandlerRun, happened: Happened): Outcome {
  const { status = 'decided', decision = null, notes = [], program } = happened;
  return {
    hook: handler.id,
    dialect: handler.dialect,
    source: handler.source,
    status,
    effect: decision === null ? 'pass' : printedEffect(decision),
    pass,
    part: input.tool?.part ?? null,
    exitCode: program?.exitCode ?? null,
    durationMs: happened.durationMs,
    failure: null,
    onFailure: policyOf(handler),
    notes,
    stdout: program?.stdout ?? null,
    stderr: program?.stderr ?? null,
    decision,
  };
}

function printedEffect(decision: Decision): Outcome['effect'] {
  return decision.stop?.pending === 'skip' ? 'stop' : (decision.effect ?? 'pass');
}

/** An event that nobody can refuse has nothing to close. */
function policyOf(handler: Handler): FailurePolicy {
  return EVENTS[handler.event].refusal === null ? 'open' : handler.onFailure;
}

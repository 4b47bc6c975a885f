import { systemClock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import { admitDecision } from './admit.ts';
import { answerProblem } from './check-answer.ts';
import type { Decision, Failure, Outcome } from '../decision.ts';
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
  const when = { startedAt: systemClock.elapsed(), isLate: run.handler.background === true };
  const finish = (answer: Answer | undefined): Ran => finishRun(run, answer, when);
  try {
    const answer = ask(run, signal);
    if (!isPromise(answer)) return finish(answer);
    return answer.then(finish).catch((error: unknown) => finish(thrown(error)));
  } catch (error) {
    return finish(thrown(error));
  }
}

export function isPromise<Value>(value: Value | Promise<Value>): value is Promise<Value> {
  return typeof value === 'object' && value !== null && 'then' in value;
}

/** The outcome of a handler that was started and is not waited for. */
export function backgroundRun(run: HandlerRun): Ran {
  return ranWith(run, { ...emptyOutcome(run, 0), status: 'background' });
}

/** The outcome of a handler that was ended from outside, or had to be given up. */
export function killedRun(run: HandlerRun, message: string): Ran {
  const failure: Failure = { kind: 'killed', message };
  return ranWith(run, failedOutcome(emptyOutcome(run, 0), failure));
}

/** The outcome of a handler that threw before it could be run. */
export function thrownRun(run: HandlerRun, error: unknown): Ran {
  return finishRun(run, thrown(error), { startedAt: systemClock.elapsed(), isLate: false });
}

function ask({ handler, input }: HandlerRun, signal: AbortSignal): GivenAnswer {
  const { timeoutMs } = handler;
  if (timeoutMs === undefined) return handler.run(input, signal);
  return runWithinLimit((limited) => handler.run(input, limited), signal, timeoutMs);
}

function thrown(error: unknown): Answer {
  return { failure: { kind: 'threw', message: messageOf(error) } };
}

function finishRun(run: HandlerRun, given: Answer | undefined, when: Timing): Ran {
  const problem = answerProblem(given);
  const answer = problem === null ? (given ?? {}) : notUnderstood(problem);
  const outcome = outcomeOf(run, answer, when);
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

function outcomeOf(run: HandlerRun, answer: Answer, { startedAt, isLate }: Timing): Outcome {
  const outcome = emptyOutcome(run, systemClock.elapsed() - startedAt, answer.program);
  if (answer.failure !== undefined) {
    return failedOutcome({ ...outcome, notes: answer.notes ?? [] }, answer.failure);
  }
  const { decision, notes } = admitDecision(run.handler.event, answer.decision ?? {}, isLate);
  return {
    ...outcome,
    effect: printedEffect(decision),
    notes: [...(answer.notes ?? []), ...notes],
    decision,
  };
}

/** The same outcome as a failure; whether it refuses is up to the handler's policy. */
export function failedOutcome(outcome: Outcome, failure: Failure): Outcome {
  const effect = outcome.onFailure === 'closed' ? 'deny' : 'pass';
  return { ...outcome, status: 'failed', effect, failure };
}

function printedEffect(decision: Decision): Outcome['effect'] {
  return decision.stop?.pending === 'skip' ? 'stop' : (decision.effect ?? 'pass');
}

function emptyOutcome(
  { handler, input, pass }: HandlerRun,
  durationMs: number,
  program?: ProgramReport,
): Outcome {
  return {
    hook: handler.id,
    dialect: handler.dialect,
    source: handler.source,
    status: 'decided',
    effect: 'pass',
    pass,
    part: input.tool?.part ?? null,
    exitCode: program?.exitCode ?? null,
    durationMs,
    failure: null,
    // An event that nobody can refuse has nothing to close.
    onFailure: EVENTS[handler.event].refusal === null ? 'open' : handler.onFailure,
    notes: [],
    stdout: program?.stdout ?? null,
    stderr: program?.stderr ?? null,
    decision: null,
  };
}

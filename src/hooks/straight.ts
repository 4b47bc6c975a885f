import { systemClock } from '../base/clock.ts';
import type { Outcome, Skipped } from './decision.ts';
import type { Vocabulary } from './faces/faces.ts';
import type { HandlerInput } from './handler.ts';
import {
  brokenRun,
  type Candidate,
  isSkipped,
  type Plan,
  planInPass,
  type PlanOfPass,
} from './plan.ts';
import {
  durationBetween,
  type HandlerRun,
  passedOutcome,
  type Ran,
  takeAnswer,
  thrownRun,
} from './run-handler.ts';
import type { Started } from './wait-for-handlers.ts';
import { endRun, type RunPorts, type RunRequest, start, tellProgress } from './start-run.ts';

export interface StraightRequest extends RunRequest {
  readonly handlers: readonly Candidate[];
}

/** How far the first pass went straight on. */
export interface StraightWay {
  /** Of those who passed. */
  readonly outcomes: readonly Outcome[];
  readonly skipped: readonly Skipped[];
  /** The runs of the handler at which it ended; none when it ended before one, or after the last. */
  readonly started: readonly Started[];
  /** The place of the first handler that was not asked. */
  readonly next: number;
}

/**
 * Asks handlers for as long as each says at once that it has nothing to say, as nearly all do. Until
 * then nobody is waited for, nothing is rewritten and no chain ends, so that handlers in order need
 * no more than the others.
 */
export function goStraight(
  ports: RunPorts,
  request: StraightRequest,
  plan: PlanOfPass,
): StraightWay {
  const { handlers, signal } = request;
  const outcomes: Outcome[] = [];
  const skipped: Skipped[] = [];
  const way: Way = {
    ports,
    request,
    plan,
    outcomes,
    skipped,
    vocabulary: null,
    doneAt: Number.NaN,
  };
  let next = 0;
  for (const candidate of handlers) {
    if (!candidate.isPlain || (candidate.isOrdered && signal.aborted)) break;
    const started = askNext(way, candidate);
    if (started === LATER) break;
    next += 1;
    if (started !== null) return { outcomes, skipped, started, next };
  }
  return { outcomes, skipped, started: [], next };
}

interface Way {
  readonly ports: RunPorts;
  readonly request: RunRequest;
  readonly plan: PlanOfPass;
  readonly outcomes: Outcome[];
  readonly skipped: Skipped[];
  /** In which the last handler was asked. */
  vocabulary: Vocabulary | null;
  /** When that was done, so that the clock is read once between two; NaN when more was done since. */
  doneAt: number;
}

/** Said of one that fits, but is to be prepared with those after it before any of them is asked. */
const LATER = 'later';

/** The runs with which it ends, or null when it goes on. */
function askNext(way: Way, candidate: Candidate): readonly Started[] | typeof LATER | null {
  const { ports, request, plan } = way;
  let planned: Plan;
  try {
    lookIn(way, candidate.question.vocabulary);
    planned = planInPass(candidate, plan);
  } catch (thrown) {
    return [start(ports, request, brokenRun(candidate, plan, thrown))];
  }
  if (isSkipped(planned)) {
    way.skipped.push(planned);
    way.doneAt = Number.NaN;
    return null;
  }
  if (candidate.isPrepared) return LATER;
  const input = planned[0];
  if (input !== undefined && planned.length === 1) return askAbout(way, candidate, input);
  const { handler } = candidate;
  return planned.map((each) => start(ports, request, { handler, input: each, pass: plan.pass }));
}

/** What it takes to put an event into a handler's words is not the handler's own time. */
function lookIn(way: Way, vocabulary: Vocabulary): void {
  if (way.vocabulary === vocabulary) return;
  way.plan.views.in(vocabulary);
  way.vocabulary = vocabulary;
  way.doneAt = Number.NaN;
}

function askAbout(way: Way, candidate: Candidate, input: HandlerInput): readonly Started[] | null {
  const { ports, request } = way;
  const { handler } = candidate;
  const startedAt = startOf(way, candidate);
  const isWatched = ports.onProgress !== undefined;
  if (isWatched) tellProgress(ports, 'start', handler);
  try {
    const answer = candidate.run(input, request.signal);
    if (answer !== undefined) {
      const run: HandlerRun = { handler, input, pass: 1 };
      return [{ run, result: endRun(ports, request, takeAnswer(run, answer, startedAt)) }];
    }
  } catch (error) {
    const run: HandlerRun = { handler, input, pass: 1 };
    return [{ run, result: endRun(ports, request, thrownRun(run, error, startedAt)) }];
  }
  if (isWatched) tellProgress(ports, 'end', handler);
  way.doneAt = systemClock.elapsed();
  way.outcomes.push(passOf(candidate, input, durationBetween(startedAt, way.doneAt)));
  return null;
}

/** Nor is what it took to find out whether it may run. */
function startOf({ doneAt }: Way, { withheld }: Candidate): number {
  const isUnknown = withheld !== null || Number.isNaN(doneAt);
  return isUnknown ? systemClock.elapsed() : doneAt;
}

/** Most passes of a handler are alike, and then one object stands for all of them. */
function passOf(candidate: Candidate, input: HandlerInput, durationMs: number): Outcome {
  const { handler } = candidate;
  const { tool } = input;
  if (durationMs > 0 || (tool !== null && tool.part !== null)) {
    return passedOutcome({ handler, input, pass: 1 }, durationMs);
  }
  return (candidate.passed ??= Object.freeze(passedOutcome({ handler, input, pass: 1 }, 0)));
}

/** The runs behind the outcomes, for when somebody speaks after all: each says whose it is, and of what. */
export function passedRuns(
  { handlers }: StraightRequest,
  { views, pass }: PlanOfPass,
  { outcomes }: StraightWay,
): Ran[] {
  const candidates = new Map(handlers.map((candidate) => [candidate.handler.id, candidate]));
  return outcomes.flatMap((outcome) => {
    const candidate = candidates.get(outcome.hook);
    if (candidate === undefined) return [];
    const { handler, question } = candidate;
    const { inputs } = views.seenIn(question.vocabulary);
    const input = inputs.find(({ tool }) => (tool?.part ?? null) === outcome.part);
    return input === undefined ? [] : [{ handler, input, pass, outcome, late: null }];
  });
}

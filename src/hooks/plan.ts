import type { Outcome, Skipped } from './decision.ts';
import type { Vocabulary } from './faces/faces.ts';
import type { Handler, HandlerInput, Wave } from './handler.ts';
import type { HandlerRun } from './run-handler.ts';
import type { EventViews, Subject } from './event-views.ts';

/** What a handler is to be asked, or why it does not run at all. */
export type Plan = readonly HandlerInput[] | Skipped;

// `'why' in planned` looks through all shapes that it has ever seen, for each of a thousand handlers.
export function isSkipped(planned: readonly unknown[] | Skipped): planned is Skipped {
  return !Array.isArray(planned);
}

/**
 * A handler with what every dispatch wants of it. Handlers are objects of many shapes, which V8 reads
 * slowly; candidates are all alike.
 */
export interface Candidate {
  readonly handler: Handler;
  readonly question: Question;
  readonly withheld: ((wave: Wave) => string | null) | null;
  readonly run: Handler['run'];
  readonly isOrdered: boolean;
  /** Whether it is simply called and waited for as long as it takes. */
  readonly isPlain: boolean;
  /** Whether it never answers at once, and has something to prepare. */
  readonly isPrepared: boolean;
  /** What was last said of it when it did not fit, to be said again instead of a thousand new objects. */
  misfit: Skipped | null;
  /** The same for when it passed in no time. */
  passed: Outcome | null;
}

/** Whether an event fits; handlers with the same `fits` share it, and only the first is asked. */
interface Question {
  readonly vocabulary: Vocabulary;
  readonly fits: NonNullable<Handler['fits']> | null;
  /** Of which views the last answer was; a number, so that no event is kept alive. */
  askedOf: number;
  misfit: string | null;
}

/** In the same order. */
export function candidatesOf(handlers: readonly Handler[]): Candidate[] {
  const shared = new Map<unknown, Question[]>();
  return handlers.map((handler) => {
    const { inOrder: isOrdered = false, background = false, timeoutMs } = handler;
    return {
      handler,
      question: questionOf(handler, shared),
      withheld: handler.withheld?.bind(handler) ?? null,
      run: handler.run.bind(handler),
      isOrdered,
      isPlain: !background && timeoutMs === undefined,
      isPrepared: handler.prepare !== undefined,
      misfit: null,
      passed: null,
    };
  });
}

function questionOf(handler: Handler, shared: Map<unknown, Question[]>): Question {
  const { vocabulary, fits = null } = handler;
  const question = { vocabulary, fits, askedOf: 0, misfit: null };
  // A method of a class answers for its own object only.
  if (fits !== null && !Object.hasOwn(handler, 'fits')) {
    return { ...question, fits: fits.bind(handler) };
  }
  const alike = shared.get(fits) ?? [];
  const known = alike.find((other) => other.vocabulary === vocabulary);
  if (known !== undefined) return known;
  shared.set(fits, [...alike, question]);
  return question;
}

let lastWave: Wave = 0;

export function beginWave(): Wave {
  lastWave += 1;
  return lastWave;
}

export function planHandler(candidate: Candidate, views: EventViews, wave: Wave): Plan {
  const { handler, question, withheld } = candidate;
  if (question.askedOf === views.id && question.misfit !== null) {
    return misfitOf(candidate, question.misfit);
  }
  const fitting = fittingInputs(question, views);
  question.askedOf = views.id;
  question.misfit = typeof fitting === 'string' ? fitting : null;
  if (typeof fitting === 'string') return misfitOf(candidate, fitting);
  const why = withheld?.(wave) ?? null;
  return why === null ? fitting : { hook: handler.id, kind: 'withheld', why };
}

const NOTHING_TO_SEE = 'nothing here for it to look at';

/** The inputs that fit, or why none does. */
function fittingInputs(
  { vocabulary, fits }: Question,
  views: EventViews,
): readonly HandlerInput[] | string {
  const { subjects, inputs } = views.seenIn(vocabulary);
  if (fits === null) return inputs.length === 0 ? NOTHING_TO_SEE : inputs;
  const only = subjects.length === 1 ? subjects[0] : undefined;
  if (only !== undefined) return whyNot(fits, only) ?? inputs;
  const fitting: HandlerInput[] = [];
  let misfit: string | null = null;
  for (const subject of subjects) {
    const why = whyNot(fits, subject);
    if (why === null) fitting.push(subject.input);
    else misfit ??= why;
  }
  return fitting.length === 0 ? (misfit ?? NOTHING_TO_SEE) : fitting;
}

function whyNot(fits: NonNullable<Handler['fits']>, subject: Subject): string | null {
  const { event, tool } = subject.input;
  return fits(event, subject.names(), tool) ?? null;
}

function misfitOf(candidate: Candidate, why: string): Skipped {
  const last = candidate.misfit;
  if (last !== null && last.why === why) return last;
  return (candidate.misfit = { hook: candidate.handler.id, kind: 'misfit', why });
}

/** What the handlers of one pass see, and which of them need not run. */
export interface PlanOfPass {
  readonly views: EventViews;
  readonly repeats: Repeats;
  readonly pass: 1 | 2;
  readonly wave: Wave;
}

export interface PlannedRun extends HandlerRun {
  /** What the handler threw before it could be run. */
  readonly thrown?: unknown;
}

/** The runs of a handler in one pass. */
export function planRuns(candidate: Candidate, plan: PlanOfPass): PlannedRun[] | Skipped {
  const { handler } = candidate;
  const { pass } = plan;
  try {
    const planned = planInPass(candidate, plan);
    return isSkipped(planned) ? planned : planned.map((input) => ({ handler, input, pass }));
  } catch (thrown) {
    return [brokenRun(candidate, plan, thrown)];
  }
}

/** What a handler is to be asked in a pass, in which the same hook runs once. Throws what the handler does. */
export function planInPass(candidate: Candidate, { views, repeats, wave }: PlanOfPass): Plan {
  const planned = planHandler(candidate, views, wave);
  if (repeats === NO_REPEATS || isSkipped(planned)) return planned;
  const running = repeats.get(candidate);
  return running === undefined ? planned : skipRepeat(candidate, running);
}

/** The run of a handler that cannot be asked about anything. */
export function brokenRun(
  { handler }: Candidate,
  { views: { event }, pass }: PlanOfPass,
  thrown: unknown,
): PlannedRun {
  return { handler, input: { event, tool: null }, pass, thrown };
}

/** The handlers that do not run because the same hook is configured again, each with the one that does. */
export type Repeats = ReadonlyMap<Candidate, Handler>;

const NO_REPEATS: Repeats = new Map();

export function findRepeats(
  candidates: readonly Candidate[],
  views: EventViews,
  wave: Wave,
): Repeats {
  const twins = twinsAmong(candidates);
  if (twins.length === 0) return NO_REPEATS;
  const repeats = new Map<Candidate, Handler>();
  for (const same of twins) {
    const running = same.map((candidate) => ({
      candidate,
      inputs: inputsOf(candidate, views, wave),
    }));
    const last = running.findLast(({ inputs }) => inputs.length > 0);
    if (last === undefined) continue;
    for (const { candidate, inputs } of running) {
      if (candidate !== last.candidate && isCovered(inputs, last.inputs)) {
        repeats.set(candidate, last.candidate.handler);
      }
    }
  }
  return repeats;
}

const knownTwins = new WeakMap<readonly Candidate[], readonly (readonly Candidate[])[]>();

/** Handlers that share their `sameAs` with others, by that; looked for once in every list. */
function twinsAmong(candidates: readonly Candidate[]): readonly (readonly Candidate[])[] {
  const known = knownTwins.get(candidates);
  if (known !== undefined) return known;
  const bySame = new Map<string, Candidate[]>();
  for (const candidate of candidates) {
    const { sameAs } = candidate.handler;
    if (sameAs === undefined) continue;
    const others = bySame.get(sameAs);
    if (others === undefined) bySame.set(sameAs, [candidate]);
    else others.push(candidate);
  }
  const twins = [...bySame.values()].filter((same) => same.length > 1);
  knownTwins.set(candidates, twins);
  return twins;
}

/** The parts of the call that it would be asked about. */
function inputsOf(candidate: Candidate, views: EventViews, wave: Wave): readonly HandlerInput[] {
  try {
    const plan = planHandler(candidate, views, wave);
    return isSkipped(plan) ? [] : plan;
  } catch {
    // It is reported as failed when its own turn comes; until then it stands in nobody's way.
    return [];
  }
}

/** A hook that is asked about some parts of a call must not stand for one that is asked about more. */
function isCovered(inputs: readonly HandlerInput[], by: readonly HandlerInput[]): boolean {
  return inputs.length > 0 && inputs.every((input) => by.includes(input));
}

export function skipRepeat({ handler }: Candidate, running: Handler): Skipped {
  const why = `the same hook is configured again as ${running.id}, which runs`;
  return { hook: handler.id, kind: 'repeat', why };
}

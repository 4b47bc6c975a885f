import type { Outcome, Skipped } from './decision.ts';
import type { EventViews, Subject } from './event-views.ts';
import type { Vocabulary } from '../tool-vocabularies/tool-views.ts';
import type { Exchange, Handler, HandlerInput, Wave } from './handler.ts';

/** One handler that is asked about one input. */
export interface HandlerRun {
  readonly handler: Handler;
  readonly input: HandlerInput;
  /** 2 when it is asked again because the input was rewritten. */
  readonly pass: 1 | 2;
  /** Null until the handler has answered, failed, or gone on in the background. */
  outcome: Outcome | null;
  /** On the clock of durations; NaN until it has ended. */
  endedAt: number;
  /** What went to the hook and came back; null when no subscriber wants to know. */
  exchanges: Exchange[] | null;
}

export interface EndedRun extends HandlerRun {
  outcome: Outcome;
}

export function createRun(handler: Handler, input: HandlerInput, pass: 1 | 2): HandlerRun {
  return { handler, input, pass, outcome: null, endedAt: Number.NaN, exchanges: null };
}

/**
 * A handler with what the planner needs of it. Handlers are objects of many shapes, which V8 reads
 * slowly; candidates all have the same shape.
 */
export interface Candidate {
  readonly handler: Handler;
  readonly condition: Condition;
  readonly withheld: ((wave: Wave) => string | null) | null;
  readonly isOrdered: boolean;
  /** Whether it runs for every event, so that planning it takes no time. */
  readonly isUnconditional: boolean;
  /** The last misfit, reused because one event may pass over a thousand handlers. */
  misfit: Skipped | null;
}

/** Whether an event fits. Handlers that share one `fits` function share it, so that it is called once. */
interface Condition {
  readonly vocabulary: Vocabulary;
  readonly fits: NonNullable<Handler['fits']> | null;
  /** The id of the views that `misfit` is about. */
  viewsId: number;
  misfit: string | null;
}

/** Makes the candidates of handlers, in the same order. */
export function createCandidates(handlers: readonly Handler[]): Candidate[] {
  const shared = new Map<unknown, Condition[]>();
  return handlers.map((handler) => ({
    handler,
    condition: findCondition(handler, shared),
    withheld: handler.withheld?.bind(handler) ?? null,
    isOrdered: handler.inOrder === true,
    isUnconditional: handler.fits === undefined && handler.withheld === undefined,
    misfit: null,
  }));
}

function findCondition(handler: Handler, shared: Map<unknown, Condition[]>): Condition {
  const { vocabulary, fits = null } = handler;
  const condition = { vocabulary, fits, viewsId: 0, misfit: null };
  // A method of a class answers for its own object only.
  if (fits !== null && !Object.hasOwn(handler, 'fits')) {
    return { ...condition, fits: fits.bind(handler) };
  }
  const alike = shared.get(fits) ?? [];
  const known = alike.find((other) => other.vocabulary === vocabulary);
  if (known !== undefined) return known;
  shared.set(fits, [...alike, condition]);
  return condition;
}

type Plan = readonly HandlerInput[] | Skipped;

let lastWave: Wave = 0;

/** Decides which handlers are asked about which inputs. One planner is one look at trust: one wave. */
export class Planner {
  readonly views: EventViews;
  readonly pass: 1 | 2;
  readonly #wave: Wave = (lastWave += 1);
  /** Plans that were made to find repeats, so that nobody's trust is checked twice. */
  readonly #plans: Map<Candidate, Plan> | null;
  /** Candidates that do not run because the same hook is configured again, with the one that runs. */
  readonly #repeats: ReadonlyMap<Candidate, Candidate>;

  constructor(views: EventViews, pass: 1 | 2, among: readonly Candidate[] | Planner) {
    this.views = views;
    this.pass = pass;
    this.#plans = null;
    if (among instanceof Planner) {
      this.#repeats = among.#repeats;
      return;
    }
    const groups = findDuplicates(among);
    this.#repeats = NO_REPEATS;
    if (groups.length === 0) return;
    this.#plans = new Map();
    this.#repeats = this.#findRepeats(groups, this.#plans);
  }

  /** The planner of the same pass after a wait, or for an event that handlers have changed. */
  renew(views: EventViews = this.views): Planner {
    return new Planner(views, this.pass, this);
  }

  /** Adds the runs of a candidate, or says why it does not run. Throws what the handler throws. */
  plan(candidate: Candidate, runs: HandlerRun[]): Skipped | null {
    const plan = this.#plans?.get(candidate) ?? this.#planAlone(candidate);
    if (isSkipped(plan)) return plan;
    const { handler } = candidate;
    const running = this.#repeats === NO_REPEATS ? undefined : this.#repeats.get(candidate);
    if (running !== undefined) {
      const why = `the same hook is configured again as ${running.handler.id}, which runs`;
      return { hook: handler.id, kind: 'repeat', why };
    }
    for (const input of plan) runs.push(createRun(handler, input, this.pass));
    return null;
  }

  #planAlone(candidate: Candidate): Plan {
    const { handler, condition, withheld } = candidate;
    const { id } = this.views;
    if (condition.viewsId === id && condition.misfit !== null) {
      return describeMisfit(candidate, condition.misfit);
    }
    const fitting = selectFitting(condition, this.views);
    condition.viewsId = id;
    condition.misfit = typeof fitting === 'string' ? fitting : null;
    if (typeof fitting === 'string') return describeMisfit(candidate, fitting);
    const why = withheld?.(this.#wave) ?? null;
    return why === null ? fitting : { hook: handler.id, kind: 'withheld', why };
  }

  /** Of each group only the last that would run does, unless another is asked about more than it. */
  #findRepeats(
    groups: readonly (readonly Candidate[])[],
    plans: Map<Candidate, Plan>,
  ): ReadonlyMap<Candidate, Candidate> {
    const repeats = new Map<Candidate, Candidate>();
    for (const group of groups) {
      for (const candidate of group) this.#planQuietly(candidate, plans);
      const last = group.findLast((candidate) => listPlanned(plans, candidate).length > 0);
      if (last === undefined) continue;
      const covered = listPlanned(plans, last);
      for (const candidate of group) {
        const inputs = listPlanned(plans, candidate);
        const isCovered = inputs.length > 0 && inputs.every((input) => covered.includes(input));
        if (candidate !== last && isCovered) repeats.set(candidate, last);
      }
    }
    return repeats;
  }

  #planQuietly(candidate: Candidate, plans: Map<Candidate, Plan>): void {
    try {
      plans.set(candidate, this.#planAlone(candidate));
    } catch {
      // It throws again when its own turn comes, and has failed then.
      plans.delete(candidate);
    }
  }
}

const NO_REPEATS: ReadonlyMap<Candidate, Candidate> = new Map();

function listPlanned(
  plans: ReadonlyMap<Candidate, Plan>,
  candidate: Candidate,
): readonly HandlerInput[] {
  const plan = plans.get(candidate);
  return plan === undefined || isSkipped(plan) ? [] : plan;
}

// `'why' in plan` looks through all shapes that it has ever seen, for each of a thousand handlers.
function isSkipped(plan: Plan): plan is Skipped {
  return !Array.isArray(plan);
}

const NOTHING_TO_SEE = 'nothing here for it to look at';

/** The inputs that fit, or why none does. */
function selectFitting(
  { vocabulary, fits }: Condition,
  views: EventViews,
): readonly HandlerInput[] | string {
  const { subjects, inputs } = views.in(vocabulary);
  if (fits === null) return inputs.length === 0 ? NOTHING_TO_SEE : inputs;
  const only = subjects.length === 1 ? subjects[0] : undefined;
  if (only !== undefined) return findMisfit(fits, only) ?? inputs;
  const fitting: HandlerInput[] = [];
  let misfit: string | null = null;
  for (const subject of subjects) {
    const why = findMisfit(fits, subject);
    if (why === null) fitting.push(subject.input);
    else misfit ??= why;
  }
  return fitting.length === 0 ? (misfit ?? NOTHING_TO_SEE) : fitting;
}

function findMisfit(fits: NonNullable<Handler['fits']>, { input, names }: Subject): string | null {
  return fits(input.event, names, input.tool) ?? null;
}

function describeMisfit(candidate: Candidate, why: string): Skipped {
  const last = candidate.misfit;
  if (last !== null && last.why === why) return last;
  return (candidate.misfit = { hook: candidate.handler.id, kind: 'misfit', why });
}

const knownDuplicates = new WeakMap<readonly Candidate[], readonly (readonly Candidate[])[]>();

/** Groups of candidates with the same `sameAs`; looked for once in every list. */
function findDuplicates(candidates: readonly Candidate[]): readonly (readonly Candidate[])[] {
  const known = knownDuplicates.get(candidates);
  if (known !== undefined) return known;
  const groups = new Map<string, Candidate[]>();
  for (const candidate of candidates) {
    const { sameAs } = candidate.handler;
    if (sameAs === undefined) continue;
    const group = groups.get(sameAs);
    if (group === undefined) groups.set(sameAs, [candidate]);
    else group.push(candidate);
  }
  const duplicates = [...groups.values()].filter((group) => group.length > 1);
  knownDuplicates.set(candidates, duplicates);
  return duplicates;
}

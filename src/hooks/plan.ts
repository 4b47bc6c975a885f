import { getErrorMessage } from '../base/errors.ts';
import type { Vocabulary } from '../tool-vocabularies/tool-views.ts';
import type { Failure, Outcome, Skipped } from './decision.ts';
import { EventViews, type ReadText } from './event-views.ts';
import { type EventName, getToolCall, type HookEvent } from './facts.ts';
import type { Asking, Handler, HandlerInput, HandlerSource, Wave } from './handler.ts';

/** The inputs that a handler gets, or why it does not run, or what it threw during planning. */
export type Plan = readonly HandlerInput[] | Skipped | Failure;

// Counted for all engines together, because they share the trust check that is remembered per wave.
let lastWave: Wave = 0;

/** Decides which handlers get which inputs. One planner checks trust once, for one wave. */
export class Planner {
  readonly views: EventViews;
  readonly #wave: Wave;
  /** Candidates that do not run because the same hook is configured again, with the one that runs. */
  readonly #repeats: ReadonlyMap<Candidate, Candidate>;
  /** Plans that were computed to find repeats, so that trust is not checked twice. */
  readonly #plans: ReadonlyMap<Candidate, Plan> | null;

  private constructor(
    views: EventViews,
    wave: Wave,
    repeats: ReadonlyMap<Candidate, Candidate>,
    plans: ReadonlyMap<Candidate, Plan> | null,
  ) {
    this.views = views;
    this.#wave = wave;
    this.#repeats = repeats;
    this.#plans = plans;
  }

  /** The planner of a pass. Of the same hook, configured several times, it plans one. */
  static startPass(views: EventViews, { duplicates }: CandidateList): Planner {
    const wave = (lastWave += 1);
    const planner = new Planner(views, wave, NO_REPEATS, null);
    if (duplicates.length === 0) return planner;
    const plans = new Map(duplicates.flat().map((each) => [each, planner.plan(each)] as const));
    return new Planner(views, wave, findRepeats(duplicates, plans), plans);
  }

  /** The planner of the same pass after a wait, or for an event that handlers have changed. */
  renew(views: EventViews = this.views): Planner {
    return new Planner(views, (lastWave += 1), this.#repeats, null);
  }

  /** Never throws: what `fits` of a handler throws becomes its failure. */
  plan(candidate: Candidate): Plan {
    try {
      const plan = this.#plans?.get(candidate) ?? candidate.plan(this.views, this.#wave);
      const running = this.#repeats === NO_REPEATS ? undefined : this.#repeats.get(candidate);
      if (running === undefined || !isPlanned(plan)) return plan;
      const why = `the same hook is configured again as ${running.handler.id}, which runs`;
      return { hook: candidate.handler.id, kind: 'repeat', why };
    } catch (error) {
      return { kind: 'threw', message: getErrorMessage(error) };
    }
  }
}

// `'why' in plan` looks through all shapes that it has ever seen, for each of a thousand handlers.
export function isPlanned(plan: Plan | undefined): plan is readonly HandlerInput[] {
  return Array.isArray(plan);
}

const NOTHING_TO_SEE = 'nothing here for it to look at';

const NO_ASKINGS: readonly Asking[] = [];

/**
 * A handler with what planning needs of it. Handlers are objects of many shapes, which V8 reads
 * slowly; candidates all have the same shape.
 */
export class Candidate {
  readonly handler: Handler;
  readonly isOrdered: boolean;
  /** Whether it runs for every event, so that planning it takes no time. */
  readonly isUnconditional: boolean;
  readonly #condition: Condition;
  readonly #chooseAskings: Handler['chooseAskings'] | null;
  readonly #withheld: ((wave: Wave) => string | null) | null;
  /** The last misfit, reused because one event may pass over a thousand handlers. */
  #misfit: Skipped | null = null;
  /** The frozen outcome of its passes that take no time, shared by all of them; null before the first. */
  quickPass: Outcome | null = null;

  constructor(handler: Handler, condition: Condition) {
    this.handler = handler;
    this.isOrdered = handler.inOrder === true;
    this.isUnconditional =
      handler.fits === undefined &&
      handler.withheld === undefined &&
      handler.chooseAskings === undefined;
    this.#condition = condition;
    this.#chooseAskings = handler.chooseAskings?.bind(handler) ?? null;
    this.#withheld = handler.withheld?.bind(handler) ?? null;
  }

  get vocabulary(): Vocabulary {
    return this.#condition.vocabulary;
  }

  /** Throws what the handler throws. */
  plan(views: EventViews, wave: Wave): readonly HandlerInput[] | Skipped {
    const askings = this.#chooseAskings === null ? NO_ASKINGS : this.listAskings(views.event);
    const inputs = this.#condition.selectInputs(views, askings);
    if (typeof inputs === 'string') return this.#describeMisfit(inputs);
    const why = this.#withheld?.(wave) ?? null;
    return why === null ? inputs : { hook: this.handler.id, kind: 'withheld', why };
  }

  /** The vocabularies that are chosen for the call; empty when it is asked in its own alone. */
  listAskings(event: HookEvent): readonly Asking[] {
    const call = getToolCall(event);
    return call === null ? NO_ASKINGS : (this.#chooseAskings?.(call) ?? NO_ASKINGS);
  }

  #describeMisfit(why: string): Skipped {
    if (this.#misfit?.why !== why) {
      this.#misfit = { hook: this.handler.id, kind: 'misfit', why };
    }
    return this.#misfit;
  }
}

/** Whether an event fits. Handlers that share one `fits` function share it, so that it is called once. */
class Condition {
  readonly vocabulary: Vocabulary;
  readonly #fits: NonNullable<Handler['fits']> | null;
  /** The id of the views that the misfit is about. */
  #viewsId = 0;
  #misfit: string | null = null;

  constructor(vocabulary: Vocabulary, fits: NonNullable<Handler['fits']> | null) {
    this.vocabulary = vocabulary;
    this.#fits = fits;
  }

  /** The inputs that fit, in its own vocabulary unless others are asked in, or why none does. */
  selectInputs(views: EventViews, askings: readonly Asking[]): readonly HandlerInput[] | string {
    const isOwn = askings.length === 0;
    if (isOwn && this.#viewsId === views.id && this.#misfit !== null) return this.#misfit;
    const { subjects, inputs } = isOwn
      ? views.getView(this.vocabulary)
      : views.getAskedView(askings);
    const fits = this.#fits;
    if (fits === null && inputs.length > 0) return inputs;
    const fitting: HandlerInput[] = [];
    let misfit: string | null = null;
    for (const { input, names } of subjects) {
      const why = fits?.(input.event, names, input.tool) ?? null;
      if (why !== null) misfit ??= why;
      else if (subjects.length === 1) return inputs;
      else fitting.push(input);
    }
    if (fitting.length > 0) return fitting;
    misfit ??= NOTHING_TO_SEE;
    if (isOwn) this.#rememberMisfit(views, misfit);
    return misfit;
  }

  #rememberMisfit(views: EventViews, misfit: string): void {
    this.#viewsId = views.id;
    this.#misfit = misfit;
  }
}

/** The candidates of one event. */
export interface CandidateList {
  /** In declared order. */
  readonly all: readonly Candidate[];
  /** Groups of candidates that are the same hook, configured more than once. */
  readonly duplicates: readonly (readonly Candidate[])[];
}

export const NO_CANDIDATES: CandidateList = { all: [], duplicates: [] };

/**
 * Candidates by event, listed on first use. A change drops the whole map, so a
 * running dispatch keeps the one it began with.
 */
export class CandidateIndex {
  readonly #sources: readonly HandlerSource[];
  readonly #unsubscribe: readonly (() => void)[];
  #byEvent: ReadonlyMap<EventName, CandidateList> | null = null;

  constructor(sources: readonly HandlerSource[]) {
    this.#sources = sources;
    const refresh = (): void => {
      this.#byEvent = null;
    };
    this.#unsubscribe = sources.flatMap((source) => source.subscribe?.(refresh) ?? []);
  }

  find(name: EventName): CandidateList {
    if (this.#byEvent !== null) return this.#byEvent.get(name) ?? NO_CANDIDATES;
    const lists = this.#sources.map(listHandlers);
    const byEvent = groupByEvent(createCandidates(lists.flatMap((list) => list ?? [])));
    // A source that threw is read again next time.
    if (!lists.includes(null)) this.#byEvent = byEvent;
    return byEvent.get(name) ?? NO_CANDIDATES;
  }

  stop(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
  }
}

/** The handlers of a source, or null when it threw, so that the other sources still work. */
function listHandlers(source: HandlerSource): readonly Handler[] | null {
  try {
    return source.handlers();
  } catch (error) {
    process.emitWarning(
      `a source of hooks threw, so none of its hooks run: ${getErrorMessage(error)}`,
    );
    return null;
  }
}

function createCandidates(handlers: readonly Handler[]): Candidate[] {
  const shared = new Map<unknown, Condition[]>();
  return handlers.map((handler) => new Candidate(handler, findCondition(handler, shared)));
}

function findCondition(handler: Handler, shared: Map<unknown, Condition[]>): Condition {
  const { vocabulary, fits = null } = handler;
  // A method of a class depends on its own object.
  if (fits !== null && !Object.hasOwn(handler, 'fits')) {
    return new Condition(vocabulary, fits.bind(handler));
  }
  const alike = shared.get(fits) ?? [];
  const existing = alike.find((other) => other.vocabulary === vocabulary);
  if (existing !== undefined) return existing;
  const condition = new Condition(vocabulary, fits);
  shared.set(fits, [...alike, condition]);
  return condition;
}

function groupByEvent(candidates: readonly Candidate[]): ReadonlyMap<EventName, CandidateList> {
  const byEvent = groupBy(candidates, ({ handler }) => handler.event);
  const lists = [...byEvent].map(
    ([name, all]) => [name, { all, duplicates: findDuplicates(all) }] as const,
  );
  return new Map(lists);
}

/** Groups of several candidates with the same `sameAs`. */
function findDuplicates(candidates: readonly Candidate[]): readonly (readonly Candidate[])[] {
  const groups = groupBy(candidates, ({ handler }) => handler.sameAs);
  groups.delete(undefined);
  return [...groups.values()].filter((group) => group.length > 1);
}

function groupBy<Key>(
  candidates: readonly Candidate[],
  getKey: (candidate: Candidate) => Key,
): Map<Key, Candidate[]> {
  const groups = new Map<Key, Candidate[]>();
  for (const candidate of candidates) {
    const key = getKey(candidate);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [candidate]);
    else group.push(candidate);
  }
  return groups;
}

const NO_REPEATS: ReadonlyMap<Candidate, Candidate> = new Map();

/** Of each group only the strictest that would run does, of equals the last, unless another one gets more inputs. */
function findRepeats(
  groups: readonly (readonly Candidate[])[],
  plans: ReadonlyMap<Candidate, Plan>,
): ReadonlyMap<Candidate, Candidate> {
  const listInputs = (candidate: Candidate): readonly HandlerInput[] => {
    const plan = plans.get(candidate);
    return isPlanned(plan) ? plan : [];
  };
  const repeats = new Map<Candidate, Candidate>();
  for (const group of groups) {
    const running = group.filter((candidate) => listInputs(candidate).length > 0);
    const [first] = running;
    if (first === undefined) continue;
    const chosen = running.reduce(chooseStricter, first);
    const covered = listInputs(chosen);
    for (const candidate of group) {
      const inputs = listInputs(candidate);
      const isCovered = inputs.length > 0 && inputs.every((input) => covered.includes(input));
      if (candidate !== chosen && isCovered) repeats.set(candidate, chosen);
    }
  }
  return repeats;
}

function chooseStricter(one: Candidate, other: Candidate): Candidate {
  const [own, others] = [one, other].map(({ handler }) => handler.strictness ?? []);
  for (const [index, number] of (own ?? []).entries()) {
    const compared = others?.[index] ?? 0;
    if (number !== compared) return number > compared ? one : other;
  }
  return other;
}

interface PlannedRun {
  readonly hook: string;
  readonly dialect: string;
  readonly source: string;
  /** How often it would run: once, or once for each part of a plural call. */
  readonly times: number;
  readonly how: 'at once' | 'in order' | 'in the background';
  /** The tool as this hook would see it. */
  readonly tool: { readonly name: string; readonly input: unknown } | null;
  /** In which vocabularies it would be asked, and why; absent when it has only its own. */
  readonly vocabularies?: readonly PlannedVocabulary[];
  /** Why its answer could not be relied on; absent when it could. */
  readonly suspicion?: string;
  /** The profile of the sandbox that its program would run in; absent for a hook without one. */
  readonly sandbox?: string;
  readonly onFailure: 'open' | 'closed';
}

interface PlannedVocabulary {
  readonly vocabulary: Vocabulary;
  /** The tool's name there, or its names when the call has several parts. */
  readonly tools: readonly string[];
  readonly why: string;
}

/** Which handlers would run for an event and which not, and why. */
export interface Explanation {
  readonly event: string;
  readonly runs: readonly PlannedRun[];
  readonly skipped: readonly Skipped[];
}

export function explainEvent(
  event: HookEvent,
  candidates: CandidateList,
  readText: ReadText | undefined,
): Explanation {
  const planner = Planner.startPass(new EventViews(event, readText), candidates);
  const runs: PlannedRun[] = [];
  const skipped: Skipped[] = [];
  for (const candidate of candidates.all) {
    const { handler } = candidate;
    const plan = planner.plan(candidate);
    if (isPlanned(plan)) runs.push(describeRuns(candidate, plan));
    else if ('why' in plan) skipped.push(plan);
    else {
      // A dispatch would report it as failed; nothing has run that could fail.
      const why = `threw when it was asked whether it fits: ${plan.message}`;
      skipped.push({ hook: handler.id, kind: 'misfit', why });
    }
  }
  return { event: event.name, runs, skipped };
}

function describeRuns(candidate: Candidate, inputs: readonly HandlerInput[]): PlannedRun {
  const { handler } = candidate;
  const [first] = inputs;
  const tool = first?.tool ?? null;
  const askings = first === undefined ? NO_ASKINGS : candidate.listAskings(first.event);
  const suspicion = first === undefined ? null : findSuspicion(handler, first.event);
  return {
    hook: handler.id,
    dialect: handler.dialect,
    source: handler.source,
    times: inputs.length,
    how: describeOrder(handler),
    tool: tool === null ? null : { name: tool.name, input: tool.input },
    ...(askings.length === 0 ? {} : { vocabularies: describeAskings(askings, inputs) }),
    ...(suspicion === null ? {} : { suspicion }),
    ...(handler.sandbox === undefined ? {} : { sandbox: handler.sandbox }),
    onFailure: handler.onFailure,
  };
}

/** Finds why a handler's answer about an event cannot be relied on; null when it can. */
export function findSuspicion(handler: Handler, event: HookEvent): string | null {
  if (handler.findSuspicion === undefined) return null;
  const call = getToolCall(event);
  try {
    return call === null ? null : handler.findSuspicion(call);
  } catch (error) {
    return `threw when it was asked whether it knows the tool: ${getErrorMessage(error)}`;
  }
}

function describeAskings(
  askings: readonly Asking[],
  inputs: readonly HandlerInput[],
): readonly PlannedVocabulary[] {
  return askings.map(({ vocabulary, why }) => {
    const own = inputs.filter(({ asked }) => asked?.vocabulary === vocabulary);
    return { vocabulary, tools: [...new Set(own.flatMap(({ tool }) => tool?.name ?? []))], why };
  });
}

function describeOrder(handler: Handler): PlannedRun['how'] {
  if (handler.background === true) return 'in the background';
  return handler.inOrder === true ? 'in order' : 'at once';
}

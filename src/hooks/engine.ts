import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { systemClock } from '../base/clock.ts';
import { memoize } from '../base/memoize.ts';
import {
  createEmptyVerdict,
  isRefusal,
  NO_DECISION,
  type Outcome,
  type Skipped,
  type Verdict,
} from './decision.ts';
import { type DispatchSubscriber, DispatchSubscribers } from './dispatch-record.ts';
import { createViewContext, EventViews, type ReadText } from './event-views.ts';
import { EVENTS, withChanges } from './events.ts';
import {
  explainEvent,
  type Explanation,
  type Candidate,
  CandidateIndex,
  type CandidateList,
  isPlanned,
  NO_CANDIDATES,
  type Plan,
  Planner,
} from './plan.ts';
import {
  completeEvent,
  type EventName,
  type FiredEvent,
  getToolCall,
  type HookEvent,
  type Moment,
} from './facts.ts';
import type { Handler, HandlerSource } from './handler.ts';
import { EngineLifetime } from './lifetime.ts';
import { mergeOutcomes } from './merge.ts';
import {
  applyChangesInPlace,
  applyRewrite,
  hasSeenFinalInput,
  type RewrittenInput,
  withInput,
} from './rewrites.ts';
import { type DispatchContext, HandlerRun, waitForRuns } from './run-handler.ts';

export interface HookEngineOptions extends DispatchSubscriber {
  /** In declared order: the handlers of the first source come first. */
  readonly sources: readonly HandlerSource[];
  /** Supplies the fields of the moment that a fired event lacks. Called once per dispatch. */
  readonly moment: () => Moment;
  /** Reads a file whose text a vocabulary shows; without it, only the text in the call is shown. */
  readonly readText?: ReadText;
  /** Subscribers that several engines share; the engine has its own without them. */
  readonly subscribers?: DispatchSubscribers;
  /** How many background handlers may run at once. */
  readonly backgroundLimit?: number;
}

export interface DispatchOptions {
  readonly signal?: AbortSignal;
  /** Fields of the moment that the event lacks. */
  readonly moment?: Partial<Moment>;
}

export interface HookEngine {
  /** Runs every handler that fits and merges their answers. Rejects only when `signal` aborts or the engine closes. */
  dispatch(event: FiredEvent, options?: DispatchOptions): Promise<Verdict>;
  /** Whether any handler is registered for the event, whether or not it would run. */
  handles(name: EventName): boolean;
  /** What `dispatch` would run, without running anything. */
  explain(event: FiredEvent): Explanation;
  /** Reports dispatches from now on; returns a function that unsubscribes. */
  subscribe(subscriber: DispatchSubscriber): () => void;
  /** Settles when no background handler is running any more. */
  idle(): Promise<void>;
  /** Ends every handler, in the background or not, and settles when the dispatches under way have rejected. */
  close(): Promise<void>;
}

const DEFAULT_BACKGROUND_LIMIT = 8;

/** Creates an engine. Handlers are listed with the first event, so an engine per session is cheap. */
export function createHookEngine(options: HookEngineOptions): HookEngine {
  const { sources, moment, readText, backgroundLimit = DEFAULT_BACKGROUND_LIMIT } = options;
  let dispatches = 0;
  const lifetime = new EngineLifetime(backgroundLimit);
  const index = new CandidateIndex(sources);
  const subscribers = options.subscribers ?? new DispatchSubscribers();
  const { onDispatch, onLate, onProgress } = options;
  const isSubscribed = (onDispatch ?? onLate ?? onProgress) !== undefined;
  const unsubscribe = isSubscribed ? subscribers.subscribe(options) : null;
  const engine = { getId: memoize(randomUUID), lifetime, subscribers, readText };

  return {
    async dispatch(fired, dispatchOptions) {
      lifetime.signal.throwIfAborted();
      const candidates = index.find(fired.name);
      if (candidates.all.length === 0) return createEmptyVerdict(fired.name);
      const signal = lifetime.joinSignal(dispatchOptions?.signal);
      signal.throwIfAborted();
      const event = completeEvent(fired, moment(), dispatchOptions?.moment);
      const gates = event.name === 'PermissionRequest' ? index.find('PreToolUse') : NO_CANDIDATES;
      const dispatch = new Dispatch(engine, (dispatches += 1), event, signal);
      lifetime.beginDispatch();
      try {
        return await dispatch.run(candidates, gates);
      } finally {
        lifetime.endDispatch();
      }
    },
    handles: (name) => index.find(name).all.length > 0,
    explain: (fired) =>
      explainEvent(completeEvent(fired, moment()), index.find(fired.name), readText),
    subscribe: (subscriber) => subscribers.subscribe(subscriber),
    idle: () => lifetime.background.waitUntilIdle(),
    async close() {
      index.stop();
      await lifetime.close();
      unsubscribe?.();
    },
  };
}

/** What all dispatches of an engine share. */
interface EngineParts {
  readonly getId: () => string;
  readonly lifetime: EngineLifetime;
  readonly subscribers: DispatchSubscribers;
  readonly readText: ReadText | undefined;
}

/** One event with the runs of its handlers, in declared order, and their changes so far. */
class Dispatch implements DispatchContext {
  readonly event: HookEvent;
  readonly signal: AbortSignal;
  readonly lifetime: EngineLifetime;
  readonly subscribers: DispatchSubscribers;
  readonly #engine: EngineParts;
  readonly #number: number;

  readonly #runs: HandlerRun[] = [];
  #skipped: Skipped[] = [];
  #started = 0;
  #pending: Promise<void>[] = [];
  /** When the last handler ended, if the next one starts right then: reading the clock takes longer than most handlers. */
  #idleSince: number | null = null;

  /** How many runs the following fields include. */
  #applied = 0;
  /** The event as handlers have left it, but for the input of its tool call. */
  #changed: HookEvent;
  #rewritten: RewrittenInput | null = null;
  /** Runs in order that refused. */
  readonly #refusing: HandlerRun[] = [];

  constructor(engine: EngineParts, number: number, event: HookEvent, signal: AbortSignal) {
    this.#engine = engine;
    this.#number = number;
    this.event = event;
    this.#changed = event;
    this.signal = signal;
    this.lifetime = engine.lifetime;
    this.subscribers = engine.subscribers;
  }

  get id(): string {
    return `${this.#engine.getId()}-${this.#number}`;
  }

  /**
   * Runs both passes over the handlers and merges their outcomes. `gates` are the handlers that checked the
   * call before, when this event may rewrite it after them. Rejects only when the signal aborts.
   */
  async run(candidates: CandidateList, gates: CandidateList): Promise<Verdict> {
    const { event, signal } = this;
    await this.#runFirstPass(candidates);
    this.#applyAnswers();
    const context = createViewContext(event, this.#engine.readText);
    this.#rewritten = applyChangesInPlace(event, this.#runs, this.#rewritten, context);
    const { stop, changes } = EVENTS[event.name];
    const rewrittenInput = this.#rewritten?.input ?? null;
    const rules = { event: event.name, stop, changes, rewrittenInput };
    const verdict = mergeOutcomes(rules, this.#listOutcomes(), this.#skipped);
    if (this.#rewritten === null || signal.aborted || isRefusal(verdict.effect)) {
      return this.#finish(verdict);
    }
    await this.#runSecondPass(candidates, gates, this.#rewritten);
    return this.#finish(mergeOutcomes(rules, this.#listOutcomes(), this.#skipped));
  }

  /** All handlers up to the next one in order start together; one in order waits for all before it. */
  async #runFirstPass(candidates: CandidateList): Promise<void> {
    const { event } = this;
    const views = new EventViews(event, this.#engine.readText);
    let planner = Planner.startPass(views, candidates);
    for (const candidate of candidates.all) {
      if (candidate.isOrdered) {
        this.#start();
        if (this.#pending.length > 0) {
          await this.#wait();
          planner = planner.renew();
        }
        this.#applyAnswers();
        const why = this.#findChainEnd(candidate.handler);
        if (why !== null) {
          this.#skipped.push({ hook: candidate.handler.id, kind: 'order', why });
          continue;
        }
        const changed = this.#changeEvent();
        if (changed !== planner.views.event) {
          const isUnchanged = changed === event;
          planner = planner.renew(
            isUnchanged ? views : new EventViews(changed, this.#engine.readText),
          );
        }
      }
      if (!candidate.isUnconditional || !planner.views.has(candidate.vocabulary)) {
        this.#idleSince = null;
      }
      this.#add(candidate, planner.plan(candidate), planner.views.event, 1);
    }
    this.#start();
    if (this.#pending.length > 0) await this.#wait();
  }

  #add(candidate: Candidate, plan: Plan, event: HookEvent, pass: 1 | 2): void {
    if (isPlanned(plan)) {
      for (const input of plan) this.#runs.push(new HandlerRun(this, candidate, input, pass));
    } else if ('why' in plan) {
      this.#skipped.push(plan);
    } else {
      const run = new HandlerRun(this, candidate, { event, tool: null }, pass);
      run.fail(plan);
      this.#runs.push(run);
    }
  }

  /** Starts all planned runs that have not started, together. */
  #start(): void {
    const runs = this.#runs;
    // Several are prepared first, because Node.js is slow for a while after it started a process.
    if (runs.length - this.#started > 1) {
      for (let next = this.#started; next < runs.length; next += 1) runs[next]?.prepare();
    }
    for (; this.#started < runs.length; this.#started += 1) {
      const run = runs[this.#started];
      if (run === undefined) return;
      const startedAt = this.#idleSince ?? systemClock.elapsed();
      const pending = run.outcome === null ? run.startHandler(startedAt) : null;
      this.#idleSince = Number.isNaN(run.endedAt) ? null : run.endedAt;
      if (pending !== null) this.#pending.push(pending);
    }
  }

  async #wait(): Promise<void> {
    await waitForRuns(this.#runs, this.#pending, this.signal);
    this.#pending = [];
    this.#idleSince = null;
  }

  /** Applies the changes of runs that have ended since the last call, in declared order. */
  #applyAnswers(): void {
    const call = getToolCall(this.event);
    for (; this.#applied < this.#runs.length; this.#applied += 1) {
      const run = this.#runs[this.#applied];
      if (run === undefined || run.outcome?.decision === NO_DECISION) continue;
      if (call !== null && run.outcome?.decision?.input !== undefined) {
        const input = this.#rewritten === null ? call.input : this.#rewritten.input;
        const context = createViewContext(this.event, this.#engine.readText);
        const rewrittenInput = applyRewrite(run, { name: call.name, input }, context);
        const isSame = isDeepStrictEqual(rewrittenInput, call.input);
        this.#rewritten = isSame ? null : { input: rewrittenInput, isInPlace: false };
      }
      this.#changed = withChanges(this.#changed, run.outcome?.decision ?? NO_DECISION);
      const isRefused = isRefusal(run.outcome?.effect ?? 'pass');
      if (isRefused && run.handler.inOrder === true) this.#refusing.push(run);
    }
  }

  /** Why the rest of an ordered chain does not run, or null when it does. */
  #findChainEnd({ dialect }: Handler): string | null {
    if (this.signal.aborted) return 'the dispatch was aborted before its turn';
    const refusing = this.#refusing.find(({ handler }) => handler.dialect === dialect);
    return refusing === undefined ? null : `after ${refusing.handler.id} refused`;
  }

  /** The event with the changes of the handlers so far; the same object when there are none. */
  #changeEvent(): HookEvent {
    return this.#rewritten === null
      ? this.#changed
      : withInput(this.#changed, this.#rewritten.input);
  }

  /** Runs every handler that has not seen the rewritten input, and the gates. */
  async #runSecondPass(
    candidates: CandidateList,
    gates: CandidateList,
    { input, isInPlace }: RewrittenInput,
  ): Promise<void> {
    const first = [...this.#runs];
    const skipped = this.#skipped;
    const final = withInput(this.event, input);
    await this.#askAgain(final, candidates, (run) => hasSeenFinalInput(first, run, isInPlace));
    const withheld = selectWithheldSince(first, this.#skipped);
    if (final.name === 'PermissionRequest' && gates.all.length > 0) {
      await this.#askAgain({ ...final, name: 'PreToolUse' }, gates, () => false);
    }
    const again = new Set(this.#runs.slice(first.length).map(({ handler }) => handler.id));
    this.#skipped = [...skipped.filter(({ hook }) => !again.has(hook)), ...withheld];
  }

  async #askAgain(
    event: HookEvent,
    candidates: CandidateList,
    isUnneeded: (run: HandlerRun) => boolean,
  ): Promise<void> {
    const planner = Planner.startPass(new EventViews(event, this.#engine.readText), candidates);
    this.#skipped = [];
    this.#idleSince = null;
    for (const candidate of candidates.all) {
      if (candidate.handler.background === true) continue;
      this.#add(candidate, planner.plan(candidate), event, 2);
    }
    const planned = this.#runs.splice(this.#started);
    this.#runs.push(...planned.filter((run) => !isUnneeded(run)));
    this.#start();
    if (this.#pending.length > 0) await this.#wait();
  }

  // A loop, because flatMap takes longer than ten handlers.
  #listOutcomes(): Outcome[] {
    const outcomes: Outcome[] = [];
    for (const { outcome } of this.#runs) if (outcome !== null) outcomes.push(outcome);
    return outcomes;
  }

  /** Reports the dispatch to subscribers; throws when it was aborted. */
  #finish(verdict: Verdict): Verdict {
    const { event, signal, subscribers } = this;
    const { aborted } = signal;
    if (subscribers.wantsRecords) {
      const exchanges = this.#runs.flatMap((run) => run.listExchanges());
      subscribers.notifyDispatch({ id: this.id, event, verdict, aborted, exchanges });
    }
    if (aborted) signal.throwIfAborted();
    return verdict;
  }
}

/** Hooks that ran with the first input and are withheld for the final one. */
function selectWithheldSince(first: readonly HandlerRun[], skipped: readonly Skipped[]): Skipped[] {
  const firstHookIds = new Set(first.map(({ handler }) => handler.id));
  return skipped
    .filter(({ hook, kind }) => kind === 'withheld' && firstHookIds.has(hook))
    .map(({ hook, kind, why }) => ({
      hook,
      kind,
      why: `no second look at the rewritten input: ${why}`,
    }));
}

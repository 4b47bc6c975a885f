import { randomUUID } from 'node:crypto';
import { getErrorMessage } from '../base/errors.ts';
import { createBackgroundPool } from './background.ts';
import { createEmptyVerdict, type Verdict } from './decision.ts';
import { runDispatch } from './dispatch.ts';
import type { ReadText } from './event-views.ts';
import { explainEvent, type Explanation } from './explain.ts';
import { completeEvent, type EventName, type FiredEvent, type Moment } from './facts.ts';
import type { Handler, HandlerSource } from './handler.ts';
import { type DispatchSubscriber, DispatchSubscribers } from './dispatch-record.ts';
import { type Candidate, createCandidates } from './plan.ts';
import { createShutdown } from './shutdown.ts';

export interface HookEngineOptions extends DispatchSubscriber {
  /** In declared order: the handlers of the first source come first. */
  readonly sources: readonly HandlerSource[];
  /** Fills in what a fired event does not say of its moment. Asked once per dispatch. */
  readonly moment: () => Moment;
  /** Reads a file where a vocabulary shows its text; without it, only what the call itself says is shown. */
  readonly readText?: ReadText;
  /** Subscribers that several engines share; the engine has its own without them. */
  readonly subscribers?: DispatchSubscribers;
  /** How many background handlers may run at once. */
  readonly backgroundLimit?: number;
}

export interface DispatchOptions {
  readonly signal?: AbortSignal;
  /** What the caller knows of the moment, where the event itself does not say it. */
  readonly moment?: Partial<Moment>;
}

export interface HookEngine {
  /** Runs every handler that fits and merges their answers. Rejects only when `signal` aborts or the engine closes. */
  dispatch(event: FiredEvent, options?: DispatchOptions): Promise<Verdict>;
  /** What `dispatch` would run, without running anything. */
  explain(event: FiredEvent): Explanation;
  /** Reports dispatches from now on; returns the way to stop. */
  subscribe(subscriber: DispatchSubscriber): () => void;
  /** Settles when no background handler is running any more. */
  idle(): Promise<void>;
  /** Ends every handler, in the background or not, and settles when the dispatches under way have rejected. */
  close(): Promise<void>;
}

const DEFAULT_BACKGROUND_LIMIT = 8;
const NO_CANDIDATES: readonly Candidate[] = [];

/** Makes an engine. Handlers are asked for with the first event, so an engine per session costs little. */
export function createHookEngine(options: HookEngineOptions): HookEngine {
  const { sources, moment, readText, backgroundLimit = DEFAULT_BACKGROUND_LIMIT } = options;
  let engineId: string | null = null;
  let dispatches = 0;
  const shutdown = createShutdown();
  const background = createBackgroundPool(backgroundLimit);
  const index = createHandlerIndex(sources);
  const subscribers = options.subscribers ?? new DispatchSubscribers();
  const { onDispatch, onLate, onProgress } = options;
  const isSubscribed = (onDispatch ?? onLate ?? onProgress) !== undefined;
  const unsubscribe = isSubscribed ? subscribers.subscribe(options) : null;

  return {
    async dispatch(fired, given) {
      shutdown.signal.throwIfAborted();
      const candidates = index.find(fired.name);
      if (candidates.length === 0) return createEmptyVerdict(fired.name);
      const signal = shutdown.with(given?.signal);
      signal.throwIfAborted();
      const number = (dispatches += 1);
      const leave = shutdown.enter();
      try {
        return await runDispatch({
          id: () => `${(engineId ??= randomUUID())}-${number}`,
          event: completeEvent(fired, moment(), given?.moment),
          candidates,
          gates: fired.name === 'PermissionRequest' ? index.find('PreToolUse') : NO_CANDIDATES,
          signal,
          shutdown: shutdown.signal,
          background,
          subscribers,
          readText,
        });
      } finally {
        leave();
      }
    },
    explain: (fired) =>
      explainEvent(completeEvent(fired, moment()), index.find(fired.name), readText),
    subscribe: (subscriber) => subscribers.subscribe(subscriber),
    idle: () => background.idle(),
    async close() {
      index.stop();
      await shutdown.close();
      await background.idle();
      unsubscribe?.();
    },
  };
}

/**
 * Candidates by event, made when they are first asked for. A change drops the whole map, so a
 * dispatch under way keeps the one it began with.
 */
function createHandlerIndex(sources: readonly HandlerSource[]) {
  let byEvent: Map<EventName, Candidate[]> | null = null;
  const refresh = (): void => {
    byEvent = null;
  };
  const stops = sources.flatMap((source) => source.subscribe?.(refresh) ?? []);
  return {
    find(name: EventName): readonly Candidate[] {
      if (byEvent !== null) return byEvent.get(name) ?? NO_CANDIDATES;
      const lists = sources.map(listHandlers);
      const grouped = groupByEvent(createCandidates(lists.flatMap((list) => list ?? [])));
      // A source that could not answer is asked again next time.
      if (!lists.includes(null)) byEvent = grouped;
      return grouped.get(name) ?? NO_CANDIDATES;
    },
    stop: () => stops.forEach((stop) => stop()),
  };
}

/** The handlers of a source, or null when it threw: the others must not be lost with it. */
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

function groupByEvent(candidates: readonly Candidate[]): Map<EventName, Candidate[]> {
  const byEvent = new Map<EventName, Candidate[]>();
  for (const candidate of candidates) {
    const { event } = candidate.handler;
    const others = byEvent.get(event);
    if (others === undefined) byEvent.set(event, [candidate]);
    else others.push(candidate);
  }
  return byEvent;
}

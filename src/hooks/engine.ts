import { randomUUID } from 'node:crypto';
import { getErrorMessage } from '../base/errors.ts';
import { createBackgroundPool } from './background.ts';
import { createClosing } from './closing.ts';
import { completeEvent } from './complete-event.ts';
import { emptyVerdict, type Verdict } from './decision.ts';
import { createDispatch, type Dispatched, type DispatchRequest } from './dispatch/dispatch.ts';
import { isPromise } from './dispatch/run-handler.ts';
import type { EventName, FiredEvent, HookEvent, Moment } from './facts.ts';
import type { Handler, HandlerSource } from './handler.ts';
import { type DispatchRecord, type HandlerProgress, type LateOutcome, tell } from './observers.ts';
import { explainEvent, type Explanation } from './dispatch/explain.ts';
import { type Candidate, candidatesOf } from './dispatch/plan.ts';
import type { ReadText } from './dispatch/views.ts';

export interface HookEngineOptions {
  /** In declared order: the handlers of the first source come first. */
  readonly sources: readonly HandlerSource[];
  /** Fills in what a fired event does not say of its moment. Asked once per dispatch. */
  readonly moment: () => Moment;
  /** Reads a file for tool faces that need its text; without it they use what the call shows. */
  readonly readText?: ReadText;
  readonly onDispatch?: (record: DispatchRecord) => void;
  readonly onLate?: (late: LateOutcome) => void;
  readonly onProgress?: (progress: HandlerProgress) => void;
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
  /** Settles when no background handler is running any more. */
  idle(): Promise<void>;
  /** Ends every handler, in the background or not, and settles when the dispatches under way have rejected. */
  close(): Promise<void>;
}

const DEFAULT_BACKGROUND_LIMIT = 8;
const NOBODY: readonly Candidate[] = [];

export function createHookEngine(options: HookEngineOptions): HookEngine {
  let engineId: string | null = null;
  let dispatches = 0;
  const idOf = (dispatch: number) => (): string => `${(engineId ??= randomUUID())}-${dispatch}`;
  const closing = createClosing();
  const background = createBackgroundPool(options.backgroundLimit ?? DEFAULT_BACKGROUND_LIMIT);
  const index = createHandlerIndex(options.sources);
  const complete = (fired: FiredEvent, known?: Partial<Moment>): HookEvent =>
    completeEvent(fired, options.moment(), known);
  const runDispatch = createDispatch({
    background,
    closing: closing.signal,
    readText: options.readText,
    onLate: options.onLate,
    onProgress: options.onProgress,
  });

  function run(
    event: HookEvent,
    handlers: readonly Candidate[],
    signal: AbortSignal,
  ): Verdict | Promise<Verdict> {
    dispatches += 1;
    const gates = event.name === 'PermissionRequest' ? index.of('PreToolUse') : NOBODY;
    const request = { id: idOf(dispatches), event, handlers, gates, signal };
    const dispatched = runDispatch(request);
    if (!isPromise(dispatched)) return finish(request, dispatched, options.onDispatch);
    return dispatched.then((later) => finish(request, later, options.onDispatch));
  }

  return {
    async dispatch(fired, given) {
      closing.signal.throwIfAborted();
      const handlers = index.of(fired.name);
      if (handlers.length === 0) return emptyVerdict(fired.name);
      const signal = closing.with(given?.signal);
      signal.throwIfAborted();
      const leave = closing.enter();
      try {
        const verdict = run(complete(fired, given?.moment), handlers, signal);
        return isPromise(verdict) ? await verdict : verdict;
      } finally {
        leave();
      }
    },
    explain: (fired) => explainEvent(complete(fired), index.of(fired.name), options.readText),
    idle: () => background.idle(),
    async close() {
      index.stop();
      await closing.close();
      await background.idle();
    },
  };
}

function finish(
  { id, event, signal }: DispatchRequest,
  { verdict, aborted }: Dispatched,
  onDispatch: HookEngineOptions['onDispatch'],
): Verdict {
  if (onDispatch !== undefined) tell(onDispatch, { id: id(), event, verdict, aborted });
  if (aborted) signal.throwIfAborted();
  return verdict;
}

interface HandlerIndex {
  of(name: EventName): readonly Candidate[];
  stop(): void;
}

/**
 * Handlers by event, made when they are first asked for. A change drops the whole map, so a
 * dispatch under way keeps the one it began with.
 */
function createHandlerIndex(sources: readonly HandlerSource[]): HandlerIndex {
  let byEvent: Map<EventName, Candidate[]> | null = null;
  const refresh = (): void => {
    byEvent = null;
  };
  const stops = sources.flatMap((source) => source.subscribe?.(refresh) ?? []);
  return {
    of(name) {
      if (byEvent !== null) return byEvent.get(name) ?? [];
      const lists = sources.map(handlersOf);
      const grouped = groupByEvent(candidatesOf(lists.flatMap((list) => list ?? [])));
      // A source that could not answer is asked again next time.
      if (!lists.includes(null)) byEvent = grouped;
      return grouped.get(name) ?? [];
    },
    stop: () => stops.forEach((stop) => stop()),
  };
}

/** The handlers of a source, or null when it threw: the others must not be lost with it. */
function handlersOf(source: HandlerSource): readonly Handler[] | null {
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

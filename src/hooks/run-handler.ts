import { addAbortListener, clampTimerDelay, removeAbortListener } from '../base/abort.ts';
import { isPromiseLike } from '../base/callbacks.ts';
import { systemClock } from '../base/clock.ts';
import { dropUndefined } from '../base/defined.ts';
import { getErrorMessage } from '../base/errors.ts';
import { applySuspicion, checkAnswer } from './check-answer.ts';
import {
  type Decision,
  type Failure,
  type FailurePolicy,
  NO_DECISION,
  type Outcome,
} from './decision.ts';
import type { DispatchSubscribers, RecordedExchange } from './dispatch-record.ts';
import { EVENTS } from './events.ts';
import type { HookEvent } from './facts.ts';
import type { Answer, Exchange, Handler, HandlerInput } from './handler.ts';
import type { EngineLifetime } from './lifetime.ts';
import { type Candidate, findSuspicion } from './plan.ts';

/** The dispatch that handlers are run for. */
export interface DispatchContext {
  readonly id: string;
  readonly event: HookEvent;
  /** Aborts with the caller's signal and when the engine closes. */
  readonly signal: AbortSignal;
  readonly lifetime: EngineLifetime;
  readonly subscribers: DispatchSubscribers;
}

/** The run of one handler with one input. */
export class HandlerRun {
  readonly #candidate: Candidate;
  readonly input: HandlerInput;
  /** 2 when it runs again because the input was rewritten. */
  readonly pass: 1 | 2;
  /** Null until the handler has answered, failed, or moved to the background. */
  outcome: Outcome | null = null;
  /** On the clock of durations; NaN until it has ended. */
  endedAt = Number.NaN;
  /** The input and output of the hook; null when no subscriber needs them. */
  #exchanges: Exchange[] | null = null;
  readonly #dispatch: DispatchContext;

  constructor(dispatch: DispatchContext, candidate: Candidate, input: HandlerInput, pass: 1 | 2) {
    this.#dispatch = dispatch;
    this.#candidate = candidate;
    this.input = input;
    this.pass = pass;
  }

  get handler(): Handler {
    return this.#candidate.handler;
  }

  prepare(): void {
    try {
      if (this.outcome === null) this.handler.prepare?.(this.input);
    } catch (error) {
      this.fail(describeThrown(error));
    }
  }

  /** Sets the outcome of a handler that could not run, or was aborted. */
  fail(failure: Failure): void {
    this.outcome = this.#createOutcome({ failure }, 0);
  }

  /**
   * Runs the handler and sets the outcome, whatever the handler does, throwing and hanging included.
   * Returns null when that has happened synchronously, else a promise that never rejects.
   */
  startHandler(startedAt: number): Promise<void> | null {
    const { subscribers, lifetime, signal } = this.#dispatch;
    if (this.handler.background === true) {
      lifetime.background.add(() => this.#copy().#runInBackground());
      this.outcome = this.#createOutcome({}, 0, 'background');
      return null;
    }
    subscribers.notifyProgress('start', this.handler);
    try {
      const answer = this.#callHandler(signal);
      if (!isPromiseLike(answer)) {
        this.#end(answer, startedAt);
        return null;
      }
      return answer
        .then((result) => this.#end(result, startedAt))
        .catch((error: unknown) => this.#end({ failure: describeThrown(error) }, startedAt));
    } catch (error) {
      this.#end({ failure: describeThrown(error) }, startedAt);
      return null;
    }
  }

  /** The input and output of the hook, for the record of the dispatch. */
  listExchanges(): readonly RecordedExchange[] {
    if (this.#exchanges === null || this.outcome === null) return NO_EXCHANGES;
    const { hook, pass, part, vocabulary } = this.outcome;
    const run = { hook, pass, part, ...dropUndefined({ vocabulary }) };
    return this.#exchanges.map((exchange) => ({ ...run, ...exchange }));
  }

  #callHandler(signal: AbortSignal): Answer | undefined | Promise<Answer | undefined> {
    const { handler, input } = this;
    const { timeoutMs } = handler;
    const exchanges: Exchange[] | null = this.#dispatch.subscribers.wantsExchanges ? [] : null;
    const report =
      exchanges === null ? undefined : (exchange: Exchange) => void exchanges.push(exchange);
    this.#exchanges = exchanges;
    if (timeoutMs === undefined) return handler.run(input, signal, report);
    return runWithinLimit((limited) => handler.run(input, limited, report), signal, timeoutMs);
  }

  #end(answer: Answer | undefined, startedAt: number): void {
    const { subscribers, lifetime } = this.#dispatch;
    this.outcome = this.#readAnswer(answer, startedAt, false);
    subscribers.notifyProgress('end', this.handler);
    if (this.outcome.status !== 'background' || answer?.late === undefined) return;
    lifetime.background.track(this.#copy().#announceLate(answer.late, startedAt));
    // Exchanges from now on belong to the late answer.
    this.#exchanges = this.#exchanges?.splice(0) ?? null;
  }

  /** The outcome of an answer. A late answer arrives after the dispatch has ended. */
  #readAnswer(uncheckedAnswer: Answer | undefined, startedAt: number, isLate: boolean): Outcome {
    this.endedAt = systemClock.elapsed();
    const durationMs = roundDuration(this.endedAt - startedAt);
    const suspicion = findSuspicion(this.handler, this.input.event);
    if (uncheckedAnswer === undefined && suspicion === null) {
      return this.#createPassOutcome(durationMs);
    }
    const { event } = this.handler;
    const policy = getFailurePolicy(this.handler, undefined);
    const checkedAnswer = applySuspicion(
      addSuspicion(checkAnswer(uncheckedAnswer ?? PASS, event, isLate), suspicion),
      event,
      policy,
    );
    const isRepeated = this.input.asked?.isFirst === false;
    const answer = isRepeated ? omitRewrite(checkedAnswer) : checkedAnswer;
    return this.#createOutcome(
      answer,
      durationMs,
      answer.late === undefined ? undefined : 'background',
    );
  }

  /** One frozen outcome is shared by all passes of a handler that took no time, because most passes do. */
  #createPassOutcome(durationMs: number): Outcome {
    const { input, pass } = this;
    const isPlain = pass === 1 && input.asked === undefined && (input.tool?.part ?? null) === null;
    if (durationMs > 0 || !isPlain) {
      return this.#createOutcome(PASS, durationMs);
    }
    return (this.#candidate.quickPass ??= Object.freeze(this.#createOutcome(PASS, durationMs)));
  }

  // Field by field: copies of objects that are then changed take V8 a hundred times as long.
  #createOutcome(answer: Answer, durationMs: number, status?: Outcome['status']): Outcome {
    const { handler, input, pass } = this;
    const { failure = null, decision = null, notes = [], warnings = [], program } = answer;
    const onFailure = getFailurePolicy(handler, answer.onFailure);
    return {
      hook: handler.id,
      dialect: handler.dialect,
      source: handler.source,
      status: status ?? (failure === null ? 'decided' : 'failed'),
      effect: failure === null ? getOwnEffect(decision) : getFailedEffect(onFailure),
      pass,
      part: input.tool?.part ?? null,
      ...(input.asked === undefined ? NO_FIELDS : { vocabulary: input.asked.vocabulary }),
      ...(handler.sandbox === undefined ? NO_FIELDS : { sandbox: handler.sandbox }),
      exitCode: program?.exitCode ?? null,
      durationMs,
      failure: failure === null ? null : addHint(failure, handler),
      onFailure,
      notes,
      ...(warnings.length === 0 ? NO_FIELDS : { warnings }),
      stdout: program?.stdout ?? null,
      stderr: program?.stderr ?? null,
      decision: failure === null ? decision : null,
    };
  }

  /** The run of a late answer, because the run of the dispatch has its outcome already. */
  #copy(): HandlerRun {
    const copy = new HandlerRun(this.#dispatch, this.#candidate, this.input, this.pass);
    copy.#exchanges = this.#exchanges;
    return copy;
  }

  async #runInBackground(): Promise<void> {
    const { signal } = this.#dispatch.lifetime;
    const why = signal.aborted
      ? 'was not started before the engine closed'
      : findWithheldReason(this.handler);
    if (why !== null) {
      this.fail({ kind: 'killed', message: why });
      return this.#notifyLate();
    }
    const startedAt = systemClock.elapsed();
    const askOnce = async (): Promise<Answer | undefined> => {
      const answer = await this.#callHandler(signal);
      return answer?.late instanceof Promise ? answer.late : answer;
    };
    await this.#announceLate(askOnce(), startedAt);
  }

  async #announceLate(late: Promise<Answer | undefined>, startedAt: number): Promise<void> {
    this.outcome = await late
      .then((answer) => this.#readAnswer(answer, startedAt, true))
      .catch((error: unknown) =>
        this.#readAnswer({ failure: describeThrown(error) }, startedAt, true),
      );
    this.#notifyLate();
  }

  #notifyLate(): void {
    const { outcome, pass, input } = this;
    const { id, event, subscribers } = this.#dispatch;
    if (outcome === null) return;
    subscribers.notifyLate({
      dispatchId: id,
      event: pass === 1 ? event : input.event,
      outcome,
      exchanges: this.listExchanges(),
    });
  }
}

const NO_FIELDS = Object.freeze({});
const PASS: Answer = { decision: NO_DECISION, notes: Object.freeze([]) };
const NO_EXCHANGES: readonly RecordedExchange[] = [];

function addSuspicion(answer: Answer, suspicion: string | null): Answer {
  if (suspicion === null) return answer;
  const own = answer.suspicion;
  return { ...answer, suspicion: own === undefined ? suspicion : `${own}; ${suspicion}` };
}

/** A hook that is asked in two vocabularies would rewrite the call twice; its first rewrite counts. */
function omitRewrite(answer: Answer): Answer {
  if (answer.decision?.input === undefined) return answer;
  const { input: _input, inputFace: _face, ...decision } = answer.decision;
  const note = 'its rewrite is ignored: only the one in its first vocabulary counts';
  return { ...answer, decision, notes: [...(answer.notes ?? []), note] };
}

function addHint(failure: Failure, { advise }: Handler): Failure {
  const hint = failure.hint ?? advise?.(failure) ?? null;
  return hint === null ? failure : { ...failure, hint };
}

function describeThrown(error: unknown): Failure {
  return { kind: 'threw', message: getErrorMessage(error) };
}

/** Durations below this are mostly the time it takes to read the clock. */
const SHORTEST_DURATION_MS = 0.001;

function roundDuration(durationMs: number): number {
  return durationMs < SHORTEST_DURATION_MS ? 0 : durationMs;
}

/** The effect of one decision, for its outcome; the merge reads the decision itself. */
function getOwnEffect(decision: Decision | null): Outcome['effect'] {
  return decision?.stop?.pending === 'skip' ? 'stop' : (decision?.effect ?? 'pass');
}

/** The effect of a failure. */
export function getFailedEffect(onFailure: FailurePolicy): Outcome['effect'] {
  return onFailure === 'closed' ? 'deny' : 'pass';
}

/** An event that cannot be refused cannot fail closed. */
function getFailurePolicy(handler: Handler, ofAnswer: FailurePolicy | undefined): FailurePolicy {
  if (EVENTS[handler.event].refusal === null) return 'open';
  return ofAnswer === 'closed' ? ofAnswer : handler.onFailure;
}

/** Checked again, because trust may have changed while the handler waited for its turn. */
function findWithheldReason(handler: Handler): string | null {
  try {
    const why = handler.withheld?.() ?? null;
    return why === null ? null : `was not started: ${why}`;
  } catch (error) {
    return `was not started: whether it may run could not be found out: ${getErrorMessage(error)}`;
  }
}

/** Runs with a separate signal, which aborts with the outer one and on the timeout. */
export async function runWithinLimit(
  run: (signal: AbortSignal) => Answer | undefined | Promise<Answer | undefined>,
  outer: AbortSignal,
  timeoutMs: number,
): Promise<Answer | undefined> {
  const controller = new AbortController();
  const unlink = forwardAbort(outer, controller);
  let timer: NodeJS.Timeout | undefined;
  let late: Promise<Answer> | undefined;
  const timeUp = new Promise<Answer>((resolve) => {
    const giveUp = (): void => {
      const message = `did not answer within ${timeoutMs} ms`;
      // Resolved first, because an answer after the abort comes too late.
      resolve({ failure: { kind: 'timeout', message } });
      controller.abort(new DOMException(message, 'TimeoutError'));
    };
    timer = setTimeout(giveUp, clampTimerDelay(timeoutMs));
  });
  try {
    const answer = await Promise.race([run(controller.signal), timeUp]);
    late = answer?.late;
    return answer;
  } finally {
    clearTimeout(timer);
    // A background run still ends with the outer signal.
    if (late === undefined) unlink();
    else void late.then(unlink, unlink);
  }
}

function forwardAbort(outer: AbortSignal, inner: AbortController): () => void {
  const forward = (): void => inner.abort(outer.reason);
  if (outer.aborted) forward();
  else outer.addEventListener('abort', forward, { once: true });
  return () => outer.removeEventListener('abort', forward);
}

// Longer than the grace period between SIGTERM and SIGKILL in process/run.ts, because a tree that is given
// up before would be orphaned.
const GRACE_AFTER_ABORT_MS = 4000;

/**
 * Waits until every run has its outcome. After an abort it waits a little longer; runs that have no
 * outcome then are marked as killed.
 */
export async function waitForRuns(
  runs: readonly HandlerRun[],
  pending: readonly Promise<void>[],
  signal: AbortSignal,
): Promise<void> {
  const grace = startGrace(signal);
  try {
    await Promise.race([Promise.all(pending), grace.over]);
  } finally {
    grace.end();
  }
  for (const run of runs) {
    if (run.outcome !== null) continue;
    run.fail({ kind: 'killed', message: 'did not end after the dispatch was aborted' });
  }
}

/** The time that handlers have to end after the signal aborts. */
function startGrace(signal: AbortSignal): { over: Promise<void>; end: () => void } {
  let timer: NodeJS.Timeout | undefined;
  let wait = (): void => undefined;
  const over = new Promise<void>((resolve) => {
    wait = () => {
      timer = setTimeout(resolve, GRACE_AFTER_ABORT_MS);
    };
  });
  if (signal.aborted) wait();
  else addAbortListener(signal, wait);
  return {
    over,
    end() {
      clearTimeout(timer);
      removeAbortListener(signal, wait);
    },
  };
}

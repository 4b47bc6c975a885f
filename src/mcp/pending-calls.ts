import { clampTimerDelay } from '../base/abort.ts';

/** A question of a server for the user. */
export interface ServerQuestion {
  readonly message: string;
  readonly mode: 'form' | 'url';
  readonly schema?: Readonly<Record<string, unknown>>;
  readonly url?: string;
  readonly id?: string;
}

export interface QuestionAnswer {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Readonly<Record<string, unknown>>;
}

/** A question with the name of its server. */
interface NamedQuestion extends ServerQuestion {
  readonly server: string;
}

/** Answers a server's questions during a call: the same function for all calls of one agent. */
export type Ask = (question: NamedQuestion, signal: AbortSignal) => Promise<QuestionAnswer>;

/** A request that a server has not answered yet. */
export interface PendingCall {
  readonly limit: CallLimit;
  /** Null in a non-interactive run. */
  readonly ask: Ask | null;
}

const DECLINED: QuestionAnswer = { action: 'decline' };

/** The requests that one server has not answered, and the routing of its questions to their agents. */
export class PendingCalls {
  readonly #calls = new Set<PendingCall>();
  readonly #notify: (text: string) => void;

  constructor(notify: (text: string) => void) {
    this.#notify = notify;
  }

  add(call: PendingCall): void {
    this.#calls.add(call);
  }

  remove(call: PendingCall): void {
    this.#calls.delete(call);
  }

  /** `own` is the call that the question belongs to, where the transport tells. */
  async ask(
    question: NamedQuestion,
    own: PendingCall | null,
    signal: AbortSignal,
  ): Promise<QuestionAnswer> {
    const candidates = own === null ? [...this.#calls] : [own];
    const [ask, ...others] = new Set(candidates.map((call) => call.ask));
    if (others.length > 0) {
      this.#notify(
        'its question was declined: several agents have calls in progress, and it is not known which one it is for',
      );
      return DECLINED;
    }
    return ask === undefined || ask === null
      ? DECLINED
      : pauseWhile(candidates, () => ask(question, signal));
  }
}

/** Pauses all calls of the agent, because it is not known which of them waits for the answer. */
async function pauseWhile<Result>(
  calls: readonly PendingCall[],
  work: () => Promise<Result>,
): Promise<Result> {
  const resumes = calls.map(({ limit }) => limit.pause());
  try {
    return await work();
  } finally {
    for (const resume of resumes) resume();
  }
}

/** The time limit of a call, which is paused while the call waits for the user. */
export interface CallLimit {
  readonly signal: AbortSignal;
  hasExpired(): boolean;
  /** Starts the time again. */
  restart(): void;
  /** Stops the time until the returned function is called. */
  pause(): () => void;
  /** Aborts the call for this reason. */
  fail(reason: Error): void;
  /** Must be called when the call is done. */
  clear(): void;
}

export function startCallLimit(caller: AbortSignal, timeoutMs: number): CallLimit {
  const limit = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let hasExpired = false;
  let isDone = false;
  let pauses = 0;
  const abortWithCaller = (): void => limit.abort(caller.reason);
  const restart = (): void => {
    clearTimeout(timer);
    // The user may answer long after the call has ended.
    if (isDone || pauses > 0) return;
    timer = setTimeout(() => {
      hasExpired = !limit.signal.aborted;
      limit.abort();
    }, clampTimerDelay(timeoutMs));
  };
  restart();
  if (caller.aborted) abortWithCaller();
  caller.addEventListener('abort', abortWithCaller);
  return {
    signal: limit.signal,
    hasExpired: () => hasExpired,
    restart,
    pause() {
      pauses += 1;
      clearTimeout(timer);
      return () => {
        pauses -= 1;
        restart();
      };
    },
    fail: (reason) => limit.abort(reason),
    clear() {
      isDone = true;
      clearTimeout(timer);
      caller.removeEventListener('abort', abortWithCaller);
    },
  };
}

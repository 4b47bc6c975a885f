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

/** Answers a server's questions during a call: the same function for all calls of one agent. */
export type Ask = (
  question: ServerQuestion & { readonly server: string },
  signal: AbortSignal,
) => Promise<QuestionAnswer>;

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
  readonly #server: string;
  readonly #notify: (text: string) => void;

  constructor(server: string, notify: (text: string) => void) {
    this.#server = server;
    this.#notify = notify;
  }

  add(call: PendingCall): void {
    this.#calls.add(call);
  }

  remove(call: PendingCall): void {
    this.#calls.delete(call);
  }

  /** `own` is the call that the question belongs to; null when the transport does not identify it. */
  async ask(
    question: ServerQuestion,
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
      : pauseWhile(candidates, () => ask({ server: this.#server, ...question }, signal));
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
export class CallLimit {
  readonly #caller: AbortSignal;
  readonly #timeoutMs: number;
  readonly #controller = new AbortController();
  readonly #abortWithCaller: () => void;
  #timer: NodeJS.Timeout | undefined;
  #hasExpired = false;
  #isDone = false;
  #pauses = 0;

  constructor(caller: AbortSignal, timeoutMs: number) {
    this.#caller = caller;
    this.#timeoutMs = timeoutMs;
    this.#abortWithCaller = () => this.#controller.abort(caller.reason);
    this.restart();
    if (caller.aborted) this.#abortWithCaller();
    caller.addEventListener('abort', this.#abortWithCaller);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  hasExpired(): boolean {
    return this.#hasExpired;
  }

  /** Starts the time again. */
  restart(): void {
    clearTimeout(this.#timer);
    // The user may answer long after the call has ended.
    if (this.#isDone || this.#pauses > 0) return;
    this.#timer = setTimeout(() => {
      this.#hasExpired = !this.signal.aborted;
      this.#controller.abort();
    }, clampTimerDelay(this.#timeoutMs));
  }

  /** Stops the time until the returned function is called. */
  pause(): () => void {
    this.#pauses += 1;
    clearTimeout(this.#timer);
    return () => {
      this.#pauses -= 1;
      this.restart();
    };
  }

  /** Aborts the call for this reason. */
  fail(reason: Error): void {
    this.#controller.abort(reason);
  }

  /** Must be called when the call is done. */
  clear(): void {
    this.#isDone = true;
    clearTimeout(this.#timer);
    this.#caller.removeEventListener('abort', this.#abortWithCaller);
  }
}

import type { CallLimit } from './call-limit.ts';

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
export interface NamedQuestion extends ServerQuestion {
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

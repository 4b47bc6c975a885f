import type { CallLimit } from './call-limit.ts';

/** What a server asks the person. */
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

/** A question, and which server has it. */
export interface NamedQuestion extends ServerQuestion {
  readonly server: string;
}

/** Whoever a server's questions go to while a call runs: the same function for all calls of one agent. */
export type Ask = (question: NamedQuestion, signal: AbortSignal) => Promise<QuestionAnswer>;

/** A request that a server has not answered yet. */
export interface PendingCall {
  readonly limit: CallLimit;
  /** Null when nobody can be asked. */
  readonly ask: Ask | null;
}

const DECLINED: QuestionAnswer = { action: 'decline' };

/** The requests that one server has to answer, and to whom its questions go meanwhile. */
export class PendingCalls {
  readonly #calls = new Set<PendingCall>();
  readonly #tell: (text: string) => void;

  constructor(tell: (text: string) => void) {
    this.#tell = tell;
  }

  add(call: PendingCall): void {
    this.#calls.add(call);
  }

  remove(call: PendingCall): void {
    this.#calls.delete(call);
  }

  /** `own` is the call that the question came with, where the connection tells. */
  async ask(
    question: NamedQuestion,
    own: PendingCall | null,
    signal: AbortSignal,
  ): Promise<QuestionAnswer> {
    const meant = own === null ? [...this.#calls] : [own];
    const [ask, ...others] = new Set(meant.map((call) => call.ask));
    if (others.length > 0) {
      this.#tell(
        'its question was declined: calls of several agents are under way, and it does not say whose it is about',
      );
      return DECLINED;
    }
    return ask === undefined || ask === null
      ? DECLINED
      : withoutTime(meant, () => ask(question, signal));
  }
}

/** Which of an agent's own calls waits for the answer is not known: the time stands still for all. */
async function withoutTime<Result>(
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

export type LoopRuling =
  | { readonly kind: 'fine' }
  | { readonly kind: 'warn'; readonly text: string }
  | { readonly kind: 'end'; readonly reason: string };

/** How many in a row end a run. */
export interface LoopLimits {
  readonly sameCalls: number;
  readonly failedCalls: number;
  /** Turns whose calls all failed. */
  readonly failedTurns: number;
}

const USUAL: LoopLimits = {
  sameCalls: 8,
  failedCalls: 15,
  failedTurns: Number.POSITIVE_INFINITY,
};
const SAME_WARNING = 3;
const FAILURES_WARNING = 6;
const FINE: LoopRuling = { kind: 'fine' };

/** `denied` by a hook: no failure of the model, so that it ends no run. */
export type CallOutcome = 'success' | 'failure' | 'denied';

interface ObservedCall {
  readonly name: string;
  readonly input: unknown;
  readonly answer: string;
  readonly outcome: CallOutcome;
}

/** Detects an agent that repeats itself. Only the same call with the same answer counts, because polling is no loop. */
export class LoopGuard {
  readonly #limits: LoopLimits;
  #lastCall = '';
  #sameCalls = 0;
  #failedCalls = 0;
  #failedTurns = 0;

  constructor(limits: LoopLimits = USUAL) {
    this.#limits = limits;
  }

  /** Called after each call; returns a warning for the model, or why the run must end. */
  observe({ name, input, answer, outcome }: ObservedCall): LoopRuling {
    const call = JSON.stringify([name, input, answer]);
    const same = (this.#sameCalls = call === this.#lastCall ? this.#sameCalls + 1 : 1);
    this.#lastCall = call;
    const isDenied = outcome === 'denied';
    if (!isDenied) this.#failedCalls = outcome === 'success' ? 0 : this.#failedCalls + 1;
    const failures = this.#failedCalls;
    if (same >= this.#limits.sameCalls && !isDenied) {
      return { kind: 'end', reason: `the same ${name} call was made ${same} times in a row` };
    }
    if (failures >= this.#limits.failedCalls) {
      return { kind: 'end', reason: `${failures} tool calls failed in a row` };
    }
    if (same === SAME_WARNING) {
      const text = `You made the same ${name} call ${same} times and got the same answer. Try something else, or say what keeps you from going on.`;
      return { kind: 'warn', text };
    }
    if (failures === FAILURES_WARNING && !isDenied) {
      const text = `${failures} tool calls failed in a row. Look at what the errors have in common before the next one.`;
      return { kind: 'warn', text };
    }
    return FINE;
  }

  /** Called after all calls of a turn. */
  endTurn(outcomes: readonly CallOutcome[]): LoopRuling {
    if (outcomes.includes('success')) this.#failedTurns = 0;
    else if (outcomes.includes('failure')) this.#failedTurns += 1;
    if (this.#failedTurns < this.#limits.failedTurns) return FINE;
    return { kind: 'end', reason: `all tool calls of ${this.#failedTurns} turns in a row failed` };
  }

  /** Called with a new prompt. */
  reset(): void {
    this.#lastCall = '';
    this.#sameCalls = 0;
    this.#failedCalls = 0;
    this.#failedTurns = 0;
  }
}

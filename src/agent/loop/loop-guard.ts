/** Detects an agent that repeats itself. */
export interface LoopGuard {
  /** Called after each call; returns a warning for the model, or why the run must end. */
  observe(call: FinishedCall): LoopRuling;
  /** Called after all calls of a turn. */
  endTurn(turn: { readonly allFailed: boolean }): LoopRuling;
  /** Called with a new prompt. */
  reset(): void;
}

export interface FinishedCall {
  readonly name: string;
  readonly input: unknown;
  readonly answer: string;
  readonly success: boolean;
}

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

/** Only the same call with the same answer counts, because polling is no loop. */
export function createLoopGuard(limits: LoopLimits = USUAL): LoopGuard {
  let last = '';
  let same = 0;
  let failures = 0;
  let failedTurns = 0;
  return {
    observe(call) {
      const key = JSON.stringify([call.name, call.input, call.answer]);
      same = key === last ? same + 1 : 1;
      last = key;
      failures = call.success ? 0 : failures + 1;
      return checkCounts(call.name, { same, failures }, limits);
    },
    endTurn({ allFailed }) {
      failedTurns = allFailed ? failedTurns + 1 : 0;
      if (failedTurns < limits.failedTurns) return FINE;
      return { kind: 'end', reason: `all tool calls of ${failedTurns} turns in a row failed` };
    },
    reset() {
      last = '';
      same = 0;
      failures = 0;
      failedTurns = 0;
    },
  };
}

interface Counted {
  readonly same: number;
  readonly failures: number;
}

function checkCounts(
  name: string,
  { same, failures }: Counted,
  { sameCalls, failedCalls }: LoopLimits,
): LoopRuling {
  if (same >= sameCalls) {
    return { kind: 'end', reason: `the same ${name} call was made ${same} times in a row` };
  }
  if (failures >= failedCalls) {
    return { kind: 'end', reason: `${failures} tool calls failed in a row` };
  }
  if (same === SAME_WARNING) {
    const text = `You made the same ${name} call ${same} times and got the same answer. Try something else, or say what keeps you from going on.`;
    return { kind: 'warn', text };
  }
  if (failures === FAILURES_WARNING) {
    const text = `${failures} tool calls failed in a row. Look at what the errors have in common before the next one.`;
    return { kind: 'warn', text };
  }
  return FINE;
}

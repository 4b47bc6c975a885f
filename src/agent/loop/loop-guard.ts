/** Notices an agent that goes in circles. */
export interface LoopGuard {
  /** After each call; says what to tell the model, or why the run must end. */
  observe(call: FinishedCall): LoopRuling;
  /** A new prompt starts the count anew. */
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

const SAME_WARNING = 3;
const SAME_END = 8;
const FAILURES_WARNING = 6;
const FAILURES_END = 15;
const FINE: LoopRuling = { kind: 'fine' };

/** Only the same call with the same answer counts: waiting for something to change is no circle. */
export function createLoopGuard(): LoopGuard {
  let last = '';
  let same = 0;
  let failures = 0;
  return {
    observe(call) {
      const key = JSON.stringify([call.name, call.input, call.answer]);
      same = key === last ? same + 1 : 1;
      last = key;
      failures = call.success ? 0 : failures + 1;
      return ruleOn(call.name, { same, failures });
    },
    reset() {
      last = '';
      same = 0;
      failures = 0;
    },
  };
}

function ruleOn(name: string, counted: { same: number; failures: number }): LoopRuling {
  const { same, failures } = counted;
  if (same >= SAME_END) {
    return { kind: 'end', reason: `the same ${name} call was made ${same} times in a row` };
  }
  if (failures >= FAILURES_END) {
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

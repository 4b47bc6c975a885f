import { isRefusal, type Verdict } from './decision.ts';

/** How often in a row hooks may keep the agent from ending, before it ends all the same. */
const DEFAULT_STOP_CAP = 8;

export interface StopRuling {
  /** Whether the agent goes on because a hook wants it to. */
  readonly goesOn: boolean;
  /** Set when hooks wanted it to go on once too often: the message to the user. */
  readonly overridden: string | null;
}

/** Limits how often hooks of Stop, SubagentStop or TaskComplete may make the agent go on. */
export interface StopGuard {
  judge(verdict: Verdict): StopRuling;
  /** A new prompt starts the count anew. */
  reset(): void;
}

/** A cap of 0 lets hooks go on for ever. */
export function createStopGuard(cap: number = DEFAULT_STOP_CAP): StopGuard {
  let continuations = 0;
  return {
    judge(verdict) {
      if (!shouldContinue(verdict)) {
        continuations = 0;
        return { goesOn: false, overridden: null };
      }
      continuations += 1;
      if (cap === 0 || continuations <= cap) return { goesOn: true, overridden: null };
      const overridden = `hooks kept the agent from ending ${continuations} times in a row (${listBlamedHooks(verdict)}); it ends now`;
      continuations = 0;
      return { goesOn: false, overridden };
    },
    reset() {
      continuations = 0;
    },
  };
}

/**
 * Whether hooks want a further turn, which context that comes when the agent wants to end is for,
 * too. Not that of a task that is complete: in Cline nobody reads it, so hooks give it every time.
 */
export function shouldContinue({ event, effect, stop, context }: Verdict): boolean {
  if (stop !== null) return false;
  return isRefusal(effect) || (context.length > 0 && event !== 'TaskComplete');
}

function listBlamedHooks({ reasons, context }: Verdict): string {
  return [...new Set([...reasons, ...context].map(({ hook }) => hook))].join(', ');
}

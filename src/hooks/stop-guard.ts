import { isRefusal, type Verdict } from './decision.ts';

/** How often in a row hooks may keep the agent from ending, before it ends anyway. */
const DEFAULT_STOP_CAP = 8;

export interface StopRuling {
  /** Whether the agent continues because a hook requires it. */
  readonly goesOn: boolean;
  /** Set when hooks exceeded the limit: the message to the user. */
  readonly overridden: string | null;
}

/** Limits how often hooks of Stop, SubagentStop or TaskComplete may make the agent continue. */
export interface StopGuard {
  judge(verdict: Verdict): StopRuling;
  /** A new prompt resets the count. */
  reset(): void;
}

/** A cap of 0 means no limit. */
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
 * Whether hooks require a further turn, by a refusal or by context for the model. Context of TaskComplete
 * does not count: Cline ignores it there, so its hooks return context every time.
 */
export function shouldContinue({ event, effect, stop, context }: Verdict): boolean {
  if (stop !== null) return false;
  return isRefusal(effect) || (context.length > 0 && event !== 'TaskComplete');
}

function listBlamedHooks({ reasons, context }: Verdict): string {
  return [...new Set([...reasons, ...context].map(({ hook }) => hook))].join(', ');
}

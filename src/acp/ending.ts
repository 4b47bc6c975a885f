import type * as acp from '@agentclientprotocol/sdk';
import type { FinishReason } from '../agent/models/model.ts';
import type { RunResult } from '../agent/runtime-event.ts';
import { failedRun } from './request-errors.ts';

export interface RunEnding {
  readonly stopReason: acp.StopReason;
  /** Why it ended, where the person would not see it otherwise. */
  readonly words: string | null;
}

/**
 * How a run ended, in the protocol's words. Throws when it failed: editors show an error with what it
 * says. A prompt that a hook refused ends its turn, because editors take back what was said in one
 * that ends with `refusal`, and with it the hook's reason.
 */
export function endingOf(
  { ending, reason }: Pick<RunResult, 'ending' | 'reason'>,
  lastFinish: FinishReason | null,
): RunEnding {
  switch (ending) {
    case 'done':
      return { stopReason: FINISHES[lastFinish ?? 'stop'] ?? 'end_turn', words: reason };
    case 'aborted':
      return { stopReason: 'cancelled', words: null };
    case 'max_turns':
      return { stopReason: 'max_turn_requests', words: reason };
    case 'model_failed':
    case 'failed':
      throw failedRun(reason ?? 'the run failed');
    case 'refused':
    case 'stopped_by_hook':
    case 'loop':
      return { stopReason: 'end_turn', words: reason };
    case 'tool_deferred':
      return { stopReason: 'end_turn', words: reason ?? 'A hook left a call undecided.' };
  }
}

const FINISHES: Readonly<Partial<Record<FinishReason, acp.StopReason>>> = {
  length: 'max_tokens',
  'content-filter': 'refusal',
};

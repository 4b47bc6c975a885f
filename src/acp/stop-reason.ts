import type * as acp from '@agentclientprotocol/sdk';
import type { FinishReason } from '../agent/models/model.ts';
import type { RunResult } from '../agent/runtime-event.ts';
import { createInternalError } from './request-errors.ts';

export interface PromptEnd {
  readonly stopReason: acp.StopReason;
  /** Why it ended, where the user would not see it otherwise. */
  readonly message: string | null;
}

/**
 * The protocol's stop reason of a run. Throws when the run failed: editors show the message of an
 * error. A prompt that a hook refused ends its turn, because editors remove the messages of a turn
 * that ends with `refusal`, and with them the hook's reason.
 */
export function toStopReason(
  { ending, reason }: Pick<RunResult, 'ending' | 'reason'>,
  lastFinish: FinishReason | null,
): PromptEnd {
  switch (ending) {
    case 'done':
      return { stopReason: FINISHES[lastFinish ?? 'stop'] ?? 'end_turn', message: reason };
    case 'aborted':
      return { stopReason: 'cancelled', message: null };
    case 'max_turns':
      return { stopReason: 'max_turn_requests', message: reason };
    case 'model_failed':
    case 'failed':
      throw createInternalError(reason ?? 'the run failed');
    case 'refused':
    case 'stopped_by_hook':
    case 'loop':
      return { stopReason: 'end_turn', message: reason };
    case 'tool_deferred':
      return { stopReason: 'end_turn', message: reason ?? 'A hook left a call undecided.' };
  }
}

const FINISHES: Readonly<Partial<Record<FinishReason, acp.StopReason>>> = {
  length: 'max_tokens',
  'content-filter': 'refusal',
};

import type { RunResult, RuntimeEvent } from '../../../agent/runtime-event.ts';
import { systemClock } from '../../../base/clock.ts';
import { formatErrorText, type LegacyAgentUsage, toLegacyUsage } from '../agent-events.ts';
import { toPluginStatus } from '../../../host/plugins/events/snapshots.ts';
import { toCallResult } from '../../../host/plugins/events/plugin-messages.ts';
import type { ProviderMessage } from '../../../plugins/contract/message.ts';

/** How one prompt ended. */
export interface AgentResult {
  /** The agent's last text, or the error. */
  text: string;
  usage: LegacyAgentUsage;
  messages: ProviderMessage[];
  toolCalls: ToolCallRecord[];
  iterations: number;
  finishReason: 'completed' | 'max_iterations' | 'aborted' | 'mistake_limit' | 'error';
  /** Why it ended, unless it was done. */
  stopReason?: string;
  model: { id: string; provider: string };
  startedAt: Date;
  endedAt: Date;
  durationMs: number;
}

export interface ToolCallRecord {
  id: string;
  name: string;
  input: unknown;
  output: unknown;
  error?: string;
  durationMs: number;
  startedAt: Date;
  endedAt: Date;
}

/**
 * Logs the calls of the current run as they end, in the format of `@cline/core`. The agent itself holds only
 * calls that are pending; of those that have ended it has the messages.
 */
export class CallLog {
  #calls: ToolCallRecord[] = [];

  record(event: RuntimeEvent): void {
    if (event.parentAgentId !== null) return;
    if (event.type === 'run-start' || event.type === 'reply') this.#calls = [];
    if (event.type === 'tool-end') this.#calls.push(toCallRecord(event));
  }

  list(): ToolCallRecord[] {
    return [...this.#calls];
  }
}

function toCallRecord(event: Extract<RuntimeEvent, { type: 'tool-end' }>): ToolCallRecord {
  const { callId: id, tool: name, input, durationMs } = event;
  const { output, isError } = toCallResult(event);
  const endedAt = systemClock.now();
  return {
    id,
    name,
    input,
    output,
    ...(isError === true ? { error: formatErrorText(output) } : {}),
    durationMs,
    startedAt: new Date(endedAt - durationMs),
    endedAt: new Date(endedAt),
  };
}

export function createAgentResult({
  run,
  calls,
  messages,
  model,
}: Pick<AgentResult, 'model'> & {
  readonly run: RunResult;
  readonly calls: ToolCallRecord[];
  readonly messages: ProviderMessage[];
}): AgentResult {
  const { reason, usage, costUsd, iterations, durationMs } = run;
  const finishReason = toFinishReason(run);
  const endedAt = systemClock.now();
  return {
    text: finishReason === 'error' ? (reason ?? run.text) : run.text,
    usage: toLegacyUsage({ ...usage, ...(costUsd === null ? {} : { totalCost: costUsd }) }),
    messages,
    toolCalls: calls,
    iterations,
    finishReason,
    ...(reason === null ? {} : { stopReason: reason }),
    model: { ...model },
    startedAt: new Date(endedAt - durationMs),
    endedAt: new Date(endedAt),
    durationMs,
  };
}

function toFinishReason(run: RunResult): AgentResult['finishReason'] {
  if (run.ending === 'max_turns') return 'max_iterations';
  const status = toPluginStatus(run);
  return status === 'failed' ? 'error' : status;
}

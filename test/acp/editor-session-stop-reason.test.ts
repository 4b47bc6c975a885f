import { expect, test } from 'vitest';
import { toStopReason } from '../../src/acp/editor-session.ts';
import { ENDINGS, type RunEnding, type RunResult } from '../../src/agent/runtime-event.ts';
import { NO_USAGE } from '../../src/agent/models/model.ts';

function resultOf(ending: RunEnding): RunResult {
  return {
    sessionId: 's',
    runId: 'r',
    status: 'completed',
    ending,
    text: '',
    reason: 'because',
    iterations: 1,
    usage: NO_USAGE,
    costUsd: 0,
    durationMs: 1,
    denials: [],
    deferred: null,
  };
}

function wordFor(ending: RunEnding): string {
  try {
    return toStopReason(resultOf(ending), 'stop').stopReason;
  } catch (error) {
    return String(error);
  }
}

test('every ending has its stop reason in the protocol, or is an error', () => {
  expect(Object.fromEntries(ENDINGS.map((ending) => [ending, wordFor(ending)]))).toStrictEqual({
    done: 'end_turn',
    refused: 'end_turn',
    stopped_by_hook: 'end_turn',
    tool_deferred: 'end_turn',
    max_turns: 'max_turn_requests',
    aborted: 'cancelled',
    model_failed: 'RequestError: because',
    failed: 'RequestError: because',
    loop: 'end_turn',
  });
});

test('the stop reason of the model’s last answer counts', () => {
  const wordAfter = (finish: 'length' | 'content-filter' | 'other'): string =>
    toStopReason({ ...resultOf('done'), reason: null }, finish).stopReason;
  expect([wordAfter('length'), wordAfter('content-filter'), wordAfter('other')]).toStrictEqual([
    'max_tokens',
    'refusal',
    'end_turn',
  ]);
});

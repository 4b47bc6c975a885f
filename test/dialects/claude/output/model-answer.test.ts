import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ClaudeEvent } from '../../../../src/dialects/claude/events.ts';
import {
  decideModelAnswer,
  type ModelAnswerRequest,
} from '../../../../src/dialects/claude/output/model-answer.ts';

const NO = '{"ok":false,"reason":"no"}';
const REASON = '[Is it fine?]: no';

const decide = (event: ClaudeEvent, text: string, wanted: Partial<ModelAnswerRequest> = {}) =>
  decideModelAnswer({
    event,
    text,
    continueOnBlock: false,
    kind: 'prompt',
    label: 'Is it fine?',
    ...wanted,
  });

describe('an objection', () => {
  const refusal = { effect: 'deny', reason: REASON };

  test('denies the call and ends the turn', () => {
    expect(decide('PreToolUse', NO)).toEqual({
      decision: { ...refusal, stop: { reason: REASON, pending: 'skip' } },
    });
  });

  test('only denies the call with continueOnBlock', () => {
    expect(decide('PreToolUse', NO, { continueOnBlock: true })).toEqual({ decision: refusal });
  });

  test('of an agent only denies the call', () => {
    expect(decide('PreToolUse', NO, { kind: 'agent' })).toEqual({
      decision: { effect: 'deny', reason: 'Agent hook condition was not met: no' },
    });
  });

  test('after a call ends the turn', () => {
    expect(decide('PostToolUse', NO)).toEqual({
      decision: { ...refusal, stop: { reason: REASON, pending: 'run' } },
    });
  });

  test.each([
    'UserPromptSubmit',
    'UserPromptExpansion',
    'PostToolBatch',
    'PostToolUseFailure',
    'TaskCreated',
    'TaskCompleted',
    'TeammateIdle',
    'Stop',
    'SubagentStop',
  ] as const)('refuses %s', (event) => {
    expect(decide(event, NO)).toEqual({ decision: refusal });
  });

  test.each(['PermissionRequest', 'PermissionDenied'] as const)('does nothing on %s', (event) => {
    expect(decide(event, NO)).toEqual({
      notes: [`a prompt hook has no effect on ${event}: ${REASON}`],
    });
  });

  test('lets the agent end when its request is impossible', () => {
    expect(decide('Stop', '{"ok":false,"reason":"no","impossible":true}').decision).toBeUndefined();
  });
});

test.each([
  ['{"ok":true,"reason":"fine"}'],
  ['  {"ok":true}\n'],
  ['Here you are:\n```json\n{"ok":true,"reason":""}\n```\nBye'],
  ['```\r\n{"ok":true}\r\n```'],
])('approval is no decision: %j', (text) => {
  expect(decide('PreToolUse', text)).toEqual({});
});

test('a fenced answer counts', () => {
  expect(decide('Stop', `\`\`\`json\n${NO}\n\`\`\``).decision?.effect).toBe('deny');
});

describe('an answer in the format that many prompts ask for', () => {
  test.each(['approve', 'allow'])('%s is no decision', (decision) => {
    expect(decide('Stop', JSON.stringify({ decision }))).toEqual({});
  });

  test.each(['block', 'deny'])('%s objects', (decision) => {
    expect(decide('Stop', JSON.stringify({ decision, reason: 'no' }))).toEqual({
      decision: { effect: 'deny', reason: REASON },
    });
  });

  test('a failure does not keep the agent from ending', () => {
    expect(decide('Stop', '{"ok":true,"decision":"block"}')).toMatchObject({
      failure: { kind: 'output' },
      onFailure: 'open',
    });
  });
});

test.each([
  ['I think so', '"I think so"'],
  ['', 'nothing'],
  ['{"ok":"false"}', String.raw`"{\"ok\":\"false\"}"`],
  ['[]', '"[]"'],
  ['{"decision":"maybe"}', String.raw`"{\"decision\":\"maybe\"}"`],
])('%j is no usable answer', (text, found) => {
  expect(decide('PreToolUse', text)).toEqual({
    failure: {
      kind: 'output',
      message: `gave no usable answer: expected {"ok": true or false, "reason": "…"}, found ${found}`,
    },
  });
});

test('no text makes the parser throw', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(() => decide('PreToolUse', text)).not.toThrow();
    }),
  );
});

test.each(['{"ok":true,"decision":"block"}', '{"ok":false,"ok":true}'])(
  'an answer that agrees and objects at once is a failure that refuses: %s',
  (text) => {
    expect(decide('PreToolUse', text)).toEqual({
      failure: { kind: 'output', message: expect.stringContaining('agrees and objects at once') },
      onFailure: 'closed',
    });
  },
);

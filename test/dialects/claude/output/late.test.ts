import { describe, expect, test } from 'vitest';
import { decodeLate, parseAsyncLine } from '../../../../src/dialects/claude/output/late-answer.ts';
import { type Hook, request, specific } from './outputs.ts';

const NO_TEXTS = { message: null, summary: null };
const late = (hook: Hook, rewake: Parameters<typeof decodeLate>[0]['rewake'] = null) =>
  decodeLate({ ...request('PostToolUse', hook), rewake });
const WOKEN = { notice: 'PostToolUse hook feedback', wake: true };
const context = specific('PostToolUse', { additionalContext: 'late ctx' });

describe('the line that moves a hook to the background', () => {
  test.each([
    ['{"async":true,"asyncTimeout":15000}', { timeoutMs: 15_000 }],
    ['{"async":true}', { timeoutMs: null }],
    ['\uFEFF {"async": true}\r', { timeoutMs: null }],
    ['{"async":true,"asyncTimeout":-1}', { timeoutMs: null }],
    ['{"async":true,"asyncTimeout":"9"}', { timeoutMs: null }],
    ['{"async":false}', null],
    ['{"async":"true"}', null],
    ['{"async":true', null],
    ['["async"]', null],
    ['text', null],
    ['', null],
  ])('%j', (line, expected) => {
    expect(parseAsyncLine(line)).toEqual(expected);
  });
});

describe('the answer of a hook that ran in the background', () => {
  test('only its texts count', () => {
    const out = { ...context, systemMessage: 'm', decision: 'block', reason: 'r' };
    expect(late({ out })).toEqual({
      decision: { context: 'late ctx', notice: 'm' },
      notes: ['it ran in the background, so its decision came too late and was ignored'],
    });
  });

  test.each([
    ['after the line that moved it', `{"async":true}\n${JSON.stringify(context)}`],
    ['after log lines', `working\ndone\n${JSON.stringify(context)}\n`],
    ['after both', `{"async":true}\nworking\n${JSON.stringify(context)}\nbye`],
  ])('is found %s', (_, out) => {
    expect(late({ out }).decision).toEqual({ context: 'late ctx' });
  });

  test('plain text and exit code 2 have no effect, but a failure shows', () => {
    expect(late({ out: 'text' })).toEqual({});
    expect(late({ out: '{"async":true}' })).toEqual({});
    expect(late({ exit: 2, err: 'e' })).toEqual({
      failure: { kind: 'exit', message: 'exited with code 2: e' },
    });
    expect(late({ exit: null })).toEqual({
      failure: { kind: 'killed', message: 'was killed by SIGKILL' },
    });
    expect(late({ out: { continue: 1 } }).failure?.message).toBe(
      'expected "continue" to be true or false, found 1',
    );
  });
});

describe('asyncRewake', () => {
  test.each<readonly [string, Hook, object]>([
    ['stderr', { exit: 2, err: 'look\n', out: 'out' }, { context: 'look', ...WOKEN }],
    ['stdout when stderr is empty', { exit: 2, out: 'out\n' }, { context: 'out', ...WOKEN }],
    ['JSON with exit code 0, without waking', { out: context }, { context: 'late ctx' }],
  ])('gives %s', (_, hook, decision) => {
    expect(late(hook, NO_TEXTS).decision).toEqual(decision);
  });

  test('has texts of its own for the model and for the user', () => {
    const texts = { message: 'Review of the commit:', summary: 'The review found issues' };
    expect(late({ exit: 2, err: 'look\n' }, texts).decision).toEqual({
      context: 'Review of the commit:\nlook',
      notice: 'The review found issues',
      wake: true,
    });
  });

  test('reports when it wakes without a message', () => {
    expect(late({ exit: 2 }, NO_TEXTS).decision?.context).toBe(
      'A background hook asks for attention without a reason',
    );
  });
});

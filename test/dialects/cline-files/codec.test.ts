import { describe, expect, test } from 'vitest';
import {
  createFileHookCodec,
  type DecideOptions,
} from '../../../src/dialects/cline-files/codec.ts';
import type { Answer, HandlerInput } from '../../../src/hooks/handler.ts';
import type { ProgramResult } from '../../../src/process/run.ts';
import { bash } from '../../hooks/handlers.ts';
import { ended, whole } from '../../process/programs.ts';
import { eventOf } from './events.ts';

const OPTIONS: DecideOptions = { cancel: 'deny', maxContextChars: 50_000 };

const CALL: HandlerInput = {
  event: eventOf(bash('ls')),
  tool: { name: 'execute_command', input: { command: 'ls' }, part: null },
};
const TASK: HandlerInput = { event: eventOf({ name: 'TaskStart', prompt: 'p' }), tool: null };

function decode(
  result: Partial<ProgramResult>,
  { input = CALL, ...options }: Partial<DecideOptions> & { input?: HandlerInput } = {},
): Answer {
  const codec = createFileHookCodec('PreToolUse', 'classic', { ...OPTIONS, ...options });
  return codec.decode(input, ended(result));
}

function answering(answer: object, options: Parameters<typeof decode>[1] = {}): Answer {
  return decode({ stdout: whole(JSON.stringify(answer)) }, options);
}

describe('what an answer means', () => {
  test.each<[object, object]>([
    [
      { cancel: true, errorMessage: 'no' },
      { effect: 'deny', reason: 'no' },
    ],
    [{ cancel: true }, { effect: 'deny', reason: 'cancelled without a message' }],
    [
      { cancel: true, context: 'why' },
      { effect: 'deny', reason: 'why', context: 'why' },
    ],
    [
      { cancel: true, errorMessage: 'no', contextModification: 'also' },
      { effect: 'deny', reason: 'no', context: 'also' },
    ],
    [{ cancel: false }, {}],
    [{ cancel: false, contextModification: 'hint' }, { context: 'hint' }],
    [{ errorMessage: 'careful' }, { context: 'careful' }],
    [{ errorMessage: 'careful', context: 'hint' }, { context: 'hint' }],
    [{ review: true }, { effect: 'ask', reason: 'a hook asks for a review of this call' }],
    [
      { review: true, errorMessage: 'look' },
      { effect: 'ask', reason: 'look', context: 'look' },
    ],
    [
      { review: true, cancel: true, errorMessage: 'no' },
      { effect: 'deny', reason: 'no' },
    ],
    [
      { overrideInput: { command: 'pwd', requires_approval: true } },
      { input: { command: 'pwd', requires_approval: true }, inputFace: 'classic' },
    ],
    [{ overrideInput: { commands: ['pwd'] } }, { input: { commands: ['pwd'] }, inputFace: 'sdk' }],
    [{ overrideInput: { command: 'pwd' } }, { input: { command: 'pwd' } }],
  ])('%j', (answer, decision) => {
    expect(answering(answer)).toEqual({ decision, notes: [] });
  });

  test('cancel ends the run where the configuration says so, but only at a tool', () => {
    const cancel = { cancel: true, errorMessage: 'no' };
    expect(answering(cancel, { cancel: 'stop' }).decision).toEqual({
      effect: 'deny',
      reason: 'no',
      stop: { reason: 'no', pending: 'skip' },
    });
    expect(answering(cancel, { cancel: 'stop', input: TASK }).decision).toEqual({
      effect: 'deny',
      reason: 'no',
    });
  });

  test('context is cut at the limit, with a note that the model sees, too', () => {
    const note = 'context cut at 10 characters; it had 25';
    expect(answering({ context: 'x'.repeat(25) }, { maxContextChars: 10 })).toEqual({
      decision: { context: `${'x'.repeat(10)}\n\n[... ${note} ...]` },
      notes: [note],
    });
  });

  test('context of exactly the limit is whole, and a pair of surrogates is not split', () => {
    expect(answering({ context: 'x'.repeat(10) }, { maxContextChars: 10 }).notes).toEqual([]);
    const { decision } = answering({ context: 'xxx🙂yyy' }, { maxContextChars: 4 });
    expect(decision?.context).toMatch(/^xxx\n/);
  });
});

describe('how the hook ended', () => {
  const cancel = whole('{"cancel":true,"errorMessage":"no"}');

  test.each([1, 2, 130])('JSON counts at exit code %d', (exitCode) => {
    expect(decode({ stdout: cancel, exitCode })).toEqual({
      decision: { effect: 'deny', reason: 'no' },
      notes: [`its JSON counts although it ended with exit code ${exitCode}`],
    });
  });

  test('JSON counts although a signal killed it', () => {
    const result = { stdout: cancel, exitCode: null, signal: 'SIGSEGV', ending: 'signal' } as const;
    expect(decode(result)).toEqual({
      decision: { effect: 'deny', reason: 'no' },
      notes: ['its JSON counts although it ended with killed by SIGSEGV'],
    });
  });

  test('nothing on stdout and exit code 0 agrees', () => {
    expect(decode({})).toEqual({ notes: [] });
  });

  test('text on stdout and exit code 0 agrees, with a note', () => {
    expect(decode({ stdout: whole('all fine') })).toEqual({
      notes: ['stdout holds no JSON, so it is ignored'],
    });
  });

  test('no JSON and another exit code is a failure with its last error line', () => {
    const stderr = whole('Traceback\n  line 1\nKeyError: x\n\n');
    expect(decode({ exitCode: 3, stderr })).toEqual({
      failure: { kind: 'exit', message: 'exited with code 3 and gave no answer: KeyError: x' },
      notes: [],
    });
    expect(decode({ exitCode: 3 }).failure?.message).toBe('exited with code 3 and gave no answer');
    const report = 'a.js:1\n^\n\nTypeError: a is undefined\n    at a.js:1:2\n\nNode.js v20.20.2\n';
    expect(decode({ exitCode: 1, stderr: whole(report) }).failure?.message).toBe(
      'exited with code 1 and gave no answer: TypeError: a is undefined',
    );
  });

  test('its last error line may stand on stdout', () => {
    const stdout = whole('Error: isort is not installed.\n');
    expect(decode({ exitCode: 1, stdout }).failure?.message).toBe(
      'exited with code 1 and gave no answer: Error: isort is not installed.',
    );
  });

  test('the last error line is short', () => {
    const { failure } = decode({ exitCode: 1, stderr: whole('x'.repeat(10_000)) });
    expect(failure?.message.length).toBeLessThan(400);
  });

  test('no JSON and a signal is a failure', () => {
    expect(decode({ exitCode: null, signal: 'SIGKILL', ending: 'signal' })).toEqual({
      failure: { kind: 'killed', message: 'was killed by SIGKILL' },
      notes: [],
    });
  });

  test('an answer that cannot be read is a failure at any exit code', () => {
    for (const exitCode of [0, 1]) {
      const { failure } = decode({ stdout: whole('{cancel:false}'), exitCode });
      expect(failure?.kind).toBe('output');
    }
  });
});

describe('output that is too long to keep', () => {
  const flood = (tail: string): Partial<ProgramResult> => ({
    stdout: { text: 'x'.repeat(100), totalBytes: 200_000_000, truncated: true, tail },
  });

  test.each([
    ['on a line of its own', 'cut…\nnoise\n{"cancel":true,"errorMessage":"no"}\n'],
    ['in a control line', 'cut…\nHOOK_CONTROL\t{"cancel":true,"errorMessage":"no"}\nbye\n'],
  ])('has its answer at the end, %s', (_, tail) => {
    expect(decode(flood(tail)).decision).toEqual({ effect: 'deny', reason: 'no' });
  });

  test('is a failure when the end holds no answer', () => {
    expect(decode(flood('cut…\nnoise {"cancel":true}\n')).failure).toMatchObject({
      kind: 'output',
      message: expect.stringContaining('200000000 bytes'),
    });
  });

  test('is a failure when it is one huge document', () => {
    const tail = `"x":1},`.repeat(1000);
    expect(decode(flood(tail)).failure?.kind).toBe('output');
  });
});

test('hooks of the same codec get the payload that its profile reads', () => {
  const hookName = (profile: 'classic' | 'sdk'): unknown =>
    JSON.parse(createFileHookCodec('PreToolUse', profile, OPTIONS).encode(CALL)).hookName;
  expect([hookName('classic'), hookName('sdk')]).toEqual(['PreToolUse', 'tool_call']);
});

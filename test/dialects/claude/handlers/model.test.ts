import { describe, expect, test } from 'vitest';
import {
  fillPrompt,
  createModelRun,
  type ModelTools,
} from '../../../../src/dialects/claude/handlers/model.ts';
import type { PromptEntry, Limited } from '../../../../src/dialects/claude/entry.ts';
import type { ModelQuestion } from '../../../../src/hooks/model-question.ts';
import { promptEntry } from './handler-entries.ts';
import { runOnce } from './handler-runs.ts';

const TOOLS: ModelTools = {
  payloadText: () => '{"cost":"$5"}',
  decide: (_input, text) => ({ decision: { context: text } }),
};

function run(
  entry: Partial<Limited<PromptEntry>>,
  tools: Partial<ModelTools>,
  signal?: AbortSignal,
) {
  return runOnce(createModelRun(promptEntry(entry), { ...TOOLS, ...tools }), signal);
}

async function questionOf(entry: Partial<Limited<PromptEntry>>): Promise<readonly ModelQuestion[]> {
  const questions: ModelQuestion[] = [];
  await run(entry, {
    askModel: (question) => {
      questions.push(question);
      return Promise.resolve('{"ok":true}');
    },
  });
  return questions;
}

describe('the question to the model', () => {
  test('of a prompt hook is one request with a schema', async () => {
    const entry = { prompt: 'Fine? $ARGUMENTS costs \\$5', model: 'claude-opus-4-5' };
    expect(await questionOf(entry)).toEqual([
      {
        kind: 'prompt',
        prompt: 'Fine? {"cost":"$5"} costs $5',
        model: 'claude-opus-4-5',
        schema: {
          type: 'object',
          properties: {
            ok: { type: 'boolean' },
            reason: { type: 'string' },
            impossible: { type: 'boolean' },
          },
          required: ['ok', 'reason'],
          additionalProperties: false,
        },
        transcriptPath: null,
      },
    ]);
  });

  test('of an agent hook names the transcript and needs no reason', async () => {
    expect(await questionOf({ type: 'agent', prompt: 'Verify' })).toEqual([
      {
        kind: 'agent',
        prompt: 'Verify\n\n{"cost":"$5"}',
        model: null,
        schema: {
          type: 'object',
          properties: { ok: { type: 'boolean' }, reason: { type: 'string' } },
          required: ['ok'],
          additionalProperties: false,
        },
        transcriptPath: '/home/me/t.jsonl',
      },
    ]);
  });

  test.each([
    ['a $ARGUMENTS b', 'a {$&} b'],
    ['$ARGUMENTS$ARGUMENTS', '{$&}{$&}'],
    ['no place', 'no place\n\n{$&}'],
    ['', '\n\n{$&}'],
    ['\\$ARGUMENTS', '$ARGUMENTS\n\n{$&}'],
    ['\\$5 $ARGUMENTS', '$5 {$&}'],
    ['$ARGUMENTS_MORE', '$ARGUMENTS_MORE\n\n{$&}'],
    ['$HOME $ARGUMENTS', '$HOME {$&}'],
  ])('%j with the payload is %j', (prompt, filled) => {
    expect(fillPrompt(prompt, '{$&}')).toBe(filled);
  });
});

describe('the answer of the model', () => {
  test('is decided on by the event', async () => {
    expect(await run({}, { askModel: () => Promise.resolve('{"ok":false}') })).toEqual({
      program: { exitCode: null, stdout: '{"ok":false}', stderr: '' },
      decision: { context: '{"ok":false}' },
    });
  });

  test.each(['prompt', 'agent'] as const)('is a failure without a model: %s', async (type) => {
    expect(await run({ type }, {})).toEqual({
      failure: {
        kind: 'spawn',
        message: `this host has no model for hooks, so the ${type} hook was not asked`,
      },
    });
  });

  test.each([
    ['undefined', undefined],
    ['null', null],
    ['object', { ok: true }],
    ['array', ['yes']],
  ])('is a failure with a sentence when it is not text but %s', async (name, answer) => {
    const askModel: unknown = () => Promise.resolve(answer);
    expect(await run({}, { askModel: askModel as ModelTools['askModel'] })).toEqual({
      failure: {
        kind: 'output',
        message: `the host’s model should answer with text, found ${name}`,
      },
    });
  });

  test('is a failure when the port rejects or throws', async () => {
    const failure = { kind: 'threw', message: 'overloaded' };
    const error = new TypeError('overloaded');
    expect(await run({}, { askModel: () => Promise.reject(error) })).toEqual({ failure });
    const askModel = (): never => {
      throw error;
    };
    expect(await run({}, { askModel })).toEqual({ failure });
  });

  test('is a failure when no decision can be read from it', async () => {
    const decide = (): never => {
      throw new TypeError('no');
    };
    expect(await run({}, { askModel: () => Promise.resolve('x'), decide })).toEqual({
      failure: { kind: 'threw', message: 'no' },
    });
  });

  test('times out although the port does not listen to its signal', async () => {
    const signals: AbortSignal[] = [];
    const answer = await run(
      { timeoutMs: 20 },
      {
        askModel: (_question, signal) => {
          signals.push(signal);
          return new Promise(() => undefined);
        },
      },
    );
    expect(answer).toEqual({
      failure: { kind: 'timeout', message: 'did not answer within 20 ms' },
    });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  test('is a time-out, not the error that the port throws when it is aborted', async () => {
    const answer = await run(
      { timeoutMs: 20 },
      {
        askModel: (_question, signal) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(new TypeError('stopped')));
          }),
      },
    );
    expect(answer.failure?.kind).toBe('timeout');
  });

  test('is not waited for when the dispatch is aborted', async () => {
    const controller = new AbortController();
    const askModel = (): Promise<string> => {
      controller.abort();
      return new Promise(() => undefined);
    };
    const killed = {
      failure: { kind: 'killed', message: 'was ended because the dispatch was aborted' },
    };
    expect(await run({}, { askModel }, controller.signal)).toEqual(killed);
    expect(await run({}, { askModel: () => Promise.resolve('x') }, controller.signal)).toEqual(
      killed,
    );
  });
});

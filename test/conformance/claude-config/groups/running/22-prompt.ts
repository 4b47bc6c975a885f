import { expect } from 'vitest';
import type { ModelQuestion } from '../../../../../src/hooks/model-question.ts';
import { bash, expectVerdict, type Group, hooks, type OpenFixture, type VerdictSummary } from '../../fixture.ts';

interface Asked {
  readonly prompt: string;
  readonly more?: object;
  readonly answer: string;
  readonly expected: VerdictSummary;
  /** What the model is asked; `PAYLOAD` stands for the JSON. */
  readonly question: string;
}

const refusal = (reason: string): string => JSON.stringify({ ok: false, reason });

const ASKED: Readonly<Record<string, Asked>> = {
  ok: {
    prompt: String.raw`PK_ok Is it fine? $ARGUMENTS costs \$5`,
    answer: '{"ok":true,"reason":""}',
    expected: {},
    question: 'PK_ok Is it fine? PAYLOAD costs $5',
  },
  cont: {
    prompt: 'PK_cont no args placeholder',
    more: { continueOnBlock: true },
    answer: refusal('prompt no but continue'),
    expected: {
      effect: 'deny',
      reasons: ['[PK_cont no args placeholder]: prompt no but continue'],
    },
    question: 'PK_cont no args placeholder\n\nPAYLOAD',
  },
  fence: {
    prompt: 'PK_fence $ARGUMENTS',
    more: { continueOnBlock: true, model: 'claude-opus-4-5' },
    answer: `Here you are:\n\`\`\`json\n${refusal('fenced')}\n\`\`\`\n`,
    expected: { effect: 'deny', reasons: ['[PK_fence $ARGUMENTS]: fenced'] },
    question: 'PK_fence PAYLOAD',
  },
  garbage: {
    prompt: 'PK_garbage $ARGUMENTS',
    answer: 'I think it is fine.',
    expected: { failures: ['output'] },
    question: 'PK_garbage PAYLOAD',
  },
  no: {
    prompt: 'PK_no $ARGUMENTS',
    answer: refusal('prompt no'),
    expected: {
      effect: 'stop',
      stop: { reason: '[PK_no $ARGUMENTS]: prompt no', pending: 'skip' },
      reasons: ['[PK_no $ARGUMENTS]: prompt no'],
    },
    question: 'PK_no PAYLOAD',
  },
};

const SCHEMA = {
  type: 'object',
  properties: {
    ok: { type: 'boolean' },
    reason: { type: 'string' },
    impossible: { type: 'boolean' },
  },
  required: ['ok', 'reason'],
  additionalProperties: false,
};

export const prompts: Group = {
  name: '22-prompt',
  cases: Object.entries(ASKED).map(([name, asked]) => ({
    name,
    run: (openFixture: OpenFixture) => asks(openFixture, name, asked),
  })),
};

async function asks(openFixture: OpenFixture, name: string, asked: Asked): Promise<void> {
  const { prompt, more = {}, answer, expected, question } = asked;
  const questions: ModelQuestion[] = [];
  const { fire } = await openFixture({
    project: hooks('PreToolUse', [{ type: 'prompt', prompt, ...more }]),
    host: {
      ports: {
        askModel: (each) => {
          questions.push(each);
          return Promise.resolve(answer);
        },
      },
    },
  });
  expectVerdict(await fire('PreToolUse', bash(`echo ${name}`)), expected);
  const [first] = questions;
  expect(questions.length).toBe(1);
  const payload = /\{.*\}/su.exec(first?.prompt ?? '')?.[0] ?? '';
  expect(first).toEqual({
    kind: 'prompt',
    prompt: question.replace('PAYLOAD', () => payload),
    model: 'model' in more ? more.model : null,
    schema: SCHEMA,
    transcriptPath: null,
  });
  expect(JSON.parse(payload)).toMatchObject({
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command: `echo ${name}` },
  });
}

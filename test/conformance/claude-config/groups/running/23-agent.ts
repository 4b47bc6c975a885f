import { existsSync } from 'node:fs';
import { expect } from 'vitest';
import type { ModelQuestion } from '../../../../../src/hooks/model-question.ts';
import { bash, expectVerdict, type Group, hooks, type OpenFixture } from '../../fixture.ts';

export const agents: Group = {
  name: '23-agent',
  cases: [{ name: 'verify', run: asksAgent }],
};

async function asksAgent(openFixture: OpenFixture): Promise<void> {
  const questions: ModelQuestion[] = [];
  const { fire } = await openFixture({
    project: hooks('PreToolUse', [{ type: 'agent', prompt: 'AK_verify check $ARGUMENTS' }]),
    host: {
      ports: {
        askModel: (question) => {
          questions.push(question);
          return Promise.resolve('{"ok":false,"reason":"agent says no"}');
        },
      },
    },
  });
  expectVerdict(await fire('PreToolUse', bash('echo hi')), {
    effect: 'deny',
    reasons: ['Agent hook condition was not met: agent says no'],
  });
  const [question] = questions;
  expect(question).toMatchObject({ kind: 'agent', transcriptPath: expect.any(String) });
  expect(question?.prompt).toMatch(/^AK_verify check \{"session_id":/u);
  expect(existsSync(question?.transcriptPath ?? '')).toBe(true);
}

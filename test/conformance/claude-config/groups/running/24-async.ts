import { expect } from 'vitest';
import type { LateOutcome } from '../../../../../src/hooks/dispatch-record.ts';
import {
  bash,
  command,
  expectVerdict,
  type Group,
  hooks,
  type OpenFixture,
  type Fixture,
} from '../../fixture.ts';

const LATE = JSON.stringify({
  systemMessage: 'late message',
  hookSpecificOutput: {
    hookEventName: 'PreToolUse',
    permissionDecision: 'deny',
    additionalContext: 'late context',
  },
});
const WAITS = 'while [ ! -e go ]; do sleep 0.01; done';

interface Background extends Fixture {
  readonly late: readonly LateOutcome[];
}

async function background(stage: OpenFixture, handler: object): Promise<Background> {
  const late: LateOutcome[] = [];
  const world = await stage({
    project: hooks('PreToolUse', [handler]),
    host: { onLate: (outcome) => late.push(outcome), isAttended: true },
  });
  return { ...world, late };
}

/** The dispatch is over while the hook still waits; only its texts count in the end. */
async function answersLater({ fire, write, host, late }: Background): Promise<void> {
  const verdict = await fire('PreToolUse', bash('echo hi'));
  expectVerdict(verdict, {});
  expect(verdict.outcomes.map(({ status }) => status)).toEqual(['background']);
  write('go', '');
  await host.engine.idle();
  expect(late.map(({ outcome }) => outcome.decision)).toEqual([
    { context: 'late context', notice: 'late message' },
  ]);
}

export const asynchronous: Group = {
  name: '24-async',
  cases: [
    {
      name: 'async: true',
      run: async (stage) =>
        answersLater(await background(stage, command(`${WAITS}; echo '${LATE}'`, { async: true }))),
    },
    {
      name: 'a first line {"async":true}',
      run: async (stage) =>
        answersLater(
          await background(
            stage,
            command(`echo '{"async":true,"asyncTimeout":20000}'; ${WAITS}; echo '${LATE}'`),
          ),
        ),
    },
    { name: 'plain text of an async hook', run: dropsPlainText },
    { name: 'asyncRewake wakes', run: wakes },
    { name: 'asyncRewake is awaited without a user', run: isAwaited },
  ],
};

async function dropsPlainText(stage: OpenFixture): Promise<void> {
  const { fire, host, late } = await background(
    stage,
    command('echo plain; exit 2', { async: true }),
  );
  expectVerdict(await fire('PreToolUse', bash('echo hi')), {});
  await host.engine.idle();
  expect(late.map(({ outcome }) => outcome.decision?.context)).toEqual([undefined]);
}

async function wakes(stage: OpenFixture): Promise<void> {
  const handler = command('echo look here >&2; exit 2', { asyncRewake: true });
  const { fire, host, late } = await background(stage, handler);
  expectVerdict(await fire('PreToolUse', bash('echo hi')), {});
  await host.engine.idle();
  expect(late.map(({ outcome }) => outcome.decision)).toEqual([
    { context: 'look here', wake: true },
  ]);
}

async function isAwaited(stage: OpenFixture): Promise<void> {
  const { fire } = await stage({
    project: hooks('PreToolUse', [command('echo no >&2; exit 2', { asyncRewake: true })]),
  });
  expectVerdict(await fire('PreToolUse', bash('echo hi')), {
    effect: 'deny',
    reasons: ['[echo no >&2; exit 2]: no'],
  });
}

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

async function background(openFixture: OpenFixture, handler: object): Promise<Background> {
  const late: LateOutcome[] = [];
  const fixture = await openFixture({
    project: hooks('PreToolUse', [handler]),
    host: { onLate: (outcome) => late.push(outcome), isAttended: true },
  });
  return { ...fixture, late };
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
      run: async (openFixture) =>
        answersLater(await background(openFixture, command(`${WAITS}; echo '${LATE}'`, { async: true }))),
    },
    {
      name: 'a first line {"async":true}',
      run: async (openFixture) =>
        answersLater(
          await background(
            openFixture,
            command(`echo '{"async":true,"asyncTimeout":20000}'; ${WAITS}; echo '${LATE}'`),
          ),
        ),
    },
    { name: 'plain text of an async hook', run: dropsPlainText },
    { name: 'asyncRewake wakes', run: wakes },
    { name: 'asyncRewake is awaited without a user', run: isAwaited },
  ],
};

async function dropsPlainText(openFixture: OpenFixture): Promise<void> {
  const { fire, host, late } = await background(
    openFixture,
    command('echo plain; exit 2', { async: true }),
  );
  expectVerdict(await fire('PreToolUse', bash('echo hi')), {});
  await host.engine.idle();
  expect(late.map(({ outcome }) => outcome.decision?.context)).toEqual([undefined]);
}

async function wakes(openFixture: OpenFixture): Promise<void> {
  const handler = command('echo look here >&2; exit 2', { asyncRewake: true });
  const { fire, host, late } = await background(openFixture, handler);
  expectVerdict(await fire('PreToolUse', bash('echo hi')), {});
  await host.engine.idle();
  expect(late.map(({ outcome }) => outcome.decision)).toEqual([
    { context: 'look here', notice: 'PreToolUse hook feedback', wake: true },
  ]);
}

async function isAwaited(openFixture: OpenFixture): Promise<void> {
  const { fire } = await openFixture({
    project: hooks('PreToolUse', [command('echo no >&2; exit 2', { asyncRewake: true })]),
  });
  expectVerdict(await fire('PreToolUse', bash('echo hi')), {
    effect: 'deny',
    reasons: ['[echo no >&2; exit 2]: no'],
  });
}

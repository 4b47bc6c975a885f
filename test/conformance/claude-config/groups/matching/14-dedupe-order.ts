import { expect } from 'vitest';
import { bash, command, type Group, hooks, type Setup, type OpenFixture } from '../../fixture.ts';

// Waits until the test ends it; with the time-out of the first definition it never gets there.
const COUNT = ': > started; while [ ! -e go ]; do sleep 0.02; done; : > survived';
const limited = (timeout: number): object => command(COUNT, { timeout });
const SHORT = 0.2;
const LONG = 30;
const pre = (...handlers: readonly object[]): object => hooks('PreToolUse', handlers);

const SETUPS: Readonly<Record<string, Setup>> = {
  'cnt-first1_last9': { project: pre(limited(SHORT), limited(LONG)) },
  'cnt-proj1_local9': { project: pre(limited(SHORT)), local: pre(limited(LONG)) },
  'cnt-user1_proj9': { user: pre(limited(SHORT)), project: pre(limited(LONG)) },
};

export const dedupeOrder: Group = {
  name: '14-dedupe-order',
  cases: Object.entries(SETUPS).map(([name, setup]) => ({
    name,
    run: async (openFixture: OpenFixture) => {
      // Ends it when a hook with the short limit would long have been cut off.
      const gate = command('sleep 0.6; : > go');
      const { fire, has } = await openFixture({ ...setup, flag: pre(gate) });
      const { outcomes } = await fire('PreToolUse', bash('echo hi'));
      expect(outcomes.map(({ status }) => status)).toEqual(['decided', 'decided']);
      expect(has('survived')).toBe(true);
    },
  })),
};

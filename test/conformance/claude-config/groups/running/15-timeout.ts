import { expect } from 'vitest';
import { until } from '../../../../base/directory.ts';
import { bash, command, expectVerdict, type Group, hooks, type OpenFixture } from '../../fixture.ts';

type Event = 'UserPromptSubmit' | 'PreToolUse' | 'Stop';

const PRINTS = `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}'`;
const SIGTERM = `trap ': > sigterm; exit 143' TERM; : > started`;
const FOREVER = 'while :; do sleep 0.02; done';

/** Nothing that it printed counts, and what was pending goes on. */
const slow = (event: Event, text: string, timeout: number) => async (openFixture: OpenFixture) => {
  const { fire, has } = await openFixture({
    project: hooks(event, [command(`${SIGTERM}; ${text}; ${FOREVER}`, { timeout })]),
  });
  const facts = event === 'PreToolUse' ? bash('echo hi') : {};
  expectVerdict(await fire(event, facts), { failures: ['timeout'] });
  expect([has('started'), has('sigterm')]).toEqual([true, true]);
};

export const timeouts: Group = {
  name: '15-timeout',
  cases: [
    { name: 'ups', run: slow('UserPromptSubmit', 'true', 0.4) },
    { name: 'ignoreterm', run: ignoresSigterm },
    { name: 'slow', run: slow('PreToolUse', PRINTS, 0.5) },
    { name: 'frac', run: slow('PreToolUse', 'true', 0.4) },
    { name: 'stop', run: slow('Stop', 'true', 0.4) },
    { name: 'end', run: sharesTime },
    { name: 'setsid-survived', needs: ['setsid'], run: leavesDaemon },
    { name: 'a grandchild that holds stdout', run: leavesGrandchild },
  ],
};

async function ignoresSigterm(openFixture: OpenFixture): Promise<void> {
  const { fire, lines } = await openFixture({
    project: hooks('PreToolUse', [
      command(`trap '' TERM; echo $$ > pid; ${PRINTS}; ${FOREVER}`, { timeout: 0.4 }),
    ]),
  });
  expectVerdict(await fire('PreToolUse', bash('echo hi')), { failures: ['timeout'] });
  const pid = Number(lines('pid')[0]);
  expect(pid).toBeGreaterThan(1);
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
}

async function sharesTime(openFixture: OpenFixture): Promise<void> {
  const { fire, has, host } = await openFixture({
    project: hooks('SessionEnd', [command(`${SIGTERM}; ${FOREVER}`), command(': > quick')]),
  });
  expectVerdict(await fire('SessionEnd'), { failures: ['timeout'] });
  expect([has('sigterm'), has('quick')]).toEqual([true, true]);
  expect(host.hooks().map(({ timeoutMs }) => timeoutMs)).toEqual([1500, 1500]);
}

/** What a hook puts into a session of its own is neither waited for nor ended. */
async function leavesDaemon(openFixture: OpenFixture): Promise<void> {
  const daemon = `setsid sh -c 'while [ ! -e go ]; do sleep 0.02; done; : > setsid-survived' > /dev/null 2>&1 < /dev/null &`;
  const { fire, has, write } = await openFixture({ project: hooks('PreToolUse', [command(daemon)]) });
  expectVerdict(await fire('PreToolUse', bash('echo hi')), {});
  write('go', '');
  await until(() => has('setsid-survived'));
}

/** The answer counts although something else still holds the pipe that it came through. */
async function leavesGrandchild(openFixture: OpenFixture): Promise<void> {
  const { fire, has, write } = await openFixture({
    project: hooks('PreToolUse', [
      command(`(while [ ! -e go ]; do sleep 0.02; done; : > gone) & ${PRINTS}`),
    ]),
  });
  const { effect } = await fire('PreToolUse', bash('echo hi'));
  expect(effect).toBe('deny');
  expect(has('gone')).toBe(false);
  write('go', '');
  await until(() => has('gone'));
}

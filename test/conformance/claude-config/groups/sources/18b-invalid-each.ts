import { expect } from 'vitest';
import { bash, command, type Group, group, hooks, type OpenFixture, type Fixture } from '../../fixture.ts';

const logs = (name: string): object => command(`echo ${name} >> ran.log`);
const BAD_TYPE = { type: 'foo', command: 'x' };
const post = (value: unknown): object => ({ PostToolUse: value });
const pre = (value: unknown): object => ({ PreToolUse: value });

interface Invalid {
  /** What stands beside `Stop` in the project's `hooks`, or in their place. */
  readonly hooks: unknown;
  readonly ran: readonly string[];
  /** The reported problem; null when nothing is wrong. */
  readonly report: RegExp | null;
  /** Whether every PreToolUse reports a broken guard. */
  readonly isBrokenGate?: true;
}

const INVALID: Readonly<Record<string, Invalid>> = {
  unknown_event: {
    hooks: { FooEvent: [group([logs('foo')])] },
    ran: ['STOP', 'USERSRC'],
    report: /line 3: event "FooEvent" not found/u,
  },
  pre_badtype: {
    hooks: pre([group([logs('preok'), BAD_TYPE])]),
    ran: ['STOP', 'USERSRC', 'preok'],
    report: /"type".*"foo"/u,
    isBrokenGate: true,
  },
  pre_extra: {
    hooks: pre([{ ...group([command('echo preok >> ran.log', { extra: 1 })]), more: 2 }]),
    ran: ['STOP', 'USERSRC', 'preok'],
    report: null,
  },
  post_badtype: {
    hooks: post([group([logs('postok'), BAD_TYPE])]),
    ran: ['STOP', 'USERSRC', 'postok'],
    report: /"type".*"foo"/u,
  },
  post_badmatcher: {
    hooks: post([{ matcher: 5, hooks: [logs('no')] }, group([logs('postok')])]),
    ran: ['STOP', 'USERSRC', 'postok'],
    report: /"matcher": expected a string, found number 5/u,
  },
  post_flat: {
    hooks: post([logs('no'), group([logs('postok')])]),
    ran: ['STOP', 'USERSRC', 'postok'],
    report: /"hooks": expected an array of handlers/u,
  },
  pre_big: {
    hooks: pre([group([command('echo preok >> ran.log', { timeout: 600_000 })])]),
    ran: ['STOP', 'USERSRC', 'preok'],
    report: null,
  },
  pre_emptycmd: {
    hooks: pre([group([command(''), logs('preok')])]),
    ran: ['STOP', 'USERSRC', 'preok'],
    report: null,
  },
  pre_emptyhooks: {
    hooks: pre([group([]), group([logs('preok')])]),
    ran: ['STOP', 'USERSRC', 'preok'],
    report: null,
  },
  event_obj: {
    hooks: post(group([logs('no')])),
    ran: ['STOP', 'USERSRC'],
    report: /"PostToolUse": expected an array of matcher groups/u,
  },
  pre_event_obj: {
    hooks: pre(group([logs('no')])),
    ran: ['STOP', 'USERSRC'],
    report: /"PreToolUse": expected an array of matcher groups/u,
    isBrokenGate: true,
  },
  hooks_array: {
    hooks: [group([logs('no')])],
    ran: ['USERSRC'],
    report: /"hooks": expected an object of events/u,
    isBrokenGate: true,
  },
  lower: {
    hooks: { pretooluse: [group([logs('no')])] },
    ran: ['STOP', 'USERSRC'],
    report: /event "pretooluse" not found.*did you mean PreToolUse/u,
  },
};

export const invalidEach: Group = {
  name: '18b-invalid-each',
  cases: Object.entries(INVALID).map(([name, invalid]) => ({
    name,
    run: async (openFixture: OpenFixture) => {
      const { host } = await runsTheRest(openFixture, invalid);
      if (name !== 'pre_big') return;
      const big = host.hooks().find(({ hook }) => hook.eventName === 'PreToolUse');
      expect(big?.timeoutMs).toBe(600_000);
      expect(big?.hook.notes).toEqual([expect.stringContaining('is read as milliseconds')]);
    },
  })),
};

async function runsTheRest(
  openFixture: OpenFixture,
  { hooks: own, ran, report, isBrokenGate }: Invalid,
): Promise<Fixture> {
  const stop = { Stop: [group([logs('STOP')])] };
  const fixture = await openFixture({
    user: hooks('Stop', [logs('USERSRC')]),
    project: { hooks: Array.isArray(own) ? own : { ...Object(own), ...stop } },
  });
  const { fire, lines, host } = fixture;
  const verdict = await fire('PreToolUse', bash('echo hi'));
  await fire('PostToolUse', bash('echo hi'));
  await fire('Stop');
  expect(lines('ran.log').toSorted()).toEqual(ran);
  // What cannot be read at all may have held a guard of either kind, and is reported for both.
  const problems = new Set(host.hooks().flatMap(({ hook }) => hook.problem ?? []));
  const reports = [...host.ignored().map(({ why }) => why), ...problems];
  expect(reports).toEqual(report === null ? [] : [expect.stringMatching(report)]);
  const failures = verdict.outcomes.flatMap(({ failure }) => failure?.message ?? []);
  // An outcome names the line in its source.
  const messages = reports.map((text) => text.replace(/^line \d+: /u, ''));
  expect(failures).toEqual(isBrokenGate ? messages : []);
  return fixture;
}

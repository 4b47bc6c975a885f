import { expect } from 'vitest';
import {
  command,
  expectVerdict,
  type Group,
  group,
  type OpenFixture,
  type VerdictSummary,
  type Fixture,
} from '../../fixture.ts';
import { formatHookMessage } from '../../../../../src/agent/conversation/hook-messages.ts';

const records = (name: string): object => command(`echo ${name} >> ran.log`);
const NO_HAIKU = 'echo "no haiku" >&2; exit 2';
const CONFIRM = `echo '{"hookSpecificOutput":{"hookEventName":"PreModelSwitch","permissionDecision":"ask","permissionDecisionReason":"confirm"}}'`;

const SETTINGS = {
  hooks: {
    PreModelSwitch: [
      group([records('pre-claude___')], 'claude-.*'),
      group([records('pre-claude_opus_4_5')], 'claude-opus-4-5'),
      group([command(NO_HAIKU)], 'claude-haiku-4-5'),
      group([command(CONFIRM)], 'claude-opus-4-6'),
    ],
    PostModelSwitch: [
      group([records('post-claude_opus_4_5')], 'claude-opus-4-5'),
      group([records('post-claude___')], 'claude-.*'),
    ],
  },
};

interface Switch {
  readonly from: string;
  readonly to: string;
  readonly requested: string;
  readonly source?: string;
  readonly ran: readonly string[];
  readonly expected: VerdictSummary;
  /** The error that the caller gets when it is refused. */
  readonly refusal?: string;
}

const ALL = ['pre-claude___', 'post-claude___'];

const SWITCHES: Readonly<Record<string, Switch>> = {
  'claude-opus-4-5': {
    from: 'claude-sonnet-4-5',
    to: 'claude-opus-4-5',
    requested: 'claude-opus-4-5',
    ran: ['pre-claude___', 'pre-claude_opus_4_5', 'post-claude_opus_4_5', 'post-claude___'],
    expected: {},
  },
  'claude-haiku-4-5': {
    from: 'claude-opus-4-5',
    to: 'claude-haiku-4-5',
    requested: 'claude-haiku-4-5',
    ran: ['pre-claude___'],
    expected: { effect: 'deny', reasons: [`[${NO_HAIKU}]: no haiku`] },
    refusal: `Model switch blocked by a PreModelSwitch hook: [${NO_HAIKU}]: no haiku`,
  },
  'claude-opus-4-1': {
    from: 'claude-opus-4-5',
    to: 'claude-opus-5-5',
    requested: 'claude-opus-4-1',
    ran: ALL,
    expected: {},
  },
  'claude-opus-4-6': {
    from: 'claude-opus-5-5',
    to: 'claude-opus-4-6',
    requested: 'claude-opus-4-6',
    ran: ['pre-claude___'],
    expected: { effect: 'ask', reasons: ['confirm'] },
    refusal: 'Model switch blocked by a PreModelSwitch hook: confirm',
  },
  opus: {
    from: 'claude-sonnet-5-5',
    to: 'claude-opus-5-5',
    requested: 'opus',
    ran: ALL,
    expected: {},
  },
  sonnet: {
    from: 'claude-opus-5-5',
    to: 'claude-sonnet-5-5',
    requested: 'sonnet',
    source: 'command',
    ran: ALL,
    expected: {},
  },
};

export const modelSwitch: Group = {
  name: '35-modelswitch',
  cases: Object.entries(SWITCHES).map(([name, each]) => ({
    name,
    run: async (openFixture: OpenFixture) => switches(await openFixture({ project: SETTINGS }), each),
  })),
};

async function switches({ fire, lines }: Fixture, each: Switch): Promise<void> {
  const facts = {
    fromModel: each.from,
    toModel: each.to,
    requestedModel: each.requested,
    source: each.source ?? 'sdk',
  };
  const verdict = await fire('PreModelSwitch', facts);
  expectVerdict(verdict, each.expected);
  if (each.refusal === undefined) await fire('PostModelSwitch', facts);
  else {
    const reason = verdict.reasons[0]?.text ?? '';
    expect(formatHookMessage({ kind: 'refused-model', reason })).toBe(each.refusal);
  }
  expect(lines('ran.log').toSorted()).toEqual(each.ran.toSorted());
}

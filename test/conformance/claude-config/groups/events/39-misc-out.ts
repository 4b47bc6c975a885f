import type { EventName } from '../../../../../src/hooks/facts.ts';
import {
  bash,
  command,
  expectVerdict,
  type Group,
  hooks,
  type OpenFixture,
  type VerdictSummary,
} from '../../fixture.ts';

const failed = (code: number): object => ({
  ...bash(`exit ${code}`),
  result: {
    response: undefined,
    text: `Exit code ${code}`,
    success: false,
    error: `Exit code ${code}`,
  },
});
const context = (event: string, text: string): string =>
  `echo '{"hookSpecificOutput":{"hookEventName":"${event}","additionalContext":"${text}"}}'`;
const BATCH = { calls: [{ callId: 'toolu_mock0001', name: 'Bash', input: { command: 'true' } }] };
const STDERR = 'echo "ptuf stderr" >&2; exit 2';

interface Answered {
  readonly event: EventName;
  readonly facts: object;
  readonly command: string;
  readonly expected: VerdictSummary;
}

const ANSWERED: Readonly<Record<string, Answered>> = {
  'failure context': {
    event: 'PostToolUseFailure',
    facts: failed(3),
    command: context('PostToolUseFailure', 'fail ctx'),
    expected: { context: ['fail ctx'] },
  },
  'failure exit2': {
    event: 'PostToolUseFailure',
    facts: failed(4),
    command: STDERR,
    expected: { effect: 'deny', reasons: [`[${STDERR}]: ptuf stderr`] },
  },
  'failure block': {
    event: 'PostToolUseFailure',
    facts: failed(5),
    command: `echo '{"decision":"block","reason":"ptuf block"}'`,
    expected: { effect: 'deny', reasons: ['ptuf block'] },
  },
  batchctx: {
    event: 'PostToolBatch',
    facts: BATCH,
    command: context('PostToolBatch', 'batch ctx'),
    expected: { context: ['batch ctx'] },
  },
  'batch stop': {
    event: 'PostToolBatch',
    facts: BATCH,
    command: 'echo enough >&2; exit 2',
    expected: { effect: 'deny', reasons: ['[echo enough >&2; exit 2]: enough'] },
  },
  DISPLAYED: {
    event: 'MessageDisplay',
    facts: { text: 'as the model wrote it' },
    command: `echo '{"hookSpecificOutput":{"hookEventName":"MessageDisplay","displayContent":"DISPLAYED"}}'`,
    expected: { changes: { display: 'DISPLAYED' } },
  },
};

export const miscOut: Group = {
  name: '39-misc-out',
  cases: Object.entries(ANSWERED).map(([name, { event, facts, command: text, expected }]) => ({
    name,
    run: async (openFixture: OpenFixture) => {
      const { fire } = await openFixture({ project: hooks(event, [command(text)]) });
      expectVerdict(await fire(event, { ...facts }), expected);
    },
  })),
};

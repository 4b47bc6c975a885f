import {
  bash,
  command,
  expectVerdict,
  type Group,
  hooks,
  type OpenFixture,
  type VerdictSummary,
} from '../../fixture.ts';

interface Ending {
  readonly event: 'PreToolUse' | 'UserPromptExpansion';
  readonly command: string;
  readonly expected: VerdictSummary;
}

const ALLOW = '"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}';
const STOPPED = { stop: { reason: 's', pending: 'run' } };
const CONT_EXIT2 = `echo '{"continue":false,"stopReason":"s"}'; echo e >&2; exit 2`;

const ENDINGS: Readonly<Record<string, Ending>> = {
  pre_cont: {
    event: 'PreToolUse',
    command: `echo '{"continue":false,"stopReason":"s"}'`,
    expected: { ...STOPPED, reasons: ['s'] },
  },
  pre_cont_allow: {
    event: 'PreToolUse',
    command: `echo '{"continue":false,"stopReason":"s",${ALLOW}}'`,
    expected: { ...STOPPED, effect: 'allow', reasons: ['s'] },
  },
  pre_cont_exit2: {
    event: 'PreToolUse',
    command: CONT_EXIT2,
    expected: { ...STOPPED, effect: 'deny', reasons: [`[${CONT_EXIT2}]: e`] },
  },
  upe_block: {
    event: 'UserPromptExpansion',
    command: 'echo "no hello" >&2; exit 2',
    expected: { effect: 'deny', reasons: ['[echo "no hello" >&2; exit 2]: no hello'] },
  },
  upe_stdout: {
    event: 'UserPromptExpansion',
    command: 'echo UPE-PLAIN',
    expected: { context: ['UPE-PLAIN'] },
  },
};

const HELLO = { prompt: '/hello w', command: 'hello', commandArguments: 'w' };

export const continueFalse: Group = {
  name: '51-contfalse',
  cases: Object.entries(ENDINGS).map(([name, { event, command: text, expected }]) => ({
    name,
    run: async (openFixture: OpenFixture) => {
      const { fire } = await openFixture({ project: hooks(event, [command(text)]) });
      const facts = event === 'PreToolUse' ? bash(`touch ran_${name}`) : HELLO;
      expectVerdict(await fire(event, facts), expected);
    },
  })),
};

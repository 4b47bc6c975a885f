import { expect } from 'vitest';
import {
  bash,
  command,
  expectVerdict,
  type Group,
  hooks,
  type OpenFixture,
  type VerdictSummary,
} from '../../fixture.ts';
import { actAt } from '../../recording.ts';
import { type Act, languageFor, scriptOf } from '../../scripts.ts';

/** Which of the two ends last, as the pauses of the recording make it. */
type Last = 'a' | 'b';

interface Pair {
  readonly last?: Last;
  /** `$HOOK_A` and `$HOOK_B` stand for the commands. */
  readonly expected: VerdictSummary;
}

const PAIRS: Readonly<Record<string, Pair>> = {
  deny_allow: { expected: { effect: 'deny', reasons: ['A allow', 'B deny'] } },
  two_deny: { last: 'a', expected: { effect: 'deny', reasons: ['A deny', 'B deny'] } },
  ask_allow: { expected: { effect: 'ask', reasons: ['A ask', 'B allow'] } },
  exit2_allow: { expected: { effect: 'deny', reasons: ['[$HOOK_A]: A exit2'] } },
  two_exit2: {
    last: 'a',
    expected: { effect: 'deny', reasons: ['[$HOOK_A]: A exit2', '[$HOOK_B]: B exit2'] },
  },
  upd_slow_first: { last: 'a', expected: { effect: 'allow', input: { command: 'echo FROM_B' } } },
  upd_slow_second: { last: 'b', expected: { effect: 'allow', input: { command: 'echo FROM_B' } } },
  upd_deny: { expected: { effect: 'deny', reasons: ['no'] } },
  upd_nod_then_allow: {
    expected: { effect: 'allow', input: { command: 'echo FROM_A_NODECISION' } },
  },
  two_ctx: { last: 'a', expected: { context: ['ctx A', 'ctx B'] } },
};

export const multi: Group = {
  name: '05-multi',
  cases: [
    ...Object.entries(PAIRS).map(([name, pair], index) => ({
      name,
      run: (openFixture: OpenFixture) => runPair(openFixture, { name, index, ...pair }),
    })),
    { name: 'parallel', run: runsAtOnce },
  ],
};

interface NamedPair extends Pair {
  readonly name: string;
  readonly index: number;
}

async function runPair(openFixture: OpenFixture, { name, index, last, expected }: NamedPair): Promise<void> {
  const actOf = (hook: Last): Act => {
    const { out, err, exit } = actAt('05-multi', name, hook);
    const after = last === hook ? { after: `${hook === 'a' ? 'b' : 'a'}.done` } : {};
    return {
      ...(out === undefined ? {} : { out }),
      ...(err === undefined ? {} : { err }),
      ...(exit === undefined ? {} : { exit }),
      ...after,
    };
  };
  const a = scriptOf(actOf('a'), 'a', languageFor(index));
  const b = scriptOf(actOf('b'), 'b', languageFor(index + 1));
  const { fire } = await openFixture({
    files: { [a.file]: a.text, [b.file]: b.text },
    project: hooks('PreToolUse', [command(a.command), command(b.command)], 'Bash'),
  });
  const verdict = await fire('PreToolUse', bash(`echo CASE_${name}`));
  const text = JSON.stringify(expected);
  expectVerdict(
    verdict,
    JSON.parse(text.replaceAll('$HOOK_A', a.command).replaceAll('$HOOK_B', b.command)),
  );
}

/** Each waits for the other to start, so one after the other they would never end. */
async function runsAtOnce(openFixture: OpenFixture): Promise<void> {
  const a = scriptOf({ after: 'b.started' }, 'a', 'sh');
  const b = scriptOf({ after: 'a.started' }, 'b', 'node');
  const { fire } = await openFixture({
    files: { [a.file]: a.text, [b.file]: b.text },
    project: hooks('PreToolUse', [command(a.command), command(b.command)]),
  });
  const verdict = await fire('PreToolUse', bash('echo CASE_parallel'));
  expect(verdict.outcomes.map(({ status }) => status)).toEqual(['decided', 'decided']);
}

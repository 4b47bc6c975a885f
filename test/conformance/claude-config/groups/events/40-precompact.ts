import { expect } from 'vitest';
import { formatHookMessage } from '../../../../../src/agent/conversation/hook-messages.ts';
import { command, type Group, hooks, type OpenFixture, type VerdictSummary, summarizeVerdict } from '../../fixture.ts';

interface Compaction {
  readonly command: string;
  readonly expected: VerdictSummary;
  /** The message for the user when it is blocked; `CMD` stands for the command. */
  readonly refusal?: string;
}

const REFUSES = 'echo "no compaction please" >&2; exit 2';

const COMPACTIONS: Readonly<Record<string, Compaction>> = {
  exit2: {
    command: REFUSES,
    expected: { effect: 'deny', reasons: [`[${REFUSES}]: no compaction please`] },
    refusal: 'Compaction blocked by PreCompact hook: [CMD]: no compaction please',
  },
  'json block': {
    command: `echo '{"decision":"block","reason":"json block"}'`,
    expected: { effect: 'deny', reasons: ['json block'] },
    refusal: 'Compaction blocked by PreCompact hook: [CMD]: json block',
  },
  stdout: {
    command: 'echo extra plain instructions from hook',
    expected: { changes: { instructions: ['extra plain instructions from hook'] } },
  },
};

export const preCompact: Group = {
  name: '40-precompact',
  cases: Object.entries(COMPACTIONS).map(([name, { command: label, expected, refusal }]) => ({
    name,
    run: async (openFixture: OpenFixture) => {
      const { fire } = await openFixture({ project: hooks('PreCompact', [command(label)]) });
      const verdict = await fire('PreCompact', { trigger: 'manual', instructions: 'foo' });
      expect(summarizeVerdict(verdict)).toEqual(expected);
      if (refusal === undefined) return;
      const reason = verdict.reasons[0]?.text ?? '';
      const text = formatHookMessage({ kind: 'blocked-compaction', cause: { reason, label } });
      expect(text.replace(label, 'CMD')).toBe(refusal);
    },
  })),
};

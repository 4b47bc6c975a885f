import { expect } from 'vitest';
import { createStopGuard } from '../../../../../src/hooks/stop-guard.ts';
import {
  command,
  expectVerdict,
  type Group,
  hooks,
  records,
  type OpenFixture,
  type VerdictSummary,
} from '../../fixture.ts';
import { withCommand } from '../../recorded-hooks.ts';
import { fieldsAt, listAt, observed } from '../../recording.ts';
import { type Act, languageFor, scriptOf } from '../../scripts.ts';

interface StopCase {
  readonly act: Act;
  readonly expected: VerdictSummary;
}

const CASES: Readonly<Record<string, StopCase>> = {
  exit2: {
    act: { err: 'stop stderr', exit: 2 },
    expected: { effect: 'deny', reasons: ['[$HOOK]: stop stderr'] },
  },
  block: {
    act: { out: { decision: 'block', reason: 'keep going' } },
    expected: { effect: 'deny', reasons: ['keep going'] },
  },
  ctx: {
    act: { out: { hookSpecificOutput: { hookEventName: 'Stop', additionalContext: 'stop ctx' } } },
    expected: { context: ['stop ctx'] },
  },
  exit1: { act: { err: 'stop err', exit: 1 }, expected: { failures: ['exit'] } },
  cont: {
    act: { out: { continue: false, stopReason: 'enough' } },
    expected: { stop: { reason: 'enough', pending: 'run' }, reasons: ['enough'] },
  },
  sys: { act: { out: { systemMessage: 'stop sys' } }, expected: { messages: ['stop sys'] } },
  stdout: { act: { out: 'plain stop' }, expected: {} },
  block_noreason: {
    act: { out: { decision: 'block' } },
    expected: { effect: 'deny', reasons: ['Blocked by hook'] },
  },
};

/** How often the real program asked the model, that is: once, and once more after each block. */
const REQUESTS = new Map(
  listAt(observed('09-stop')).map((each) => {
    const { n, nreq, active } = fieldsAt(each);
    return [String(n), { requests: Number(nreq), active: listAt(active) }];
  }),
);

export const stop: Group = {
  name: '09-stop',
  cases: Object.entries(CASES).map(([name, { act, expected }], index) => ({
    name,
    run: async (openFixture: OpenFixture) => {
      const script = scriptOf(act, 'hook', languageFor(index));
      const { fire, recorded } = await openFixture({
        files: { [script.file]: script.text },
        project: hooks('Stop', [command(script.command), command(records('active.log'))]),
      });
      expectVerdict(await fire('Stop'), withCommand(expected, script.command));
      const guard = createStopGuard();
      const { requests = 0, active = [] } = REQUESTS.get(name) ?? {};
      for (let request = 1; request <= requests; request++) {
        const ruling = guard.judge(await fire('Stop', { again: request > 1 }));
        const isLast = request === requests;
        expect(ruling).toEqual({
          goesOn: !isLast,
          overridden: isLast && requests > 1 ? expect.stringContaining('9 times in a row') : null,
        });
      }
      expect(
        recorded('active.log')
          .slice(1)
          .map(({ payload }) => payload['stop_hook_active']),
      ).toEqual(active);
    },
  })),
};

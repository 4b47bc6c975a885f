import { fieldsAt, listAt, observed } from '../../recording.ts';
import { oneHookEach } from '../../recorded-hooks.ts';
import type { Act } from '../../scripts.ts';

/** The recording has what each hook printed. */
const ACTS = new Map(
  listAt(observed('08-sessionstart')).map((each): [string, Act] => {
    const { n, sys } = fieldsAt(each);
    const { stdout, stderr, exit_code: exit } = fieldsAt(listAt(sys)[0]);
    return [String(n), { out: String(stdout), err: String(stderr), exit: Number(exit) }];
  }),
);

export const sessionStart = oneHookEach({
  group: '08-sessionstart',
  event: 'SessionStart',
  facts: () => ({ source: 'startup' }),
  acts: ACTS,
  expected: {
    stdout: { context: ['ss plain'] },
    ctx: { context: ['ss ctx'], changes: { title: 'T1' } },
    exit2: { messages: ['ss err'] },
    exit1: { failures: ['exit'] },
    cont: {},
    ium: { changes: { initialMessage: 'IUM first turn' } },
    sys: { messages: ['ss sys'] },
  },
});

import { answered, bash } from '../../fixture.ts';
import { recordedHooks } from '../../recorded-hooks.ts';

export const post = recordedHooks({
  group: '06-post',
  event: 'PostToolUse',
  facts: (name) => ({ ...bash(`echo CASE_${name}`), ...answered(`CASE_${name}`) }),
  expected: {
    exit2: { effect: 'deny', reasons: ['[$HOOK]: post stderr'] },
    exit1: { failures: ['exit'] },
    stdout: {},
    block: { effect: 'deny', reasons: ['post block reason'] },
    block_noreason: { effect: 'deny', reasons: ['Blocked by hook'] },
    ctx: { context: ['post ctx'] },
    block_ctx: { effect: 'deny', reasons: ['r'], context: ['post ctx2'] },
    upd: { output: { stdout: 'REDACTED', stderr: '', interrupted: false, isImage: false } },
    upd_bad: {},
    updmcp: {},
    sys: { messages: ['post sys'] },
    permdec: {},
    cont: { stop: { reason: 'post stop', pending: 'run' }, reasons: ['post stop'] },
  },
});

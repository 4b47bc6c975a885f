import { recordedHooks } from '../../recorded-hooks.ts';

export const userPromptSubmit = recordedHooks({
  group: '07-ups',
  event: 'UserPromptSubmit',
  facts: (name) => ({ prompt: `prompt CASE_${name}` }),
  expected: {
    stdout: { context: ['plain context line1\nline2'] },
    ctx: { context: ['ups ctx'] },
    ctx_title: { context: ['c'], changes: { title: 'My Title' } },
    exit2: { effect: 'deny', reasons: ['[$HOOK]: ups stderr'] },
    block: { effect: 'deny', reasons: ['ups reason'] },
    block_sup: { effect: 'deny', reasons: ['ups reason'], changes: { suppressPrompt: true } },
    block_noreason: { effect: 'deny', reasons: ['Blocked by hook'] },
    exit1: { failures: ['exit'] },
    cont: { effect: 'stop', stop: { reason: 'ups stop', pending: 'skip' }, reasons: ['ups stop'] },
    sys: { messages: ['ups sys'] },
    arr: { context: ['["a"]'] },
    badschema: { failures: ['output'] },
  },
});

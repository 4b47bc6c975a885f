import { bash } from '../../fixture.ts';
import { oneHookEach } from '../../recorded-hooks.ts';

const permission = (permissionDecision: string): object => ({
  hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision },
});

/** `continue: false` lets the pending call run and then ends the turn. */
export const preStop = oneHookEach({
  group: '04-pre-stop',
  event: 'PreToolUse',
  facts: (name) => bash(`echo CASE_${name}`),
  acts: new Map([
    ['cont_false', { out: { continue: false, stopReason: 'enough' } }],
    [
      'cont_false_allow',
      { out: { continue: false, stopReason: 'enough', ...permission('allow') } },
    ],
    ['defer', { out: permission('defer') }],
  ]),
  expected: {
    cont_false: { stop: { reason: 'enough', pending: 'run' }, reasons: ['enough'] },
    cont_false_allow: {
      effect: 'allow',
      stop: { reason: 'enough', pending: 'run' },
      reasons: ['enough'],
    },
    defer: { effect: 'defer' },
  },
});

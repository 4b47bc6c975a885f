import { expect, test } from 'vitest';
import { translateApproval } from '../../../../src/dialects/claude/output/approval-answer.ts';

test('a refusal holds beside an answer of the same hook that allows', () => {
  const allowing = { permissionDecision: 'allow', permissionDecisionReason: 'fine' };
  expect(
    translateApproval('PreToolUse', {
      approve: false,
      message: 'not here',
      hookSpecificOutput: allowing,
    }),
  ).toEqual({
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: 'not here',
    },
  });
  expect(
    translateApproval('UserPromptSubmit', { approve: false, message: 'no', decision: 'approve' }),
  ).toEqual({ decision: 'block', reason: 'no' });
  expect(
    translateApproval('PermissionRequest', {
      approve: false,
      hookSpecificOutput: { decision: { behavior: 'allow' } },
    }),
  ).toEqual({
    hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior: 'deny' } },
  });
});

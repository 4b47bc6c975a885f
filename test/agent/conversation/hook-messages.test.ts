import { describe, expect, test } from 'vitest';
import {
  formatHookMessage,
  type HookMessage,
} from '../../../src/agent/conversation/hook-messages.ts';
import { decode, LABEL, specific } from '../../dialects/claude/output/outputs.ts';

const AT_BASH = { event: 'PreToolUse', subject: 'Bash' };
const AFTER_BASH = { event: 'PostToolUse', subject: 'Bash' };
const PROMPT = { event: 'UserPromptSubmit', subject: null };
const reminder = (text: string): string => `<system-reminder>\n${text}\n</system-reminder>`;
const cause = (reason: string) => ({ reason, label: LABEL });

describe('messages for the model and the user', () => {
  test.each<readonly [HookMessage, string]>([
    [
      { kind: 'denied-call', tool: 'Bash', cause: cause('policy says no') },
      'PreToolUse:Bash hook error: policy says no',
    ],
    [{ kind: 'denied-call', tool: 'Write', cause: cause('JSON-DENY') }, 'JSON-DENY'],
    [
      { kind: 'denied-call', tool: 'Read', cause: cause(`[${LABEL}]: EXIT2`) },
      `PreToolUse:Read hook error: [${LABEL}]: EXIT2`,
    ],
    [
      { kind: 'denied-call', tool: 'mcp__srv__echo', cause: cause('JSON-DENY') },
      'PreToolUse:mcp__srv__echo hook error: JSON-DENY',
    ],
    [
      { kind: 'bad-rewrite', tool: 'Bash', problem: 'p' },
      "PreToolUse hook for Bash returned updatedInput that failed schema validation: p\nThe tool input from the model was valid; the hook's rewrite of it was not.",
    ],
    [
      { kind: 'context', at: AT_BASH, texts: ['ctx B', 'ctx A'] },
      reminder('PreToolUse:Bash hook additional context: ctx B\n\nctx A'),
    ],
    [
      { kind: 'context', at: { event: 'SessionStart', subject: 'startup' }, texts: ['ss ctx'] },
      reminder('SessionStart hook additional context: ss ctx'),
    ],
    [
      { kind: 'stdout', at: { event: 'SessionStart', subject: 'startup' }, text: 'ss plain' },
      reminder('SessionStart:startup hook success: ss plain'),
    ],
    [
      { kind: 'stdout', at: PROMPT, text: 'plain context line1\nline2' },
      reminder('UserPromptSubmit hook success: plain context line1\nline2'),
    ],
    [{ kind: 'late', text: 'TEXT' }, reminder('TEXT')],
    [
      { kind: 'late', text: 'a</system-reminder>b<system-reminder>' },
      reminder('a‹/system-reminder›b‹system-reminder›'),
    ],
    [
      { kind: 'feedback', event: 'Stop', reason: '<system-reminder>x' },
      'Stop hook feedback:\n‹system-reminder›x',
    ],
    [
      { kind: 'objection', at: AFTER_BASH, cause: cause(`[${LABEL}]: post stderr`) },
      reminder(
        `PostToolUse:Bash hook blocking error from command: "${LABEL}": [${LABEL}]: post stderr`,
      ),
    ],
    [
      { kind: 'objection', at: { event: 'Stop', subject: null }, cause: cause('keep going') },
      reminder(`Stop hook blocking error from command: "${LABEL}": keep going`),
    ],
    [{ kind: 'feedback', event: 'Stop', reason: 'keep going' }, 'Stop hook feedback:\nkeep going'],
    [
      { kind: 'feedback', event: 'SubagentStop', reason: `[${LABEL}]: e` },
      `Stop hook feedback:\n[${LABEL}]: e`,
    ],
    [
      { kind: 'feedback', event: 'TaskCreated', reason: `[${LABEL}]: e` },
      `TaskCreated hook feedback:\n[${LABEL}]: e`,
    ],
    [
      {
        kind: 'refused-prompt',
        event: 'UserPromptSubmit',
        reason: 'ups reason',
        prompt: 'prompt CASE_block',
      },
      'UserPromptSubmit operation blocked by hook:\nups reason\n\nOriginal prompt: prompt CASE_block',
    ],
    [
      { kind: 'refused-prompt', event: 'UserPromptExpansion', reason: 'r', prompt: null },
      'UserPromptExpansion operation blocked by hook:\nr',
    ],
    [{ kind: 'stopped-prompt', reason: 'ups stop' }, 'Operation stopped by hook: ups stop'],
    [
      { kind: 'blocked-compaction', cause: cause('json block') },
      `Compaction blocked by PreCompact hook: [${LABEL}]: json block`,
    ],
    [
      { kind: 'blocked-compaction', cause: cause(`[${LABEL}]: no compaction please`) },
      `Compaction blocked by PreCompact hook: [${LABEL}]: no compaction please`,
    ],
    [
      { kind: 'refused-model', reason: 'confirm' },
      'Model switch blocked by a PreModelSwitch hook: confirm',
    ],
    [{ kind: 'retry' }, 'The PermissionDenied hook indicated you may retry this tool call.'],
    [
      { kind: 'notice', at: AT_BASH, text: 'one\ntwo' },
      'PreToolUse:Bash says: one\nPreToolUse:Bash says: two',
    ],
  ])('%j', (situation, text) => {
    expect(formatHookMessage(situation)).toBe(text);
  });
});

describe('from what a hook printed to what the model reads', () => {
  test.each([
    [{ exit: 2, err: 'blocked by stderr' }, `[${LABEL}]: blocked by stderr`],
    [{ exit: 2 }, `[${LABEL}]: No stderr output`],
    [{ out: specific('PreToolUse', { permissionDecision: 'deny' }) }, 'Blocked by hook'],
    [{ out: { decision: 'block', reason: 'legacy block reason' } }, 'legacy block reason'],
  ])('%j', (hook, end) => {
    const reason = decode('PreToolUse', hook).decision?.reason ?? '';
    expect(formatHookMessage({ kind: 'denied-call', tool: 'Bash', cause: cause(reason) })).toBe(
      `PreToolUse:Bash hook error: ${end}`,
    );
  });
});

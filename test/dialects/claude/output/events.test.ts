import { describe, expect, test } from 'vitest';
import type { ClaudeEvent } from '../../../../src/dialects/claude/events.ts';
import {
  explainFailure,
  getFailurePolicy,
} from '../../../../src/dialects/claude/output/failures.ts';
import type { Decision } from '../../../../src/hooks/decision.ts';
import {
  afterTool,
  BASH_RESPONSE,
  decode,
  type Hook,
  inputOf,
  LABEL,
  specific,
} from './outputs.ts';

type Row = readonly [string, Hook, Decision | undefined];

const STDERR = `[${LABEL}]: no`;
const post = (fields: Readonly<Record<string, unknown>>): object => specific('PostToolUse', fields);
const ups = (fields: Readonly<Record<string, unknown>>): object =>
  specific('UserPromptSubmit', fields);

describe('PostToolUse', () => {
  const updated = { stdout: 'REDACTED', stderr: '', interrupted: false, isImage: false };

  test.each<Row>([
    ['exit2', { exit: 2, err: 'no', out: 'x' }, { effect: 'deny', reason: STDERR }],
    ['exit1', { exit: 1, err: 'post err1' }, undefined],
    ['stdout', { out: 'plain post stdout' }, undefined],
    ['block', { out: { decision: 'block', reason: 'r' } }, { effect: 'deny', reason: 'r' }],
    [
      'block_noreason',
      { out: { decision: 'block' } },
      { effect: 'deny', reason: 'Blocked by hook' },
    ],
    ['ctx', { out: post({ additionalContext: 'post ctx' }) }, { context: 'post ctx' }],
    [
      'block_ctx',
      { out: { decision: 'block', reason: 'r', ...post({ additionalContext: 'c' }) } },
      { context: 'c', effect: 'deny', reason: 'r' },
    ],
    ['upd', { out: post({ updatedToolOutput: updated }) }, { output: updated }],
    ['upd_bad', { out: post({ updatedToolOutput: 'just a string' }) }, {}],
    ['upd of other keys', { out: post({ updatedToolOutput: { nope: 1 } }) }, {}],
    ['upd of another type', { out: post({ updatedToolOutput: { stdout: 1 } }) }, {}],
    ['updmcp', { out: post({ updatedMCPToolOutput: 'mcp string' }) }, {}],
    ['sys', { out: { systemMessage: 'post sys' } }, { notice: 'post sys' }],
    ['permdec', { out: post({ permissionDecision: 'deny' }) }, {}],
    [
      'cont',
      { out: { continue: false, stopReason: 'post stop' } },
      { stop: { reason: 'post stop', pending: 'run' } },
    ],
    ['classifier', { out: post({ classifierContext: 'c' }) }, { classifierContext: 'c' }],
  ])('%s', (_, hook, decision) => {
    expect(decode('PostToolUse', hook).decision).toEqual(decision);
  });

  test('what is ignored is noted', () => {
    expect(decode('PostToolUse', { out: post({ updatedToolOutput: 'x' }) }).notes).toEqual([
      'updatedToolOutput was ignored: expected object as in tool_response, found string',
    ]);
    expect(decode('PostToolUse', { out: post({ updatedMCPToolOutput: 'x' }) }).notes).toEqual([
      'updatedMCPToolOutput counts for MCP tools only, not for Bash; use updatedToolOutput',
    ]);
    expect(decode('PostToolUse', { out: post({ permissionDecision: 'deny' }) }).warnings).toEqual([
      'not read in hookSpecificOutput on PostToolUse: "permissionDecision"; it reads additionalContext, updatedToolOutput, updatedMCPToolOutput, classifierContext',
    ]);
  });

  test('an MCP tool may answer anything', () => {
    const input = inputOf(afterTool('mcp__srv__echo', [{ type: 'text', text: 'x' }]));
    const out = post({ updatedMCPToolOutput: 'mcp string' });
    expect(decode('PostToolUse', { out }, { input }).decision).toEqual({ output: 'mcp string' });
  });

  test('a tool of which only the text is known is compared with the response that the hook received', () => {
    const input = inputOf(afterTool('execute_command', undefined), 'Bash');
    const accepted = decode(
      'PostToolUse',
      { out: post({ updatedToolOutput: BASH_RESPONSE }) },
      { input },
    );
    expect(accepted.decision).toEqual({ output: BASH_RESPONSE });
  });

  test('text for the classifier is cut', () => {
    const out = post({ classifierContext: 'c'.repeat(2001) });
    const { decision, notes } = decode('PostToolUse', { out });
    expect(decision?.classifierContext).toHaveLength(2000);
    expect(notes).toEqual(['classifierContext cut at 2000 characters; it had 2001']);
  });
});

describe('UserPromptSubmit', () => {
  const blocked = { effect: 'deny', reason: 'ups reason' } as const;
  test.each<Row>([
    ['stdout', { out: 'plain context line1\nline2\n' }, { context: 'plain context line1\nline2' }],
    ['ctx', { out: ups({ additionalContext: 'ups ctx' }) }, { context: 'ups ctx' }],
    [
      'ctx_title',
      { out: ups({ additionalContext: 'c', sessionTitle: 'My Title' }) },
      { context: 'c', title: 'My Title' },
    ],
    ['exit2', { exit: 2, err: 'no' }, { effect: 'deny', reason: STDERR }],
    ['block', { out: { decision: 'block', reason: 'ups reason' } }, blocked],
    [
      'block_sup',
      { out: { ...blockOf('ups reason'), ...ups({ suppressOriginalPrompt: true }) } },
      { suppressPrompt: true, ...blocked },
    ],
    [
      'block_noreason',
      { out: { decision: 'block' } },
      { effect: 'deny', reason: 'Blocked by hook' },
    ],
    ['exit1', { exit: 1, err: 'ups err1', out: 'stdout on exit1' }, undefined],
    [
      'cont',
      { out: { continue: false, stopReason: 'ups stop' } },
      { stop: { reason: 'ups stop', pending: 'skip' } },
    ],
    ['sys', { out: { systemMessage: 'ups sys' } }, { notice: 'ups sys' }],
    ['arr', { out: '["a"]' }, { context: '["a"]' }],
    ['badschema', { out: { decision: 'nope' } }, undefined],
    ['our updatedPrompt', { out: ups({ updatedPrompt: 'other' }) }, { prompt: 'other' }],
  ])('%s', (_, hook, decision) => {
    expect(decode('UserPromptSubmit', hook).decision).toEqual(decision);
  });

  test('context at the top level has no effect, which is noted', () => {
    expect(decode('UserPromptSubmit', { out: { additionalContext: 'x' } })).toEqual({
      decision: {},
      notes: [],
      warnings: ['"additionalContext" belongs in hookSpecificOutput and was not read here'],
    });
  });
});

describe('PermissionRequest', () => {
  const answer = (decision: object): Hook => ({ out: specific('PermissionRequest', { decision }) });
  test.each<Row>([
    ['none', {}, undefined],
    ['allow', answer({ behavior: 'allow' }), { effect: 'allow' }],
    [
      'allowupd',
      answer({ behavior: 'allow', updatedInput: { command: 'x' } }),
      { input: { command: 'x' }, effect: 'allow' },
    ],
    [
      'perm',
      answer({ behavior: 'allow', updatedPermissions: [{ type: 'addRules' }] }),
      { permissions: [{ type: 'addRules' }], effect: 'allow' },
    ],
    ['deny', answer({ behavior: 'deny', message: 'm' }), { effect: 'deny', reason: 'm' }],
    [
      'denynomsg',
      answer({ behavior: 'deny' }),
      { effect: 'deny', reason: 'Permission denied by hook' },
    ],
    [
      'denyint',
      answer({ behavior: 'deny', message: 'm', interrupt: true }),
      { effect: 'deny', reason: 'm', stop: { reason: 'm', pending: 'skip' } },
    ],
    ['exit2', { exit: 2, err: 'no' }, undefined],
    ['exit1', { exit: 1 }, undefined],
    ['legacy', { out: { decision: 'approve' } }, {}],
    ['pdec', { out: specific('PermissionRequest', { permissionDecision: 'allow' }) }, {}],
  ])('%s', (_, hook, decision) => {
    expect(decode('PermissionRequest', hook).decision).toEqual(decision);
  });

  test('a decision without behaviour is a failure', () => {
    expect(decode('PermissionRequest', answer({ message: 'm' })).failure).toEqual({
      kind: 'output',
      message:
        'expected "hookSpecificOutput.decision.behavior" to be "allow" or "deny", and it is missing',
    });
  });

  test('the old values are noted', () => {
    expect(decode('PermissionRequest', { out: { decision: 'approve' } }).notes).toEqual([
      '"decision": "approve" has no effect on PermissionRequest; use hookSpecificOutput.decision.behavior',
    ]);
    expect(decode('PermissionRequest', { exit: 2, err: 'no' }).notes).toEqual([
      'exit code 2 has no effect on PermissionRequest: no',
    ]);
  });
});

describe('the other events', () => {
  const refusal: Decision = { effect: 'deny', reason: STDERR };
  test.each<readonly [ClaudeEvent, ...Row]>([
    ['SessionStart', 'stdout', { out: 'ss plain' }, { context: 'ss plain' }],
    [
      'SessionStart',
      'all fields',
      {
        out: specific('SessionStart', {
          additionalContext: 'ss ctx',
          sessionTitle: 'T1',
          initialUserMessage: 'first',
          watchPaths: ['/a', 'b'],
          reloadSkills: true,
        }),
      },
      {
        context: 'ss ctx',
        initialMessage: 'first',
        reloadSkills: true,
        title: 'T1',
        watchPaths: ['/a'],
      },
    ],
    ['SessionStart', 'exit2', { exit: 2, err: 'ss err', out: 'out2' }, { notice: 'ss err' }],
    ['SessionStart', 'exit1', { exit: 1, out: 'out1' }, undefined],
    ['SessionStart', 'sys', { out: { systemMessage: 'ss sys' } }, { notice: 'ss sys' }],
    ['Notification', 'exit2', { exit: 2, err: 'n' }, { notice: 'n' }],
    ['Stop', 'exit2', { exit: 2, err: 'no' }, refusal],
    ['Stop', 'block', { out: blockOf('keep going') }, { effect: 'deny', reason: 'keep going' }],
    [
      'Stop',
      'ctx',
      { out: specific('Stop', { additionalContext: 'stop ctx' }) },
      { context: 'stop ctx' },
    ],
    ['Stop', 'stdout', { out: 'text' }, undefined],
    [
      'Stop',
      'cont',
      { out: { continue: false } },
      { stop: { reason: 'Stopped by hook', pending: 'run' } },
    ],
    ['SubagentStop', 'exit2', { exit: 2, err: 'no' }, refusal],
    ['PreCompact', 'stdout', { out: 'extra' }, { instructions: 'extra' }],
    [
      'PreCompact',
      'block',
      { out: blockOf('json block') },
      { effect: 'deny', reason: 'json block' },
    ],
    ['PreModelSwitch', 'exit2', { exit: 2, err: 'no' }, refusal],
    [
      'PreModelSwitch',
      'ask',
      {
        out: specific('PreModelSwitch', {
          permissionDecision: 'ask',
          permissionDecisionReason: 'confirm',
        }),
      },
      { effect: 'ask', reason: 'confirm' },
    ],
    [
      'PermissionDenied',
      'retry',
      { out: specific('PermissionDenied', { retry: true }) },
      { retry: true },
    ],
    [
      'Elicitation',
      'accept',
      { out: specific('Elicitation', { action: 'accept', content: { username: 'bob' } }) },
      { answer: { action: 'accept', content: { username: 'bob' } } },
    ],
    [
      'Elicitation',
      'exit2',
      { exit: 2, err: 'no', out: specific('Elicitation', { action: 'accept' }) },
      refusal,
    ],
    [
      'ElicitationResult',
      'decline',
      { out: specific('ElicitationResult', { action: 'decline' }) },
      { answer: { action: 'decline' } },
    ],
    [
      'CwdChanged',
      'watchPaths',
      { out: specific('CwdChanged', { watchPaths: ['/x'] }) },
      { watchPaths: ['/x'] },
    ],
    [
      'MessageDisplay',
      'display',
      { out: specific('MessageDisplay', { displayContent: 'DISPLAYED' }) },
      { display: 'DISPLAYED' },
    ],
    [
      'WorktreeCreate',
      'path',
      { out: 'making\n\u001B[32m/wt/one\u001B[0m\r\n\n' },
      { worktreePath: '/wt/one' },
    ],
    [
      'WorktreeCreate',
      'json',
      { out: specific('WorktreeCreate', { worktreePath: '/wt' }) },
      { worktreePath: '/wt' },
    ],
    ['WorktreeCreate', 'exit1', { exit: 1, err: 'no', out: '/wt' }, refusal],
    ['WorktreeCreate', 'killed', { exit: null, err: 'no' }, refusal],
    ['WorktreeCreate', 'nothing', {}, undefined],
    ['UserPromptExpansion', 'stdout', { out: 'UPE-PLAIN\n' }, { context: 'UPE-PLAIN' }],
    [
      'PostToolBatch',
      'cont',
      { out: { continue: false } },
      { stop: { reason: 'Stopped by hook', pending: 'skip' } },
    ],
    [
      'PostModelSwitch',
      'ctx',
      { out: specific('PostModelSwitch', { additionalContext: 'c' }) },
      { context: 'c' },
    ],
    ['ConfigChange', 'block', { out: blockOf('no') }, { effect: 'deny', reason: 'no' }],
  ])('%s %s', (event, _, hook, decision) => {
    expect(decode(event, hook).decision).toEqual(decision);
  });

  test('a title does not change when a session is compacted', () => {
    const input = inputOf({ name: 'SessionStart', source: 'compact' });
    const out = specific('SessionStart', { sessionTitle: 'T' });
    expect(decode('SessionStart', { out }, { input })).toEqual({
      decision: {},
      notes: ['sessionTitle has no effect when the source is compact'],
    });
  });

  test('a worktree hook that prints nothing has failed', () => {
    expect(decode('WorktreeCreate', {}).failure?.kind).toBe('output');
  });
});

describe('how a failure that refuses is worded', () => {
  const hook = { event: 'PreToolUse', label: 'sleep 5', onFailure: 'block' } as const;

  test('a time-out', () => {
    expect(explainFailure(hook, { kind: 'timeout', message: 'm' }, '')).toEqual({
      kind: 'timeout',
      message: '[sleep 5]: timed out; blocking because onFailure is "block"',
    });
  });

  test('a failure that lets the action go on keeps its own message', () => {
    const failure = { kind: 'timeout', message: 'm' } as const;
    expect(explainFailure({ ...hook, onFailure: 'continue' }, failure, '')).toBe(failure);
    expect(getFailurePolicy('PreToolUse', 'block')).toBe('closed');
    expect(getFailurePolicy('Stop', 'block')).toBe('open');
  });
});

function blockOf(reason: string): object {
  return { decision: 'block', reason };
}

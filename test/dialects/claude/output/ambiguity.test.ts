import { describe, expect, test } from 'vitest';
import type { ClaudeEvent } from '../../../../src/dialects/claude/events.ts';
import { decode, specific, verdictOf } from './outputs.ts';

const DENY = specific('PreToolUse', { permissionDecision: 'deny', permissionDecisionReason: 'no' });
const ALLOW = specific('PreToolUse', { permissionDecision: 'allow' });
const text = (value: object): string => JSON.stringify(value);
const utf16 = (json: string): string => Buffer.from(`\uFEFF${json}`, 'utf16le').toString('utf8');

const REFUSING: readonly (readonly [string, unknown])[] = [
  ['a doubled decision', '{"decision":"block","decision":"approve"}'],
  ['a doubled decision, the other way round', '{"decision":"approve","decision":"block"}'],
  [
    'a doubled decision behind an escape',
    String.raw`{"decision":"block","d\u0065cision":"approve"}`,
  ],
  ['a doubled hookSpecificOutput', `{${text(DENY).slice(1, -1)},${text(ALLOW).slice(1, -1)}}`],
  [
    'a doubled permissionDecision',
    '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecision":"allow"}}',
  ],
  ['an array around the answer', [DENY]],
  ['an array in an array', [[{ decision: 'block' }]]],
  ['an answer as a JSON string', JSON.stringify(text(DENY))],
  ['UTF-16', utf16(text(DENY))],
  ['UTF-16 without a mark', Buffer.from(text(DENY), 'utf16le').toString('utf8')],
  [
    'UTF-16 with the other byte order',
    Buffer.from(text(DENY), 'utf16le').swap16().toString('utf8'),
  ],
  ['colour codes inside', '{"decision":"\u001B[31mblock\u001B[0m"}'],
  ['colour codes around', `\u001B[31m${text(DENY)}\u001B[0m`],
  ['approve beside deny', { decision: 'approve', ...DENY }],
  ['block beside allow', { decision: 'block', ...ALLOW }],
  ['another case', specific('PreToolUse', { permissionDecision: 'Deny' })],
  ['capitals', specific('PreToolUse', { permissionDecision: 'DENY' })],
  ['spaces', specific('PreToolUse', { permissionDecision: ' deny ' })],
  ['a word of the older form', specific('PreToolUse', { permissionDecision: 'block' })],
  ['a word of the newer form', { decision: 'deny' }],
  ['a participle', { decision: 'denied' }],
  ['two answers', `${text(DENY)}\n${text(ALLOW)}`],
  ['two answers, the other way round', `${text(ALLOW)}\n${text(DENY)}`],
  ['two answers in one line', `${text(ALLOW)}${text(DENY)}`],
  ['JSON lines', '{"level":"info"}\n{"decision":"block"}\n'],
  ['a code fence', `\`\`\`json\n${text(DENY)}\n\`\`\``],
  ['a log line before it', `checking\n${text(DENY)}`],
  ['a log line after it', `${text(DENY)}\ndone`],
  ['single quotes', "{'decision': 'block'}"],
  ['unquoted keys', '{decision: "block"}'],
  ['a trailing comma', '{"decision":"block",}'],
  ['a missing brace', '{"decision":"block"'],
  ['YAML', 'decision: block\nreason: no\n'],
  ['a misplaced key', { permissionDecision: 'deny' }],
  ['a misplaced decision', specific('PreToolUse', { decision: 'deny' })],
  ['a misspelt key', { decison: 'block' }],
  ['a key in another case', { Decision: 'block' }],
  ['a key in snake_case', specific('PreToolUse', { permission_decision: 'deny' })],
  ['another agent’s answer', { cancel: true, errorMessage: 'no' }],
  ['a prompt hook’s answer', { ok: false, reason: 'no' }],
  ['no hookEventName', { hookSpecificOutput: { permissionDecision: 'deny' } }],
  ['another hookEventName', specific('PostToolUse', { permissionDecision: 'deny' })],
  ['a container in another case', { hookspecificoutput: { permissionDecision: 'deny' } }],
  ['a container in snake_case', { hook_specific_output: { permission_decision: 'deny' } }],
  ['a misspelt container', { hookSpecifcOutput: { permissionDecision: 'deny' } }],
  ['a list as the decision', { decision: ['block'] }],
  ['a list as the nested decision', specific('PreToolUse', { permissionDecision: ['deny'] })],
  ['an object as the decision', { decision: { behavior: 'deny' } }],
  ['a reason of a wrong type', { decision: 'block', reason: 7 }],
];

describe('output of a gate that refuses in one reading', () => {
  test.each(REFUSING)('%s is a failed outcome that refuses', async (_, out) => {
    const { effect, outcomes } = await verdictOf([{ out }]);
    expect({ effect, statuses: outcomes.map(({ status }) => status) }).toEqual({
      effect: 'deny',
      statuses: ['failed'],
    });
    expect(outcomes[0]?.failure?.kind).toBe('output');
  });

  const WRAPPED: readonly (readonly [string, object, string])[] = [
    ['data', { data: { decision: 'block' } }, 'data."decision": block'],
    ['result', { result: DENY }, 'result.hookSpecificOutput."permissionDecision": deny'],
    ['a list', { results: [{ a: 1 }, { decision: 'block' }] }, 'results."decision": block'],
    ['another agent’s answer', { output: { cancel: true } }, 'output."cancel": true'],
  ];

  test.each(WRAPPED)(
    'in the wrapper %s is a warning, and a failure where failures refuse',
    async (_, out, place) => {
      const suspicion = `${place} is not read on PreToolUse, but looks like a decision; expected {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "why"}}`;
      expect(decode('PreToolUse', { out }).suspicion).toBe(suspicion);
      const { effect, outcomes } = await verdictOf([{ out }]);
      const notices = outcomes.map(({ decision }) => decision?.notice);
      expect([effect, notices]).toEqual(['pass', [`suspicious: ${suspicion}`]]);
    },
  );

  test('a payload that the hook prints is no refusal', () => {
    const out = { hook_event_name: 'PreToolUse', tool_input: {}, data: { decision: 'block' } };
    expect(decode('PreToolUse', { out })).toEqual({
      decision: {},
      notes: [],
      warnings: ['unknown and not read: "hook_event_name", "tool_input", "data"'],
    });
  });

  test('the refusal names what it was read from', () => {
    const { failure } = decode('PreToolUse', { out: [{ decision: 'block' }] });
    expect(failure?.message).toBe(
      'expected one JSON object such as {"decision": "block"}, found an array; refused, because one reading of it says "decision": block',
    );
  });
});

const ALLOWING: readonly (readonly [string, unknown])[] = [
  ['a doubled decision', '{"decision":"approve","decision":"approve"}'],
  ['an array around the answer', [ALLOW]],
  ['a bare string', '"approve"'],
  ['an array of words', '["allow"]'],
  ['UTF-16', utf16(text(ALLOW))],
  ['colour codes inside', '{"decision":"\u001B[32mapprove\u001B[0m"}'],
  ['an unknown word', specific('PreToolUse', { permissionDecision: 'yes' })],
  ['another case', specific('PreToolUse', { permissionDecision: 'Allow' })],
  ['two answers', `${text(ALLOW)}\n${text(ALLOW)}`],
  ['a code fence', `\`\`\`json\n${text(ALLOW)}\n\`\`\``],
  ['a log line before it', `checking\n${text(ALLOW)}`],
  ['a misspelt key', { decison: 'approve' }],
  ['half an object', '{"decision":'],
];

describe('output of a gate that may allow in one reading', () => {
  test.each(ALLOWING)('%s is a failed outcome, never an allow', async (_, out) => {
    const { effect, outcomes } = await verdictOf([{ out }]);
    expect({ effect, statuses: outcomes.map(({ status }) => status) }).toEqual({
      effect: 'pass',
      statuses: ['failed'],
    });
  });

  test('fails closed under onFailure "block"', () => {
    const { failure } = decode('PreToolUse', { out: [ALLOW] }, { onFailure: 'block' });
    expect(failure?.message).toContain('blocking because onFailure is "block"');
  });
});

describe('output that real hooks print', () => {
  test.each<readonly [string, ClaudeEvent, unknown, object]>([
    ['plain text', 'PreToolUse', 'checked 3 files, nothing blocked', {}],
    ['code', 'PreToolUse', '{ echo done; }', {}],
    ['a number', 'PreToolUse', '0', {}],
    ['null', 'PreToolUse', 'null', {}],
    ['a list of numbers', 'PreToolUse', '[1, 2]', {}],
    ['its own payload', 'PreToolUse', { tool_name: 'Bash', tool_input: { decision: 'block' } }, {}],
    ['a byte-order mark', 'PreToolUse', `\uFEFF${text(ALLOW)}`, { effect: 'allow' }],
    ['unknown keys', 'PreToolUse', { ...ALLOW, linted: 3 }, { effect: 'allow' }],
    [
      'both forms of a refusal',
      'PreToolUse',
      { decision: 'block', ...DENY },
      { effect: 'deny', reason: 'no' },
    ],
    [
      'context that quotes an answer',
      'UserPromptSubmit',
      'Say {"decision": "block"} to refuse.',
      { context: 'Say {"decision": "block"} to refuse.' },
    ],
    [
      'a rewritten input with the key twice in it',
      'PreToolUse',
      specific('PreToolUse', { updatedInput: { command: 'echo "decision"', decision: 'x' } }),
      { input: { command: 'echo "decision"', decision: 'x' } },
    ],
  ])('%s means what it means in Claude Code', (_, event, out, decision) => {
    const answer = decode(event, { out });
    expect(answer.failure).toBeUndefined();
    expect(answer.decision ?? {}).toEqual(decision);
  });

  test.each<readonly [ClaudeEvent, string]>([
    ['UserPromptSubmit', '{"decision":"block","decision":"approve"}'],
    ['UserPromptSubmit', '```json\n{"decision":"block"}\n```'],
    ['PostToolUse', '[{"decision":"block"}]'],
    ['Stop', '{"decision":"block","decision":"approve"}'],
  ])('%s with %j is a failed outcome, not context', (event, out) => {
    expect(decode(event, { out }).failure?.kind).toBe('output');
  });
});

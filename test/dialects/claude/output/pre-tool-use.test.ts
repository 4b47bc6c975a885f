import { describe, expect, test } from 'vitest';
import type { Answer } from '../../../../src/hooks/handler.ts';
import { decode, type Hook, LABEL, specific, verdictOf } from './outputs.ts';

const pre = (fields: Readonly<Record<string, unknown>>): object => specific('PreToolUse', fields);
const deny = (reason: string): object =>
  pre({ permissionDecision: 'deny', permissionDecisionReason: reason });
const decided = (decision: Answer['decision'], ...notes: string[]): Answer => ({
  ...(decision === undefined ? {} : { decision }),
  notes,
});
const refused = (reason: string, ...notes: string[]): Answer =>
  decided({ effect: 'deny', reason }, ...notes);
const failed = (kind: 'exit' | 'output' | 'killed', message: string): Answer => ({
  failure: { kind, message },
});

/** A failure that refuses, because one reading of the output does. */
const refusedAsRead = (problem: string, refusal: string): Answer => ({
  ...failed('output', `${problem}; refused, because one reading of it says ${refusal}`),
  onFailure: 'closed',
});

const NOT_READ =
  'its JSON was not read: stdout must hold nothing but one JSON object; send log lines to stderr';
const UNSURE = 'its output cannot be read as one answer for sure, so it allows nothing';

const CASES: readonly (readonly [string, Hook, unknown])[] = [
  [
    'exit2',
    { exit: 2, err: 'blocked by stderr', out: 'plain stdout text' },
    { decision: { effect: 'deny', reason: `[${LABEL}]: blocked by stderr` } },
  ],
  [
    'exit2_json_allow',
    {
      exit: 2,
      err: 'stderr wins?',
      out: pre({
        permissionDecision: 'allow',
        permissionDecisionReason: 'json allow',
        additionalContext: 'ctx with exit2',
      }),
    },
    decided({
      context: 'ctx with exit2',
      effect: 'deny',
      reason: `[${LABEL}]: stderr wins?`,
    }),
  ],
  [
    'exit2_json_deny',
    { exit: 2, err: 'the stderr', out: deny('json deny reason') },
    refused('json deny reason'),
  ],
  [
    'exit2_noerr',
    { exit: 2 },
    { decision: { effect: 'deny', reason: `[${LABEL}]: No stderr output` } },
  ],
  [
    'exit2_badschema',
    { exit: 2, err: 'stderr for badschema', out: pre({ permissionDecision: 'maybe' }) },
    refused(
      `[${LABEL}]: stderr for badschema`,
      'expected "hookSpecificOutput.permissionDecision" to be "allow", "deny", "ask" or "defer", found "maybe"',
    ),
  ],
  [
    'exit1',
    { exit: 1, err: 'some error line1\nline2' },
    failed('exit', 'exited with code 1: line2'),
  ],
  [
    'exit1_json_deny',
    { exit: 1, err: 'e', out: deny('deny with exit1') },
    refused('deny with exit1', 'its JSON counts although it ended with exit code 1'),
  ],
  [
    'json_deny',
    {
      out: pre({
        permissionDecision: 'deny',
        permissionDecisionReason: 'policy says no',
        additionalContext: 'deny ctx',
      }),
    },
    decided({ context: 'deny ctx', effect: 'deny', reason: 'policy says no' }),
  ],
  ['json_deny_noreason', { out: pre({ permissionDecision: 'deny' }) }, refused('Blocked by hook')],
  [
    'json_ask',
    { out: pre({ permissionDecision: 'ask', permissionDecisionReason: 'please ask' }) },
    decided({ effect: 'ask', reason: 'please ask' }),
  ],
  [
    'json_allow_ctx',
    { out: pre({ permissionDecision: 'allow', additionalContext: 'allow ctx' }) },
    decided({ context: 'allow ctx', effect: 'allow' }),
  ],
  ['ctx_only', { out: pre({ additionalContext: 'ctx only' }) }, decided({ context: 'ctx only' })],
  [
    'upd',
    { out: pre({ permissionDecision: 'allow', updatedInput: { command: 'echo REPLACED' } }) },
    decided({ input: { command: 'echo REPLACED' }, effect: 'allow' }),
  ],
  [
    'upd_nodecision',
    { out: pre({ updatedInput: { command: 'echo REPLACED2' } }) },
    decided({ input: { command: 'echo REPLACED2' } }),
  ],
  [
    'upd_invalid',
    { out: pre({ permissionDecision: 'allow', updatedInput: { nope: 1 } }) },
    decided({ input: { nope: 1 }, effect: 'allow' }),
  ],
  [
    'legacy_block',
    { out: { decision: 'block', reason: 'legacy block reason' } },
    refused('legacy block reason'),
  ],
  [
    'legacy_approve',
    { out: { decision: 'approve', reason: 'legacy approve' } },
    decided({ effect: 'allow', reason: 'legacy approve' }),
  ],
  [
    'legacy_deny',
    { out: { decision: 'deny', reason: 'top-level deny' } },
    refusedAsRead(
      'expected "decision" to be "approve" or "block", found "deny"; use "decision": "block", or "permissionDecision": "deny" in hookSpecificOutput',
      '"decision": deny',
    ),
  ],
  [
    'sysmsg',
    { out: { systemMessage: 'hello user', suppressOutput: true } },
    decided({ notice: 'hello user' }),
  ],
  [
    'mismatch_event',
    { out: specific('PostToolUse', { additionalContext: 'mismatch ctx' }) },
    failed(
      'output',
      'expected "hookSpecificOutput.hookEventName" to be "PreToolUse", found "PostToolUse"',
    ),
  ],
  [
    'no_event',
    { out: { hookSpecificOutput: { permissionDecision: 'deny' } } },
    refusedAsRead(
      'expected "hookSpecificOutput.hookEventName" to be "PreToolUse", and it is missing',
      '"permissionDecision": deny',
    ),
  ],
  [
    'badschema',
    { out: pre({ permissionDecision: 'maybe' }) },
    failed(
      'output',
      'expected "hookSpecificOutput.permissionDecision" to be "allow", "deny", "ask" or "defer", found "maybe"',
    ),
  ],
  [
    'extra_keys',
    { out: { foo: 1, ...deny('extra keys deny') } },
    { ...refused('extra keys deny'), warnings: ['unknown and not read: "foo"'] },
  ],
  [
    'text_then_json',
    { out: `log line\n${JSON.stringify(deny('x'))}` },
    { ...refusedAsRead(NOT_READ, '"permissionDecision": deny'), notes: [UNSURE] },
  ],
  ['ws_json', { out: `\n  ${JSON.stringify(deny('after ws'))}\n\n` }, refused('after ws')],
  [
    'array_json',
    { out: '[{"decision":"block"}]' },
    {
      ...refusedAsRead(
        'expected one JSON object such as {"decision": "block"}, found an array',
        '"decision": block',
      ),
      notes: [UNSURE],
    },
  ],
  ['empty_obj', { out: '{}' }, decided({})],
];

describe('one hook on a tool call', () => {
  test.each(CASES)('%s', (_, hook, answer) => {
    expect(decode('PreToolUse', hook)).toEqual(answer);
  });

  test('bad_json is a failure, because it may have been a refusal', () => {
    const out = '{"hookSpecificOutput": {';
    expect(decode('PreToolUse', { out })).toEqual({
      ...failed('output', 'its JSON was not read: line 1, column 25: missing }} at the end'),
      notes: [UNSURE],
    });
  });

  test('json_then_text refuses as its JSON does', () => {
    const out = `${JSON.stringify(deny('before text'))}\ntrailing`;
    const problem = 'its JSON was not read: line 2, column 1: text after the end of the JSON';
    expect(decode('PreToolUse', { out })).toEqual({
      ...refusedAsRead(problem, '"permissionDecision": deny'),
      notes: [UNSURE],
    });
  });

  test('braces that are no answer are plain text, which a warning says', () => {
    expect(decode('PreToolUse', { out: '{ echo done; }' })).toEqual({
      warnings: [
        expect.stringMatching(/^stdout starts with "\{" but is not one JSON object \(.+\)/u),
      ],
    });
  });
});

describe('several hooks on a tool call, merged in declared order', () => {
  const allow = (fields: object = {}): Hook => ({
    out: pre({ permissionDecision: 'allow', ...fields }),
  });
  const echo = (text: string): Record<string, unknown> => ({
    updatedInput: { command: `echo ${text}` },
  });

  test.each<readonly [string, Hook, Hook, object]>([
    ['deny_allow', allow(), { out: deny('B deny') }, { effect: 'deny' }],
    ['two_deny', { out: deny('A deny') }, { out: deny('B deny') }, { effect: 'deny' }],
    [
      'ask_allow',
      { out: pre({ permissionDecision: 'ask', permissionDecisionReason: 'A ask' }) },
      allow(),
      { effect: 'ask' },
    ],
    ['exit2_allow', { exit: 2, err: 'A exit2' }, allow(), { effect: 'deny' }],
    ['two_exit2', { exit: 2, err: 'A exit2' }, { exit: 2, err: 'B exit2' }, { effect: 'deny' }],
    ['upd', allow(echo('A')), allow(echo('B')), { effect: 'allow', input: { command: 'echo B' } }],
    ['upd_deny', allow(echo('A')), { out: deny('no') }, { effect: 'deny', input: null }],
    [
      'upd_nod_then_allow',
      { out: pre(echo('A')) },
      allow(),
      { effect: 'allow', input: { command: 'echo A' } },
    ],
    [
      'defer_deny',
      { out: pre({ permissionDecision: 'defer' }) },
      { out: deny('no') },
      { effect: 'deny' },
    ],
    ['parallel', {}, {}, { effect: 'pass' }],
  ])('%s', async (_, a, b, expected) => {
    expect(await verdictOf([a, b])).toMatchObject(expected);
  });

  test('every reason and every context is kept', async () => {
    const denied = await verdictOf([{ out: deny('A deny') }, { exit: 2, err: 'B exit2' }]);
    expect(denied.reasons).toEqual([
      { hook: 'h0', text: 'A deny' },
      { hook: 'h1', text: `[${LABEL}]: B exit2` },
    ]);
    const verdict = await verdictOf([
      { out: pre({ additionalContext: 'ctx A' }) },
      { out: pre({ additionalContext: 'ctx B' }) },
    ]);
    expect(verdict.context.map(({ text }) => text)).toEqual(['ctx A', 'ctx B']);
  });
});

describe('continue: false', () => {
  const stop = { reason: 's', pending: 'run' };
  const out = { continue: false, stopReason: 's' };

  test('ends the turn after the call', () => {
    expect(decode('PreToolUse', { out })).toEqual(
      decided({ stop: { reason: 's', pending: 'run' } }),
    );
  });

  test('with exit code 2 denies the call, too', () => {
    expect(decode('PreToolUse', { out, err: 'e\n', exit: 2 }).decision).toEqual({
      stop,
      effect: 'deny',
      reason: `[${LABEL}]: e`,
    });
  });

  test('has a default reason', () => {
    expect(decode('PreToolUse', { out: { continue: false } }).decision?.stop?.reason).toBe(
      'Stopped by hook',
    );
  });
});

describe('edges', () => {
  const denial = JSON.stringify(deny('no'), null, 2);
  test.each([
    ['pretty-printed', denial],
    ['with CRLF', denial.replaceAll('\n', '\r\n')],
    ['after a byte-order mark', `\uFEFF${denial}`],
  ])('JSON %s counts', (_, out) => {
    expect(decode('PreToolUse', { out })).toEqual(refused('no'));
  });

  test('null is no value for any typed field', () => {
    const out = { continue: null, systemMessage: null, hookSpecificOutput: null };
    expect(decode('PreToolUse', { out })).toEqual(
      failed('output', 'expected "hookSpecificOutput" to be an object, found null'),
    );
  });

  test('a hook that is killed has failed', () => {
    expect(decode('PreToolUse', { exit: null })).toEqual(failed('killed', 'was killed by SIGKILL'));
  });

  test('stdout that is too long is a failure, but exit code 2 still denies', () => {
    const expectedFields = { isTruncated: true };
    expect(decode('PreToolUse', {}, expectedFields)).toEqual(
      failed('output', 'stdout is too long and was truncated'),
    );
    expect(decode('PreToolUse', { exit: 2, err: 'e' }, expectedFields).decision?.effect).toBe(
      'deny',
    );
  });

  test('JSON that is nested too deep is a failure', () => {
    const out = `{"a":${'['.repeat(2000)}${']'.repeat(2000)}}`;
    expect(decode('PreToolUse', { out }).failure?.kind).toBe('output');
  });

  test('of two fields that contradict each other the refusal holds, as a failure', () => {
    const out = { decision: 'block', reason: 'r', ...pre({ permissionDecision: 'allow' }) };
    expect(decode('PreToolUse', { out })).toEqual({
      ...refusedAsRead(
        'it refuses and allows at once: "decision": "block" beside "permissionDecision": "allow"',
        '"decision": block',
      ),
      notes: [UNSURE],
    });
  });

  test('an empty reason is none', () => {
    expect(decode('PreToolUse', { out: deny('') })).toEqual(refused('Blocked by hook'));
  });
});

describe('onFailure "block"', () => {
  const BLOCKED = `[${LABEL}]: failed; blocking because onFailure is "block"`;
  const block = { onFailure: 'block' } as const;

  test.each<readonly [string, Hook, string]>([
    ['exit1', { exit: 1, err: 'errtext\n' }, `${BLOCKED}\nerrtext`],
    ['exit1json', { exit: 1, out: { systemMessage: 'm' } }, `${BLOCKED}\nNo stderr output`],
    [
      'badschema',
      { out: { decision: 'zzz' } },
      `${BLOCKED}\nexpected "decision" to be "approve" or "block", found "zzz"`,
    ],
  ])('%s is a failure whose message refuses', (_, hook, message) => {
    expect(decode('PreToolUse', hook, block).failure?.message).toBe(message);
  });

  test.each([
    ['badjson', '{"a'],
    ['plain0', 'text'],
  ])('%s is no failure', (_, out) => {
    expect(decode('PreToolUse', { out }, block).failure).toBeUndefined();
  });

  test('a script that is not executable gives a hint', () => {
    const failure = { kind: 'exit', message: expect.stringMatching(/126: .*denied; `chmod \+x`/) };
    const err = '/bin/sh: 1: ./x.sh: Permission denied';
    expect(decode('PreToolUse', { exit: 126, err })).toMatchObject({ failure });
  });

  test('a denial in JSON keeps its own reason', () => {
    expect(decode('PreToolUse', { out: deny('own'), exit: 1 }, block).decision?.reason).toBe('own');
  });

  test.each(['Stop', 'SubagentStop', 'TaskCompleted', 'TeammateIdle', 'SessionStart'] as const)(
    'is ignored on %s',
    (event) => {
      expect(decode(event, { exit: 1 }, block).failure?.message).toBe('exited with code 1');
    },
  );
});

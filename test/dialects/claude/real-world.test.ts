import { describe, expect, test } from 'vitest';
import { readHooksText } from '../../../src/dialects/claude/config/read-hooks-text.ts';
import { compileEntryMatcher } from '../../../src/dialects/claude/match/entry-matcher.ts';
import { decodeOutput } from '../../../src/dialects/claude/output/decide.ts';
import { entryOf } from './match/match-entries.ts';
import { request } from './output/outputs.ts';

function notesOfMatcher(matcher: string): readonly string[] {
  return compileEntryMatcher(entryOf({ matcher })).notes;
}

function reported(hooks: unknown): string[] {
  const { broken, ignored } = readHooksText(
    JSON.stringify({ hooks }, null, 2),
    entryOf().source,
    'settings',
  );
  return [...broken, ...ignored].map(({ why }) => why);
}

const HANDLER = { type: 'command', command: 'true' };

describe('matchers as users write them', () => {
  test.each(['TeamCreate', 'TeamDelete', 'SendMessage', 'ExitPlanMode|TeamCreate'])(
    'the tool %s of Claude Code is not reported as misspelt',
    (matcher) => {
      expect(notesOfMatcher(matcher)).toEqual([]);
    },
  );

  test('an event is not a tool', () => {
    expect(notesOfMatcher('Stop')).toEqual(['"Stop" matches nothing: it is an event, not a tool']);
  });

  test('the prefix of every MCP tool belongs to no server', () => {
    expect(notesOfMatcher('mcp__')).toEqual([
      '"mcp__" matches nothing: it names no tool; write "mcp__.*" for every MCP tool',
    ]);
    expect(notesOfMatcher('mcp__github')).toEqual([
      '"mcp__github" matches nothing: it names no tool; write "mcp__github__.*" for every tool of the server',
    ]);
  });
});

test('a pattern watches no files: it is read as a name', () => {
  const matcher = 'tsconfig*.json|.eslintrc|package.json';
  expect(compileEntryMatcher(entryOf({ event: 'FileChanged', matcher })).notes).toEqual([
    '"tsconfig*.json" is watched as the name of a file: each name has to be written out',
  ]);
});

describe('matchers and conditions that are expressions', () => {
  test('a matcher that looks at the input of a call', () => {
    const matcher = 'tool == "Bash" && tool_input.command matches "npm"';
    expect(notesOfMatcher(matcher)).toEqual([
      `${JSON.stringify(matcher)} can never match: a matcher is the name of a tool or a pattern for it; what the call is about belongs in "if"`,
    ]);
  });

  test.each(['mcp__.*__(read|write)', '^Bash$|^mcp__'])('but not the pattern %s', (matcher) => {
    expect(notesOfMatcher(matcher)).toEqual([]);
  });

  test.each([
    'Bash(git commit*) or Bash(git -C * commit*)',
    'Bash(git commit *)|Bash(git push *)',
    'Edit(*.ts), Write(*.ts)',
  ])('the condition %s is read as one rule, with a note', (condition) => {
    expect(compileEntryMatcher(entryOf({ condition })).notes).toContain(
      '"if" takes one rule, and this is read as one: write a handler for each of them',
    );
  });

  test.each(['Bash(git commit *)', 'Bash(node -e "f(1) or g(2)")', 'Write(src/(a)/**)'])(
    'but not %s',
    (condition) => {
      expect(compileEntryMatcher(entryOf({ condition })).notes).toEqual([]);
    },
  );
});

describe('handlers as users write them', () => {
  const notesOf = (handler: object): readonly string[] => {
    const hooks = { PreToolUse: [{ hooks: [{ ...HANDLER, ...handler }] }] };
    const text = JSON.stringify({ hooks });
    return readHooksText(text, entryOf().source, 'settings').entries[0]?.notes ?? [];
  };

  test.each([
    [{ timeoutMs: 500 }, '"timeoutMs" is not read; did you mean "timeout"?'],
    [{ statusmessage: 'x' }, '"statusmessage" is not read; did you mean "statusMessage"?'],
    [{ enabled: false }, '"enabled" is not read: disable a hook with `hookline hooks disable`'],
  ])('%j', (handler, note) => {
    expect(notesOf(handler)).toEqual([note]);
  });

  test('keys that other programs read are ignored without a note', () => {
    const further = { id: 'x', name: 'n', description: 'd', commandWindows: 'py', env: {} };
    expect(notesOf({ ...further, rewakeMessage: 'm', rewakeSummary: 's' })).toEqual([]);
  });
});

describe('groups as users write them', () => {
  test('a misspelt matcher limits nothing, with a note', () => {
    expect(reported({ PreToolUse: [{ matchers: 'Bash', hooks: [HANDLER] }] })).toEqual([
      '"matchers" is not read; did you mean "matcher"?',
    ]);
  });

  test('a condition of the group limits nothing, with a note', () => {
    const group = { matcher: 'Bash', if: 'Bash(git *)', timeout: 5, hooks: [HANDLER] };
    expect(reported({ PreToolUse: [group] })).toEqual([
      '"if" is not read here: it belongs in each handler of "hooks"',
      '"timeout" is not read here: it belongs in each handler of "hooks"',
    ]);
  });

  test.each([
    [['Bash', 'Write'], 'array; write "Bash|Write"'],
    [{ tools: ['Grep'] }, 'object; write "Grep"'],
    [{ tool: 'TodoWrite' }, 'object; write "TodoWrite"'],
    [{ event: 1 }, 'object'],
    [[], 'array'],
  ])('the matcher %j is no string', (matcher, found) => {
    expect(reported({ PreToolUse: [{ matcher, hooks: [HANDLER] }] })).toEqual([
      `"matcher": expected a string, found ${found}`,
    ]);
  });

  test('other unknown keys are ignored without a note', () => {
    const group = { matcher: 'Bash', description: 'd', id: 'pre:bash', hooks: [HANDLER] };
    expect(reported({ PreToolUse: [group] })).toEqual([]);
  });

  test('a command without a group and a type', () => {
    expect(reported({ PostToolUse: [{ matcher: 'Edit', command: 'ruff check' }] })).toEqual([
      '"hooks": expected an array of handlers, found a handler without a group around it; write {"hooks": [ … ]} around it and give it "type": "command"',
    ]);
  });

  test('events one level too deep', () => {
    expect(reported({ hooks: { PostToolUse: [{ hooks: [HANDLER] }] } })).toEqual([
      'event "hooks" not found, so its entries never run; the events belong one level higher',
    ]);
  });
});

describe('the output of a failed program', () => {
  test.each([
    [
      "node:internal/modules/cjs/loader:1\n  throw err;\n  ^\n\nError: Cannot find module '/w/a.mjs'\n    at Module._load (node:internal:1:1) {\n  code: 'MODULE_NOT_FOUND'\n}\n\nNode.js v20.20.2\n",
      "exited with code 1: Error: Cannot find module '/w/a.mjs'",
    ],
    [
      'file:///w/a.mjs:1\nnope()\n^\n\nReferenceError: nope is not defined\n    at file:///w/a.mjs:1:1\n\nNode.js v22.1.0\n',
      'exited with code 1: ReferenceError: nope is not defined',
    ],
    ['Traceback (most recent call last):\nKeyError: 1\n', 'exited with code 1: KeyError: 1'],
    ['Node.js v20.20.2\n', 'exited with code 1: Node.js v20.20.2'],
    [
      '/usr/bin/env: ‘bun\\r’: No such file or directory\n/usr/bin/env: use -[v]S to pass options in shebang lines\n',
      'exited with code 1: /usr/bin/env: ‘bun\\r’: No such file or directory',
    ],
  ])('%j', (err, message) => {
    expect(decodeOutput(request('PreToolUse', { exit: 1, err }))).toMatchObject({
      failure: { kind: 'exit', message },
    });
  });
});

test('the reason of a failed program may stand on stdout', () => {
  const answer = decodeOutput(request('PreToolUse', { exit: 3, out: 'Error: no jq\n' }));
  expect(answer.failure?.message).toBe('exited with code 3: Error: no jq');
});

describe('a refusal whose reason is in the wrong field', () => {
  const NOTE =
    'with exit code 2 the reason is read from stderr, which is empty; what it printed to stdout is not';

  test('on stdout', () => {
    const answer = decodeOutput(request('PreToolUse', { exit: 2, out: 'BLOCKED: a secret' }));
    expect(answer).toMatchObject({ decision: { effect: 'deny' }, notes: [NOTE] });
  });

  test.each([{ exit: 2, err: 'no' }, { exit: 2, out: 'a', err: 'no' }, { exit: 2 }])(
    'not in %j',
    (hook) => {
      expect(decodeOutput(request('PreToolUse', hook)).notes ?? []).toEqual([]);
    },
  );
});

describe('a command that is written for bash', () => {
  const NOTE =
    '/bin/sh of this machine does not know "[["; if the command is written for bash, set "shell": "bash"';

  test.each([
    { exit: 127, err: '/bin/sh: 1: [[: not found\n' },
    { exit: 0, err: 'sh: 1: [[: not found\n' },
    { exit: 2, err: '/bin/sh: 1: [[: not found\n' },
  ])('%j', (hook) => {
    expect(decodeOutput(request('PreToolUse', hook)).notes).toEqual([NOTE]);
  });

  test.each(['/bin/sh: 1: bun: not found', 'line 1: [[: not found here', '[[: not found'])(
    'not %s',
    (err) => {
      expect(decodeOutput(request('PreToolUse', { exit: 127, err })).notes ?? []).toEqual([]);
    },
  );
});

test('several misplaced fields are named in the plural', () => {
  const out = { additionalContext: 'x', sessionTitle: 'y' };
  expect(decodeOutput(request('UserPromptSubmit', { out })).warnings).toEqual([
    '"additionalContext", "sessionTitle" belong in hookSpecificOutput and were not read here',
  ]);
});

test.each([
  ['block', 'deny', '; refused, because one reading of it says "permissionDecision": block'],
  ['approve', 'allow', ''],
])('the permission decision %j should be %j', (permissionDecision, meant, refused) => {
  const out = { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision } };
  expect(decodeOutput(request('PreToolUse', { out })).failure?.message).toBe(
    `expected "hookSpecificOutput.permissionDecision" to be "allow", "deny", "ask" or "defer", found "${permissionDecision}"; use "${meant}"${refused}`,
  );
});

test('context before a compaction is not read, and the warning names the field that is', () => {
  const out = { hookSpecificOutput: { hookEventName: 'PreCompact', additionalContext: 'keep' } };
  expect(decodeOutput(request('PreCompact', { out })).warnings).toEqual([
    'not read in hookSpecificOutput on PreCompact: "additionalContext"; plain text on stdout gives instructions for the summary',
  ]);
});

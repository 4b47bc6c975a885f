import { describe, expect, test } from 'vitest';
import type { FiredEvent } from '../../../../src/hooks/facts.ts';
import { payloadOf, payloadsOf, TOOLS } from './input-events.ts';

interface Called {
  readonly name: string;
  readonly input: unknown;
}

function before({ name, input }: Called): unknown {
  return payloadOf({ name: 'PreToolUse', tool: { callId: 'c', name, input } })['tool_input'];
}

function after({ name, input }: Called, text: string, response?: unknown): unknown {
  const event: FiredEvent = {
    name: 'PostToolUse',
    tool: { callId: 'c', name, input },
    result: { response, text, success: true },
    durationMs: 4.6,
  };
  return payloadOf(event)['tool_response'];
}

describe('the input of a tool', () => {
  test.each(TOOLS)('of $name is the same as Claude’s own', ({ name, input }) => {
    expect(before({ name, input })).toEqual(input);
  });

  test.each([
    ['Read', 'file_path'],
    ['Write', 'file_path'],
    ['Edit', 'file_path'],
    ['NotebookEdit', 'notebook_path'],
    ['Glob', 'path'],
    ['Grep', 'path'],
  ])('of %s has an absolute path', (name, key) => {
    expect(before({ name, input: { [key]: 'a/../b.txt' } })).toMatchObject({ [key]: '/ws/b.txt' });
    expect(before({ name, input: { [key]: '~/b.txt' } })).toMatchObject({
      [key]: '/home/user/b.txt',
    });
    expect(before({ name, input: { [key]: '~' } })).toMatchObject({ [key]: '/home/user' });
  });

  test('keeps a path at home when the home directory is unknown', () => {
    const tool = { callId: 'c', name: 'Read', input: { file_path: '~/x' } };
    expect(payloadOf({ name: 'PreToolUse', tool }, { home: null })['tool_input']).toEqual({
      file_path: '~/x',
    });
  });

  test('of a foreign tool stays as it is', () => {
    const input = { path: 'a', file_path: '~/b' };
    expect(before({ name: 'mcp__files__read', input })).toEqual(input);
    expect(before({ name: 'deploy', input })).toEqual(input);
  });

  test('of an edit has its default', () => {
    const input = { file_path: '/a', old_string: 'x', new_string: 'y' };
    expect(before({ name: 'Edit', input })).toEqual({ ...input, replace_all: false });
  });

  test.each([
    [{ name: 'execute_command', input: { command: 'ls' } }, 'Bash', { command: 'ls' }],
    [
      { name: 'write_to_file', input: { path: 'a', content: 'x' } },
      'Write',
      { file_path: '/ws/a', content: 'x' },
    ],
    [{ name: 'read_file', input: { path: 'a' } }, 'Read', { file_path: '/ws/a' }],
    [{ name: 'list_files', input: { path: 'a' } }, 'Glob', { pattern: '*', path: '/ws/a' }],
    [{ name: 'search_files', input: { regex: 'x' } }, 'Grep', { pattern: 'x' }],
    [{ name: 'web_fetch', input: { url: 'http://x' } }, 'WebFetch', { url: 'http://x' }],
  ])('of Cline’s $name is translated', (called, name, input) => {
    const payload = payloadOf({ name: 'PreToolUse', tool: { callId: 'c', ...called } });
    expect(payload).toMatchObject({ tool_name: name, tool_input: input });
  });
});

const SHAPED = TOOLS.filter(
  ({ name, response }) => response !== undefined && name !== 'ToolSearch',
);
// What only the agent itself can count or know is not made up.
const UNKNOWN = new Map([
  [
    'Agent',
    new Set([
      'agentId',
      'toolsUsed',
      'harnessNoteCount',
      'harnessTailCount',
      'harnessSectionHash',
      'resolvedModel',
      'totalTokens',
      'totalToolUseCount',
      'usage',
      'toolStats',
      'canContinueAgent',
    ]),
  ],
  ['TaskUpdate', new Set(['error'])],
]);

describe('the response of a tool', () => {
  test.each(SHAPED)('of $name is its own when there is one', ({ name, input, response }) => {
    expect(after({ name, input }, 'text', response)).toEqual(response);
  });

  test.each(SHAPED)('of $name has Claude’s shape when there is only text', (tool) => {
    const { response } = tool;
    const callResult = after(tool, 'text');
    expect(Array.isArray(callResult)).toBe(Array.isArray(response));
    const unknown = UNKNOWN.get(tool.name) ?? new Set();
    const expected = Object.keys(Object(response)).filter((key) => !unknown.has(key));
    expect(Object.keys(Object(callResult))).toEqual(expect.arrayContaining(expected));
  });

  test('keeps the path as the model wrote it', () => {
    expect(after({ name: 'Read', input: { file_path: 'a.txt' } }, 'alpha\nbeta\n')).toEqual({
      type: 'text',
      file: {
        filePath: 'a.txt',
        content: 'alpha\nbeta\n',
        numLines: 3,
        startLine: 1,
        totalLines: 3,
      },
    });
    const write = { name: 'write_to_file', input: { path: 'a.txt', content: 'x' } };
    expect(after(write, 'done')).toEqual({
      type: 'create',
      filePath: 'a.txt',
      content: 'x',
      structuredPatch: [],
      originalFile: null,
      userModified: false,
    });
  });

  test('counts lines from where reading began', () => {
    const readCall = { name: 'Read', input: { file_path: '/a', offset: 10, limit: 2 } };
    expect(after(readCall, 'x\ny')).toMatchObject({
      file: { numLines: 2, startLine: 10, totalLines: 11 },
    });
  });

  test.each([
    [
      'Grep',
      { pattern: 'x' },
      { mode: 'files_with_matches', filenames: ['a:1:x', 'b'], numFiles: 2 },
    ],
    ['Grep', { pattern: 'x', output_mode: 'content' }, { mode: 'content', content: 'a:1:x\nb\n' }],
    ['search_files', { regex: 'x' }, { mode: 'content', content: 'a:1:x\nb\n', numLines: 2 }],
    ['Glob', { pattern: '*' }, { filenames: ['a:1:x', 'b'], numFiles: 2, durationMs: 5 }],
    ['WebFetch', { url: 'http://x' }, { result: 'a:1:x\nb\n', url: 'http://x', bytes: 8 }],
    ['WebSearch', { query: 'q' }, { query: 'q', results: ['a:1:x\nb\n'] }],
    ['ExitPlanMode', { plan: 'p', planFilePath: '/p.md' }, { plan: 'p', filePath: '/p.md' }],
    ['TodoWrite', { todos: [] }, { oldTodos: [], newTodos: [] }],
    [
      'AskUserQuestion',
      { questions: [{ question: 'why?' }] },
      { questions: [{ question: 'why?' }], answers: { 'why?': 'a:1:x\nb\n' } },
    ],
  ])('of %s is made of its text: %j', (name, input, expected) => {
    expect(after({ name, input }, 'a:1:x\nb\n')).toMatchObject(expected);
  });

  test('stays text where no shape is known', () => {
    expect(after({ name: 'deploy', input: {} }, 'done')).toBe('done');
  });

  test('is sent under both names', () => {
    const event: FiredEvent = {
      name: 'PostToolUse',
      tool: { callId: 'c', name: 'deploy', input: {} },
      result: { response: undefined, text: 'done', success: true },
      durationMs: 1,
    };
    expect(payloadOf(event)).toMatchObject({ tool_response: 'done', tool_result: 'done' });
  });
});

describe('a failed call', () => {
  function failed(
    name: string,
    result: { error?: string; exitCode?: number },
  ): FiredEvent<'PostToolUseFailure'> {
    return {
      name: 'PostToolUseFailure',
      tool: { callId: 'c', name, input: {} },
      result: { response: undefined, text: 'the text', success: false, ...result },
      durationMs: 1,
    };
  }

  test.each([
    ['Bash', { error: 'boom', exitCode: 3 }, 'Exit code 3\nboom'],
    ['Bash', { error: '', exitCode: 3 }, 'Exit code 3'],
    ['Bash', { error: 'Exit code 3\nboom', exitCode: 3 }, 'Exit code 3\nboom'],
    ['Bash', { error: 'boom' }, 'boom'],
    ['Read', { error: 'no such file', exitCode: 1 }, 'no such file'],
    ['Read', {}, 'the text'],
  ])('of %s with %j has the error %j', (name, result, error) => {
    const payload = payloadOf(failed(name, result));
    expect(payload).toMatchObject({ error, is_interrupt: false, duration_ms: 1 });
    expect(payload).not.toHaveProperty('tool_response');
  });

  test('names the user’s interruption as its reason', () => {
    expect(payloadOf({ ...failed('Bash', {}), interrupted: true })).toMatchObject({
      is_interrupt: true,
    });
  });

  test('has the error of each part', () => {
    const part = { response: undefined, text: 'x', success: false };
    const event: FiredEvent = {
      name: 'PostToolUseFailure',
      tool: { callId: 'c', name: 'run_commands', input: { commands: ['a', 'b'] } },
      result: { ...part, parts: [part, { ...part, error: 'two', exitCode: 2 }] },
      durationMs: 1,
    };
    expect(payloadsOf(event).map((payload) => payload['error'])).toEqual(['x', 'Exit code 2\ntwo']);
  });
});

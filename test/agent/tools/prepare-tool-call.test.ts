import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { TOOLS } from '../../../src/agent/tools/index.ts';
import { readTool } from '../../../src/agent/tools/read.ts';
import {
  canRunInParallel,
  prepareToolCall,
  type PreparedToolCall,
} from '../../../src/agent/tools/prepare-tool-call.ts';
import type { Tool, ToolOutput } from '../../../src/agent/tools/tool.ts';
import type { ToolContext } from '../../../src/agent/tools/tool-context.ts';
import { write } from '../../base/directory.ts';
import { createToolFixture, use } from './fixture.ts';

interface Scene {
  readonly toolContext: ToolContext;
  readonly start: string;
  file(name: string): string;
  text(name: string): string;
}

/** An agent that has read all of these files. */
async function setScene(files: Readonly<Record<string, string>>): Promise<Scene> {
  const { toolContext, start } = createToolFixture({}, files);
  for (const name of Object.keys(files)) await use(readTool, toolContext, { file_path: name });
  const file = (name: string): string => path.join(start, name);
  return { toolContext, start, file, text: (name) => readFileSync(file(name), 'utf8') };
}

function prepare(
  toolContext: ToolContext,
  name: string,
  input: unknown,
  tools: readonly Tool[] = TOOLS,
) {
  return prepareToolCall({ name, input }, { context: toolContext, tools });
}

function prepared(toolContext: ToolContext, name: string, input: unknown): PreparedToolCall {
  const call = prepare(toolContext, name, input);
  if (typeof call === 'string') throw new Error(call);
  return call;
}

function run(
  toolContext: ToolContext,
  call: PreparedToolCall,
  signal = new AbortController().signal,
): Promise<ToolOutput> {
  return call.run({ callId: toolContext.startDirectory, signal, onProgress: () => {} });
}

async function runNew(toolContext: ToolContext, name: string, input: unknown): Promise<ToolOutput> {
  return run(toolContext, prepared(toolContext, name, input));
}

describe('a call of one part', () => {
  test('in Claude’s vocabulary has absolute paths and defaults', async () => {
    const { toolContext, file } = await setScene({ 'a.txt': 'one\n' });
    const input = { file_path: 'a.txt', old_string: 'one', new_string: 'two' };
    const hookInput = { ...input, file_path: file('a.txt'), replace_all: false };
    const { run: _run, ...facts } = prepared(toolContext, 'Edit', input);
    expect(facts).toEqual({
      toolName: 'Edit',
      kind: 'edit',
      input: hookInput,
      parts: [
        {
          name: 'Edit',
          names: ['Edit', 'replace_in_file', 'editor'],
          input: hookInput,
          kind: 'edit',
          part: null,
        },
      ],
    });
  });

  test('under another name keeps its own vocabulary, and its part is in Claude’s', async () => {
    const { toolContext, file } = await setScene({ 'a.txt': 'one\n' });
    const call = prepared(toolContext, 'read_file', { path: 'a.txt' });
    expect(call.input).toEqual({ path: 'a.txt' });
    expect(call.parts).toEqual([
      {
        name: 'Read',
        names: ['Read', 'read_file', 'read_files'],
        input: { file_path: file('a.txt') },
        kind: 'read',
        part: null,
      },
    ]);
    const output = await run(toolContext, call);
    expect(output).toEqual(await runNew(toolContext, 'Read', { file_path: file('a.txt') }));
  });

  test('in the classic vocabulary is relative to the workspace’s root, also after cd', async () => {
    const { toolContext, file, text } = await setScene({
      'a.txt': 'one\n',
      'sub/a.txt': 'other\n',
    });
    toolContext.changeDirectory(file('sub'));
    const diff = '------- SEARCH\none\n=======\ntwo\n+++++++ REPLACE';
    await runNew(toolContext, 'replace_in_file', { path: 'a.txt', diff });
    await runNew(toolContext, 'write_to_file', { path: 'new.txt', content: 'new\n' });
    const readResult = await runNew(toolContext, 'read_file', { path: 'sub/a.txt' });
    const found = await runNew(toolContext, 'search_files', { regex: 'two' });
    expect([text('a.txt'), text('new.txt'), readResult.text, found.text]).toEqual([
      'two\n',
      'new\n',
      expect.stringContaining('other'),
      expect.stringContaining('two'),
    ]);
    expect(prepared(toolContext, 'read_files', { files: ['a.txt'] }).parts).toMatchObject([
      { input: { file_path: file('sub/a.txt') } },
    ]);
  });

  test('under its former name is the same tool', async () => {
    const { toolContext } = await setScene({});
    const call = prepared(toolContext, 'Task', { description: 'd', prompt: 'p' });
    expect([call.toolName, call.input]).toEqual([
      'Agent',
      {
        description: 'd',
        prompt: 'p',
        subagent_type: 'general-purpose',
        run_in_background: false,
      },
    ]);
  });

  test('that searches under Cline’s name returns the lines', async () => {
    const { toolContext } = await setScene({ 'a.txt': 'one\ntwo\n' });
    const output = await runNew(toolContext, 'search_files', { path: '.', regex: 'tw.' });
    expect(output.text).toMatch(/a\.txt:2:two/);
  });

  test('of a tool that was added later is found by its name, also one that looks like a server’s', async () => {
    const { toolContext } = await setScene({});
    const tool: Tool = {
      name: 'my__tool',
      description: '',
      schema: {},
      kind: 'read',
      prepare: (input) => ({
        input: { input },
        run: async () => ({ response: 1, text: 'mine', success: true }),
      }),
    };
    const call = prepare(toolContext, 'my__tool', { a: 1 }, [tool]);
    expect(call).toMatchObject({ toolName: 'my__tool', kind: 'read' });
  });
});

describe('a call that cannot be run gives the reason', () => {
  const CASES: readonly [string, unknown, string | RegExp][] = [
    ['Rea', {}, /^There is no tool named "Rea"\. Did you mean Read\? These are the tools: Read, /],
    ['replace_in_fil', {}, /Did you mean replace_in_file\?/],
    ['fly', {}, /^There is no tool named "fly"\. These are the tools: /],
    ['Read', null, 'expected the input of Read to be an object, found null'],
    ['read_file', 'x', 'expected the input of read_file to be an object, found a text'],
    ['read_file', {}, 'expected "file_path" to be text, found nothing'],
    ['write_to_file', { path: 'n' }, 'expected "content" to be text, found nothing'],
    [
      'run_commands',
      { commands: [] },
      'expected "commands" of run_commands to be a list of texts, found a list without',
    ],
    [
      'run_commands',
      '{"commands": ["rm -rf',
      'expected "commands" of run_commands to be a list of texts, found nothing without',
    ],
    [
      'run_commands',
      { commands: ['ls', { what: 1 }] },
      'expected "commands" of run_commands to be a list of texts, found a list without',
    ],
    [
      'read_files',
      { files: [{ start_line: 1 }] },
      'expected "files" of read_files to be a list of objects with "path", found a list without',
    ],
    ['apply_patch', { input: 'hello' }, /^expected "input" to hold "\*\*\* Add File:"/],
    ['apply_patch', {}, 'expected "input" to be text, found nothing'],
    ['apply_patch', { input: '*** Update File: a.txt' }, 'the patch changes nothing in a.txt'],
    ['editor', { path: 'a.txt' }, 'expected "new_text" to be text, found nothing'],
    ['editor', { path: 'a.txt', new_text: 'x', insert_line: 'two' }, /a whole number$/],
    [
      'MultiEdit',
      { file_path: 'a.txt', edits: [] },
      'expected "edits" to be a list of replacements',
    ],
    [
      'MultiEdit',
      { file_path: 'a.txt', edits: [{ old_string: 'a' }] },
      'expected "edits[0]" to have the texts "old_string" and "new_string"',
    ],
    ['replace_in_file', { path: 'a.txt', diff: 'no blocks' }, /^expected "diff" to hold blocks/],
    [
      'replace_in_file',
      { path: 'a.txt', diff: '------- SEARCH\none\n=======\nt' },
      /is not complete/,
    ],
    [
      'replace_in_file',
      { path: 'a.txt', diff: '------- SEARCH\none\n+++++++ REPLACE' },
      /is not complete/,
    ],
    ['replace_in_file', { diff: 'x' }, 'expected "path" to name a file'],
    ['list_files', ['.'], 'expected the input of list_files to be an object, found a list'],
  ];

  test.each(CASES)('%s %j', async (name, input, expected) => {
    const { toolContext, text } = await setScene({ 'a.txt': 'one\n' });
    expect(prepare(toolContext, name, input)).toEqual(
      typeof expected === 'string' ? expected : expect.stringMatching(expected),
    );
    expect(text('a.txt')).toBe('one\n');
  });

  test('with cyclic and odd inputs it never throws', async () => {
    const { toolContext } = await setScene({});
    const cyclic: Record<string, unknown> = {};
    cyclic['self'] = cyclic;
    const inputs = [undefined, null, 1, '', [], [null], {}, cyclic, { __proto__: null, path: 7 }];
    const others =
      'read_file write_to_file replace_in_file execute_command search_files read_files editor apply_patch ' +
      'run_commands fetch_web_content MultiEdit use_mcp_tool a__b focus_chain ask_question toString __proto__';
    const names = [...TOOLS.map(({ name }) => name), ...others.split(' ')];
    for (const name of names) {
      for (const input of inputs) {
        const call = prepare(toolContext, name, input);
        expect(typeof call === 'string' || call.parts.length > 0).toBe(true);
      }
    }
  });
});

describe('several parts', () => {
  test('of reading are joined, each with a heading', async () => {
    const { toolContext, file } = await setScene({ 'a.txt': 'one\n', 'b.txt': 'two\n' });
    const output = await runNew(toolContext, 'read_files', { files: [{ path: 'a.txt' }, 'b.txt'] });
    const [a, b] = [
      await runNew(toolContext, 'Read', { file_path: file('a.txt') }),
      await runNew(toolContext, 'Read', { file_path: file('b.txt') }),
    ];
    expect(output).toEqual({
      response: undefined,
      text: `[1/2] Read ${file('a.txt')}\n${a.text}\n\n[2/2] Read ${file('b.txt')}\n${b.text}`,
      success: true,
      parts: [a, b],
    });
  });

  test('one that cannot work prevents all', async () => {
    const { toolContext } = await setScene({ 'a.txt': 'one\n' });
    const call = prepare(toolContext, 'read_files', {
      files: [{ path: 'a.txt' }, { path: 'a\0b' }],
    });
    expect(call).toMatch(/^Nothing was done, because part 2 of the call does not work: /);
  });

  test('commands run one after the other, also after one that fails, and then the call failed', async () => {
    const { toolContext } = await setScene({});
    const output = await runNew(toolContext, 'run_commands', {
      commands: ['echo one > f', 'exit 3', 'cat f'],
    });
    expect(output.success).toBe(false);
    expect(output.exitCode).toBe(3);
    expect(output.parts?.map(({ success }) => success)).toEqual([true, false, true]);
    expect(output.text).toMatch(/\[2\/3\] Bash exit 3\n[\s\S]*\[3\/3\] Bash cat f\none/);
  });

  test('nothing more begins after an interruption', async () => {
    const { toolContext, start } = await setScene({});
    const call = prepared(toolContext, 'run_commands', { commands: ['touch a', 'touch b'] });
    const output = await run(toolContext, call, AbortSignal.abort());
    expect(output).toMatchObject({ success: false, interrupted: true });
    expect(['a', 'b'].map((name) => existsSync(path.join(start, name)))).toEqual([false, false]);
  });
});

test('only reading and planning may run beside others', () => {
  const kinds = (
    [
      ['Read', { file_path: 'a' }],
      ['read_files', { files: ['a', 'b'] }],
      ['TodoWrite', { todos: [] }],
      ['Agent', { prompt: 'p' }],
      ['Bash', { command: 'ls' }],
      ['apply_patch', { input: '*** Add File: a\n+x' }],
      ['AskUserQuestion', {}],
      ['unknown', {}],
    ] as const
  ).map(([name, input]) => [name, canRunInParallel({ name, input }, TOOLS)]);
  expect(kinds).toEqual([
    ['Read', true],
    ['read_files', true],
    ['TodoWrite', true],
    ['Agent', true],
    ['Bash', false],
    ['apply_patch', false],
    ['AskUserQuestion', false],
    ['unknown', false],
  ]);
});

test('a file that changed after the call was prepared is not written over', async () => {
  const { toolContext, file, text } = await setScene({ 'a.txt': 'one\ntwo\n' });
  const edits = [
    { old_string: 'one', new_string: '1' },
    { old_string: 'two', new_string: '2' },
  ];
  const call = prepared(toolContext, 'MultiEdit', { file_path: 'a.txt', edits });
  write(file('a.txt'), 'one\ntwo\nthree\n');
  const output = await run(toolContext, call);
  expect(output.success).toBe(false);
  expect(output.parts?.map((part) => part.error)).toEqual([
    expect.stringMatching(/^File has been modified since it was read/),
    'Not done, because another change of this call failed.',
  ]);
  expect(text('a.txt')).toBe('one\ntwo\nthree\n');
});

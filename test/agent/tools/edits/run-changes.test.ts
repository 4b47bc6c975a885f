import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { TOOLS } from '../../../../src/agent/tools/index.ts';
import { readTool } from '../../../../src/agent/tools/read.ts';
import { prepareToolCall } from '../../../../src/agent/tools/prepare-tool-call.ts';
import type { ToolOutput } from '../../../../src/agent/tools/tool.ts';
import type { ToolContext } from '../../../../src/agent/tools/tool-context.ts';
import { createToolFixture, use } from '../fixture.ts';

type Files = Readonly<Record<string, string>>;

interface Changed {
  /** A string when the call was not even begun. */
  readonly output: ToolOutput | string;
  /** The files that were there or were asked for; null for one that is gone. */
  readonly files: Readonly<Record<string, string | null>>;
}

/** Makes one call as an agent that has read all files. */
async function change(
  files: Files,
  name: string,
  input: unknown,
  others: readonly string[] = [],
): Promise<Changed> {
  const { toolContext, start } = createToolFixture({}, files);
  for (const file of Object.keys(files)) await use(readTool, toolContext, { file_path: file });
  const output = await runCall(toolContext, name, input);
  const names = [...Object.keys(files), ...others];
  const textOf = (file: string): string | null =>
    existsSync(path.join(start, file)) ? readFileSync(path.join(start, file), 'utf8') : null;
  return { output, files: Object.fromEntries(names.map((each) => [each, textOf(each)])) };
}

async function runCall(
  toolContext: ToolContext,
  name: string,
  input: unknown,
): Promise<ToolOutput | string> {
  const call = prepareToolCall({ name, input }, { context: toolContext, tools: TOOLS });
  if (typeof call === 'string') return call;
  const signal = new AbortController().signal;
  return call.run({ callId: 'c', signal, onProgress: () => {} });
}

function isSuccess({ output }: Changed): boolean {
  return typeof output !== 'string' && output.success;
}

describe('MultiEdit', () => {
  const edits = (...pairs: readonly (readonly [string, string])[]) =>
    pairs.map(([old, fresh]) => ({ old_string: old, new_string: fresh }));

  test('each edit works on what the ones before it left', async () => {
    const input = { file_path: 'a.txt', edits: edits(['one', 'two'], ['two\ntwo', 'three']) };
    const changed = await change({ 'a.txt': 'one\ntwo\n' }, 'MultiEdit', input);
    expect(isSuccess(changed)).toBe(true);
    expect(changed.files).toEqual({ 'a.txt': 'three\n' });
  });

  test('when one edit does not fit, none is made', async () => {
    const input = { file_path: 'a.txt', edits: edits(['one', 'two'], ['gone', 'x']) };
    const { output, files } = await change({ 'a.txt': 'one\n' }, 'MultiEdit', input);
    expect(output).toMatch(
      /^Nothing was changed, because change 2 of 2, in .*a\.txt, does not work: String to replace not found/,
    );
    expect(files).toEqual({ 'a.txt': 'one\n' });
  });

  test('replace_all and new files work as with Edit', async () => {
    const all = [{ old_string: 'a', new_string: 'b', replace_all: true }];
    const many = await change({ 'a.txt': 'a a\n' }, 'MultiEdit', {
      file_path: 'a.txt',
      edits: all,
    });
    expect(many.files).toEqual({ 'a.txt': 'b b\n' });
    const changeResult = await change(
      {},
      'MultiEdit',
      { file_path: 'new/n.txt', edits: edits(['', 'one\n'], ['one', 'two']) },
      ['new/n.txt'],
    );
    expect(changeResult.files).toEqual({ 'new/n.txt': 'two\n' });
  });

  test('hooks receive the text of each part', async () => {
    const input = { file_path: 'a.txt', edits: edits(['one', '1'], ['two', '2']) };
    const { output } = await change({ 'a.txt': 'one\ntwo\n' }, 'MultiEdit', input);
    expect(typeof output === 'string' ? [] : output.parts?.map(({ response }) => response)).toEqual(
      [
        expect.objectContaining({ oldString: 'one', newString: '1', originalFile: 'one\ntwo\n' }),
        expect.objectContaining({ oldString: 'two', newString: '2', originalFile: '1\ntwo\n' }),
      ],
    );
  });

  test('a file that was not read is not changed', async () => {
    const { toolContext } = createToolFixture({}, { 'a.txt': 'one\n' });
    const input = { file_path: 'a.txt', edits: edits(['one', 'two']) };
    expect(await runCall(toolContext, 'MultiEdit', input)).toBe(
      'File has not been read yet. Read it first before writing to it.',
    );
  });
});

describe('replace_in_file', () => {
  const block = (search: string, replace: string): string =>
    `------- SEARCH\n${search}\n=======\n${replace === '' ? '' : `${replace}\n`}+++++++ REPLACE`;

  const CASES: readonly [string, string, string, string][] = [
    ['changes the first of several places', 'x\nx\n', block('x', 'y'), 'y\nx\n'],
    [
      'goes down the file block by block',
      'x\na\nx\n',
      `${block('x', 'y')}\n${block('x', 'z')}`,
      'y\na\nz\n',
    ],
    [
      'takes blocks in another order, too',
      'a\nb\nc\n',
      `${block('c', 'C')}\n${block('a', 'A')}`,
      'A\nb\nC\n',
    ],
    ['takes whole lines away without a trace', 'a\nb\nc\n', block('b', ''), 'a\nc\n'],
    ['takes the last line away', 'a\nb', block('b', ''), 'a'],
    ['prefers a whole line to a part of one', 'aab\na\n', block('a', 'z'), 'aab\nz\n'],
    ['finds a part of a line', 'const a = 1;\n', block('a = 1', 'a = 2'), 'const a = 2;\n'],
    [
      'overlooks blanks at the ends of lines',
      '  if (x) {  \n  }\n',
      block('if (x) {', 'if (y) {'),
      'if (y) {\n  }\n',
    ],
    ['writes the whole file when SEARCH is empty', 'old\n', block('', 'new'), 'new'],
    [
      'keeps the line ends of the file',
      'a\r\nb\r\nc\r\n',
      block('a\nb', 'a\nB'),
      'a\r\nB\r\nc\r\n',
    ],
    ['knows the other markers', 'a\n', '<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE', 'b\n'],
  ];

  test.each(CASES)('%s', async (_title, before, diff, after) => {
    const changed = await change({ 'a.txt': before }, 'replace_in_file', { path: 'a.txt', diff });
    expect(changed.files).toEqual({ 'a.txt': after });
    expect(isSuccess(changed)).toBe(true);
  });

  test('names the lines that are missing, and changes nothing', async () => {
    const diff = `${block('a', 'b')}\n${block('nope', 'x')}`;
    const { output, files } = await change({ 'a.txt': 'a\n' }, 'replace_in_file', {
      path: 'a.txt',
      diff,
    });
    expect(output).toMatch(/change 2 of 2, in .*: These lines are not in the file:\nnope$/);
    expect(files).toEqual({ 'a.txt': 'a\n' });
  });
});

describe('editor', () => {
  const CASES: readonly [string, string, Record<string, unknown>, string][] = [
    [
      'inserts before a line that stands several times',
      '}\na\n}\n',
      { new_text: 'b', insert_line: 3 },
      '}\na\nb\n}\n',
    ],
    ['inserts at the top', 'a\n', { new_text: 'b', insert_line: 1 }, 'b\na\n'],
    ['inserts after the last line', 'a\n', { new_text: 'b', insert_line: 9 }, 'a\nb\n'],
    ['inserts after a last line without an end', 'a', { new_text: 'b', insert_line: 9 }, 'a\nb'],
    ['fills an empty file', '', { new_text: 'b', insert_line: 1 }, 'b'],
    ['replaces text', 'a b c', { old_text: 'b', new_text: 'x' }, 'a x c'],
    ['writes the whole file', 'a', { new_text: 'b\n' }, 'b\n'],
  ];

  test.each(CASES)('%s', async (_title, before, input, after) => {
    const changed = await change({ 'a.txt': before }, 'editor', { path: 'a.txt', ...input });
    expect(changed.files).toEqual({ 'a.txt': after });
    expect(isSuccess(changed)).toBe(true);
  });

  test('needs a text that occurs only once', async () => {
    const input = { path: 'a.txt', old_text: 'a', new_text: 'b' };
    const { output, files } = await change({ 'a.txt': 'a a' }, 'editor', input);
    expect(output).toMatch(/^Found 2 matches/);
    expect(files).toEqual({ 'a.txt': 'a a' });
  });
});

describe('apply_patch', () => {
  const patch = (...lines: readonly string[]) => ({
    input: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n'),
  });

  test('adds, changes, deletes and moves in one call', async () => {
    const files = { 'a.ts': 'one\ntwo\nthree\n', 'b.ts': 'gone\n', 'c.ts': 'x\ny\n' };
    const changed = await change(
      files,
      'apply_patch',
      patch(
        '*** Update File: a.ts',
        '@@',
        ' one',
        '-two',
        '+2',
        ' three',
        '*** Delete File: b.ts',
        '*** Add File: d/new.ts',
        '+first',
        '+',
        '+third',
        '*** Update File: c.ts',
        '*** Move to: e.ts',
        '@@',
        ' x',
        '-y',
        '+z',
      ),
      ['d/new.ts', 'e.ts'],
    );
    expect(changed.files).toEqual({
      'a.ts': 'one\n2\nthree\n',
      'b.ts': null,
      'c.ts': null,
      'd/new.ts': 'first\n\nthird\n',
      'e.ts': 'x\nz\n',
    });
    const { output } = changed;
    const parts = typeof output === 'string' ? [] : (output.parts ?? []);
    expect(
      parts.map(({ text, success }) => [text.replace(/\/\S*\//, '').split('\n')[0], success]),
    ).toEqual([
      [
        "The file a.ts has been updated. Here's the result of running `cat -n` on a snippet of the edited file:",
        true,
      ],
      ['Deleted b.ts', true],
      ['File created successfully at: new.ts', true],
      ['Deleted c.ts', true],
      ['File created successfully at: e.ts', true],
    ]);
  });

  const UPDATES: readonly [string, string, readonly string[], string][] = [
    [
      'looks after the line that @@ names',
      'class A\n  run\n  end\nclass B\n  run\n  end\n',
      ['@@ class B', '-  run', '+  walk'],
      'class A\n  run\n  end\nclass B\n  walk\n  end\n',
    ],
    [
      'looks after several such lines',
      'class A\n def f\n  x\nclass B\n def f\n  x\n',
      ['@@ class B', '@@  def f', '-  x', '+  y'],
      'class A\n def f\n  x\nclass B\n def f\n  y\n',
    ],
    ['makes hunks in their order', 'x\na\nx\n', ['@@', '-x', '+1', '@@', '-x', '+2'], '1\na\n2\n'],
    ['adds at the end', 'a\n', ['@@', '+b'], 'a\nb\n'],
    ['adds after the line that @@ names', 'a\nb\n', ['@@ a', '+x'], 'a\nx\nb\n'],
    ['takes lines away', 'a\nb\nc\n', ['@@', '-b'], 'a\nc\n'],
    ['leaves an empty line where one is wanted', 'a\nb\nc\n', ['@@', '-b', '+'], 'a\n\nc\n'],
    ['forgives blanks', 'a  \nb\n', ['@@', ' a', '-b', '+c'], 'a\nc\n'],
  ];

  test.each(UPDATES)('%s', async (_title, before, lines, after) => {
    const input = patch('*** Update File: a.ts', ...lines);
    const changed = await change({ 'a.ts': before }, 'apply_patch', input);
    expect(changed.files).toEqual({ 'a.ts': after });
    expect(isSuccess(changed)).toBe(true);
  });

  test('when one part does not fit, nothing is done', async () => {
    const files = { 'a.ts': 'a\n', 'b.ts': 'b\n' };
    const input = patch('*** Delete File: b.ts', '*** Update File: a.ts', '@@', '-nope', '+x');
    const { output, files: after } = await change(files, 'apply_patch', input);
    expect(output).toMatch(
      /^Nothing was changed, because change 2 of 2, in .*a\.ts, does not work/,
    );
    expect(after).toEqual(files);
  });

  test('a move whose lines do not fit is not begun', async () => {
    const input = patch('*** Update File: a.ts', '*** Move to: b.ts', '@@', '-nope', '+x');
    const { output, files } = await change({ 'a.ts': 'a\n' }, 'apply_patch', input, ['b.ts']);
    expect(output).toBe('the patch does not fit a.ts: its lines are not there');
    expect(files).toEqual({ 'a.ts': 'a\n', 'b.ts': null });
  });

  test('a file that is moved to where it is stays there', async () => {
    const input = patch('*** Update File: a.ts', '*** Move to: ./a.ts', '@@', '-a', '+b');
    const { output, files } = await change({ 'a.ts': 'a\n' }, 'apply_patch', input);
    expect(output).toBe('the patch moves a.ts to where it is');
    expect(files).toEqual({ 'a.ts': 'a\n' });
  });

  test('what was not read is neither deleted nor written over', async () => {
    const { toolContext } = createToolFixture({}, { 'a.ts': 'a\n', 'b.ts': 'b\n' });
    const unread = 'File has not been read yet. Read it first before writing to it.';
    expect(await runCall(toolContext, 'apply_patch', patch('*** Delete File: a.ts'))).toBe(unread);
    expect(await runCall(toolContext, 'apply_patch', patch('*** Add File: a.ts', '+x'))).toBe(
      unread,
    );
    await use(readTool, toolContext, { file_path: 'a.ts' });
    const move = patch('*** Update File: a.ts', '*** Move to: b.ts');
    expect(await runCall(toolContext, 'apply_patch', move)).toBe(unread);
    expect(await runCall(toolContext, 'apply_patch', patch('*** Delete File: no.ts'))).toMatch(
      /^File does not exist/,
    );
  });
});

import { describe, expect, test } from 'vitest';
import {
  rewriteInput,
  listToolViews,
  type ViewContext,
} from '../../src/tool-vocabularies/tool-views.ts';
import { applyHunks, formatHunk, parsePatch } from '../../src/tool-vocabularies/patch.ts';

const FILES: Readonly<Record<string, string>> = {
  '/ws/old.txt': 'one\ntwo\nthree\n',
  '/ws/gone.txt': 'bye\n',
};
const context: ViewContext = {
  cwd: '/ws',
  root: '/ws',
  readText: (file) => FILES[file] ?? null,
};
const blind: ViewContext = { cwd: '/ws', root: '/ws' };

const patch = (...lines: readonly string[]): { input: string } => ({
  input: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n'),
});

const listViewInputs = (input: unknown, within = context): unknown[] =>
  listToolViews({ name: 'apply_patch', input }, 'claude', within).map((view) => [
    view.name,
    view.input,
  ]);

const edit = (file: string, before: string, after: string): unknown => [
  'Edit',
  { file_path: file, old_string: before, new_string: after, replace_all: false },
];
const write = (file: string, content: string): unknown => ['Write', { file_path: file, content }];

describe('a patch', () => {
  test('of several files and hunks is a Write per new file and an Edit per hunk', () => {
    const input = patch(
      '*** Add File: new.txt',
      '+a',
      '+',
      '+b',
      '*** Update File: src/x.ts',
      '@@ class A',
      '@@ method b',
      ' ctx',
      '-old',
      '+new',
      '@@',
      '-last',
      '*** End of File',
      '*** Delete File: gone.txt',
    );
    expect(listViewInputs(input)).toEqual([
      write('/ws/new.txt', 'a\n\nb'),
      edit('/ws/src/x.ts', 'ctx\nold', 'ctx\nnew'),
      edit('/ws/src/x.ts', 'last', ''),
      edit('/ws/gone.txt', 'bye\n', ''),
    ]);
  });

  test('that moves a file empties the source and writes the target', () => {
    const input = patch('*** Update File: old.txt', '*** Move to: new.txt', '@@', '-two', '+2');
    expect(listViewInputs(input)).toEqual([
      edit('/ws/old.txt', 'one\ntwo\nthree\n', ''),
      write('/ws/new.txt', 'one\n2\nthree\n'),
    ]);
    expect(listViewInputs(input, blind)).toEqual([
      edit('/ws/old.txt', 'two', ''),
      write('/ws/new.txt', '2'),
    ]);
  });

  test('that only renames has the text that moves', () => {
    const input = patch('*** Update File: old.txt', '*** Move to: new.txt');
    expect(listViewInputs(input)).toEqual([
      edit('/ws/old.txt', 'one\ntwo\nthree\n', ''),
      write('/ws/new.txt', 'one\ntwo\nthree\n'),
    ]);
  });

  test('that moves a file whose text it does not fit has the lines of the patch', () => {
    const input = patch('*** Update File: old.txt', '*** Move to: n', '@@', '-absent', '+x');
    expect(listViewInputs(input)[1]).toEqual(write('/ws/n', 'x'));
  });

  test('with Windows line endings has the same parts', () => {
    const { input } = patch('*** Update File: a', '@@', '-x', '+y');
    expect(listViewInputs({ input: input.replaceAll('\n', '\r\n') })).toEqual([
      edit('/ws/a', 'x', 'y'),
    ]);
  });

  test('without an envelope, in a here-document or bare is still read', () => {
    const text = "apply_patch <<'EOF'\n***Update File: a\n-x\n+y\nEOF";
    expect(listViewInputs(text)).toEqual([edit('/ws/a', 'x\nEOF', 'y\nEOF')]);
    expect(listViewInputs({ patch: '*** Delete File: gone.txt' })).toEqual([
      edit('/ws/gone.txt', 'bye\n', ''),
    ]);
  });

  test.each([
    ['an update without hunks', ['*** Update File: a'], edit('/ws/a', '', '')],
    ['an update with only an anchor', ['*** Update File: a', '@@'], edit('/ws/a', '', '')],
    ['lines without a prefix', ['*** Update File: a', 'x', '+y'], edit('/ws/a', 'x', 'x\ny')],
    ['an empty new file', ['*** Add File: a'], write('/ws/a', '')],
    ['new lines without a prefix', ['*** Add File: a', 'x'], write('/ws/a', 'x')],
    ['no path', ['*** Update File:', '-x'], edit('', 'x', '')],
  ])('that is malformed by %s still has its change', (_, lines, view) => {
    expect(listViewInputs(patch(...lines))).toEqual([view]);
  });

  test('in its own vocabulary is one view and stays as it is', () => {
    const input = patch('*** Add File: a', '+x', '*** Add File: b', '+y');
    expect(listToolViews({ name: 'apply_patch', input }, 'sdk', context)).toEqual([
      { name: 'apply_patch', input, part: null },
    ]);
  });
});

describe('a rewrite of one part of a patch', () => {
  const lines = [
    '*** Add File: new.txt',
    '+a',
    '*** Update File: x',
    '@@ here',
    ' same',
    '-old',
    '+new',
    ' end',
    '@@',
    '-z',
    '*** End of File',
  ];
  const call = { name: 'apply_patch', input: patch(...lines) };
  const rewritten = (part: number, fields: object): unknown => {
    const view = listToolViews(call, 'claude', context)[part];
    const input = { ...(view?.input as object), ...fields };
    return rewriteInput(call, { vocabulary: 'claude', part, input }, context);
  };
  const withLines = (from: number, count: number, ...fresh: readonly string[]): unknown => ({
    ok: true,
    input: patch(...lines.toSpliced(from, count, ...fresh)),
  });

  test('rebuilds only its own hunk', () => {
    expect(rewritten(1, { new_string: 'same\nnewer\nend' })).toEqual(withLines(6, 1, '+newer'));
  });

  test('rebuilds a new file', () => {
    expect(rewritten(0, { content: 'a\nb\n' })).toEqual(withLines(1, 1, '+a', '+b', '+'));
  });

  test('keeps the anchor and the end-of-file line', () => {
    expect(rewritten(2, { new_string: 'Z' })).toEqual(withLines(9, 1, '-z', '+Z'));
  });

  test('changes the path of a file with one part', () => {
    expect(rewritten(0, { file_path: '/ws/other.txt' })).toEqual(
      withLines(0, 1, '*** Add File: /ws/other.txt'),
    );
  });

  test('cannot change the path of one hunk of several', () => {
    expect(rewritten(1, { file_path: '/ws/other.txt' })).toEqual({
      ok: false,
      error:
        'the rewrite of apply_patch cannot be applied: the change would reach other parts of the call',
    });
  });

  test('cannot turn a deletion into something else', () => {
    const deletion = { name: 'apply_patch', input: patch('*** Delete File: gone.txt') };
    const input = { file_path: '/ws/gone.txt', old_string: 'bye\n', new_string: 'stay' };
    expect(rewriteInput(deletion, { vocabulary: 'claude', part: null, input }, context)).toEqual({
      ok: false,
      error: 'the rewrite of apply_patch cannot be applied: its input cannot say this "new_string"',
    });
  });

  test('gives a moved file another text and another path', () => {
    const move = {
      name: 'apply_patch',
      input: patch('*** Update File: old.txt', '*** Move to: new.txt', '@@', '-two', '+2'),
    };
    const input = { file_path: '/ws/there.txt', content: 'one\nTWO\nthree\n' };
    expect(rewriteInput(move, { vocabulary: 'claude', part: 1, input }, context)).toEqual({
      ok: true,
      input: patch(
        '*** Update File: old.txt',
        '*** Move to: /ws/there.txt',
        '@@',
        ' one',
        '-two',
        '+TWO',
        ' three',
      ),
    });
    const unseen = { file_path: '/ws/new.txt', content: 'TWO' };
    expect(rewriteInput(move, { vocabulary: 'claude', part: 1, input: unseen }, blind)).toEqual({
      ok: true,
      input: patch('*** Update File: old.txt', '*** Move to: new.txt', '@@', '-two', '+TWO'),
    });
  });

  test('of a moved file with several hunks needs the file', () => {
    const hunks = ['@@', '-one', '+1', '@@', '-three', '+3'];
    const move = {
      name: 'apply_patch',
      input: patch('*** Update File: old.txt', '*** Move to: new.txt', ...hunks),
    };
    const input = { file_path: '/ws/new.txt', content: 'other' };
    expect(rewriteInput(move, { vocabulary: 'claude', part: 1, input }, blind)).toEqual({
      ok: false,
      error: 'the rewrite of apply_patch cannot be applied: its input cannot say this "content"',
    });
  });

  test('keeps Windows line endings', () => {
    const windows = {
      name: 'apply_patch',
      input: { input: '*** Begin Patch\r\n*** Update File: a\r\n-x\r\n+y\r\n*** End Patch\r\n' },
    };
    const input = { file_path: '/ws/a', old_string: 'x', new_string: 'z', replace_all: false };
    expect(rewriteInput(windows, { vocabulary: 'claude', part: null, input }, context)).toEqual({
      ok: true,
      input: { input: '*** Begin Patch\r\n*** Update File: a\r\n-x\r\n+z\r\n*** End Patch\r\n' },
    });
  });
});

describe('the hunks of a patch', () => {
  test('apply in order', () => {
    const [section] = parsePatch('*** Update File: a\n@@\n-a\n+A\n@@\n a\n+b');
    expect(applyHunks('a\na\nc\n', section?.hunks ?? [])).toBe('A\na\nb\nc\n');
  });

  test('that only add go to the end', () => {
    const [section] = parsePatch('*** Update File: a\n@@\n+b');
    expect(applyHunks('a\n', section?.hunks ?? [])).toBe('a\nb\n');
    expect(applyHunks('a', section?.hunks ?? [])).toBe('a\nb');
  });

  test('keep what both sides share as context', () => {
    expect(formatHunk(['a', 'b', 'c'], ['a', 'x', 'y', 'c'])).toEqual([
      ' a',
      '-b',
      '+x',
      '+y',
      ' c',
    ]);
    expect(formatHunk(['a', 'a'], ['a'])).toEqual([' a', '-a']);
  });
});

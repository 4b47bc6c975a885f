import { expect, it } from 'vitest';
import {
  formatCallLines,
  formatUpdates,
} from '../../../../src/cli/chat/prompts/format-approval.ts';
import { createTempWorkspace } from '../../temp-workspace.ts';

const FACTS = { callId: '1', reason: '', suggestions: [], agentId: 'a' };

function linesOf(tool: string, input: unknown, cwd = '/'): readonly string[] {
  return formatCallLines({ ...FACTS, tool, input }, cwd);
}

it('shows the new content of a file', () => {
  const { repo } = createTempWorkspace({ 'a.txt': 'one\ntwo\nthree\n' });
  expect(linesOf('Write', { file_path: `${repo}/a.txt`, content: 'one\nthree\n' }, repo)).toEqual([
    'a.txt',
    '@@ -1,3 +1,2 @@',
    ' one',
    '-two',
    ' three',
  ]);
  expect(linesOf('Write', { file_path: 'b.txt', content: 'new' }, repo)).toEqual([
    'b.txt (new)',
    '@@ -0,0 +1,1 @@',
    '+new',
    String.raw`\ No newline at end of file`,
  ]);
});

it('shows an edit as it will be made, dollar signs and all', () => {
  const { repo } = createTempWorkspace({ 'a.txt': 'x\ny\nx\n' });
  const edit = { file_path: 'a.txt', old_string: 'x', new_string: '$&$1' };
  expect(linesOf('Edit', edit, repo)).toEqual([
    'a.txt',
    '@@ -1,3 +1,3 @@',
    '-x',
    '+$&$1',
    ' y',
    ' x',
  ]);
  expect(linesOf('Edit', { ...edit, replace_all: true }, repo)).toEqual([
    'a.txt',
    '@@ -1,3 +1,3 @@',
    '-x',
    '+$&$1',
    ' y',
    '-x',
    '+$&$1',
  ]);
});

it('shows commands of every vocabulary, and lets none hide a part of it', () => {
  expect(linesOf('Bash', { command: 'one\ntwo' })).toEqual(['$ one', '  two']);
  expect(linesOf('run_commands', { commands: ['one', 'two'] })).toEqual(['$ one', '$ two']);
  expect(linesOf('Bash', { command: 'ls\r\u001B[2Krm -rf x' })).toEqual([
    String.raw`$ ls\u{d}\u{1b}[2Krm -rf x`,
  ]);
});

it('shows the changes of edits in Cline’s vocabulary', () => {
  const { repo } = createTempWorkspace({ 'a.txt': 'one\ntwo\nthree\n' });
  const changed = ['a.txt', '@@ -1,3 +1,3 @@', ' one', '-two', '+dos', ' three'];
  const block = '------- SEARCH\ntwo\n=======\ndos\n+++++++ REPLACE\n';
  const patch = '*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+dos\n*** End Patch';
  expect(linesOf('replace_in_file', { path: 'a.txt', diff: block }, repo)).toEqual(changed);
  expect(linesOf('editor', { path: 'a.txt', old_text: 'two', new_text: 'dos' }, repo)).toEqual(
    changed,
  );
  expect(linesOf('apply_patch', { input: patch }, repo)).toEqual(changed);
});

it('shows a patch that cannot be read as it is', () => {
  const { repo } = createTempWorkspace({ 'a.txt': 'one\n' });
  expect(linesOf('replace_in_file', { path: 'a.txt', diff: 'nonsense' }, repo)).toEqual([
    'replace_in_file',
    '{',
    '  "path": "a.txt",',
    '  "diff": "nonsense"',
    '}',
  ]);
});

it('shows a change whose text is not in the file', () => {
  const { repo } = createTempWorkspace({ 'a.txt': 'one\n' });
  const edit = { file_path: 'a.txt', old_string: 'two', new_string: 'dos' };
  expect(linesOf('Edit', edit, repo)).toEqual(['a.txt', '-two', '+dos']);
});

it('hides no field, whatever the tool calls it', () => {
  expect(linesOf('mcp__a__b', { command: 'ls', target: 'production' })).toEqual([
    'mcp__a__b',
    '{',
    '  "command": "ls",',
    '  "target": "production"',
    '}',
  ]);
  expect(linesOf('mcp__a__b', { path: 'x', content: 'y', mode: 'z' })).toEqual([
    'mcp__a__b',
    '{',
    '  "path": "x",',
    '  "content": "y",',
    '  "mode": "z"',
    '}',
  ]);
  expect(linesOf('Bash', { command: 'ls', run_in_background: true })).toEqual([
    '$ ls',
    'run_in_background: true',
  ]);
});

it('shows the input of anything else', () => {
  expect(linesOf('mcp__a__b', { x: 1 })).toEqual(['mcp__a__b', '{', '  "x": 1', '}']);
});

it('names what will not be asked again', () => {
  const destination = 'session';
  expect(
    formatUpdates([
      {
        type: 'addRules',
        behavior: 'allow',
        destination,
        rules: [{ toolName: 'Bash', ruleContent: 'npm test:*' }, { toolName: 'WebFetch' }],
      },
      { type: 'addDirectories', directories: ['/tmp/x'], destination },
      { type: 'setMode', mode: 'acceptEdits', destination },
    ]),
  ).toBe('Bash(npm test:*), WebFetch, work in /tmp/x, mode acceptEdits');
});

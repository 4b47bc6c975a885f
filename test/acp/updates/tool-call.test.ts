import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { describeCall, describeResult } from '../../../src/acp/updates/tool-call.ts';
import { createFailedOutput } from '../../../src/agent/tools/tool.ts';
import { temporaryDirectory } from '../../process/programs.ts';

const cwd = '/work';

test.each([
  ['Bash', { command: 'npm test' }, 'execute', '`npm test`'],
  ['Bash', { command: 'echo `date`' }, 'execute', 'echo `date`'],
  ['execute_command', { command: 'ls' }, 'execute', '`ls`'],
  ['Read', { file_path: 'src/a.ts' }, 'read', 'Read src/a.ts'],
  ['read_file', { path: 'src/a.ts' }, 'read', 'Read src/a.ts'],
  ['Read', { file_path: '/etc/hosts' }, 'read', 'Read /etc/hosts'],
  ['Grep', { pattern: 'a.*b' }, 'search', 'Grep `a.*b`'],
  ['WebFetch', { url: 'https://example.com' }, 'fetch', 'WebFetch https://example.com'],
  ['Agent', { description: 'Look around', prompt: '…' }, 'think', 'Look around'],
  ['mcp__db__query', { sql: 'select 1\nfrom x' }, 'other', 'mcp__db__query select 1 …'],
  ['nothing', null, 'other', 'nothing'],
  ['constructor', {}, 'other', 'constructor'],
  ['__proto__', {}, 'other', '__proto__'],
])('%s %j is of the kind %s and called %s', (tool, input, kind, title) => {
  const call = describeCall({ tool, input, cwd });
  expect([call.kind, call.title]).toStrictEqual([kind, title]);
});

test('a command of several lines is included in full', () => {
  const { title, content } = describeCall({
    tool: 'Bash',
    input: { command: 'cd a\nls ```' },
    cwd,
  });
  const text = '````sh\ncd a\nls ```\n````';
  expect({ title, content }).toStrictEqual({
    title: '`cd a …`',
    content: [{ type: 'content', content: { type: 'text', text } }],
  });
});

test('a plan is passed on as it is written', () => {
  const { kind, content } = describeCall({ tool: 'ExitPlanMode', input: { plan: '1. *Go*' }, cwd });
  expect({ kind, content }).toStrictEqual({
    kind: 'switch_mode',
    content: [{ type: 'content', content: { type: 'text', text: '1. *Go*' } }],
  });
});

test('a written file is compared with what is there, and afterwards with what was there', () => {
  const directory = temporaryDirectory();
  const file = path.join(directory, 'a.txt');
  writeFileSync(file, 'old');
  const call = { tool: 'Write', input: { file_path: 'a.txt', content: 'new' }, cwd: directory };
  const diff = { type: 'diff', path: file, oldText: 'old', newText: 'new' };
  expect(describeCall(call).content).toStrictEqual([diff]);
  const denied = describeResult(call, createFailedOutput('no'));
  expect(denied[0]).toStrictEqual(diff);
  writeFileSync(file, 'new');
  const response = { type: 'update', originalFile: 'old' };
  expect(describeResult(call, { response, text: 'Done', success: true })).toStrictEqual([diff]);
  const createdFile = { type: 'create', originalFile: null };
  expect(
    describeResult(call, { response: createdFile, text: 'Done', success: true }),
  ).toStrictEqual([{ ...diff, oldText: null }]);
});

test('each part of a plural call is a change of its own', () => {
  const patch = [
    '*** Begin Patch',
    '*** Add File: a.txt',
    '+one',
    '*** Add File: b.txt',
    '+two',
    '*** End Patch',
  ].join('\n');
  const call = describeCall({ tool: 'apply_patch', input: { input: patch }, cwd });
  expect({ title: call.title, locations: call.locations }).toStrictEqual({
    title: 'Write a.txt and 1 more',
    locations: [{ path: '/work/a.txt' }, { path: '/work/b.txt' }],
  });
});

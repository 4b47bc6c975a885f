import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { readTool } from '../../../src/agent/tools/read.ts';
import type { ToolContext } from '../../../src/agent/tools/tool-context.ts';
import { writeTool } from '../../../src/agent/tools/write.ts';
import { createDirectory } from '../../base/directory.ts';
import {
  callTool,
  createFileToolContext,
  failed,
  hookInput,
  type Meanwhile,
} from './files/tool-context.ts';

const UNREAD = 'File has not been read yet. Read it first before writing to it.';
const CHANGED =
  'File has been modified since it was read, by the user, a command or a hook. Read it again before attempting to write it.';

function writeIn(toolContext: ToolContext, input: Record<string, unknown>, more: Meanwhile = {}) {
  return callTool(writeTool, input, toolContext, more);
}

async function createContextThatRead(directory: string, ...files: string[]): Promise<ToolContext> {
  const toolContext = createFileToolContext(directory);
  for (const file of files) await callTool(readTool, { file_path: file }, toolContext);
  return toolContext;
}

test('a new file is made with the directories above it', async () => {
  const directory = createDirectory();
  const toolContext = createFileToolContext(directory);
  expect(await writeIn(toolContext, { file_path: 'src/new.txt', content: 'one\ntwo\n' })).toEqual({
    response: {
      type: 'create',
      filePath: 'src/new.txt',
      content: 'one\ntwo\n',
      structuredPatch: [],
      originalFile: null,
      userModified: false,
    },
    text: 'File created successfully at: src/new.txt',
    success: true,
  });
  expect(readFileSync(path.join(directory, 'src/new.txt'), 'utf8')).toBe('one\ntwo\n');
});

test('hooks see the absolute path', () => {
  const toolContext = createFileToolContext('/work', '/home/user');
  expect(hookInput(writeTool, { file_path: '~/nowhere/a', content: '' }, toolContext)).toEqual({
    file_path: '/home/user/nowhere/a',
    content: '',
  });
});

test('a file that was read is replaced, and again without another read', async () => {
  const directory = createDirectory({ a: 'one\ntwo\n' });
  const toolContext = await createContextThatRead(directory, 'a');
  expect(await writeIn(toolContext, { file_path: 'a', content: 'one\n2\n' })).toEqual({
    response: {
      type: 'update',
      filePath: 'a',
      content: 'one\n2\n',
      structuredPatch: [
        { oldStart: 1, oldLines: 2, newStart: 1, newLines: 2, lines: [' one', '-two', '+2'] },
      ],
      originalFile: 'one\ntwo\n',
      userModified: false,
    },
    text: 'The file a has been updated successfully.',
    success: true,
  });
  expect(await writeIn(toolContext, { file_path: 'a', content: 'three' })).toMatchObject({
    success: true,
  });
  expect(readFileSync(path.join(directory, 'a'), 'utf8')).toBe('three');
});

test('a file that was not read is not replaced', async () => {
  const directory = createDirectory({ a: 'old' });
  const toolContext = createFileToolContext(directory);
  expect(await writeIn(toolContext, { file_path: 'a', content: 'new' })).toBe(UNREAD);
  expect(readFileSync(path.join(directory, 'a'), 'utf8')).toBe('old');
});

test('a file that changed since it was read is not replaced, until it is read again', async () => {
  const directory = createDirectory({ a: 'old' });
  const toolContext = await createContextThatRead(directory, 'a');
  writeFileSync(path.join(directory, 'a'), 'odd');
  expect(await writeIn(toolContext, { file_path: 'a', content: 'new' })).toBe(CHANGED);
  await callTool(readTool, { file_path: 'a' }, toolContext);
  expect(await writeIn(toolContext, { file_path: 'a', content: 'new' })).toMatchObject({
    success: true,
  });
});

test('a file that changed or came into being while hooks were asked is not replaced', async () => {
  const directory = createDirectory({ a: 'old' });
  const toolContext = await createContextThatRead(directory, 'a');
  const change = (name: string) => () => writeFileSync(path.join(directory, name), 'odd');
  expect(
    await writeIn(toolContext, { file_path: 'a', content: 'new' }, { meanwhile: change('a') }),
  ).toEqual(failed(CHANGED));
  expect(
    await writeIn(toolContext, { file_path: 'b', content: 'new' }, { meanwhile: change('b') }),
  ).toEqual(failed(UNREAD));
});

test('a file that vanished while hooks were asked is made anew', async () => {
  const directory = createDirectory({ a: 'old' });
  const toolContext = await createContextThatRead(directory, 'a');
  const meanwhile = () => rmSync(path.join(directory, 'a'));
  expect(
    await writeIn(toolContext, { file_path: 'a', content: 'new' }, { meanwhile }),
  ).toMatchObject({
    response: { type: 'create', originalFile: null },
  });
});

test('a file that was read by one name is written by another', async () => {
  const directory = createDirectory({ a: 'old' });
  symlinkSync('a', path.join(directory, 'link'));
  const toolContext = await createContextThatRead(directory, 'a');
  expect(await writeIn(toolContext, { file_path: 'link', content: 'new' })).toMatchObject({
    success: true,
  });
  expect(readFileSync(path.join(directory, 'a'), 'utf8')).toBe('new');
});

test('the encoding of a file is kept, the line ends are those that were given', async () => {
  const directory = createDirectory({ dos: '\uFEFFa\r\nb\r\n' });
  writeFileSync(path.join(directory, 'wide'), Buffer.from('\uFEFFa', 'utf16le'));
  const toolContext = await createContextThatRead(directory, 'dos', 'wide');
  await writeIn(toolContext, { file_path: 'dos', content: 'ä\n' });
  await writeIn(toolContext, { file_path: 'wide', content: 'ä\n' });
  expect(readFileSync(path.join(directory, 'dos'))).toEqual(Buffer.from('\uFEFFä\n'));
  expect(readFileSync(path.join(directory, 'wide'))).toEqual(Buffer.from('\uFEFFä\n', 'utf16le'));
});

test('what is no text file is refused before hooks are asked', async () => {
  const directory = createDirectory({ 'a.bin': '\0', file: '' });
  const toolContext = await createContextThatRead(directory, 'file');
  const refused = (file: string) => writeIn(toolContext, { file_path: file, content: 'x' });
  expect(await refused('.')).toBe(
    `${directory} is a directory, not a file. Use Glob, or ls with Bash, to see what is in it.`,
  );
  expect(await refused('a.bin')).toBe(
    `${directory}/a.bin is a binary file. Only text can be changed by this tool.`,
  );
  expect(await refused('/dev/full')).toBe(
    'Cannot read /dev/full: it is a device, a pipe or a socket, not a regular file.',
  );
  expect(await refused('file/below')).toBe(
    `Cannot read ${directory}/file/below: a part of the path is a file, not a directory.`,
  );
  expect(await refused('x'.repeat(256))).toBe(
    `Cannot read ${directory}/${'x'.repeat(256)}: the name is too long.`,
  );
});

test('a file that is too large is refused', async () => {
  const directory = createDirectory();
  writeFileSync(path.join(directory, 'huge'), Buffer.alloc(11 * 1024 * 1024, 'x'));
  expect(await writeIn(createFileToolContext(directory), { file_path: 'huge', content: '' })).toBe(
    `${directory}/huge is too large to change by this tool (11MB, at most 10MB). Use a command in Bash.`,
  );
});

test('a directory that became a file while hooks were asked is reported', async () => {
  const directory = createDirectory();
  const meanwhile = () => writeFileSync(path.join(directory, 'sub'), '');
  const toolContext = createFileToolContext(directory);
  expect(await writeIn(toolContext, { file_path: 'sub/a', content: '' }, { meanwhile })).toEqual(
    failed(`Cannot read ${directory}/sub/a: a part of the path is a file, not a directory.`),
  );
});

test('wrong input is reported', async () => {
  const toolContext = createFileToolContext('/');
  expect(await writeIn(toolContext, { file_path: 'a' })).toBe(
    'expected "content" to be text, found nothing',
  );
  expect(await writeIn(toolContext, { file_path: 'a', content: { a: 1 } })).toBe(
    'expected "content" to be text, found an object',
  );
});

test('the parent of a link is where the link leads, as permission rules judge it', async () => {
  const directory = createDirectory({ 'ws/a.txt': 'in', 'out/deep/b.txt': '', 'out/a.txt': 'out' });
  symlinkSync('../out/deep', path.join(directory, 'ws/link'));
  const toolContext = createFileToolContext(path.join(directory, 'ws'));
  const output = await callTool(readTool, { file_path: 'link/../a.txt' }, toolContext);
  expect(output).toMatchObject({ text: '     1→out' });
  await writeIn(toolContext, { file_path: 'link/../new.txt', content: 'x' });
  expect(readFileSync(path.join(directory, 'out/new.txt'), 'utf8')).toBe('x');
});

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { editTool } from '../../../src/agent/tools/edit.ts';
import { readTool } from '../../../src/agent/tools/read.ts';
import type { ToolContext } from '../../../src/agent/tools/tool-context.ts';
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

interface Place {
  readonly directory: string;
  readonly toolContext: ToolContext;
}

/** A directory with these files, all of which have been read. */
async function createEditFixture(files: Readonly<Record<string, string>>): Promise<Place> {
  const directory = createDirectory(files);
  const toolContext = createFileToolContext(directory);
  for (const file of Object.keys(files)) await callTool(readTool, { file_path: file }, toolContext);
  return { directory, toolContext };
}

function edit(
  { toolContext }: Place,
  [file_path, old_string, new_string]: readonly [string, string, string],
  { replace_all, ...more }: { replace_all?: boolean } & Meanwhile = {},
) {
  const all = replace_all === undefined ? {} : { replace_all };
  return callTool(editTool, { file_path, old_string, new_string, ...all }, toolContext, more);
}

function contentOf({ directory }: Place, name: string): string {
  return readFileSync(path.join(directory, name), 'utf8');
}

test('one place is changed and included in the text, and the response is as Claude has it', async () => {
  const fixture = await createEditFixture({ 'a.txt': 'alpha\nbeta\n' });
  expect(await edit(fixture, ['a.txt', 'beta', 'gamma'])).toEqual({
    response: {
      filePath: 'a.txt',
      oldString: 'beta',
      newString: 'gamma',
      originalFile: 'alpha\nbeta\n',
      structuredPatch: [
        {
          oldStart: 1,
          oldLines: 2,
          newStart: 1,
          newLines: 2,
          lines: [' alpha', '-beta', '+gamma'],
        },
      ],
      userModified: false,
      replaceAll: false,
    },
    text: "The file a.txt has been updated. Here's the result of running `cat -n` on a snippet of the edited file:\n     1→alpha\n     2→gamma\n     3→",
    success: true,
  });
  expect(contentOf(fixture, 'a.txt')).toBe('alpha\ngamma\n');
});

test('hooks see the absolute path and the default of replace_all', async () => {
  const { directory, toolContext } = await createEditFixture({ a: 'x' });
  const input = { file_path: 'a', old_string: 'x', new_string: 'y' };
  expect(hookInput(editTool, input, toolContext)).toEqual({
    ...input,
    file_path: path.join(directory, 'a'),
    replace_all: false,
  });
});

test('the snippet has four lines on both sides, and an end', async () => {
  const lines = Array.from({ length: 20 }, (_, index) => `line ${index + 1}`);
  const fixture = await createEditFixture({ a: lines.join('\n'), b: 'x' });
  expect(await edit(fixture, ['a', 'line 10', 'ten\nand more'])).toMatchObject({
    text: expect.stringMatching(
      /file:\n {5}6→line 6\n.*\n.*\n.*\n {4}10→ten\n {4}11→and more\n.*\n.*\n.*\n {4}15→line 14$/,
    ),
  });
  expect(await edit(fixture, ['b', 'x', 'y\n'.repeat(500)])).toMatchObject({
    text: expect.stringMatching(/\n {3}100→y\n…$/),
  });
});

test('several edits follow one another, also of every place', async () => {
  const fixture = await createEditFixture({ a: 'x y x y' });
  expect(await edit(fixture, ['a', 'x', 'z'], { replace_all: true })).toMatchObject({
    response: { replaceAll: true },
    text: 'The file a has been updated. All occurrences were successfully replaced.',
    success: true,
  });
  expect(await edit(fixture, ['a', 'z y z', 'done'])).toMatchObject({ success: true });
  expect(contentOf(fixture, 'a')).toBe('done y');
});

test('an edit that cannot work is refused before hooks are asked', async () => {
  const fixture = await createEditFixture({ a: 'x x', 'n.ipynb': '{"cells": []}' });
  expect(await edit(fixture, ['a', 'x', 'x'])).toBe(
    'No changes to make: old_string and new_string are exactly the same.',
  );
  expect(await edit(fixture, ['a', 'y', 'z'])).toBe(
    'String to replace not found in file.\nString: y',
  );
  expect(await edit(fixture, ['a', 'x', 'z'])).toBe(
    'Found 2 matches of the string to replace, but replace_all is false. To replace all occurrences, set replace_all to true. To replace only one occurrence, please provide more context to uniquely identify the instance.\nString: x',
  );
  expect(await edit(fixture, ['a', '', 'z'])).toBe(
    'Cannot create new file - file already exists. To change it, give the text to replace as old_string.',
  );
  expect(await edit(fixture, ['b', 'x', 'y'])).toBe(
    `File does not exist. Note: your current working directory is ${fixture.directory}. Did you mean ${fixture.directory}/a?`,
  );
  expect(await edit(fixture, ['n.ipynb', 'x', 'y'])).toBe(
    'File is a Jupyter Notebook. Use the NotebookEdit tool to edit this file.',
  );
  expect(await edit(fixture, ['.', 'x', 'y'])).toBe(
    `${fixture.directory} is a directory, not a file. Use Glob, or ls with Bash, to see what is in it.`,
  );
});

test('a file must have been read, and not have changed since', async () => {
  const fixture = await createEditFixture({ a: 'old' });
  writeFileSync(path.join(fixture.directory, 'b'), 'old');
  expect(await edit(fixture, ['b', 'old', 'new'])).toBe(UNREAD);
  writeFileSync(path.join(fixture.directory, 'a'), 'old and more');
  expect(await edit(fixture, ['a', 'old', 'new'])).toBe(CHANGED);
  writeFileSync(path.join(fixture.directory, 'a'), 'old');
  expect(await edit(fixture, ['a', 'old', 'new'])).toMatchObject({ success: true });
});

test('reading a part counts as reading', async () => {
  const directory = createDirectory({ a: 'x\ny\nz' });
  const fixture = { directory, toolContext: createFileToolContext(directory) };
  await callTool(readTool, { file_path: 'a', offset: 2, limit: 1 }, fixture.toolContext);
  expect(await edit(fixture, ['a', 'z', 'end'])).toMatchObject({ success: true });
});

test('a file that changed or vanished while hooks were asked is left alone', async () => {
  const fixture = await createEditFixture({ a: 'old', b: 'old' });
  const change = () => writeFileSync(path.join(fixture.directory, 'a'), 'old!');
  expect(await edit(fixture, ['a', 'old', 'new'], { meanwhile: change })).toEqual(failed(CHANGED));
  expect(contentOf(fixture, 'a')).toBe('old!');
  const remove = () => rmSync(path.join(fixture.directory, 'b'));
  expect(await edit(fixture, ['b', 'old', 'new'], { meanwhile: remove })).toEqual(
    failed(
      `File does not exist. Note: your current working directory is ${fixture.directory}. Did you mean ${fixture.directory}/a?`,
    ),
  );
});

test('an empty text to replace makes a new file, or fills an empty one', async () => {
  const fixture = await createEditFixture({ empty: '' });
  expect(await edit(fixture, ['sub/new.txt', '', 'a\nb'])).toEqual({
    response: {
      filePath: 'sub/new.txt',
      oldString: '',
      newString: 'a\nb',
      originalFile: '',
      structuredPatch: [
        {
          oldStart: 1,
          oldLines: 0,
          newStart: 1,
          newLines: 2,
          lines: ['+a', '+b', String.raw`\ No newline at end of file`],
        },
      ],
      userModified: false,
      replaceAll: false,
    },
    text: "The file sub/new.txt has been updated. Here's the result of running `cat -n` on a snippet of the edited file:\n     1→a\n     2→b",
    success: true,
  });
  await edit(fixture, ['empty', '', 'filled']);
  expect(contentOf(fixture, 'empty')).toBe('filled');
  expect(await edit(fixture, ['sub/new.txt', 'a', 'A'])).toMatchObject({ success: true });
});

test('encodings and line ends are kept', async () => {
  const fixture = await createEditFixture({ dos: '\uFEFFa\r\nb\r\n' });
  const latin = path.join(fixture.directory, 'latin');
  writeFileSync(latin, Buffer.from('Größe: klein', 'latin1'));
  await callTool(readTool, { file_path: 'latin' }, fixture.toolContext);
  expect(await edit(fixture, ['dos', 'a\nb', 'x\ny\nz'])).toMatchObject({
    response: { originalFile: 'a\nb\n', newString: 'x\ny\nz' },
    text: expect.stringMatching(/\n {5}1→x\n {5}2→y\n {5}3→z\n {5}4→$/),
  });
  expect(contentOf(fixture, 'dos')).toBe('\uFEFFx\r\ny\r\nz\r\n');
  await edit(fixture, ['latin', 'klein', 'groß']);
  expect(readFileSync(latin, 'latin1')).toBe('Größe: groß');
  expect(await edit(fixture, ['latin', 'groß', 'π'])).toEqual(
    failed(
      `Cannot write ${latin}: the file is in Latin-1, which does not have all of the new characters.`,
    ),
  );
});

test('wrong input is reported', async () => {
  const { toolContext } = await createEditFixture({});
  expect(await callTool(editTool, { file_path: 'a', old_string: 'x' }, toolContext)).toBe(
    'expected "new_string" to be text, found nothing',
  );
  const input = { file_path: 'a', old_string: 'x', new_string: 'y', replace_all: 'always' };
  expect(await callTool(editTool, input, toolContext)).toBe(
    'expected "replace_all" to be true or false, found the text "always"',
  );
});

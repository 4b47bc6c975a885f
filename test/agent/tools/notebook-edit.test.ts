import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { notebookEditTool } from '../../../src/agent/tools/notebook-edit.ts';
import { readTool } from '../../../src/agent/tools/read.ts';
import type { ToolContext } from '../../../src/agent/tools/tool-context.ts';
import { createDirectory } from '../../base/directory.ts';
import { callTool, createFileToolContext, failed, hookInput } from './files/tool-context.ts';

const CODE = {
  cell_type: 'code',
  id: 'c1',
  source: ['print(1)'],
  metadata: {},
  outputs: [],
  execution_count: null,
};
const WORDS = { cell_type: 'markdown', id: 'm1', source: '# Title', metadata: {} };

function notebookOf(cells: readonly unknown[], minor = 5): string {
  return JSON.stringify({ cells, metadata: {}, nbformat: 4, nbformat_minor: minor }, null, 1);
}

interface Place {
  readonly file: string;
  readonly toolContext: ToolContext;
}

/** A directory with this notebook, which has been read. */
async function createNotebookFixture(text: string): Promise<Place> {
  const directory = createDirectory({ 'nb.ipynb': text });
  const toolContext = createFileToolContext(directory);
  await callTool(readTool, { file_path: 'nb.ipynb' }, toolContext);
  return { file: path.join(directory, 'nb.ipynb'), toolContext };
}

function edit({ toolContext }: Place, input: Record<string, unknown>, meanwhile = () => {}) {
  const fullInput = { notebook_path: 'nb.ipynb', new_source: 'print(2)', ...input };
  return callTool(notebookEditTool, fullInput, toolContext, { meanwhile });
}

function cellsIn({ file }: Place): unknown {
  return JSON.parse(readFileSync(file, 'utf8')).cells;
}

test('a cell gets a new source, and the response is as Claude has it', async () => {
  const original = notebookOf([CODE]);
  const updated = notebookOf([{ ...CODE, source: 'print(2)' }]);
  const fixture = await createNotebookFixture(original);
  expect(await edit(fixture, { cell_id: 'c1' })).toEqual({
    response: {
      new_source: 'print(2)',
      old_source: 'print(1)',
      cell_type: 'code',
      language: 'python',
      edit_mode: 'replace',
      cell_id: 'c1',
      error: '',
      notebook_path: fixture.file,
      original_file: original,
      updated_file: updated,
    },
    text: 'Updated cell c1 with print(2)',
    success: true,
  });
  expect(readFileSync(fixture.file, 'utf8')).toBe(updated);
});

test('hooks see the absolute path and only what was given', async () => {
  const { file, toolContext } = await createNotebookFixture(notebookOf([CODE]));
  const input = { notebook_path: 'nb.ipynb', cell_id: 'c1', new_source: 'print(2)' };
  expect(hookInput(notebookEditTool, input, toolContext)).toEqual({
    ...input,
    notebook_path: file,
  });
  const more = { ...input, cell_type: 'code', edit_mode: 'insert' };
  expect(hookInput(notebookEditTool, more, toolContext)).toEqual({ ...more, notebook_path: file });
});

test('outputs of the old source are removed, and a last line end stays', async () => {
  const run = { ...CODE, outputs: [{ output_type: 'stream', text: '1' }], execution_count: 4 };
  const fixture = await createNotebookFixture(`${notebookOf([run])}\n`);
  await edit(fixture, { cell_id: 'c1' });
  expect(readFileSync(fixture.file, 'utf8')).toBe(
    `${notebookOf([{ ...CODE, source: 'print(2)' }])}\n`,
  );
});

test('a cell changes its type together with what belongs to it', async () => {
  const fixture = await createNotebookFixture(notebookOf([CODE, WORDS]));
  await edit(fixture, { cell_id: 'c1', cell_type: 'markdown' });
  await edit(fixture, { cell_id: 'm1', cell_type: 'code' });
  expect(cellsIn(fixture)).toEqual([
    { cell_type: 'markdown', id: 'c1', source: 'print(2)', metadata: {} },
    {
      cell_type: 'code',
      id: 'm1',
      source: 'print(2)',
      metadata: {},
      execution_count: null,
      outputs: [],
    },
  ]);
});

test('a cell is inserted behind another, or in front of all', async () => {
  const fixture = await createNotebookFixture(notebookOf([CODE, WORDS]));
  const insert = { edit_mode: 'insert', cell_type: 'markdown' };
  const first = await edit(fixture, { ...insert, new_source: 'first' });
  await edit(fixture, { ...insert, cell_id: 'c1', new_source: 'second' });
  expect(cellsIn(fixture)).toEqual([
    { cell_type: 'markdown', id: expect.any(String), source: 'first', metadata: {} },
    CODE,
    { cell_type: 'markdown', id: expect.any(String), source: 'second', metadata: {} },
    WORDS,
  ]);
  expect(first).toMatchObject({
    response: { edit_mode: 'insert', cell_type: 'markdown', cell_id: expect.any(String) },
    text: expect.stringMatching(/^Inserted cell [0-9a-f]{8} with first$/),
  });
  expect(first).not.toHaveProperty('response.old_source');
});

test('in old notebooks cells are counted and get no ids', async () => {
  const { id: _id, ...nameless } = CODE;
  const fixture = await createNotebookFixture(notebookOf([nameless], 2));
  expect(await edit(fixture, { edit_mode: 'insert', cell_type: 'code' })).toMatchObject({
    text: 'Inserted cell with print(2)',
  });
  expect(await edit(fixture, { cell_id: 'cell-1', new_source: 'print(3)' })).toMatchObject({
    response: { cell_id: 'cell-1', old_source: 'print(1)' },
  });
  expect(cellsIn(fixture)).toEqual([
    { ...nameless, source: 'print(2)' },
    { ...nameless, source: 'print(3)' },
  ]);
});

test('a cell is deleted', async () => {
  const fixture = await createNotebookFixture(notebookOf([CODE, WORDS]));
  expect(
    await edit(fixture, { cell_id: 'cell-1', edit_mode: 'delete', new_source: '' }),
  ).toMatchObject({
    response: { edit_mode: 'delete', cell_type: 'markdown', old_source: '# Title' },
    text: 'Deleted cell cell-1',
  });
  expect(cellsIn(fixture)).toEqual([CODE]);
});

test('an edit that cannot work is refused before hooks are asked', async () => {
  const fixture = await createNotebookFixture(notebookOf([CODE, WORDS]));
  expect(await edit(fixture, {})).toBe(
    'Cell ID must be specified when not inserting a new cell: give cell_id.',
  );
  expect(await edit(fixture, { edit_mode: 'insert' })).toBe(
    'Cell type is required when using edit_mode=insert: give cell_type.',
  );
  expect(await edit(fixture, { cell_id: 'c9' })).toBe(
    'Cell with ID "c9" not found in notebook. It has these: c1, m1.',
  );
  expect(await edit(fixture, { cell_id: 'cell-2' })).toBe(
    'Cell with ID "cell-2" not found in notebook. It has these: c1, m1.',
  );
  expect(await edit(fixture, { cell_id: 'c1', edit_mode: 'append' })).toBe(
    'expected "edit_mode" to be one of "replace", "insert", "delete", found the text "append"',
  );
  expect(await edit(fixture, { notebook_path: 'a.py', cell_id: 'c1' })).toBe(
    'File must be a Jupyter notebook (.ipynb file). For editing other file types, use the Edit tool.',
  );
  expect(await edit(fixture, { notebook_path: 'x.ipynb', cell_id: 'c1' })).toBe(
    `File does not exist. Note: your current working directory is ${path.dirname(fixture.file)}. Did you mean ${fixture.file}?`,
  );
});

test('a notebook must have been read, be one, and not have changed since', async () => {
  const unread = createDirectory({ 'nb.ipynb': notebookOf([CODE]) });
  expect(
    await edit({ file: '', toolContext: createFileToolContext(unread) }, { cell_id: 'c1' }),
  ).toBe('File has not been read yet. Read it first before writing to it.');
  expect(await edit(await createNotebookFixture('{}'), { cell_id: 'c1' })).toBe(
    'Notebook is not one of format 4: expected an object with a list of objects "cells".',
  );
  const fixture = await createNotebookFixture(notebookOf([CODE]));
  const change = () => writeFileSync(fixture.file, notebookOf([WORDS]));
  expect(await edit(fixture, { cell_id: 'c1' }, change)).toEqual(
    failed(
      'File has been modified since it was read, by the user, a command or a hook. Read it again before attempting to write it.',
    ),
  );
});

import { expect, test } from 'vitest';
import {
  listCellImages,
  formatCells,
  parseNotebook,
  toCellView,
} from '../../../../src/agent/tools/files/notebook.ts';

const NOTEBOOK = {
  cells: [
    { cell_type: 'markdown', id: 'intro', source: ['# Title\n', 'Words.'], metadata: {} },
    {
      cell_type: 'code',
      source: 'plot()',
      metadata: {},
      execution_count: 3,
      outputs: [
        { output_type: 'stream', name: 'stdout', text: ['one\n', 'two\n'] },
        {
          output_type: 'display_data',
          data: { 'text/plain': '<Figure>', 'image/png': 'iVBO\nRw0K\n' },
        },
        {
          output_type: 'error',
          ename: 'ValueError',
          evalue: 'bad',
          traceback: ['\u001B[31mline 1\u001B[0m'],
        },
      ],
    },
  ],
  metadata: { language_info: { name: 'julia' } },
  nbformat: 4,
  nbformat_minor: 5,
};

test('cells are listed with their outputs and pictures', () => {
  const notebook = parseNotebook(JSON.stringify(NOTEBOOK));
  if (typeof notebook === 'string') return expect.unreachable(notebook);
  const cells = notebook.cells.map((cell, index) => toCellView(cell, index, notebook.language));
  expect(cells).toEqual([
    { cellType: 'markdown', source: '# Title\nWords.', cell_id: 'intro' },
    {
      cellType: 'code',
      source: 'plot()',
      cell_id: 'cell-1',
      execution_count: 3,
      language: 'julia',
      outputs: [
        { output_type: 'stream', text: 'one\ntwo\n' },
        {
          output_type: 'display_data',
          text: '<Figure>',
          image: { image_data: 'iVBORw0K', media_type: 'image/png' },
        },
        { output_type: 'error', text: 'ValueError: bad\nline 1' },
      ],
    },
  ]);
  expect(formatCells(cells)).toBe(
    [
      '<cell id="intro"><cell_type>markdown</cell_type># Title',
      'Words.</cell id="intro">',
      '<cell id="cell-1"><language>julia</language>plot()</cell id="cell-1">',
      'one',
      'two',
      '',
      '',
      '<Figure>',
      '',
      'ValueError: bad',
      'line 1',
    ].join('\n'),
  );
  expect(listCellImages(cells)).toEqual([
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0K' } },
  ]);
});

test('outputs that are too long are left out', () => {
  const outputs = [{ output_type: 'stream', text: 'x'.repeat(10_001) }];
  const cell = { cell_type: 'code', source: 'a', outputs };
  expect(toCellView(cell, 4, 'python').outputs).toEqual([
    {
      output_type: 'stream',
      text: "Outputs are too large to include. Use Bash with: cat <notebook_path> | jq '.cells[4].outputs'",
    },
  ]);
});

test.each(['{}', '[]', '{"cells": {}}', '{"cells": [1]}'])('%s is no notebook', (text) => {
  expect(parseNotebook(text)).toBe(
    'Notebook is not one of format 4: expected an object with a list of objects "cells".',
  );
});

test('a notebook that is not JSON is reported with the parse error', () => {
  expect(parseNotebook('{')).toMatch(/^Notebook is not valid JSON: /);
});

test('ids are used since format 4.5', () => {
  const hasIds = (nbformat: unknown, minor: unknown) => {
    const notebook = parseNotebook(JSON.stringify({ cells: [], nbformat, nbformat_minor: minor }));
    return typeof notebook === 'string' ? notebook : notebook.hasIds;
  };
  expect([hasIds(4, 5), hasIds(4, 4), hasIds(5, 0), hasIds('4', 5)]).toEqual([
    true,
    false,
    true,
    false,
  ]);
});

test('odd cells are listed as far as they can be', () => {
  expect(toCellView({ source: 5, outputs: 'x' }, 2, 'python')).toEqual({
    cellType: '',
    source: '',
    cell_id: 'cell-2',
  });
  expect(toCellView({ cell_type: 'code', outputs: [null, {}] }, 0, 'python')).toEqual({
    cellType: 'code',
    source: '',
    cell_id: 'cell-0',
    language: 'python',
    outputs: [{ output_type: '', text: '' }],
  });
});

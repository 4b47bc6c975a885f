import { applyPatch } from 'diff';
import { expect, test } from 'vitest';
import { diffTexts } from '../../../../src/agent/tools/files/structured-patch.ts';

test('a changed line is listed with the lines around it', async () => {
  expect(await diffTexts('alpha\nbeta\n', 'alpha\ngamma\n')).toEqual([
    { oldStart: 1, oldLines: 2, newStart: 1, newLines: 2, lines: [' alpha', '-beta', '+gamma'] },
  ]);
});

test('changes far from each other are parts of their own', async () => {
  const before = Array.from({ length: 40 }, (_, index) => `line ${index}\n`);
  const after = before.with(2, 'two\n').with(35, 'thirty-five\n');
  const hunks = await diffTexts(before.join(''), after.join(''));
  expect(hunks.map(({ oldStart, oldLines }) => [oldStart, oldLines])).toEqual([
    [1, 6],
    [33, 7],
  ]);
});

test('equal texts have no parts', async () => {
  expect(await diffTexts('same', 'same')).toEqual([]);
});

test('texts with nothing in common become one hunk, which is a patch as well', async () => {
  const before = Array.from({ length: 5000 }, (_, index) => `before ${index}\n`).join('');
  const after = Array.from({ length: 3000 }, (_, index) => `after ${index}\n`).join('');
  const hunks = await diffTexts(before, after);
  expect(hunks.map(({ oldLines, newLines }) => [oldLines, newLines])).toEqual([[5000, 3000]]);
  const patch = {
    oldFileName: '',
    newFileName: '',
    oldHeader: undefined,
    newHeader: undefined,
    hunks: hunks.map((hunk) => ({ ...hunk, lines: [...hunk.lines] })),
  };
  expect(applyPatch(before, patch)).toBe(after);
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  formatSearchReplace,
  parseSearchReplace,
  replaceBlock,
} from '../../src/tool-vocabularies/search-replace.ts';

const dashes = '------- SEARCH\na\n=======\nb\n+++++++ REPLACE';
const angles = '<<<<<<< SEARCH\nc\nd\n=======\n>>>>>>> REPLACE';

describe('a SEARCH/REPLACE diff', () => {
  test.each([
    ['dashes', dashes, [{ search: 'a', replace: 'b' }]],
    ['angles', angles, [{ search: 'c\nd', replace: '' }]],
    [
      'both',
      `${dashes}\n\nwords between\n${angles}\n`,
      [
        { search: 'a', replace: 'b' },
        { search: 'c\nd', replace: '' },
      ],
    ],
    ['Windows line endings', dashes.replaceAll('\n', '\r\n'), [{ search: 'a', replace: 'b' }]],
    [
      'trailing spaces',
      '------- SEARCH \na\n======= \nb\n+++++++ REPLACE ',
      [{ search: 'a', replace: 'b' }],
    ],
    [
      'an empty search',
      '------- SEARCH\n=======\nb\n+++++++ REPLACE',
      [{ search: '', replace: 'b' }],
    ],
    [
      'an underlined heading',
      '------- SEARCH\nT\n=====\n=======\nU\n+++++++ REPLACE',
      [{ search: 'T\n=====', replace: 'U' }],
    ],
    ['a short divider', '--- SEARCH\na\n===\nb\n+++ REPLACE', [{ search: 'a', replace: 'b' }]],
    ['no end', '------- SEARCH\na\n=======\nb', [{ search: 'a', replace: 'b' }]],
    ['no divider', '------- SEARCH\na\n+++++++ REPLACE', [{ search: 'a', replace: '' }]],
    ['no block', 'just text', []],
  ])('is read with %s', (_, diff, blocks) => {
    expect(parseSearchReplace(diff).map(({ search, replace }) => ({ search, replace }))).toEqual(
      blocks,
    );
  });

  test('changes only the block that is replaced', () => {
    const diff = `${dashes}\nwords\n${angles}`;
    expect(replaceBlock(diff, 1, { search: 'c', replace: 'x\ny' })).toBe(
      `${dashes}\nwords\n<<<<<<< SEARCH\nc\n=======\nx\ny\n>>>>>>> REPLACE`,
    );
  });

  test('keeps its line ending and the side that stays', () => {
    const diff = '------- SEARCH\r\na\n=======\r\nb\r\n+++++++ REPLACE\r\n';
    expect(replaceBlock(diff, 0, { search: 'a', replace: 'c' })).toBe(
      '------- SEARCH\r\na\n=======\r\nc\r\n+++++++ REPLACE\r\n',
    );
  });

  test('stays as it is when the block has no divider or does not occur', () => {
    const broken = '------- SEARCH\na';
    expect(replaceBlock(broken, 0, { search: 'x', replace: 'y' })).toBe(broken);
    expect(replaceBlock(dashes, 3, { search: 'x', replace: 'y' })).toBe(dashes);
  });

  test('is written back as it was read', () => {
    const line = fc.string().filter((text) => !/[\r\n]|^={3,}\s*$|SEARCH|REPLACE/.test(text));
    const text = fc.array(line, { maxLength: 4 }).map((lines) => lines.join('\n'));
    fc.assert(
      fc.property(text, text, (search, replace) => {
        const blocks = parseSearchReplace(formatSearchReplace({ search, replace }));
        expect(blocks.map((block) => [block.search, block.replace])).toEqual([[search, replace]]);
      }),
    );
  });
});

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compareFileMaps,
  computeDigest,
  createFileMap,
  parseBoundEntry,
} from '../../src/trust/file-map.ts';

const path = fc.oneof(
  fc.constantFrom('a', 'a/b', '__proto__', '1', 'a\nb', '"', '//'),
  fc.string(),
);
const hashes = fc.oneof(fc.constantFrom('absent', 'link:a', 'x","y'), fc.string());
const pairs = fc.uniqueArray(fc.tuple(path, hashes), { selector: ([name]) => name, maxLength: 6 });

describe('digestOf', () => {
  it('is equal if and only if the file maps are equal', () => {
    fc.assert(
      fc.property(pairs, pairs, (a, b) => {
        const isSameMap = compareFileMaps(createFileMap(a), createFileMap(b)).length === 0;
        expect(computeDigest(createFileMap(a)) === computeDigest(createFileMap(b))).toBe(isSameMap);
      }),
      { numRuns: 2_000 },
    );
  });

  it('does not depend on the order in which the files were found', () => {
    fc.assert(
      fc.property(pairs, (found) => {
        expect(computeDigest(createFileMap([...found].reverse()))).toBe(
          computeDigest(createFileMap(found)),
        );
      }),
    );
  });

  it('counts a file that is named like a property of every object', () => {
    expect(computeDigest(createFileMap([['__proto__', 'x']]))).not.toBe(
      computeDigest(createFileMap([])),
    );
  });
});

describe('compareFileMaps', () => {
  it('names what was added, removed and changed, sorted by path', () => {
    const before = { same: '1', gone: '2', other: '3' };
    const after = { same: '1', other: '4', fresh: '5' };
    expect(compareFileMaps(before, after)).toEqual([
      { path: 'fresh', kind: 'added' },
      { path: 'gone', kind: 'removed' },
      { path: 'other', kind: 'changed' },
    ]);
  });
});

describe('parseBoundEntry', () => {
  it('accepts what was written, in JSON and back', () => {
    fc.assert(
      fc.property(pairs, (found) => {
        const files = createFileMap(found);
        const entry = { id: 'a', entry: 'b', digest: computeDigest(files), files };
        const parsedEntry: unknown = JSON.parse(JSON.stringify(entry));
        expect(parseBoundEntry(parsedEntry, 'hooks[0]')).toEqual({ ok: true, entry });
      }),
    );
  });

  it.each([
    [null, 'hooks[2] must be an object, found null'],
    [{ entry: 'x' }, 'hooks[2].id must be a string, found nothing'],
    [{ id: 'a', entry: 1 }, 'hooks[2].entry must be a string, found number'],
    [{ id: 'a', entry: 'x', digest: [] }, 'hooks[2].digest must be a string, found array'],
    [
      { id: 'a', entry: 'x', digest: '', files: { a: 1 } },
      'hooks[2].files must be an object of strings, found object',
    ],
    [
      { id: 'a', entry: 'x', digest: 'no', files: {} },
      'hooks[2].digest is not the digest of hooks[2].files',
    ],
  ])('explains what is wrong with %j', (value, problem) => {
    expect(parseBoundEntry(value, 'hooks[2]')).toEqual({ ok: false, problem });
  });
});

import path from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isInside } from '../../../src/base/paths.ts';
import { createSandboxFixture } from './fixture.ts';

/** Three levels of directories, with a file in each. */
const NAMES = ['a', 'b'];
const DIRECTORIES = NAMES.flatMap((one) => [
  one,
  ...NAMES.flatMap((two) => [`${one}/${two}`, ...NAMES.map((three) => `${one}/${two}/${three}`)]),
]);
const FILES = DIRECTORIES.map((directory) => `${directory}/file`);
const ABSENT = DIRECTORIES.map((directory) => `${directory}/none`);

const SOME_PROFILE = fc.record({
  writable: fc.uniqueArray(fc.constantFrom(...DIRECTORIES), { maxLength: 2 }),
  isWorkspaceWritable: fc.boolean(),
  protected: fc.uniqueArray(fc.constantFrom(...DIRECTORIES, ...FILES, ...ABSENT), { maxLength: 4 }),
  hidden: fc.uniqueArray(fc.constantFrom(...DIRECTORIES, ...FILES), { maxLength: 4 }),
});

const LOOP = `for file in ${FILES.join(' ')}; do`;
const READ_ALL = `${LOOP} cat "$file" && echo; done 2>/dev/null`;
const WRITE_ALL = `${LOOP} { echo >> "$file"; } && echo "$file"; done 2>/dev/null`;

/** The nearest of the places above a file. */
function findNearest(file: string, places: readonly string[]): string | undefined {
  return places
    .filter((place) => isInside(place, file))
    .toSorted((one, other) => other.length - one.length)[0];
}

test('of any profile, what is hidden cannot be read and what is protected not written', async () => {
  const texts = Object.fromEntries(FILES.map((file) => [file, file]));
  await fc.assert(
    fc.asyncProperty(SOME_PROFILE, async (wanted) => {
      const { workspace, run } = await createSandboxFixture(texts);
      const at = (names: readonly string[]) => names.map((name) => path.join(workspace, name));
      const changes = {
        writable: [...(wanted.isWorkspaceWritable ? [workspace] : []), ...at(wanted.writable)],
        protected: at(wanted.protected).map((place) => ({ path: place })),
        hidden: at(wanted.hidden),
      };
      const list = async (command: string): Promise<readonly string[]> =>
        (await run(`${command}; true`, changes)).text.split('\n').filter((line) => line !== '');
      const isHidden = (file: string): boolean => {
        const nearest = findNearest(file, [...wanted.writable, ...wanted.hidden]);
        return nearest !== undefined && !wanted.writable.includes(nearest);
      };
      const isProtected = (file: string): boolean => {
        const nearest = findNearest(file, [...wanted.writable, ...wanted.protected]);
        return nearest !== undefined && wanted.protected.includes(nearest);
      };
      expect(await list(READ_ALL)).toEqual(FILES.filter((file) => !isHidden(file)));
      const written = await list(WRITE_ALL);
      expect(written.filter((file) => isHidden(file) || isProtected(file))).toEqual([]);
    }),
    { numRuns: 60 },
  );
});

import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { appendToArrayFile } from '../../src/bridge/array-file.ts';
import { temporaryDirectory } from '../process/programs.ts';

const element = (id: number, more = '') => `{"n":${id}${more},"__hook_id":"id-${id}"}`;

function open(text: string | null, mostBytes = 100_000) {
  const file = path.join(temporaryDirectory(), 'claude-hook-events.json');
  if (text !== null) writeFileSync(file, text, { mode: 0o600 });
  const setAside = `${file}.aside`;
  const target = { file, mostBytes, nameSetAside: () => setAside };
  return {
    file,
    setAside,
    append: (...elements: readonly string[]) => appendToArrayFile(target, elements),
    read: (): readonly { n: number }[] => JSON.parse(readFileSync(file, 'utf8')),
  };
}

const numbersOf = (elements: readonly { n: number }[]) => elements.map(({ n }) => n);

describe('a file of events', () => {
  it('stays an array that only its owner can read, append after append', () => {
    const { file, append, read } = open(null);
    for (const id of [1, 2, 3]) {
      append(element(id));
      expect(read()).toHaveLength(id);
    }
    expect(numbersOf(read())).toEqual([1, 2, 3]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['an empty file', ''],
    ['an empty array', '[]'],
    ['an empty array with lines', '[\n]\n'],
    ['zeros, where a system lost its power', '\0\0\0'],
  ])('starts in %s', (_name, text) => {
    const { append, read } = open(text);
    append(element(1));
    append(element(2));
    expect(numbersOf(read())).toEqual([1, 2]);
  });

  it.each([
    ['pretty-printed', JSON.stringify([{ n: 1 }, { n: 2, a: [1] }], null, 2)],
    ['in one line', '[{"n":1},{"n":2,"a":"]"}]'],
    ['with space behind it', `[{"n":1},{"n":2}]${' '.repeat(400)}\n`],
    ['with a byte order mark', '\uFEFF[{"n":1},{"n":2}]'],
  ])('goes on behind what another program wrote: %s', (_name, text) => {
    const { file, append } = open(text);
    append(element(3));
    append(element(4));
    const written = readFileSync(file, 'utf8').replace('\uFEFF', '');
    expect(numbersOf(JSON.parse(written))).toEqual([1, 2, 3, 4]);
  });

  it('loses nothing before a torn end, wherever it is torn', () => {
    const whole = open(null);
    whole.append(element(1), element(2));
    const before = statSync(whole.file).size;
    whole.append(element(3, ',"text":"a \\"quoted] } text","list":[{"x":[\n1\n]\n}]'));
    const text = readFileSync(whole.file, 'utf8');
    for (let size = before - 2; size < text.length; size++) {
      const { file, append, read } = open(text);
      truncateSync(file, size);
      append(element(4));
      const numbers = numbersOf(read());
      expect(numbers.filter((each) => each !== 3)).toEqual([1, 2, 4]);
    }
  });

  it('returns the torn end', () => {
    const { append } = open(`[\n${element(1)},\n{"n":2,"te`);
    expect(append(element(3))).toEqual({ text: '{"n":2,"te' });
    expect(append(element(4))).toBeNull();
  });

  it('moves away what is no array, and an array with something else in it', () => {
    for (const text of [
      '{"n":1}',
      '{"n":1}\n{"n":2}\n',
      'text',
      '[{"n":1} oops, {"n":2}]',
      '[1]x',
    ]) {
      const { setAside, append, read } = open(text);
      append(element(3));
      expect(numbersOf(read())).toEqual([3]);
      expect(readFileSync(setAside, 'utf8')).toBe(text);
    }
  });

  it('moves a large file away and starts a new one', () => {
    const { setAside, append, read } = open(null, 1000);
    append(element(1, `,"text":"${'x'.repeat(1000)}"`));
    append(element(2));
    expect(numbersOf(read())).toEqual([2]);
    expect(numbersOf(JSON.parse(readFileSync(setAside, 'utf8')))).toEqual([1]);
  });

  it('takes away the access that others had', () => {
    const { file, append } = open('[]');
    chmodSync(file, 0o644);
    append(element(1));
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('does not write through a link, or into a directory', () => {
    const { file, append } = open(null);
    const target = path.join(path.dirname(file), 'target');
    symlinkSync(target, file);
    expect(() => append(element(1))).toThrow('ELOOP');
    expect(existsSync(target)).toBe(false);
    const other = open(null);
    mkdirSync(other.file);
    expect(() => other.append(element(1))).toThrow('EISDIR');
  });

  it('is whole after any series of appends of any text', () => {
    const { append, file } = open(null);
    fc.assert(
      fc.property(fc.array(fc.json(), { minLength: 1, maxLength: 5 }), (values) => {
        rmSync(file, { force: true });
        for (const [id, value] of values.entries()) append(element(id, `,"value":${value}`));
        expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(
          values.map((value, n) => ({ n, value: JSON.parse(value), __hook_id: `id-${n}` })),
        );
      }),
    );
  });
});

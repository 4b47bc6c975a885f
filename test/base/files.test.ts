import { spawnSync } from 'node:child_process';
import fs, { chmodSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  appendPrivateFile,
  createPrivateDirectory,
  isNotFoundError,
  openAnonymousFile,
  readTextIfPresent,
  updatePrivateFile,
  writePrivateFile,
} from '../../src/base/files.ts';
import { createDirectory } from './directory.ts';

const hasMkfifo = spawnSync('mkfifo', ['--version']).error === undefined;

function modeOf(file: string): number {
  return statSync(file).mode & 0o777;
}

describe('reading', () => {
  test('gives the text, or null where there is no file', () => {
    const directory = createDirectory({ a: 'text' });
    expect(readTextIfPresent(path.join(directory, 'a'))).toBe('text');
    expect(readTextIfPresent(path.join(directory, 'b'))).toBeNull();
    expect(readTextIfPresent(path.join(directory, 'a/b'))).toBeNull();
  });

  test('throws for a file that exists and cannot be read', () => {
    expect(() => readTextIfPresent(createDirectory())).toThrow();
  });

  test('refuses a link to a device that never ends', () => {
    const directory = createDirectory();
    symlinkSync('/dev/zero', path.join(directory, 'endless'));
    expect(() => readTextIfPresent(path.join(directory, 'endless'))).toThrow(/not a regular file/);
  });

  test.skipIf(!hasMkfifo)('does not wait for the writer of a FIFO (skipped without mkfifo)', () => {
    const fifo = path.join(createDirectory(), 'fifo');
    spawnSync('mkfifo', [fifo]);
    expect(() => readTextIfPresent(fifo)).toThrow(/not a regular file/);
  });

  test('absence is ENOENT and ENOTDIR', () => {
    const errors = ['ENOENT', 'ENOTDIR', 'EACCES'].map((code) => ({ code }));
    expect(errors.map(isNotFoundError)).toEqual([true, true, false]);
  });
});

describe('writing', () => {
  test('makes directories and files for the owner only', async () => {
    const directory = path.join(createDirectory(), 'a', 'b');
    const file = path.join(directory, 'file');
    await writePrivateFile(file, 'one');
    await writePrivateFile(file, 'two');
    expect(readFileSync(file, 'utf8')).toBe('two');
    expect([modeOf(file), modeOf(directory), modeOf(path.dirname(directory))]).toEqual([
      0o600, 0o700, 0o700,
    ]);
    expect(readdirSync(directory)).toEqual(['file']);
  });

  test('appends for the owner only', () => {
    const file = path.join(createDirectory(), 'log', 'file');
    appendPrivateFile(file, 'a');
    appendPrivateFile(file, 'b');
    expect(readFileSync(file, 'utf8')).toBe('ab');
    expect(modeOf(file)).toBe(0o600);
  });

  test('leaves the mode of a directory that was already there', () => {
    const directory = createDirectory();
    chmodSync(directory, 0o755);
    createPrivateDirectory(directory);
    expect(modeOf(directory)).toBe(0o755);
  });
});

describe('updating', () => {
  test('loses nothing when many update at once', async () => {
    const file = path.join(createDirectory(), 'state', 'list');
    const all = Array.from({ length: 6 }, (_, index) => String(index));
    await Promise.all(
      all.map((each) => updatePrivateFile(file, (text) => `${text ?? ''}${each}\n`)),
    );
    expect((readTextIfPresent(file) ?? '').trim().split('\n').toSorted()).toEqual(all.toSorted());
  });

  test('unlocks the file when the change throws', async () => {
    const file = path.join(createDirectory(), 'file');
    const failing = updatePrivateFile(file, () => {
      throw new TypeError('no');
    });
    await expect(failing).rejects.toThrow('no');
    await updatePrivateFile(file, () => 'after');
    expect(readTextIfPresent(file)).toBe('after');
  });
});

describe('an anonymous file', () => {
  afterEach(() => {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
    syncBuiltinESMExports();
  });

  test.each(['unlinkSync', 'writeSync'] as const)(
    'is closed and removed when %s fails',
    (failing) => {
      const directory = createDirectory();
      vi.stubEnv('TMPDIR', directory);
      const close = vi.spyOn(fs, 'closeSync');
      vi.spyOn(fs, failing).mockImplementationOnce(() => {
        throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
      });
      syncBuiltinESMExports();
      expect(openAnonymousFile(Buffer.from('text'))).toBeNull();
      expect(close).toHaveBeenCalledOnce();
      expect(readdirSync(directory)).toEqual([]);
    },
  );
});

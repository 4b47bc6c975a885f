import { getEventListeners } from 'node:events';
import { symlinkSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { globTool } from '../../../src/agent/tools/glob.ts';
import { createDirectory, write } from '../../base/directory.ts';
import { createToolFixture, use } from './fixture.ts';

const FILES = {
  'a.txt': '',
  'a2.txt': '',
  'src/b.ts': '',
  'src/deep/c.ts': '',
  '.hidden/d.ts': '',
  'node_modules/e/e.ts': '',
  '.git/f.ts': '',
};

async function find(pattern: string, where?: string): Promise<readonly string[]> {
  const { toolContext } = createToolFixture({}, FILES);
  const input = where === undefined ? { pattern } : { pattern, path: where };
  const { text } = await use(globTool, toolContext, input);
  return text.split('\n').toSorted();
}

describe('finding files', () => {
  test('has Claude’s shape, the newest first', async () => {
    const { toolContext, start } = createToolFixture({}, FILES);
    utimesSync(path.join(start, 'a.txt'), 2000, 2000);
    utimesSync(path.join(start, 'a2.txt'), 1000, 1000);
    expect(await use(globTool, toolContext, { pattern: '*.txt' })).toEqual({
      response: {
        filenames: ['a.txt', 'a2.txt'],
        durationMs: expect.any(Number),
        numFiles: 2,
        truncated: false,
        totalMatches: 2,
        countIsComplete: true,
      },
      text: 'a.txt\na2.txt',
      success: true,
    });
  });

  test.each([
    ['**/*.ts', ['.hidden/d.ts', 'src/b.ts', 'src/deep/c.ts']],
    ['./src/**', ['src/b.ts', 'src/deep/c.ts']],
    ['src/b.ts', ['src/b.ts']],
    ['src', ['No files found']],
    ['{src,.hidden}/*.ts', ['.hidden/d.ts', 'src/b.ts']],
    ['node_modules/**/*.ts', ['node_modules/e/e.ts']],
    ['.git/*', ['.git/f.ts']],
    ['nothing/**', ['No files found']],
    ['[', ['No files found']],
  ])('%s', async (pattern, files) => {
    expect(await find(pattern)).toEqual(files);
  });

  test('in a directory names them relative to the working directory', async () => {
    expect(await find('*.ts', 'src')).toEqual(['src/b.ts']);
  });

  test('elsewhere names them in full, also by an absolute pattern', async () => {
    const elsewhere = createDirectory({ 'x/y.md': '' });
    expect(await find('**/*.md', elsewhere)).toEqual([`${elsewhere}/x/y.md`]);
    expect(await find(`${elsewhere}/**/*.md`)).toEqual([`${elsewhere}/x/y.md`]);
    expect(await find(`../../${elsewhere}/x/../x/*.md`, '/tmp/..')).toEqual([
      `${elsewhere}/x/y.md`,
    ]);
  });

  test('stops at a hundred with a note', async () => {
    const { toolContext, start } = createToolFixture();
    for (let at = 0; at < 120; at++) write(path.join(start, `f${at}`), '');
    const { response, text } = await use(globTool, toolContext, { pattern: 'f*' });
    expect(response).toMatchObject({ numFiles: 100, truncated: true, totalMatches: 120 });
    expect(text.split('\n')).toHaveLength(101);
    expect(text).toMatch(/\(Results are truncated: 100 of 120 files\. .*\)$/);
  });

  test('does not follow links, out of the tree or in a circle', async () => {
    const { toolContext, start } = createToolFixture({}, { 'd/x.md': '' });
    symlinkSync(createDirectory({ 'secret.md': '' }), path.join(start, 'out'));
    symlinkSync(start, path.join(start, 'd', 'circle'));
    expect((await use(globTool, toolContext, { pattern: '**/*.md' })).text).toBe('d/x.md');
  });

  test('is interrupted by the user', async () => {
    const { toolContext } = createToolFixture({}, FILES);
    const stopping = new AbortController();
    const running = use(globTool, toolContext, { pattern: '**' }, { signal: stopping.signal });
    stopping.abort();
    expect(await running).toMatchObject({ success: false, interrupted: true });
  });

  test.each([
    [{}, 'expected "pattern" to be text, found nothing'],
    [
      { pattern: '*/../../x' },
      'expected "pattern" to match files below the directory that it starts with, found "*/../../x"',
    ],
    [{ pattern: '*', path: '/dev/null/place' }, 'Directory does not exist: /dev/null/place'],
    [
      { pattern: 'a\0' },
      String.raw`expected "pattern" to be text without NUL characters, found the text "a\u0000"`,
    ],
  ])('%j is not started', (input, message) => {
    expect(globTool.prepare(input, createToolFixture().toolContext)).toBe(message);
  });
});

test('files that must not be read are not listed or counted', async () => {
  const isSecret = (file: string): boolean => file.includes(`${path.sep}src${path.sep}`);
  const { toolContext } = createToolFixture({ createReadDenial: () => isSecret }, FILES);
  const { response } = await use(globTool, toolContext, { pattern: '**/*.ts' });
  expect(response).toMatchObject({ filenames: ['.hidden/d.ts'], numFiles: 1, totalMatches: 1 });
});

test('the listener on the caller’s signal is removed, also when the search cannot be loaded', async () => {
  vi.doMock('tinyglobby', () => {
    throw new TypeError('not installed');
  });
  onTestFinished(() => vi.doUnmock('tinyglobby'));
  vi.resetModules();
  const fresh = await import('../../../src/agent/tools/glob.ts');
  const { signal } = new AbortController();
  const output = await use(
    fresh.globTool,
    createToolFixture().toolContext,
    { pattern: '*' },
    { signal },
  );
  expect(output.success).toBe(false);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

import { chmodSync, mkdirSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { grepTool } from '../../../src/agent/tools/grep.ts';
import { createDirectory, write } from '../../base/directory.ts';
import { createToolFixture, use } from './fixture.ts';

const FILES = {
  'a.txt': 'alpha\nbeta\nALPHA\n',
  'src/b.ts': 'const alpha = 1;\nconst gamma = alpha;\n',
  'src/c.js': 'delta\n',
};

/** Two files, of which the second is newer. */
function search(input: Readonly<Record<string, unknown>>) {
  const { toolContext, start } = createToolFixture({}, FILES);
  utimesSync(path.join(start, 'a.txt'), 1000, 1000);
  return use(grepTool, toolContext, input);
}

describe('a search', () => {
  test('for content has Claude’s shape', async () => {
    const { toolContext } = createToolFixture({}, { 'a.txt': 'alpha\nbeta\n' });
    const output = await use(grepTool, toolContext, { pattern: 'alpha', output_mode: 'content' });
    expect(output).toEqual({
      response: {
        mode: 'content',
        numFiles: 0,
        filenames: [],
        content: 'a.txt:1:alpha',
        numLines: 1,
        totalLines: 1,
      },
      text: 'a.txt:1:alpha',
      success: true,
    });
    expect(Object.keys(Object(output.response))).toEqual([
      'mode',
      'numFiles',
      'filenames',
      'content',
      'numLines',
      'totalLines',
    ]);
  });

  test('for files gives the newest first', async () => {
    expect(await search({ pattern: 'alpha' })).toEqual({
      response: {
        mode: 'files_with_matches',
        numFiles: 2,
        filenames: ['src/b.ts', 'a.txt'],
        totalFiles: 2,
      },
      text: 'Found 2 files\nsrc/b.ts\na.txt',
      success: true,
    });
  });

  test('for counts adds the counts up', async () => {
    expect(await search({ pattern: 'alpha', output_mode: 'count' })).toEqual({
      response: {
        mode: 'count',
        numFiles: 2,
        filenames: [],
        content: 'a.txt:1\nsrc/b.ts:2',
        numMatches: 3,
      },
      text: 'a.txt:1\nsrc/b.ts:2\n\nFound 3 total occurrences across 2 files.',
      success: true,
    });
  });

  test.each([
    ['case', { pattern: 'ALPHA', '-i': true, path: 'a.txt' }, 'a.txt:1:alpha\na.txt:3:ALPHA'],
    ['no line numbers', { pattern: 'beta', '-n': false }, 'a.txt:beta'],
    ['only the match', { pattern: 'g[a-z]+a', '-o': true }, 'src/b.ts:2:gamma'],
    ['a glob', { pattern: 'a', glob: '*.ts', '-o': true, head_limit: 1 }, 'src/b.ts:1:a'],
    [
      'two globs',
      { pattern: 'delta|gamma', glob: '*.js, *.ts' },
      'src/b.ts:2:const gamma = alpha;\nsrc/c.js:1:delta',
    ],
    ['braces in a glob', { pattern: 'delta', glob: '*.{js,md}' }, 'src/c.js:1:delta'],
    ['a type', { pattern: 'alpha$|delta', type: 'js' }, 'src/c.js:1:delta'],
    ['what follows', { pattern: 'beta', '-A': '1' }, 'a.txt:2:beta\na.txt-3-ALPHA'],
    ['what comes before', { pattern: 'beta', '-B': 1 }, 'a.txt-1-alpha\na.txt:2:beta'],
    ['what is around', { pattern: 'beta', '-C': 1 }, 'a.txt-1-alpha\na.txt:2:beta\na.txt-3-ALPHA'],
    [
      'several lines',
      { pattern: 'alpha.*ALPHA', multiline: true },
      'a.txt:1:alpha\na.txt:2:beta\na.txt:3:ALPHA',
    ],
    ['a leading dash', { pattern: '--alpha|-x|delta' }, 'src/c.js:1:delta'],
    ['a directory', { pattern: 'alpha;', path: 'src' }, 'src/b.ts:2:const gamma = alpha;'],
  ])('has an option for %s', async (_what, input, content) => {
    const { text } = await search({ output_mode: 'content', ...input });
    expect(text.replace(/\n\n\[Showing.*/s, '')).toBe(content);
  });

  test('gives page after page', async () => {
    const { toolContext } = createToolFixture({}, { 'a.txt': 'x1\nx2\nx3\nx4\nx5\n' });
    const page = { pattern: 'x', output_mode: 'content', '-n': false, head_limit: 2, offset: 2 };
    expect(await use(grepTool, toolContext, page)).toEqual({
      response: {
        mode: 'content',
        numFiles: 0,
        filenames: [],
        content: 'a.txt:x3\na.txt:x4',
        numLines: 2,
        totalLines: 5,
        appliedLimit: 2,
        appliedOffset: 2,
      },
      text: 'a.txt:x3\na.txt:x4\n\n[Showing results with pagination = limit: 2; offset 4 gives the next of 5]',
      success: true,
    });
    expect((await use(grepTool, toolContext, { ...page, head_limit: 0 })).text).toBe(
      'a.txt:x3\na.txt:x4\na.txt:x5',
    );
  });

  test.each([
    ['content', 'No matches found'],
    ['count', 'No matches found'],
    ['files_with_matches', 'No files found'],
  ])('for %s that finds nothing prints a note', async (mode, text) => {
    const output = await search({ pattern: 'nothing-like-this', output_mode: mode });
    expect({ text: output.text, success: output.success }).toEqual({ text, success: true });
  });

  test('sees hidden files, but neither ignored ones nor .git', async () => {
    const { toolContext, start } = createToolFixture(
      {},
      { '.hidden/x': 'needle', '.gitignore': 'out\n' },
    );
    for (const name of ['out/x', '.git/x', 'sub/.git/x']) write(path.join(start, name), 'needle');
    expect((await use(grepTool, toolContext, { pattern: 'needle' })).text).toBe(
      'Found 1 file\n.hidden/x',
    );
  });

  test('elsewhere names files in full', async () => {
    const elsewhere = createDirectory({ 'x y.txt': 'needle' });
    const { toolContext } = createToolFixture();
    expect((await use(grepTool, toolContext, { pattern: 'needle', path: elsewhere })).text).toBe(
      `Found 1 file\n${elsewhere}/x y.txt`,
    );
  });

  test('starts in the working directory', async () => {
    const { toolContext, start } = createToolFixture({}, { 'd/x': 'needle', y: 'needle' });
    toolContext.changeDirectory(path.join(start, 'd'));
    expect((await use(grepTool, toolContext, { pattern: 'needle' })).text).toBe('Found 1 file\nx');
  });

  test('leaves long lines, binary files and a user’s configuration out', async () => {
    const config = write(path.join(createDirectory(), 'rc'), '--count\n');
    const environment = () => ({ PATH: '/usr/bin:/bin', RIPGREP_CONFIG_PATH: config });
    const { toolContext } = createToolFixture(
      { environment },
      { long: `needle${'x'.repeat(5000)}` },
    );
    const { text } = await use(grepTool, toolContext, {
      pattern: 'needle',
      output_mode: 'content',
    });
    expect(text).toMatch(/^long:1:needlex+ \[\.\.\. omitted end of long line\]$/);
    expect(text.length).toBeLessThan(600);
  });

  test('with too many results is cut', async () => {
    const { toolContext } = createToolFixture({}, { big: 'needle and more\n'.repeat(2_000_000) });
    const output = await use(grepTool, toolContext, {
      pattern: 'needle',
      output_mode: 'content',
      head_limit: 0,
    });
    expect(output.success).toBe(true);
    expect(output.text).toMatch(/\[Cut here: the results are too long; .*\]$/);
    expect(output.text.length).toBeLessThan(30_200);
  });
});

describe('a search that fails', () => {
  test.each([
    ['a pattern that is none', { pattern: '(' }, /^The search failed: .*regex parse error/s],
    ['an unknown type', { pattern: 'a', type: 'nope' }, /unrecognized file type: nope/],
    ['a glob that is none', { pattern: 'a', glob: '[' }, /error parsing glob/],
    ['a pattern across lines', { pattern: String.raw`a\nb` }, /literal .*\\n.* is not allowed/s],
  ])('because of %s gives the reason', async (_what, input, error) => {
    const output = await search(input);
    expect(output.success).toBe(false);
    expect(output.error).toMatch(error);
  });

  test('because the user interrupts it is interrupted', async () => {
    const { toolContext } = createToolFixture({}, FILES);
    const stopping = new AbortController();
    const running = use(grepTool, toolContext, { pattern: 'a' }, { signal: stopping.signal });
    stopping.abort();
    expect(await running).toMatchObject({ success: false, interrupted: true });
  });

  test.each([
    [{}, 'expected "pattern" to be text, found nothing'],
    [{ pattern: '' }, 'expected "pattern" to be a regular expression, found an empty text'],
    [
      { pattern: 'a', '-A': -1 },
      'expected "-A" to be a whole number from 0 on, found a number: -1',
    ],
    [
      { pattern: 'a', output_mode: 'x' },
      'expected "output_mode" to be one of "content", "files_with_matches", "count", found the text "x"',
    ],
    [{ pattern: 'a', path: '/dev/null/place' }, 'Path does not exist: /dev/null/place'],
  ])('%j is not started', (input, message) => {
    expect(grepTool.prepare(input, createToolFixture().toolContext)).toBe(message);
  });

  test('a file that may not be read does not hide the others', async () => {
    const { toolContext, start } = createToolFixture({}, { a: 'needle', b: 'needle' });
    chmodSync(path.join(start, 'a'), 0);
    mkdirSync(path.join(start, 'c'));
    const { success, text } = await use(grepTool, toolContext, { pattern: 'needle' });
    expect(success).toBe(true);
    expect(text).toContain('b');
  });
});

describe('files that must not be read', () => {
  const SECRET = {
    '.env': 'alpha=1\nx\nalpha=2\n',
    'a.txt': 'alpha\nbeta\n',
    'z-1.txt': 'x\nalpha\n',
  };

  function searchBeside(input: Readonly<Record<string, unknown>>) {
    const isSecret = (file: string): boolean => path.basename(file) === '.env';
    return use(
      grepTool,
      createToolFixture({ createReadDenial: () => isSecret }, SECRET).toolContext,
      input,
    );
  }

  test('are not among the files', async () => {
    const { response } = await searchBeside({ pattern: 'alpha' });
    expect(response).toMatchObject({ numFiles: 2, totalFiles: 2 });
    expect(await searchBeside({ pattern: '.', glob: '.en*' })).toEqual({
      response: { mode: 'files_with_matches', numFiles: 0, filenames: [], totalFiles: 0 },
      text: 'No files found',
      success: true,
    });
  });

  test('are not counted', async () => {
    const { text } = await searchBeside({ pattern: 'alpha', output_mode: 'count' });
    expect(text).toBe('a.txt:1\nz-1.txt:1\n\nFound 2 total occurrences across 2 files.');
  });

  test('show none of their lines, and leave no gap', async () => {
    const records = [];
    for (const more of [{}, { '-C': 1 }, { '-C': 1, '-n': false }, { glob: '.env', '-C': 0 }]) {
      const input = { pattern: 'alpha', output_mode: 'content', ...more };
      records.push((await searchBeside(input)).text);
    }
    expect(records).toEqual([
      'a.txt:1:alpha\nz-1.txt:2:alpha',
      'a.txt:1:alpha\na.txt-2-beta\n--\nz-1.txt-1-x\nz-1.txt:2:alpha',
      'a.txt:alpha\na.txt-beta\n--\nz-1.txt-x\nz-1.txt:alpha',
      'No matches found',
    ]);
  });

  test('are not reported as binary', async () => {
    const files = { '.env': `alpha\n${'x\n'.repeat(99_999)}\0`, 'a.txt': 'alpha\n' };
    const isSecret = (file: string): boolean => path.basename(file) === '.env';
    const input = { pattern: 'alpha', output_mode: 'content' };
    const openly = await use(grepTool, createToolFixture({}, files).toolContext, input);
    const { toolContext } = createToolFixture({ createReadDenial: () => isSecret }, files);
    expect(openly.text).toContain('.env');
    expect((await use(grepTool, toolContext, input)).text).toBe('a.txt:1:alpha');
  });
});

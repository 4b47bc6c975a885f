import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { readTool } from '../../../src/agent/tools/read.ts';
import type { ToolOutput } from '../../../src/agent/tools/tool.ts';
import { createDirectory } from '../../base/directory.ts';
import { callTool, createFileToolContext, failed, hookInput } from './files/tool-context.ts';
import { createPdf } from './files/pdf.ts';

const hasMkfifo = spawnSync('mkfifo', ['--version']).error === undefined;

interface TextOf {
  readonly path: string;
  readonly content: string;
  readonly text: string;
  readonly lines: readonly [count: number, start: number, total: number];
}

function textOutput({ path: filePath, content, text, lines }: TextOf): ToolOutput {
  const [numLines, startLine, totalLines] = lines;
  return {
    response: { type: 'text', file: { filePath, content, numLines, startLine, totalLines } },
    text,
    success: true,
  };
}

function readIn(directory: string, input: Record<string, unknown>) {
  return callTool(readTool, input, createFileToolContext(directory));
}

describe('text', () => {
  test('comes with line numbers, and in the response as Claude has it', async () => {
    const directory = createDirectory({ 'a.txt': 'alpha\nbeta\n' });
    expect(await readIn(directory, { file_path: 'a.txt' })).toEqual(
      textOutput({
        path: 'a.txt',
        content: 'alpha\nbeta\n',
        text: '     1→alpha\n     2→beta\n     3→',
        lines: [3, 1, 3],
      }),
    );
  });

  test('hooks see absolute paths and only what was given', () => {
    const toolContext = createFileToolContext('/work/project', '/home/user');
    expect(hookInput(readTool, { file_path: '~/a' }, toolContext)).toEqual({
      file_path: '/home/user/a',
    });
    expect(
      hookInput(readTool, { file_path: 'a', offset: 2, limit: 3, pages: '1-2' }, toolContext),
    ).toEqual({ file_path: '/work/project/a', offset: 2, limit: 3, pages: '1-2' });
  });

  test('a part is read by offset and limit, and the rest is named', async () => {
    const directory = createDirectory({ a: 'a\nb\nc\nd' });
    expect(await readIn(directory, { file_path: 'a', offset: 2, limit: 2 })).toEqual(
      textOutput({
        path: 'a',
        content: 'b\nc',
        text: '     2→b\n     3→c\n\n(Lines 2 to 3 of 4. Use offset and limit to read others.)',
        lines: [2, 2, 4],
      }),
    );
  });

  test('an offset of 0 is the first line', async () => {
    const directory = createDirectory({ a: 'a' });
    expect(await readIn(directory, { file_path: 'a', offset: 0 })).toEqual(
      textOutput({ path: 'a', content: 'a', text: '     1→a', lines: [1, 1, 1] }),
    );
  });

  test('an empty file and an offset behind the end are reported', async () => {
    const directory = createDirectory({ empty: '', short: 'a' });
    expect(await readIn(directory, { file_path: 'empty' })).toEqual(
      textOutput({
        path: 'empty',
        content: '',
        text: 'Warning: the file exists but the contents are empty.',
        lines: [1, 1, 1],
      }),
    );
    expect(await readIn(directory, { file_path: 'short', offset: 7 })).toEqual(
      textOutput({
        path: 'short',
        content: '',
        text: 'Warning: the file exists but is shorter than the provided offset (7). The file has 1 lines.',
        lines: [0, 7, 1],
      }),
    );
  });

  test('a byte-order mark, carriage returns and UTF-16 are decoded', async () => {
    const directory = createDirectory({ dos: '\uFEFFa\r\nb' });
    writeFileSync(path.join(directory, 'wide'), Buffer.from('\uFEFFa\nb', 'utf16le'));
    for (const name of ['dos', 'wide']) {
      expect(await readIn(directory, { file_path: name })).toEqual(
        textOutput({ path: name, content: 'a\nb', text: '     1→a\n     2→b', lines: [2, 1, 2] }),
      );
    }
  });

  test('at most 2000 lines come at once', async () => {
    const directory = createDirectory({ a: 'x\n'.repeat(5000) });
    const output = await readIn(directory, { file_path: 'a' });
    expect(output).toMatchObject({
      response: { file: { numLines: 2000, startLine: 1, totalLines: 5001 } },
    });
  });

  test('a text that is too long is refused with the way to read it', async () => {
    const directory = createDirectory({ a: `${'x'.repeat(1000)}\n`.repeat(300) });
    expect(await readIn(directory, { file_path: 'a' })).toEqual(
      failed(
        'File content (293.3KB) exceeds maximum allowed size (256KB). Use offset and limit to read a part of the file, or Grep to search it.',
      ),
    );
  });

  test('a huge file is read only in parts', async () => {
    const directory = createDirectory();
    writeFileSync(path.join(directory, 'huge'), `${'x'.repeat(1023)}\n`.repeat(11 * 1024));
    expect(await readIn(directory, { file_path: 'huge' })).toEqual(
      failed(
        'File content (11MB) exceeds maximum allowed size (10MB). Use offset and limit to read a part of the file, or Grep to search it.',
      ),
    );
    const line = 'x'.repeat(1023);
    expect(await readIn(directory, { file_path: 'huge', offset: 11_264, limit: 5 })).toEqual(
      textOutput({
        path: 'huge',
        content: `${line}\n`,
        text: ` 11264→${line}\n 11265→`,
        lines: [2, 11_264, 11_265],
      }),
    );
    writeFileSync(path.join(directory, 'binary'), Buffer.alloc(11 * 1024 * 1024));
    expect(await readIn(directory, { file_path: 'binary', limit: 1 })).toMatchObject({
      error: expect.stringContaining('is a binary file'),
    });
  });
});

describe('files that cannot be read are reported', () => {
  test('a missing file, with the current directory and a name that is near', async () => {
    const directory = createDirectory({ 'a.txt': '' });
    const note = `File does not exist. Note: your current working directory is ${directory}.`;
    expect(await readIn(directory, { file_path: 'nothing-like-it.md' })).toEqual(failed(note));
    expect(await readIn(directory, { file_path: 'a.txr' })).toEqual(
      failed(`${note} Did you mean ${directory}/a.txt?`),
    );
  });

  test('a directory, a binary file and a device', async () => {
    const directory = createDirectory({ 'a.bin': 'x\0y' });
    expect(await readIn(directory, { file_path: '.' })).toEqual(
      failed(
        `${directory} is a directory, not a file. Use Glob, or ls with Bash, to see what is in it.`,
      ),
    );
    expect(await readIn(directory, { file_path: 'a.bin' })).toEqual(
      failed(
        `${directory}/a.bin is a binary file, which this tool cannot show. Use a program in Bash that knows its format, such as file or xxd.`,
      ),
    );
    expect(await readIn(directory, { file_path: '/dev/null' })).toEqual(
      failed('Cannot read /dev/null: it is a device, a pipe or a socket, not a regular file.'),
    );
  });

  test.skipIf(!hasMkfifo)('a FIFO (skipped without mkfifo)', async () => {
    const directory = createDirectory();
    spawnSync('mkfifo', [path.join(directory, 'fifo')]);
    expect(await readIn(directory, { file_path: 'fifo', offset: 1 })).toEqual(
      failed(
        `Cannot read ${directory}/fifo: it is a device, a pipe or a socket, not a regular file.`,
      ),
    );
  });

  test('a file that we may not read (needs root)', async (context) => {
    if (process.getuid?.() !== 0 || process.seteuid === undefined) context.skip('not root');
    const directory = createDirectory({ a: 'secret' });
    chmodSync(path.join(directory, 'a'), 0o600);
    chmodSync(directory, 0o755);
    process.seteuid?.(65_534);
    const output = await readIn(directory, { file_path: 'a' }).finally(() => process.seteuid?.(0));
    expect(output).toEqual(failed(`Cannot read ${directory}/a: permission denied.`));
  });

  test('wrong input', async () => {
    expect(await readIn('/', {})).toBe('expected "file_path" to be text, found nothing');
    expect(await readIn('/', { file_path: 'a', offset: -1 })).toBe(
      'expected "offset" to be a whole number from 0 on, found a number: -1',
    );
    expect(await readIn('/', { file_path: 'a', pages: 'x' })).toBe(
      'expected "pages" to be a page or a range of pages such as "3" or "1-5", found "x"',
    );
  });
});

describe('pictures', () => {
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );

  test('are sent to the model, whatever their name', async () => {
    const directory = createDirectory();
    writeFileSync(path.join(directory, 'a.jpg'), png);
    expect(await readIn(directory, { file_path: 'a.jpg' })).toEqual({
      response: {
        type: 'image',
        file: {
          base64: png.toString('base64'),
          type: 'image/png',
          originalSize: 70,
          dimensions: { originalWidth: 1, originalHeight: 1, displayWidth: 1, displayHeight: 1 },
        },
      },
      text: 'The picture a.jpg (image/png, 0.1KB).',
      success: true,
      images: [
        {
          type: 'image',
          source: { type: 'base64', media_type: 'image/png', data: png.toString('base64') },
        },
      ],
    });
  });

  test('of a format that models cannot read are refused', async () => {
    const directory = createDirectory();
    writeFileSync(path.join(directory, 'heavy.png'), Buffer.concat([png, Buffer.alloc(4_000_000)]));
    const wide = Buffer.from(png);
    wide.writeUInt32BE(9000, 16);
    writeFileSync(path.join(directory, 'wide.png'), wide);
    expect(await readIn(directory, { file_path: 'heavy.png' })).toEqual(
      failed(
        `Cannot show ${directory}/heavy.png: the picture is too large (3.8MB, at most 3.8MB); make a smaller copy with a program in Bash.`,
      ),
    );
    expect(await readIn(directory, { file_path: 'wide.png' })).toEqual(
      failed(
        `Cannot show ${directory}/wide.png: the picture has 9000 × 1 pixels, at most 8000 to a side; make a smaller copy with a program in Bash.`,
      ),
    );
  });
});

describe('documents', () => {
  test('give the text of their pages', async () => {
    const directory = createDirectory();
    const bytes = createPdf(['First page', '']);
    writeFileSync(path.join(directory, 'a.pdf'), bytes);
    expect(await readIn(directory, { file_path: 'a.pdf' })).toEqual({
      response: {
        type: 'pdf',
        file: {
          filePath: 'a.pdf',
          base64: bytes.toString('base64'),
          originalSize: bytes.length,
        },
      },
      text: '--- Page 1 of 2 ---\nFirst page\n\n--- Page 2 of 2 ---\n(no text on this page)',
      success: true,
    });
  });

  test('of many pages give the first ones, or those that were requested', async () => {
    const directory = createDirectory();
    const pages = Array.from({ length: 22 }, (_, index) => `Page ${index + 1}`);
    writeFileSync(path.join(directory, 'a.pdf'), createPdf(pages));
    const first = await readIn(directory, { file_path: 'a.pdf' });
    expect(first).toMatchObject({
      text: expect.stringMatching(/Page 20\n\n\(Use pages to read the others\.\)$/),
    });
    expect(await readIn(directory, { file_path: 'a.pdf', pages: '22' })).toMatchObject({
      text: '--- Page 22 of 22 ---\nPage 22',
    });
    expect(await readIn(directory, { file_path: 'a.pdf', pages: '30-31' })).toEqual(
      failed(`Cannot read ${directory}/a.pdf: it has 22 pages, and page 30 was asked for.`),
    );
  });

  test('that are damaged are reported', async () => {
    const directory = createDirectory({ 'a.pdf': '%PDF-1.7 and nothing more' });
    expect(await readIn(directory, { file_path: 'a.pdf' })).toEqual(
      failed(`Cannot read ${directory}/a.pdf: it is damaged or not a PDF document.`),
    );
  });
});

describe('notebooks', () => {
  test('are printed cell by cell', async () => {
    const cells = [{ cell_type: 'code', id: 'c1', source: ['print(1)'], outputs: [] }];
    const directory = createDirectory({ 'a.ipynb': JSON.stringify({ cells, nbformat: 4 }) });
    expect(await readIn(directory, { file_path: 'a.ipynb' })).toEqual({
      response: {
        type: 'notebook',
        file: {
          filePath: 'a.ipynb',
          cells: [{ cellType: 'code', source: 'print(1)', cell_id: 'c1', language: 'python' }],
        },
      },
      text: '<cell id="c1">print(1)</cell id="c1">',
      success: true,
    });
  });

  test('that are broken are printed as text', async () => {
    const directory = createDirectory({ 'a.ipynb': '{' });
    expect(await readIn(directory, { file_path: 'a.ipynb' })).toEqual(
      textOutput({ path: 'a.ipynb', content: '{', text: '     1→{', lines: [1, 1, 1] }),
    );
  });

  test('that are too long are refused', async () => {
    const cells = [{ cell_type: 'markdown', source: 'x'.repeat(300_000) }];
    const directory = createDirectory({ 'a.ipynb': JSON.stringify({ cells, nbformat: 4 }) });
    expect(await readIn(directory, { file_path: 'a.ipynb' })).toEqual(
      failed(
        `Notebook content (293KB) exceeds maximum allowed size (256KB). Use Bash with jq to read a part of it: jq '.cells[:20]' "${directory}/a.ipynb"`,
      ),
    );
  });
});

test('a file that was read is tracked, one that could not be is not', async () => {
  const directory = createDirectory({ a: 'text', b: 'x\0' });
  const toolContext = createFileToolContext(directory);
  for (const name of ['a', 'b']) await callTool(readTool, { file_path: name }, toolContext);
  const isTracked = (name: string) => {
    const file = path.join(directory, name);
    return toolContext.readFiles.compare(file, readFileSync(file));
  };
  expect([isTracked('a'), isTracked('b')]).toEqual(['same', 'unread']);
});

test('an aborted call reads nothing', async () => {
  const directory = createDirectory({ a: 'text' });
  const toolContext = createFileToolContext(directory);
  const signal = AbortSignal.abort();
  expect(await callTool(readTool, { file_path: 'a' }, toolContext, { signal })).toMatchObject({
    success: false,
    interrupted: true,
  });
});

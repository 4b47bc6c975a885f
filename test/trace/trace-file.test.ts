import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createDispatchEntry, redactEntry } from '../../src/trace/entry.ts';
import { TraceFile, type TraceFileOptions } from '../../src/trace/trace-file.ts';
import { createDirectory, write } from '../base/directory.ts';
import { bash, MOMENT, outcomeOf } from '../hooks/handlers.ts';
import { entryOf, recordOf } from './records.ts';

const canMountTmpfs = process.getuid?.() === 0 && tryMount();

function traceIn(directory: string, wanted: Partial<TraceFileOptions> = {}) {
  const problems: string[] = [];
  const trace = new TraceFile({
    directory,
    onProblem: (problem) => problems.push(problem),
    ...wanted,
  });
  return { trace, problems };
}

function entriesIn(file: string): { readonly id: string }[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

describe('writing', () => {
  test('gives one line per entry, in the order recorded, for the owner only', async () => {
    const directory = path.join(createDirectory(), 'state', 'trace');
    const { trace, problems } = traceIn(directory);
    for (const id of ['1', '2', '3']) trace.record(() => ({ ...entryOf(), id }));
    await trace.flush();
    const file = path.join(directory, 'trace.jsonl');
    expect(entriesIn(file)).toEqual(
      ['1', '2', '3'].map((id) => ({ ...JSON.parse(JSON.stringify(entryOf())), id })),
    );
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(problems).toEqual([]);
  });

  test('keeps a secret whole where long facts are cut, so that showing them redacts it', async () => {
    const directory = createDirectory();
    const secret = 'S3CRET'.repeat(10);
    const { trace } = traceIn(directory);
    const start = JSON.stringify({ ...MOMENT, ...bash('') }).indexOf('"command":"') + 11;
    const command = 'x'.repeat(8192 - start - 20) + secret + 'x'.repeat(9000);
    const reason = `${'x'.repeat(8190)}${secret}${'x'.repeat(9000)}`;
    trace.record(() => ({
      ...createDispatchEntry({ ...recordOf(), event: { ...MOMENT, ...bash(command) } }),
      reasons: [{ hook: 'a', text: reason }],
    }));
    await trace.flush();
    const stored = JSON.parse(readFileSync(path.join(directory, 'trace.jsonl'), 'utf8'));
    expect(stored.data.json).toContain(secret);
    const redacted = redactEntry(stored, (text) => text.replaceAll(secret, '[redacted]'));
    expect(JSON.stringify(redacted)).not.toContain('S3CRET');
    expect(redacted).toMatchObject({
      data: { json: expect.stringMatching(/x\[redacted\]x/) },
      reasons: [{ text: `${'x'.repeat(8190)}[r` }],
    });
  });

  test('never happens on the caller’s path', async () => {
    const directory = createDirectory();
    const { trace } = traceIn(directory);
    trace.record(() => entryOf());
    expect(readdirSync(directory)).toEqual([]);
    await trace.flush();
    expect(readdirSync(directory)).toEqual(['trace.jsonl']);
  });

  test('goes on for entries that are recorded while it writes', async () => {
    const directory = createDirectory();
    const { trace } = traceIn(directory);
    const recordAgain = (more: number): void =>
      trace.record(() => {
        if (more > 0) recordAgain(more - 1);
        return { ...entryOf(), id: `more ${more}` };
      });
    recordAgain(3);
    await trace.flush();
    expect(entriesIn(path.join(directory, 'trace.jsonl')).map(({ id }) => id)).toEqual([
      'more 3',
      'more 2',
      'more 1',
      'more 0',
    ]);
  });

  test('flushing when there is nothing settles at once', async () => {
    const directory = createDirectory();
    const { trace } = traceIn(directory);
    const later = () => new Promise((resolve) => setImmediate(resolve, 'later'));
    const flushed = () => trace.flush().then(() => 'at once');
    expect(await Promise.race([flushed(), later()])).toBe('at once');
    expect(readdirSync(directory)).toEqual([]);
    trace.record(() => entryOf());
    await trace.flush();
    expect(await Promise.race([flushed(), later()])).toBe('at once');
    expect(entriesIn(path.join(directory, 'trace.jsonl'))).toHaveLength(1);
  });
});

describe('a trace that cannot be written', () => {
  async function recordTwice(directory: string): Promise<readonly string[]> {
    const { trace, problems } = traceIn(directory);
    trace.record(() => entryOf());
    await trace.flush();
    trace.record(() => entryOf());
    await trace.flush();
    return problems;
  }

  test('because a file stands where the directory should be reports that once', async () => {
    const file = write(path.join(createDirectory(), 'trace'), '');
    expect(await recordTwice(file)).toEqual([
      expect.stringMatching(/^the trace in .*trace cannot be written: E(?:EXIST|NOTDIR)/),
    ]);
  });

  test.skipIf(!existsSync('/dev/full'))(
    'because the device is full reports that once (skipped without /dev/full)',
    async () => {
      const directory = createDirectory();
      symlinkSync('/dev/full', path.join(directory, 'trace.jsonl'));
      expect(await recordTwice(directory)).toEqual([expect.stringContaining('ENOSPC')]);
    },
  );

  test.skipIf(!canMountTmpfs)(
    'because the disk is full reports that, and what was written stays readable (skipped unless root may mount)',
    async () => {
      const directory = createDirectory();
      const mounted = path.join(directory, 'disk');
      mkdirSync(mounted);
      spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', mounted]);
      onTestFinished(() => void spawnSync('umount', [mounted]));
      const { trace, problems } = traceIn(mounted);
      for (let count = 0; count < 200; count++) {
        trace.record(() => entryOf({ outcomes: [outcomeOf({ stdout: 'x'.repeat(2000) })] }));
        await trace.flush();
      }
      expect(problems).toEqual([expect.stringContaining('ENOSPC')]);
      const lines = readFileSync(path.join(mounted, 'trace.jsonl'), 'utf8')
        .split('\n')
        .slice(0, -1);
      expect(lines.length).toBeGreaterThan(0);
      for (const line of lines) expect(JSON.parse(line)).toMatchObject({ type: 'dispatch' });
    },
  );
});

test('an entry that cannot be made is a problem, not a crash', async () => {
  const { trace, problems } = traceIn(createDirectory());
  trace.record(() => {
    throw new TypeError('no entry');
  });
  await trace.flush();
  expect(problems).toEqual([expect.stringContaining('no entry')]);
});

test('a trace whose directory others could read is still for the owner only', async () => {
  const directory = createDirectory();
  chmodSync(directory, 0o755);
  const { trace } = traceIn(directory);
  trace.record(() => entryOf());
  await trace.flush();
  expect(statSync(path.join(directory, 'trace.jsonl')).mode & 0o777).toBe(0o600);
});

function tryMount(): boolean {
  const { status } = spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']);
  return status === 0;
}

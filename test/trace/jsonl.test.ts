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
import { createDispatchEntry } from '../../src/trace/entry.ts';
import { TraceFile, type TraceFileOptions } from '../../src/trace/jsonl.ts';
import { readTraceStats } from '../../src/trace/stats.ts';
import { createDirectory, write } from '../base/directory.ts';
import { bash, MOMENT, outcomeOf } from '../hooks/handlers.ts';
import { entryOf, recordOf } from './records.ts';

const canMountTmpfs = process.getuid?.() === 0 && tryMount();

function traceIn(directory: string, wanted: Partial<TraceFileOptions> = {}) {
  const problems: string[] = [];
  const trace = new TraceFile({
    directory,
    maxFileBytes: 1_000_000,
    maxFiles: 3,
    redact: (text) => text,
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

  test('leaves no half of a secret where long facts are cut', async () => {
    const directory = createDirectory();
    const secret = 'S3CRET'.repeat(10);
    const redact = (text: string) => text.replaceAll(secret, '[redacted]');
    const { trace } = traceIn(directory, { redact });
    const start = JSON.stringify({ ...MOMENT, ...bash('') }).indexOf('"command":"') + 11;
    const command = 'x'.repeat(8192 - start - 20) + secret + 'x'.repeat(9000);
    trace.record(() =>
      createDispatchEntry({ ...recordOf(), event: { ...MOMENT, ...bash(command) } }),
    );
    await trace.flush();
    const text = readFileSync(path.join(directory, 'trace.jsonl'), 'utf8');
    expect(text).toContain('[redacted]');
    expect(text).not.toContain('S3CRET');
    expect(JSON.parse(text).data.json.length).toBe(8192);
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
    let more = 3;
    const { trace } = traceIn(directory, {
      redact: (text, name) => {
        if (name !== 'id') return text;
        const id = `more ${--more}`;
        if (more >= 0) trace.record(() => ({ ...entryOf(), id }));
        return text;
      },
    });
    trace.record(() => entryOf());
    await trace.flush();
    expect(entriesIn(path.join(directory, 'trace.jsonl')).map(({ id }) => id)).toEqual([
      'd1',
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

  test('redacts every text before it is cut', async () => {
    const directory = createDirectory();
    const secret = 'SECRET';
    const { trace } = traceIn(directory, {
      redact: (text) => text.replaceAll(secret, '[redacted]'),
    });
    const stdout = `${'x'.repeat(8190)}${secret}`;
    trace.record(() =>
      entryOf({
        reasons: [{ hook: 'a', text: secret }],
        outcomes: [outcomeOf({ stdout, notes: [secret] })],
        skipped: [{ hook: 'b', kind: 'misfit', why: `because of ${secret}` }],
      }),
    );
    await trace.flush();
    const text = readFileSync(path.join(directory, 'trace.jsonl'), 'utf8');
    expect(text).not.toContain('SEC');
    expect(JSON.parse(text)).toMatchObject({
      reasons: [{ hook: 'a', text: '[redacted]' }],
      outcomes: [{ notes: ['[redacted]'], stdout: `${'x'.repeat(8190)}[r` }],
    });
  });
});

describe('rotation', () => {
  test('keeps as many files as it may, the newest without a number', async () => {
    const directory = createDirectory();
    const { trace } = traceIn(directory, { maxFileBytes: 1, maxFiles: 3 });
    for (const id of ['1', '2', '3', '4', '5']) {
      trace.record(() => ({ ...entryOf(), id }));
      await trace.flush();
    }
    const rest = ['trace.jsonl', 'trace.1.jsonl', 'trace.2.jsonl'];
    expect(readdirSync(directory).toSorted()).toEqual(rest.toSorted());
    expect(rest.map((file) => entriesIn(path.join(directory, file))[0]?.id)).toEqual([
      '5',
      '4',
      '3',
    ]);
    for (const file of rest) expect(statSync(path.join(directory, file)).mode & 0o777).toBe(0o600);
  });

  test.each([1, 1.5, 0.5])('with %d file starts it anew', async (maxFiles) => {
    const directory = createDirectory();
    const { trace } = traceIn(directory, { maxFileBytes: 1, maxFiles });
    for (const id of ['1', '2']) {
      trace.record(() => ({ ...entryOf(), id }));
      await trace.flush();
    }
    expect(readdirSync(directory)).toEqual(['trace.jsonl']);
    expect(entriesIn(path.join(directory, 'trace.jsonl')).map(({ id }) => id)).toEqual(['2']);
  });

  test('leaves a small file alone', async () => {
    const directory = createDirectory();
    const { trace } = traceIn(directory);
    for (const id of ['1', '2']) {
      trace.record(() => ({ ...entryOf(), id }));
      await trace.flush();
    }
    expect(entriesIn(path.join(directory, 'trace.jsonl'))).toHaveLength(2);
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
      expect(readTraceStats(mounted, 1).dispatches).toBeGreaterThan(0);
    },
  );

  test('because redaction fails, nothing is written', async () => {
    const directory = createDirectory();
    const { trace, problems } = traceIn(directory, {
      redact: () => {
        throw new TypeError('no rules');
      },
    });
    trace.record(() => entryOf());
    await trace.flush();
    expect(readdirSync(directory)).toEqual([]);
    expect(problems).toEqual([expect.stringContaining('no rules')]);
  });
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

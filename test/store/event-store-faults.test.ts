import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { NewEvent } from '../../src/store/event-store.ts';
import { formatSpoolLine } from '../../src/store/read-spool.ts';
import { SCHEMA_VERSION } from '../../src/store/store-file.ts';
import { createDirectory, until, write } from '../base/directory.ts';
import { createEvent } from './new-event.ts';
import { openFile, openStore } from './open-store.ts';

const canMountTmpfs = process.getuid?.() === 0 && tryMount();

function listIds(store: Awaited<ReturnType<typeof openStore>>): readonly string[] {
  return [...store.list()].map(({ id }) => id);
}

function createEvents(...ids: readonly string[]): readonly NewEvent[] {
  return ids.map((id) => createEvent({ id }));
}

describe('a database of a newer version', () => {
  async function createNewer(): Promise<string> {
    const directory = createDirectory();
    const store = await openStore(directory);
    await store.append(createEvents('old'));
    await store.close();
    const file = await openFile(directory);
    file.exec(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`);
    file.close();
    return directory;
  }

  test('is not read, is not changed, and events wait until it can be', async () => {
    const directory = await createNewer();
    const before = readFileSync(path.join(directory, 'events.db'));
    const store = await openStore(directory);
    expect(() => store.list()[Symbol.iterator]().next()).toThrow(
      expect.objectContaining({
        code: 'STORE_NEWER',
        message: expect.stringMatching(/newer version of Hookline: expected schema 1 .* found 2$/),
      }),
    );
    expect(await store.append(createEvents('1', '2'))).toEqual(['stored', 'stored']);
    expect(await store.append(createEvents('3'))).toEqual(['stored']);
    expect(store.problems).toEqual([expect.stringContaining('events wait in')]);
    expect(readFileSync(path.join(directory, 'events.db'))).toEqual(before);
    await store.close();

    const file = await openFile(directory);
    file.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
    file.close();
    const again = await openStore(directory);
    expect(listIds(again)).toEqual(['old', '1', '2', '3']);
    expect(readdirSync(path.join(directory, 'trace'))).toEqual([]);
    expect(again.verify()).toMatchObject({ isIntact: true, events: 4 });
  });
});

describe('a damaged database', () => {
  test('is moved away, a new one takes what waits, and nothing of it is deleted', async () => {
    const directory = createDirectory({ 'events.db': 'no database at all'.repeat(100) });
    write(
      path.join(directory, 'trace/trace.jsonl'),
      createEvents('waiting').map(formatSpoolLine).join(''),
    );
    const store = await openStore(directory);
    expect(listIds(store)).toEqual(['waiting']);
    expect(store.problems).toEqual([expect.stringMatching(/damaged .* moved to .*\.corrupt-/)]);
    const moved = readdirSync(directory).filter((name) => name.includes('.corrupt-'));
    expect(moved.map((name) => readFileSync(path.join(directory, name), 'utf8'))).toEqual([
      'no database at all'.repeat(100),
    ]);
  });

  test('that is found while it is written is moved away, and the event is stored', async () => {
    const directory = createDirectory();
    const store = await openStore(directory);
    await store.append(
      Array.from({ length: 50 }, () => createEvent({ payload: new Uint8Array(3000) })),
    );
    await store.close();
    overwriteMiddle(path.join(directory, 'events.db'));
    const again = await openStore(directory);
    expect(await again.append(createEvents('new'))).toEqual(['stored']);
    expect(again.find('new')).toMatchObject({ id: 'new' });
    expect(again.verify().isIntact).toBe(true);
  });

  test('is moved away once by two processes that find it', async () => {
    const directory = createDirectory({ 'events.db': 'x'.repeat(5000) });
    const stores = await Promise.all([openStore(directory), openStore(directory)]);
    await Promise.all(stores.map((store, index) => store.append(createEvents(String(index)))));
    expect(listIds(stores[0]).toSorted()).toEqual(['0', '1']);
    expect(readdirSync(directory).filter((name) => name.includes('.corrupt-'))).toHaveLength(1);
  });
});

/** Overwrites all pages but the first, which holds the schema. */
function overwriteMiddle(file: string): void {
  const descriptor = openSync(file, 'r+');
  const { size } = statSync(file);
  writeSync(descriptor, Buffer.alloc(size - 4096, 0xa5), 0, size - 4096, 4096);
  closeSync(descriptor);
}

test('a database that was deleted under a running process is created anew', async () => {
  const directory = createDirectory();
  const store = await openStore(directory);
  await store.append(createEvents('gone'));
  for (const suffix of ['', '-wal', '-shm']) {
    rmSync(path.join(directory, `events.db${suffix}`), { force: true });
  }
  expect(await store.append(createEvents('kept'))).toEqual(['stored']);
  const other = await openStore(directory);
  expect(listIds(other)).toEqual(['kept']);
});

describe('a locked database', () => {
  test('is waited for', async () => {
    const directory = createDirectory();
    const store = await openStore(directory);
    const file = await openFile(directory);
    file.exec('BEGIN IMMEDIATE');
    const results = [store.append(createEvents('1')), store.append(createEvents('2'))];
    // The first attempt happens in this tick of the event loop, and blocks until it has failed.
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    file.exec('COMMIT');
    expect(await Promise.all(results)).toEqual([['stored'], ['stored']]);
    expect(listIds(store)).toEqual(['1', '2']);
    expect(store.problems).toEqual([]);
  });

  test('that stays locked lets events wait on disk, which come first later', async () => {
    const directory = createDirectory();
    let now = Date.now();
    // Each look at the clock is a second later, so that the limit is reached soon.
    const store = await openStore(directory, { now: () => (now += 1000) });
    const file = await openFile(directory);
    file.exec('BEGIN IMMEDIATE');
    expect(await store.append(createEvents('1', '2'))).toEqual(['stored', 'stored']);
    expect(store.problems).toEqual([expect.stringContaining('locked')]);
    const spool = path.join(directory, 'trace', 'trace.jsonl');
    expect(readFileSync(spool, 'utf8').split('\n')).toHaveLength(3);
    expect(statSync(spool).mode & 0o777).toBe(0o600);
    file.exec('COMMIT');
    expect(await store.append(createEvents('3', '1'))).toEqual(['stored', 'duplicate']);
    expect(listIds(store)).toEqual(['1', '2', '3']);
    expect(store.verify()).toMatchObject({ isIntact: true, events: 3 });
  });
});

describe('what waits in the spool', () => {
  test('is taken in order: older files, files that were taken before, the current one', async () => {
    const lines = (...ids: readonly string[]) =>
      createEvents(...ids)
        .map(formatSpoolLine)
        .join('');
    const directory = createDirectory({
      'trace/trace.jsonl': lines('6', '7'),
      'trace/trace.1.jsonl': lines('3'),
      'trace/trace.2.jsonl': lines('2'),
      'trace/trace.10.jsonl': lines('1'),
      'trace/taken-01A-000001.jsonl': lines('5'),
      'trace/taken-01A-000000.jsonl': lines('4', '1'),
      'trace/notes.txt': 'not ours',
    });
    const store = await openStore(directory);
    expect(listIds(store).join('')).toBe('1234567');
    expect(readdirSync(path.join(directory, 'trace'))).toEqual(['notes.txt']);
  });

  test('keeps its bytes, also those that are no text', async () => {
    const payload = new Uint8Array([0, 255, 254, 10, 13, 0]);
    const events = [createEvent({ id: 'bytes', payload }), createEvent({ id: 'text' })];
    const directory = createDirectory({
      'trace/trace.jsonl': events.map(formatSpoolLine).join(''),
    });
    const store = await openStore(directory);
    expect(Buffer.from(store.find('bytes')?.payload ?? '')).toEqual(Buffer.from(payload));
    expect(Buffer.from(store.find('text')?.payload ?? '').toString()).toBe(
      '{"hook_event_name":"PreToolUse"}',
    );
  });

  test('that cannot be read is stored as it is, and read once', async () => {
    const directory = createDirectory();
    const file = path.join(directory, 'trace', 'trace.jsonl');
    const text = ['{"type":"event","id":5}', 'garbage', 'garbage', '', '{"type":"disp'].join('\n');
    write(file, text);
    utimesSync(file, 1, 1);
    const store = await openStore(directory);
    const stored = [...store.list()].map(({ payload }) => Buffer.from(payload).toString());
    expect(stored).toEqual(['{"type":"event","id":5}', 'garbage', 'garbage', '{"type":"disp']);
    write(file, text);
    utimesSync(file, 1, 1);
    expect(await store.drain()).toBe(0);
  });

  test('leaves a line that is still being written', async () => {
    const [whole = '', half = ''] = createEvents('whole', 'half').map(formatSpoolLine);
    const directory = createDirectory({ 'trace/trace.jsonl': whole + half.slice(0, 40) });
    const store = await openStore(directory);
    expect(listIds(store)).toEqual(['whole']);
    const [left = ''] = readdirSync(path.join(directory, 'trace'));
    writeFileSync(path.join(directory, 'trace', left), half.slice(40), { flag: 'a' });
    expect(await store.drain()).toBe(1);
    expect(listIds(store)).toEqual(['whole', 'half']);
  });

  test('is complete although it is taken again and again while processes write it', async () => {
    const directory = createDirectory();
    const spool = path.join(directory, 'trace');
    const [writers, count] = [4, 200];
    const children = Array.from({ length: writers }, (_, name) =>
      startFixture('append-to-spool', [spool, `w${name}`, String(count)], 'ignore'),
    );
    const store = await openStore(directory);
    while (children.some((child) => child.exitCode === null)) {
      await store.drain();
      await new Promise(setImmediate);
    }
    await store.drain();
    expect(children.map((child) => child.exitCode)).toEqual(Array(writers).fill(0));
    for (let name = 0; name < writers; name++) {
      const numbers = [...store.list({ agent: `w${name}` })].map(({ at }) => at);
      expect(numbers).toEqual(Array.from({ length: count }, (_, number) => number));
    }
    expect(store.counts().events).toBe(writers * count);
    expect(store.verify().isIntact).toBe(true);
  }, 120_000);
});

test('writers that are killed at any moment lose nothing that was acknowledged', async () => {
  const directory = createDirectory();
  const printed = path.join(createDirectory(), 'printed');
  const output = openSync(printed, 'a');
  onTestFinished(() => closeSync(output));
  for (let round = 0; round < 5; round++) {
    const children = Array.from({ length: 3 }, (_, name) =>
      startFixture('append-events', [directory, `r${round}w${name}`], output),
    );
    const before = statSync(printed).size;
    const grown = 2000 + 4000 * Math.random();
    await until(() => statSync(printed).size > before + grown);
    for (const child of children) child.kill('SIGKILL');
    await until(() => children.every((child) => child.signalCode !== null));
  }
  const acknowledged = readFileSync(printed, 'utf8').split('\n').slice(0, -1);
  const store = await openStore(directory);
  const stored = listIds(store);
  expect(new Set(stored).size).toBe(stored.length);
  expect(acknowledged.filter((id) => !stored.includes(id))).toEqual([]);
  expect(store.verify()).toMatchObject({ isIntact: true, events: stored.length, problems: [] });
}, 240_000);

test.skipIf(!canMountTmpfs)(
  'a full disk is reported, and what was acknowledged before stays (skipped unless root may mount)',
  async () => {
    const mounted = path.join(createDirectory(), 'disk');
    mkdirSync(mounted);
    spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', mounted]);
    onTestFinished(() => void spawnSync('umount', ['-l', mounted]));
    const directory = path.join(mounted, 'home');
    const store = await openStore(directory);
    const acknowledged: string[] = [];
    let failure: unknown = null;
    for (let number = 0; failure === null; number++) {
      const event = createEvent({ id: `${number}`, payload: new Uint8Array(5000).fill(120) });
      await store.append([event]).then(
        () => acknowledged.push(event.id),
        (error: unknown) => {
          failure = error;
        },
      );
    }
    expect(failure).toMatchObject({
      code: 'STORE_UNUSABLE',
      message: expect.stringMatching(/cannot be stored in .*full.* nor .*ENOSPC/),
    });
    expect(acknowledged.length).toBeGreaterThan(20);
    await store.close();
    spawnSync('mount', ['-o', 'remount,size=20m', mounted]);
    const again = await openStore(directory);
    const stored = listIds(again);
    expect(acknowledged.filter((id) => !stored.includes(id))).toEqual([]);
    expect(await again.append(createEvents('later'))).toEqual(['stored']);
    expect(again.verify()).toMatchObject({ isIntact: true, problems: [] });
  },
);

test('a directory that cannot be created is reported by what reads and what writes', async () => {
  const directory = path.join(write(path.join(createDirectory(), 'file'), ''), 'home');
  const store = await openStore(directory);
  expect(listIds(store)).toEqual([]);
  await expect(store.append(createEvents('1'))).rejects.toMatchObject({ code: 'STORE_UNUSABLE' });
  expect(existsSync(directory)).toBe(false);
});

function startFixture(
  name: string,
  args: readonly string[],
  stdout: number | 'ignore',
): ChildProcess {
  const file = path.join(import.meta.dirname, 'fixtures', `${name}.mjs`);
  const child = spawn(process.execPath, [file, ...args], { stdio: ['ignore', stdout, 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

function tryMount(): boolean {
  const { status } = spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']);
  return status === 0;
}

import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createDirectory } from '../base/directory.ts';
import { createEvent } from './new-event.ts';
import { openFile, openStore } from './open-store.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const NOW = 1_800_000_000_000;

test('events older than the limit are removed, the chain starts from a checkpoint', async () => {
  const directory = createDirectory();
  const store = await openStore(directory, { now: () => NOW, retention: { days: 2, bytes: 1e9 } });
  const ages = [5, 3, 2.5, 1, 0];
  await store.append(
    ages.map((days, index) => createEvent({ id: `${index}`, receivedAt: NOW - days * DAY_MS })),
  );
  expect([...store.list()].map(({ id, sequence }) => [id, sequence])).toEqual([
    ['3', 4],
    ['4', 5],
  ]);
  expect(store.verify()).toEqual({ isIntact: true, events: 2, removed: 3, problems: [] });
  const file = await openFile(directory);
  expect(file.prepare('SELECT first, last, at, reason FROM checkpoints').all()).toEqual([
    { first: 1, last: 3, at: NOW, reason: 'age' },
  ]);
});

test('the oldest events go when the database is too large, and the file shrinks', async () => {
  const directory = createDirectory();
  const bytes = 1024 * 1024;
  const payload = new Uint8Array(2048).fill(120);
  let now = NOW;
  const store = await openStore(directory, { now: () => now, retention: { days: 30, bytes } });
  for (let round = 0; round < 5; round++) {
    now += 2 * 60 * 60 * 1000;
    await store.append(
      Array.from({ length: 300 }, () => createEvent({ receivedAt: now, payload })),
    );
  }
  const { events, bytes: used } = store.counts();
  expect(used).toBeLessThanOrEqual(bytes);
  expect(events).toBeGreaterThan(200);
  expect(statSync(path.join(directory, 'events.db')).size).toBeLessThan(bytes * 1.5);
  expect([...store.list({ limit: 1 })][0]?.sequence).toBe(1500);
  expect(store.verify()).toMatchObject({ isIntact: true, events, removed: 1500 - events });
});

test('a clock that was wrong keeps nothing for ever, and loses nothing new', async () => {
  let now = NOW + 1000 * DAY_MS;
  const store = await openStore(createDirectory(), {
    now: () => now,
    retention: { days: 30, bytes: 1e9 },
  });
  await store.append([createEvent({ id: 'future', receivedAt: now })]);
  now = NOW;
  await store.append([createEvent({ id: 'past', receivedAt: now })]);
  expect([...store.list()].map(({ id }) => id)).toEqual(['past']);
  expect(store.verify()).toMatchObject({ isIntact: true, events: 1, removed: 1 });
});

test('purging by session and by time leaves the others, and overwrites what it removes', async () => {
  const directory = createDirectory();
  const store = await openStore(directory);
  const secret = 'S3CRET'.repeat(20);
  await store.append([
    createEvent({ id: '1', sessionId: 'a', at: 10, payload: Buffer.from(secret) }),
    createEvent({ id: '2', sessionId: 'b', at: 20 }),
    createEvent({ id: '3', sessionId: 'a', at: 30 }),
    createEvent({ id: '4', sessionId: 'b', at: 40 }),
  ]);
  expect(await store.purge({ session: 'a', before: 20 })).toBe(1);
  expect(await store.purge({ before: 30 })).toBe(1);
  expect([...store.list()].map(({ id }) => id)).toEqual(['3', '4']);
  const bytes = readdirSync(directory).map((name) => readTextIfFile(path.join(directory, name)));
  expect(bytes.join('')).not.toContain('S3CRET');
  expect(await store.purge({})).toBe(2);
  expect(await store.append([createEvent({ id: '1' })])).toEqual(['stored']);
  expect(store.verify()).toEqual({ isIntact: true, events: 1, removed: 4, problems: [] });
});

function readTextIfFile(file: string): string {
  return statSync(file).isFile() ? readFileSync(file, 'latin1') : '';
}

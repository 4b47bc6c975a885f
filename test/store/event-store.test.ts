import { statSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { EventFilter } from '../../src/store/event-store.ts';
import { createDirectory } from '../base/directory.ts';
import { createEvent } from './new-event.ts';
import { openStore } from './open-store.ts';

test('an event comes back as it was appended, byte for byte', async () => {
  const store = await openStore(createDirectory());
  const event = createEvent({
    paths: ['/work/app/a b.ts', '/work/app/ü.ts'],
    hooks: ['guard'],
    effect: 'deny',
    hasFailed: true,
    payload: new Uint8Array([0, 255, 123, 10, 0]),
  });
  expect(await store.append([event])).toEqual(['stored']);
  const stored = store.find(event.id);
  expect({ ...stored, payload: [...(stored?.payload ?? [])] }).toEqual({
    ...event,
    payload: [0, 255, 123, 10, 0],
    sequence: 1,
    hash: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
});

test('the same id is stored once, in one call, in one tick and later', async () => {
  const store = await openStore(createDirectory());
  const [one, other] = [createEvent({ id: 'one' }), createEvent({ id: 'other' })];
  const results = await Promise.all([
    store.append([one, one]),
    store.append([other, one]),
    store.append([]),
  ]);
  expect(results).toEqual([['stored', 'duplicate'], ['stored', 'duplicate'], []]);
  expect(await store.append([other])).toEqual(['duplicate']);
  expect([...store.list()].map(({ id, sequence }) => [id, sequence])).toEqual([
    ['one', 1],
    ['other', 2],
  ]);
});

test('two connections append to one chain', async () => {
  const directory = createDirectory();
  const [one, other] = [await openStore(directory), await openStore(directory)];
  await Promise.all(
    Array.from({ length: 20 }, (_, number) =>
      (number % 2 === 0 ? one : other).append([createEvent()]),
    ),
  );
  expect([...one.list()].map(({ sequence }) => sequence)).toEqual(
    Array.from({ length: 20 }, (_, number) => number + 1),
  );
});

test('events are filtered, the newest last', async () => {
  const store = await openStore(createDirectory());
  await store.append([
    createEvent({ id: '1', sessionId: 'a', at: 10 }),
    createEvent({ id: '2', sessionId: 'b', at: 20, workspace: '/work/app/sub' }),
    createEvent({ id: '3', sessionId: 'a', at: 30, agent: 'codex', workspace: '/work/apple' }),
    createEvent({ id: '4', agent: 'hookline', effect: 'deny', hooks: ['x', 'y'], at: 40 }),
    createEvent({ id: '5', agent: 'hookline', effect: 'pass', hasFailed: true, at: 50 }),
    createEvent({ id: '6', event: null, foreignEvent: 'beforeShell', workspace: null, at: 60 }),
  ]);
  const listIds = (filter: EventFilter) => [...store.list(filter)].map(({ id }) => id).join('');
  expect({
    all: listIds({}),
    last: listIds({ limit: 2 }),
    session: listIds({ session: 'a' }),
    lastOfSession: listIds({ session: 'a', limit: 1 }),
    workspace: listIds({ workspace: '/work/app' }),
    workspaces: listIds({ workspace: ['/work/apple', '/nowhere'] }),
    noWorkspace: listIds({ workspace: [] }),
    agent: listIds({ agent: 'hookline' }),
    event: listIds({ event: 'beforeShell' }),
    hook: listIds({ hook: 'y' }),
    effect: listIds({ effect: 'pass' }),
    failed: listIds({ failed: true }),
    since: listIds({ since: 40 }),
    after: listIds({ afterSequence: 2, limit: 2 }),
    none: listIds({ limit: 0 }),
  }).toEqual({
    all: '123456',
    last: '56',
    session: '13',
    lastOfSession: '3',
    workspace: '1245',
    workspaces: '3',
    noWorkspace: '',
    agent: '45',
    event: '6',
    hook: '4',
    effect: '5',
    failed: '5',
    since: '456',
    after: '34',
    none: '',
  });
  expect([store.lastOf('codex')?.id, store.lastOf('hookline')?.id, store.lastOf('droid')]).toEqual([
    '3',
    '5',
    null,
  ]);
});

test('a list of many pages holds each event once, also while others append', async () => {
  const store = await openStore(createDirectory());
  await store.append(Array.from({ length: 1000 }, () => createEvent()));
  const sequences = [];
  for (const { sequence } of store.list({ limit: 900 })) {
    if (sequences.length === 300) await store.append([createEvent()]);
    sequences.push(sequence);
  }
  expect(sequences).toEqual(Array.from({ length: 900 }, (_, index) => index + 101));
});

test('the files of the store are readable by their owner only', async () => {
  const directory = path.join(createDirectory(), 'home');
  const store = await openStore(directory);
  await store.append([createEvent()]);
  const modes = ['', 'events.db', 'events.db-wal', 'events.db-shm'].map((name) =>
    (statSync(path.join(directory, name)).mode % 0o1000).toString(8),
  );
  expect(modes).toEqual(['700', '600', '600', '600']);
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { EventOrigin, EventStore, NewEvent } from '../../src/store/event-store.ts';
import { createDirectory } from '../base/directory.ts';
import { createEvent } from './new-event.ts';
import { openFile, openStore } from './open-store.ts';

const anyText = fc.string({ unit: 'binary', maxLength: 20 });
/** Texts that UTF-8 and C have no form for, too. */
const oddText = fc.oneof(
  anyText,
  fc.constantFrom('', '\0', 'a\0b', '\uD800', 'x\uDC00', '\u{1F642}'),
);
const anyNumber = fc.oneof(
  fc.integer(),
  fc.double(),
  fc.constantFrom(Number.NaN, Infinity, -0, 2 ** 60),
);

const anyEvent: fc.Arbitrary<NewEvent> = fc
  .record({
    id: fc.uuid(),
    at: anyNumber,
    agent: oddText,
    event: fc.option(oddText),
    foreignEvent: fc.option(oddText),
    sessionId: fc.option(oddText),
    workspace: fc.option(oddText),
    tool: fc.option(oddText),
    paths: fc.array(oddText, { maxLength: 3 }),
    effect: fc.option(oddText),
    hooks: fc.array(oddText, { maxLength: 3 }),
    hasFailed: fc.boolean(),
    isVerified: fc.boolean(),
    origin: fc.constantFrom<EventOrigin>('dispatch', 'bridge', 'file', 'import'),
    payload: fc.uint8Array({ maxLength: 60 }),
  })
  .map((fields) => ({ ...fields, receivedAt: Date.now() }));

test('the chain of any events, appended in any batches, is intact', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(anyEvent, { maxLength: 5 }), { maxLength: 6 }),
      async (batches) => {
        const store = await openStore(createDirectory());
        const results = await Promise.all(batches.map((batch) => store.append(batch)));
        const stored = results.flat().filter((result) => result === 'stored').length;
        expect(store.verify()).toEqual({
          isIntact: true,
          events: stored,
          removed: 0,
          problems: [],
        });
        await store.close();
      },
    ),
    { numRuns: 25 },
  );
});

const EVENTS = 12;

async function createChain(): Promise<{ directory: string; store: EventStore }> {
  const directory = createDirectory();
  const store = await openStore(directory);
  const ids = Array.from({ length: EVENTS }, (_, number) => `id-${number + 1}`);
  await store.append(ids.map((id) => createEvent({ id, effect: 'pass', hooks: ['guard'] })));
  return { directory, store };
}

/** Every way in which a value of a row can be another one. */
const CHANGES = [
  "id = 'other'",
  'at = at + 1',
  'received_at = received_at - 1',
  "agent = 'codex'",
  "event = 'PostToolUse'",
  'event = NULL',
  "foreign_event = ''",
  "session_id = 'session-2'",
  "workspace = '/work'",
  "tool = 'Read'",
  `paths = '["/etc/passwd"]'`,
  "effect = 'deny'",
  "hooks = '[]'",
  'has_failed = 1',
  'is_verified = 0',
  "origin = 'import'",
  "payload = x'7b7d'",
  "hash = x'00'",
  'hash = zeroblob(32)',
];

describe('tampering is found', () => {
  test.each(CHANGES)('with a row where %s', async (change) => {
    const { directory, store } = await createChain();
    const file = await openFile(directory);
    file.exec(`UPDATE events SET ${change} WHERE sequence = 5`);
    expect(store.verify()).toMatchObject({
      isIntact: false,
      problems: [{ kind: 'changed', sequence: 5 }, ...(change.startsWith('hash') ? [{}] : [])],
    });
  });

  test('with a run of rows deleted anywhere', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: EVENTS }),
        fc.integer({ min: 0, max: 3 }),
        async (first, more) => {
          const last = Math.min(first + more, EVENTS);
          const { directory, store } = await createChain();
          const file = await openFile(directory);
          file.exec(`DELETE FROM events WHERE sequence BETWEEN ${first} AND ${last}`);
          const which = first === last ? `event ${first} is` : `events ${first} to ${last} are`;
          expect(store.verify().problems).toEqual([
            {
              kind: last === EVENTS ? 'end' : 'missing',
              sequence: first,
              message: `${which} missing`,
            },
          ]);
          file.close();
          await store.close();
        },
      ),
      { numRuns: 15 },
    );
  });

  test('with an event in the place of another', async () => {
    const { directory, store } = await createChain();
    const file = await openFile(directory);
    file.exec('UPDATE events SET sequence = -1 WHERE sequence = 3');
    file.exec('UPDATE events SET sequence = 3 WHERE sequence = 4');
    file.exec('UPDATE events SET sequence = 4 WHERE sequence = -1');
    expect(store.verify().problems.map(({ sequence }) => sequence)).toEqual([3, 4, 5]);
  });

  test('with the newest events and their number taken back', async () => {
    const { directory, store } = await createChain();
    const file = await openFile(directory);
    file.exec('DELETE FROM events WHERE sequence > 10');
    file.exec('UPDATE head SET sequence = 10');
    expect(store.verify().problems).toEqual([
      { kind: 'end', sequence: 10, message: expect.stringContaining('not the one') },
    ]);
  });

  test('with a checkpoint written for events that somebody deleted', async () => {
    const { directory, store } = await createChain();
    const file = await openFile(directory);
    file.exec('DELETE FROM events WHERE sequence = 6');
    file.exec(
      "INSERT INTO checkpoints (first, last, hash_before, hash, at, reason) VALUES (6, 6, zeroblob(32), zeroblob(32), 0, 'age')",
    );
    expect(store.verify().problems.map(({ kind }) => kind)).toEqual(['checkpoint', 'changed']);
  });
});

test('after any purge the chain is intact, and tampering with the rest is found', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 3, maxLength: 15 }),
      fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 3 }),
      async (sessions, purged) => {
        const directory = createDirectory();
        const store = await openStore(directory);
        await store.append(sessions.map((sessionId) => createEvent({ sessionId })));
        for (const session of purged) await store.purge({ session });
        const rest = sessions.filter((session) => !purged.includes(session)).length;
        await store.append([createEvent({ sessionId: 'd' })]);
        expect(store.verify()).toEqual({
          isIntact: true,
          events: rest + 1,
          removed: sessions.length - rest,
          problems: [],
        });
        const file = await openFile(directory);
        file.exec(
          "UPDATE events SET tool = 'Read' WHERE sequence = (SELECT max(sequence) FROM events)",
        );
        expect(store.verify()).toMatchObject({ isIntact: false, problems: [{ kind: 'changed' }] });
        file.close();
        await store.close();
      },
    ),
    { numRuns: 20 },
  );
});

import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { storeEvents } from '../../src/bridge/fallback-file.ts';
import { importFallbackFiles } from '../../src/bridge/import-fallback-files.ts';
import { openEventStore } from '../../src/store/event-store.ts';
import { createTempHome, listDirectory, readPayloads } from './temp-home.ts';

async function open() {
  const home = createTempHome();
  const store = await openEventStore({ directory: home.stateDirectory });
  onTestFinished(() => store.close());
  const write = (place: string, text: string) => {
    const file = path.join(home.home, place);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  };
  return {
    ...home,
    store,
    write,
    run: () => importFallbackFiles(store, home),
    list: () => [...store.list()],
  };
}

const numbered = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => ({ n: from + index }));

const BACKUP =
  /^claude-hook-events\.backup-\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}-\d{3}Z(?:-\d+)?\.json$/;

describe('an import', () => {
  it('takes the events of forwarders once and in order, with their ids, bytes and times', async () => {
    const { events, run, list } = await open();
    for (const n of [1, 2, 3]) {
      storeEvents(events, 'claude', { id: `id-${n}`, receivedAt: n * 1000, text: `{ "n": ${n} }` });
    }
    storeEvents(events, 'cline', { id: 'raw', receivedAt: 4000, text: 'no JSON' });
    expect(await run()).toEqual({ eventCount: 4, problems: [] });
    expect(await run()).toEqual({ eventCount: 0, problems: [] });
    const stored = list();
    expect(
      stored.map(({ id, agent, at, origin, isVerified }) => ({
        id,
        agent,
        at,
        origin,
        isVerified,
      })),
    ).toEqual([
      { id: 'id-1', agent: 'claude', at: 1000, origin: 'file', isVerified: true },
      { id: 'id-2', agent: 'claude', at: 2000, origin: 'file', isVerified: true },
      { id: 'id-3', agent: 'claude', at: 3000, origin: 'file', isVerified: true },
      { id: 'raw', agent: 'cline', at: 4000, origin: 'file', isVerified: true },
    ]);
    expect(readPayloads(stored)).toEqual(['{ "n": 1 }', '{ "n": 2 }', '{ "n": 3 }', 'no JSON']);
  });

  it('renames the file to a backup and leaves an empty array', async () => {
    const { events, run } = await open();
    storeEvents(events, 'claude', { id: 'a', receivedAt: 1, text: '{}' });
    const before = readFileSync(path.join(events, 'claude-hook-events.json'), 'utf8');
    await run();
    const names = listDirectory(events);
    expect(names).toEqual([expect.stringMatching(BACKUP), 'claude-hook-events.json']);
    expect(readFileSync(path.join(events, names[0] ?? ''), 'utf8')).toBe(before);
    expect(readFileSync(path.join(events, 'claude-hook-events.json'), 'utf8')).toBe('[]\n');
    expect(statSync(path.join(events, names[0] ?? '')).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['.a24z/hooks/claude-hook-events.json'],
    ['.principle/hooks/claude-hook-events.json'],
    ['.cline/hook-events/claude-hook-events.json'],
  ])('takes what older clients left in %s, once', async (place) => {
    const { write, run, list } = await open();
    const elements = [
      { session_id: 's', __hook_timestamp: '2026-01-02T03:04:05.000Z', __hook_received: 1000 },
      { n: 1, __hook_timestamp: '2026-01-02T03:04:05.000Z' },
      { n: 2 },
      { n: 2 },
    ];
    const text = JSON.stringify(elements, null, 2);
    write(place, text);
    expect(await run()).toEqual({ eventCount: 4, problems: [] });
    // The client reads the file, is overtaken by the import, and writes it back with one more event.
    write(place, JSON.stringify([...elements, { n: 3 }], null, 2));
    expect(await run()).toEqual({ eventCount: 1, problems: [] });
    const stored = list();
    expect(stored.map(({ payload }) => JSON.parse(Buffer.from(payload).toString()))).toEqual([
      ...elements,
      { n: 3 },
    ]);
    expect(stored.map(({ at }) => at).slice(0, 2)).toEqual([
      1000,
      Date.parse('2026-01-02T03:04:05.000Z'),
    ]);
    expect(stored.every(({ isVerified, origin }) => !isVerified && origin === 'import')).toBe(true);
  });

  it('reads lines, torn arrays, and files with broken elements as far as they go', async () => {
    const { write, run, list } = await open();
    write('.a24z/hooks/claude-hook-events.json', '{"n":1}\n{"n":2}\nbroken\n{"n":3}');
    write('.a24z/hooks/gemini-hook-events.json', '[{"n":4},\n{"n":5},\n{"n":6');
    write('.a24z/hooks/droid-hook-events.json', '[{"n":7}, oops, 8, {"n":9}]');
    write('.a24z/hooks/cline-hook-events.json', JSON.stringify({ n: 10 }, null, 2));
    const { eventCount, problems } = await run();
    expect(eventCount).toBe(8);
    expect(problems.map((problem) => problem.replace(/^.*json: /, ''))).toEqual([
      'not JSON: broken',
      expect.stringContaining('element 1 is not JSON'),
      'element 2 is not an object',
      'not JSON: {"n":6',
    ]);
    expect(
      readPayloads(list())
        .map((text) => JSON.parse(text).n)
        .toSorted((a, b) => a - b),
    ).toEqual([1, 2, 3, 4, 5, 7, 9, 10]);
  });

  it('goes on where it was killed', async () => {
    const { events, write, run, list } = await open();
    write(
      '.cline/hook-events/claude-hook-events.part-2026-01-01T00-00-00-000Z-1.json',
      JSON.stringify(numbered(3)),
    );
    write(
      '.cline/hook-events/claude-hook-events.part-2026-01-01T00-00-01-000Z-1.json',
      JSON.stringify(numbered(3, 3)),
    );
    storeEvents(events, 'claude', { id: 'last', receivedAt: 1, text: '{"n":6}' });
    expect((await run()).eventCount).toBe(7);
    expect(readPayloads(list())).toEqual(numbered(7).map((each) => JSON.stringify(each)));
  });

  it('leaves alone what is not a file of events', async () => {
    const { home, write, run, events } = await open();
    write('.cline/hook-events/notes.json', '[{"n":1}]');
    write('.cline/hook-events/claude-hook-events-errors.json', '[{"n":1}]');
    write(
      '.cline/hook-events/claude-hook-events.backup-2026-01-01T00-00-00-000Z.json',
      '[{"n":1}]',
    );
    const target = write('target.json', '[{"n":1}]');
    symlinkSync(target, path.join(events, 'codex-hook-events.json'));
    expect(await run()).toEqual({
      eventCount: 0,
      problems: [
        `${path.join(home, '.cline/hook-events/codex-hook-events.json')} is not a regular file`,
      ],
    });
    expect(listDirectory(events)).toHaveLength(4);
  });

  it('does not call events verified that others could have written', async () => {
    const { events, run, list } = await open();
    storeEvents(events, 'claude', { id: 'a', receivedAt: 1, text: '{}' });
    chmodSync(path.join(events, 'claude-hook-events.json'), 0o666);
    await run();
    expect(list().map(({ isVerified }) => isVerified)).toEqual([false]);
  });

  it('stores everything once when several run at the same time', async () => {
    const { home, events, stateDirectory, list } = await open();
    for (let n = 0; n < 1200; n++) {
      storeEvents(events, 'claude', { id: `id-${n}`, receivedAt: n, text: `{"n":${n}}` });
    }
    const stores = await Promise.all(
      [1, 2, 3].map(() => openEventStore({ directory: stateDirectory })),
    );
    const reports = await Promise.all(
      stores.map((store) => importFallbackFiles(store, { home, stateDirectory })),
    );
    for (const store of stores) await store.close();
    expect(reports.reduce((sum, { eventCount }) => sum + eventCount, 0)).toBe(1200);
    expect(readPayloads(list())).toEqual(numbered(1200).map((each) => JSON.stringify(each)));
  });

  it('removes all but the last backups of its own', async () => {
    const { events, run, write } = await open();
    write(
      '.cline/hook-events/claude-hook-events.backup-2025-01-01T00-00-00-000Z.json',
      '[{"n":1}]',
    );
    for (let n = 0; n < 25; n++) {
      storeEvents(events, 'claude', { id: `id-${n}`, receivedAt: n, text: '{}' });
      await run();
    }
    const backups = listDirectory(events).filter((name) => name.includes('.backup-'));
    expect(backups).toHaveLength(21);
    expect(backups[0]).toContain('backup-2025');
  });
});

import path from 'node:path';
import { openDatabase } from '../../src/store/driver.ts';
import { openEventStore } from '../../src/store/event-store.ts';
import { spawnBare } from '../bare.ts';
import type { Contest, Row, RowOptions } from '../row.ts';
import { createTempWorkspace, type TempWorkspace } from '../temp-workspace.ts';

const EVENTS = 1_000_000;
const SESSIONS = 1000;
const LAST = 50;
const SESSION = 'session-500';

/** How long it takes to find the events of a session among those of a month. */
export const storeRows: readonly Row[] = [
  {
    name: `the last ${LAST} events of a session among ${EVENTS.toLocaleString('en')}`,
    bound: { of: 'ratio', atMost: 2, because: 'the bare prepared statement, its rows unread' },
    open: openSearch,
  },
  {
    name: 'hookline trace list --session',
    bound: { of: 'ratio', atMost: 2.5, because: 'the built program, against `node -e 0`' },
    open: openListing,
  },
];

async function openSearch({ quick }: RowOptions): Promise<Contest> {
  const place = createTempWorkspace();
  const directory = await fillStore(place, EVENTS);
  const store = await openEventStore({ directory });
  const database = await openDatabase(path.join(directory, 'events.db'));
  const statement = database.prepare(
    'SELECT * FROM events WHERE session_id = ? ORDER BY sequence DESC LIMIT ?',
  );
  const check = (count: number): void => {
    if (count !== LAST) throw new Error(`expected ${LAST} events, found ${count}`);
  };
  return {
    samples: quick ? 100 : 500,
    batch: 1,
    us: async () => check([...store.list({ session: SESSION, limit: LAST })].length),
    bare: async () => check(statement.all(SESSION, LAST).length),
    async close() {
      database.close();
      await store.close();
      place.remove();
    },
  };
}

async function openListing({ project, quick }: RowOptions): Promise<Contest> {
  const place = createTempWorkspace();
  await fillStore(place, EVENTS / 10);
  const program = path.join(project, 'dist', 'bin', 'hookline.js');
  const call = { file: process.execPath, cwd: place.workspace, env: place.surroundings.env };
  const list = () =>
    spawnBare({ ...call, stdin: '', args: [program, 'trace', 'list', '--session', SESSION] });
  const lines = (await list()).trimEnd().split('\n').length;
  if (lines !== LAST + 1) throw new Error(`expected ${LAST + 1} lines, found ${lines}`);
  return {
    samples: quick ? 30 : 100,
    batch: 1,
    us: list,
    bare: () => spawnBare({ ...call, stdin: '', args: ['-e', '0'] }),
    async close() {
      place.remove();
    },
  };
}

/** Writes the rows with one statement: only reading them is measured, and no hash is looked at. */
async function fillStore({ home }: TempWorkspace, count: number): Promise<string> {
  const directory = path.join(home, '.hookline');
  await (await openEventStore({ directory })).close();
  const database = await openDatabase(path.join(directory, 'events.db'));
  database.exec('PRAGMA synchronous = OFF');
  database.exec(`
    WITH RECURSIVE numbers (number) AS (
      SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < ${count}
    )
    INSERT INTO events (sequence, id, at, received_at, agent, event, foreign_event, session_id,
      workspace, tool, paths, effect, hooks, has_failed, is_verified, origin, hash, payload)
    SELECT number, 'event-' || number, ${Date.now()}, ${Date.now()}, 'claude', 'PreToolUse',
      'PreToolUse', 'session-' || (number % ${SESSIONS}), '/work/app', 'Bash', '[]', NULL, '[]', 0,
      1, 'bridge', zeroblob(32),
      CAST('{"hook_event_name":"PreToolUse","text":"' || hex(randomblob(150)) || '"}' AS BLOB)
    FROM numbers`);
  // Nobody writes so much at once; what is left in the journal would be read at every start.
  database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all();
  database.close();
  return directory;
}

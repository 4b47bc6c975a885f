import type { SqlDatabase, SqlValue } from './driver.ts';
import { type StoredEvent, toStoredEvent } from './stored-event.ts';

/** Which events; an absent field means any. */
export interface EventFilter {
  /** Events of this directory or below it; of several, of any of them. */
  readonly workspace?: string | readonly string[];
  readonly session?: string;
  readonly agent?: string;
  /** The canonical name, or that of the agent. */
  readonly event?: string;
  /** The id of a hook that was asked. */
  readonly hook?: string;
  readonly effect?: string;
  /** Only those of which a hook failed. */
  readonly failed?: boolean;
  /** At or after this time, in milliseconds. */
  readonly since?: number;
  /** At most as many: the newest, but with `afterSequence` the next. */
  readonly limit?: number;
  /** Only those with a greater number. */
  readonly afterSequence?: number;
}

const PAGE_ROWS = 200;

/** Reads matching events, the newest last. Between two pages nothing is held open, so writers are never blocked. */
export function* listEvents(database: SqlDatabase, filter: EventFilter): Iterable<StoredEvent> {
  const { conditions, values } = createConditions(filter);
  const { limit, afterSequence } = filter;
  let remaining = limit ?? Number.POSITIVE_INFINITY;
  let after = afterSequence ?? 0;
  if (limit !== undefined && afterSequence === undefined) {
    after = findSequenceBefore(database, { conditions, values }, limit);
  }
  const where = ['sequence > ?', ...conditions].join(' AND ');
  // Found in an index first, so that a sort never moves payloads.
  const page = database.prepare(
    `SELECT * FROM events WHERE sequence IN (SELECT sequence FROM events WHERE ${where} ORDER BY sequence LIMIT ?) ORDER BY sequence`,
  );
  while (remaining > 0) {
    const size = Math.min(remaining, PAGE_ROWS);
    const rows = page.all(after, ...values, size);
    for (const row of rows) {
      const event = toStoredEvent(row);
      after = event.sequence;
      yield event;
    }
    if (rows.length < size) return;
    remaining -= rows.length;
  }
}

interface Conditions {
  readonly conditions: readonly string[];
  readonly values: readonly SqlValue[];
}

/** The number before the oldest of the newest `limit` events. */
function findSequenceBefore(
  database: SqlDatabase,
  { conditions, values }: Conditions,
  limit: number,
): number {
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  const [row] = database
    .prepare(
      `SELECT min(sequence) AS oldest FROM (SELECT sequence FROM events ${where} ORDER BY sequence DESC LIMIT ?)`,
    )
    .all(...values, limit);
  return Number(row?.['oldest'] ?? 1) - 1;
}

function createConditions(filter: EventFilter): Conditions {
  const { workspace, session, agent, event, hook, effect, failed, since } = filter;
  const roots = typeof workspace === 'string' ? [workspace] : workspace;
  const parts: readonly (readonly [string, readonly SqlValue[]] | null)[] = [
    roots === undefined ? null : createWorkspaceCondition(roots),
    session === undefined ? null : ['session_id = ?', [session]],
    agent === undefined ? null : ['agent = ?', [agent]],
    event === undefined ? null : ['(event = ? OR foreign_event = ?)', [event, event]],
    hook === undefined ? null : [`hooks <> '[]' AND ${HAS_HOOK}`, [hook]],
    effect === undefined ? null : ['effect = ?', [effect]],
    failed === true ? ['has_failed = 1', []] : null,
    since === undefined ? null : ['at >= ?', [since]],
  ];
  const chosen = parts.filter((part) => part !== null);
  return {
    conditions: chosen.map(([condition]) => condition),
    values: chosen.flatMap(([, values]) => values),
  };
}

const HAS_HOOK = 'EXISTS (SELECT 1 FROM json_each(events.hooks) WHERE json_each.value = ?)';

function createWorkspaceCondition(
  roots: readonly string[],
): readonly [string, readonly SqlValue[]] {
  const isInside = 'workspace = ? OR substr(workspace, 1, length(?)) = ?';
  const condition = roots.length === 0 ? '0' : roots.map(() => isInside).join(' OR ');
  return [
    `(${condition})`,
    roots.flatMap((root) => {
      const prefix = root.endsWith('/') ? root : `${root}/`;
      return [root, prefix, prefix];
    }),
  ];
}

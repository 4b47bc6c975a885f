import path from 'node:path';
import { systemClock } from '../base/clock.ts';
import { dropUndefined } from '../base/defined.ts';
import { HooklineError } from '../base/errors.ts';
import { findRealPath } from '../base/paths.ts';
import type { EventFilter, EventStore } from '../store/event-store.ts';

/** The filters of `hookline trace`, as they were written. */
export interface FilterFlags {
  readonly workspace?: string;
  readonly session?: string;
  readonly agent?: string;
  readonly event?: string;
  readonly hook?: string;
  readonly effect?: string;
  readonly failed?: boolean;
  readonly since?: string;
  readonly limit?: string;
}

/** Reads the flags; throws for a time or number that is none. */
export function toEventFilter(flags: FilterFlags): EventFilter {
  const { session, agent, event, hook, effect, failed } = flags;
  return dropUndefined({
    workspace: flags.workspace === undefined ? undefined : listSpellings(flags.workspace),
    session,
    agent,
    event,
    hook,
    effect,
    failed,
    since: flags.since === undefined ? undefined : parseTime('--since', flags.since),
    limit: flags.limit === undefined ? undefined : parseLimit(flags.limit),
  });
}

/** Agents write the directory as they were started in it, which may be a link. */
function listSpellings(directory: string): readonly string[] {
  const absolute = path.resolve(directory);
  return [...new Set([absolute, findRealPath(absolute) ?? absolute])];
}

function parseLimit(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new HooklineError('USAGE_INVALID', {
    message: `--limit must be a number of events, found ${JSON.stringify(text)}`,
    hint: 'For example: --limit 100.',
  });
}

const UNITS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60 * 1000,
  h: 60 * 60 * 1000,
  d: 24 * 60 * 60 * 1000,
  w: 7 * 24 * 60 * 60 * 1000,
};

/** Reads an ISO date or time, or how long ago: `30m`, `2h`, `7d`. */
export function parseTime(flag: string, text: string): number {
  const [, count, unit = ''] = /^(\d+(?:\.\d+)?)([smhdw])$/.exec(text) ?? [];
  if (count !== undefined) return systemClock.now() - Number(count) * (UNITS[unit] ?? 0);
  const isDate = /^\d{4}-\d{2}-\d{2}/.test(text);
  // A date alone is a day of the user's calendar; JavaScript would take it for one of UTC.
  const time = isDate ? Date.parse(text.length === 10 ? `${text}T00:00` : text) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  throw new HooklineError('USAGE_INVALID', {
    message: `${flag} must be a time, found ${JSON.stringify(text)}`,
    hint: 'For example: 2h, 7d, 2026-11-18 or 2026-11-18T09:30.',
  });
}

/** Completes the beginning of a session's id, as `sessions show` does. */
export function completeSession(store: EventStore, filter: EventFilter): EventFilter {
  const { session } = filter;
  if (session === undefined || session === '') return filter;
  const [first, second] = store.findSessions(session, 2);
  if (first === session || first === undefined) return filter;
  if (second === undefined) return { ...filter, session: first };
  throw new HooklineError('USAGE_INVALID', {
    message: `several sessions have an id that begins with ${JSON.stringify(session)}`,
    hint: 'Pass more of the id.',
  });
}

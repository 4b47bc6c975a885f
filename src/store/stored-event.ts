import { toUSVString, types } from 'node:util';
import type { SqlRow, SqlValue } from './driver.ts';

/** What one event of an agent says, as `normalizeEvent` makes it, and how it came here. */
export interface NewEvent {
  /** A ULID, or as sent; of two events with the same id the first is stored. */
  readonly id: string;
  /** The event's own time, in milliseconds; when it has none, when it was received. */
  readonly at: number;
  readonly receivedAt: number;
  /** `claude`, `cline`, `codex` …; `hookline` for our own dispatches. */
  readonly agent: string;
  /** The canonical name; null when the event has none. */
  readonly event: string | null;
  /** As the agent calls it. */
  readonly foreignEvent: string | null;
  readonly sessionId: string | null;
  /** The primary workspace root, or where the agent worked. */
  readonly workspace: string | null;
  /** The canonical name of the tool. */
  readonly tool: string | null;
  /** The files that the call names. */
  readonly paths: readonly string[];
  /** Posted with the client's secret, or our own dispatch. */
  readonly isVerified: boolean;
  readonly origin: EventOrigin;
  /** The verdict of our own dispatches. */
  readonly effect: string | null;
  /** The hooks that were asked. */
  readonly hooks: readonly string[];
  readonly hasFailed: boolean;
  /** Byte for byte. */
  readonly payload: Uint8Array;
}

/** Our own dispatch, a post to the bridge, a file that a forwarder wrote, or a file of an older version. */
export type EventOrigin = 'dispatch' | 'bridge' | 'file' | 'import';

const ORIGINS = new Set<string>(['dispatch', 'bridge', 'file', 'import'] satisfies EventOrigin[]);

export interface StoredEvent extends NewEvent {
  /** From 1, without gaps but for removed events. */
  readonly sequence: number;
  /** Hexadecimal; of this event and the hash before it. */
  readonly hash: string;
}

/** The columns of an event but for sequence and hash, in the order of the table; the payload is the last. */
export const EVENT_COLUMNS = [
  'id',
  'at',
  'received_at',
  'agent',
  'event',
  'foreign_event',
  'session_id',
  'workspace',
  'tool',
  'paths',
  'effect',
  'hooks',
  'has_failed',
  'is_verified',
  'origin',
  'payload',
] as const;

/** What is hashed and stored of an event: the same values before they are written and after they are read. */
export interface EventValues {
  readonly fields: readonly (string | number | null)[];
  readonly payload: Uint8Array;
}

/** Cleans the texts, because the hash must be of what is stored. */
export function toEventValues(event: NewEvent): EventValues {
  const text = (value: string | null): string | null => (value === null ? null : toStorable(value));
  return {
    fields: [
      toStorable(event.id),
      toInteger(event.at),
      toInteger(event.receivedAt),
      toStorable(event.agent),
      text(event.event),
      text(event.foreignEvent),
      text(event.sessionId),
      text(event.workspace),
      text(event.tool),
      formatList(event.paths),
      text(event.effect),
      formatList(event.hooks),
      event.hasFailed ? 1 : 0,
      event.isVerified ? 1 : 0,
      event.origin,
    ],
    payload: event.payload,
  };
}

/** UTF-8 has no form for half a surrogate pair, and libsql ends a text at the character 0. */
function toStorable(text: string): string {
  return toUSVString(text).replaceAll('\0', '\uFFFD');
}

/** Most events name no file and asked no hook. */
function formatList(texts: readonly string[]): string {
  return texts.length === 0 ? '[]' : JSON.stringify(texts.map((text) => toUSVString(text)));
}

const LATEST_DATE = 8.64e15;

/** Milliseconds of a date that JavaScript can show; a client may send anything. */
function toInteger(ms: number): number {
  if (!Number.isFinite(ms)) return 0;
  return Math.trunc(Math.min(Math.max(ms, -LATEST_DATE), LATEST_DATE));
}

/** The values as they lie in a row, for hashing them again. */
export function readEventValues(row: SqlRow): EventValues {
  return {
    fields: EVENT_COLUMNS.slice(0, -1).map((column) => {
      const value = row[column];
      return typeof value === 'string' || typeof value === 'number' ? value : null;
    }),
    payload: toBytes(row['payload']),
  };
}

export function toRowValues({ fields, payload }: EventValues): readonly SqlValue[] {
  return [...fields, payload];
}

/** Reads a row; a value of another type, which only somebody else can have written, becomes an empty one. */
export function toStoredEvent(row: SqlRow): StoredEvent {
  const { event, foreign_event: foreignEvent, workspace, tool, effect, origin } = row;
  return {
    sequence: toNumber(row['sequence']),
    hash: Buffer.from(toBytes(row['hash'])).toString('hex'),
    id: toText(row['id']) ?? '',
    at: toNumber(row['at']),
    receivedAt: toNumber(row['received_at']),
    agent: toText(row['agent']) ?? '',
    event: toText(event),
    foreignEvent: toText(foreignEvent),
    sessionId: toText(row['session_id']),
    workspace: toText(workspace),
    tool: toText(tool),
    paths: parseList(row['paths']),
    effect: toText(effect),
    hooks: parseList(row['hooks']),
    hasFailed: row['has_failed'] === 1,
    isVerified: row['is_verified'] === 1,
    origin: isOrigin(origin) ? origin : 'import',
    payload: toBytes(row['payload']),
  };
}

export function isOrigin(value: unknown): value is EventOrigin {
  return typeof value === 'string' && ORIGINS.has(value);
}

export function toNumber(value: unknown): number {
  return typeof value === 'number' ? value : Number(value ?? 0);
}

export function toBytes(value: unknown): Uint8Array {
  if (types.isUint8Array(value)) return value;
  if (types.isAnyArrayBuffer(value)) return new Uint8Array(value);
  return Buffer.from(typeof value === 'string' ? value : '');
}

function toText(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function parseList(value: unknown): readonly string[] {
  if (value === '[]' || typeof value !== 'string') return [];
  try {
    const list: unknown = JSON.parse(value);
    return Array.isArray(list) ? list.filter((each) => typeof each === 'string') : [];
  } catch {
    return [];
  }
}

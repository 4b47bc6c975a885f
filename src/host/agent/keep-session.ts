import { randomUUID } from 'node:crypto';
import { ulid } from 'ulid';
import type { SessionOptions } from '../../agent/session/prepare-session.ts';
import type { Clock } from '../../base/clock.ts';
import { HooklineError } from '../../base/errors.ts';
import { VERSION } from '../../base/version.ts';
import { createSessionStore } from '../../sessions/jsonl-session-store.ts';
import type { Message } from '../../sessions/messages.ts';
import { resolveSessionId } from '../../sessions/session-id.ts';
import type { ResumedSession, SessionStore, StoredSession } from '../../sessions/session-store.ts';
import type { OpenedHooks } from '../open-hooks.ts';

/** Which session is wanted: a new one, or one that is stored. */
export interface SessionWish {
  /** The id of a stored session to go on with, or its beginning; `latest` means the last one of this directory. */
  readonly resume?: string;
  /** Goes on in a copy of it. */
  readonly fork?: boolean;
  /** Works in a worktree of this name instead, which is made for it. */
  readonly worktree?: string;
  /** The id of a new one; its own by default. */
  readonly id?: string;
  /** What a new one takes as said already. */
  readonly said?: readonly Message[];
  /** A new one in the place of one that the person cleared. */
  readonly afterClear?: boolean;
}

/** A session, and where it is stored. */
export interface KeptSession {
  readonly id: string;
  readonly source: SessionOptions['source'];
  /** Null when nothing is kept. */
  readonly stored: StoredSession | null;
  readonly earlier: ResumedSession | null;
  readonly taskId: string;
  readonly ulid: string;
}

/** A session that is wanted, before anything of it is stored or read. */
export interface NamedSession {
  readonly id: string;
  /** The stored one that is gone on with, or copied; null for a new one. */
  readonly from: string | null;
}

/** Says which session is meant. Throws SESSION_UNKNOWN when there is none. */
export function nameSession(opened: OpenedHooks, clock: Clock, wish: SessionWish): NamedSession {
  const { resume, fork, id } = wish;
  if (resume === undefined) return { id: id ?? randomUUID(), from: null };
  const from = findStored(opened, clock, resume);
  return { id: fork === true ? randomUUID() : from, from };
}

function findStored(opened: OpenedHooks, clock: Clock, resume: string): string {
  const { stateDirectory, startDirectory } = opened;
  if (stateDirectory === null) throw nothingStored(startDirectory);
  if (resume !== 'latest') return resolveSessionId(stateDirectory, resume);
  const latest = openStore(opened, clock)?.findLatest(startDirectory) ?? null;
  if (latest === null) throw nothingStored(startDirectory);
  return latest;
}

export interface KeepRequest {
  readonly opened: OpenedHooks;
  readonly clock: Clock;
  readonly wish: SessionWish;
  readonly named: NamedSession;
  /** What is written down of a new one. */
  readonly facts: Pick<
    StoredSession['facts'],
    'startDirectory' | 'workspaceRoots' | 'model' | 'permissionMode'
  >;
}

/** Finds the place of a session on disk, and what is there already of one that is gone on with. */
export function keepSession({ opened, clock, wish, named, facts }: KeepRequest): KeptSession {
  const store = openStore(opened, clock);
  const { id, from } = named;
  if (from !== null) return goOn(store, { opened, id, from });
  const at = clock.now();
  const identity = { taskId: String(at), ulid: ulid(at) };
  const stored = store?.create({ ...facts, ...identity, id, createdAt: at }) ?? null;
  const source = wish.afterClear === true ? 'clear' : 'startup';
  return { id, source, stored, earlier: null, ...identity };
}

function openStore({ stateDirectory }: OpenedHooks, clock: Clock): SessionStore | null {
  if (stateDirectory === null) return null;
  return createSessionStore({ stateDirectory, clock, version: VERSION });
}

interface GoingOn {
  readonly opened: OpenedHooks;
  readonly id: string;
  readonly from: string;
}

function goOn(store: SessionStore | null, { opened, id, from }: GoingOn): KeptSession {
  if (store === null) throw nothingStored(opened.startDirectory);
  const isFork = id !== from;
  const earlier = isFork ? store.fork(from, id) : store.resume(id);
  const { facts } = earlier;
  const source = isFork ? 'fork' : 'resume';
  return { ...facts, source, stored: earlier, earlier };
}

function nothingStored(startDirectory: string): HooklineError {
  return new HooklineError('SESSION_UNKNOWN', {
    message: `no session is stored for ${startDirectory}`,
    hint: '`hookline sessions list` shows all that are.',
  });
}

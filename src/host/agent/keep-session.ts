import { randomUUID } from 'node:crypto';
import { ulid } from 'ulid';
import type { SessionOptions } from '../../agent/session/prepare-session.ts';
import type { Clock } from '../../base/clock.ts';
import { HooklineError } from '../../base/errors.ts';
import { VERSION } from '../../base/version.ts';
import { createSessionStore } from '../../sessions/json-lines.ts';
import type { Message } from '../../sessions/messages.ts';
import { resolveSessionId } from '../../sessions/session-id.ts';
import type { ResumedSession, SessionStore, StoredSession } from '../../sessions/store.ts';
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

export interface KeepRequest {
  readonly opened: OpenedHooks;
  readonly clock: Clock;
  readonly wish: SessionWish;
  /** What is written down of a new one. */
  readonly facts: Pick<
    StoredSession['facts'],
    'startDirectory' | 'workspaceRoots' | 'model' | 'permissionMode'
  >;
}

/** Finds the place of a session on disk, and what is there already of one that is gone on with. */
export function keepSession({ opened, clock, wish, facts }: KeepRequest): KeptSession {
  const store = openStore(opened, clock);
  const { resume, fork, afterClear } = wish;
  if (resume !== undefined) return goOn(store, { opened, resume, isFork: fork === true });
  const id = wish.id ?? randomUUID();
  const at = clock.now();
  const identity = { taskId: String(at), ulid: ulid(at) };
  const stored = store?.create({ ...facts, ...identity, id, createdAt: at }) ?? null;
  const source = afterClear === true ? 'clear' : 'startup';
  return { id, source, stored, earlier: null, ...identity };
}

function openStore({ stateDirectory }: OpenedHooks, clock: Clock): SessionStore | null {
  if (stateDirectory === null) return null;
  return createSessionStore({ stateDirectory, clock, version: VERSION });
}

interface GoingOn {
  readonly opened: OpenedHooks;
  readonly resume: string;
  readonly isFork: boolean;
}

function goOn(store: SessionStore | null, { opened, resume, isFork }: GoingOn): KeptSession {
  const { stateDirectory, startDirectory } = opened;
  if (store === null || stateDirectory === null) throw nothingStored(startDirectory);
  const id =
    resume === 'latest'
      ? store.findLatest(startDirectory)
      : resolveSessionId(stateDirectory, resume);
  if (id === null) throw nothingStored(startDirectory);
  const earlier = isFork ? store.fork(id, randomUUID()) : store.resume(id);
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

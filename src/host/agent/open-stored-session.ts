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
export interface SessionSelection {
  /** The id of a stored session to resume, or its beginning; `latest` means the last one of this directory. */
  readonly resume?: string;
  /** Resumes a copy of it. */
  readonly fork?: boolean;
  /** Works in a worktree of this name, which is created for it. */
  readonly worktree?: string;
  /** The id of a new session; a random one by default. */
  readonly id?: string;
  /** Messages that a new session begins with. */
  readonly said?: readonly Message[];
  /** Whether it replaces a session that the user cleared. */
  readonly afterClear?: boolean;
}

/** A session and its store. */
export interface OpenedStore {
  readonly id: string;
  readonly source: SessionOptions['source'];
  /** Null when nothing is stored. */
  readonly stored: StoredSession | null;
  readonly earlier: ResumedSession | null;
  readonly taskId: string;
  readonly ulid: string;
}

/** Which session is meant, before anything of it is stored or read. */
export interface SessionIdentity {
  readonly id: string;
  /** The stored session that is resumed or copied; null for a new one. */
  readonly from: string | null;
}

/** Resolves which session is wanted. Throws SESSION_UNKNOWN when there is none. */
export function resolveSession(
  opened: OpenedHooks,
  clock: Clock,
  selection: SessionSelection,
): SessionIdentity {
  const { resume, fork, id } = selection;
  if (resume === undefined) return { id: id ?? randomUUID(), from: null };
  const from = findStored(opened, clock, resume);
  return { id: fork === true ? randomUUID() : from, from };
}

function findStored(opened: OpenedHooks, clock: Clock, resume: string): string {
  const { stateDirectory, startDirectory } = opened;
  if (stateDirectory === null) throw createNothingStoredError(startDirectory);
  if (resume !== 'latest') return resolveSessionId(stateDirectory, resume);
  const latest = openStore(opened, clock)?.findLatest(startDirectory) ?? null;
  if (latest === null) throw createNothingStoredError(startDirectory);
  return latest;
}

/** What is stored of a new session. */
export type NewSessionFacts = Pick<
  StoredSession['facts'],
  'startDirectory' | 'workspaceRoots' | 'model' | 'permissionMode'
>;

/** Creates the files of a new session, or reads those of a stored one. */
export function openStoredSession(
  opened: OpenedHooks,
  clock: Clock,
  selection: SessionSelection,
  { id, from }: SessionIdentity,
  facts: NewSessionFacts,
): OpenedStore {
  const store = openStore(opened, clock);
  if (from !== null) {
    if (store === null) throw createNothingStoredError(opened.startDirectory);
    return resumeStored(store, id, from);
  }
  const at = clock.now();
  const identity = { taskId: String(at), ulid: ulid(at) };
  const stored = store?.create({ ...facts, ...identity, id, createdAt: at }) ?? null;
  const source = selection.afterClear === true ? 'clear' : 'startup';
  return { id, source, stored, earlier: null, ...identity };
}

function openStore({ stateDirectory }: OpenedHooks, clock: Clock): SessionStore | null {
  if (stateDirectory === null) return null;
  return createSessionStore({ stateDirectory, clock, version: VERSION });
}

function resumeStored(store: SessionStore, id: string, from: string): OpenedStore {
  const isFork = id !== from;
  const earlier = isFork ? store.fork(from, id) : store.resume(id);
  const { facts } = earlier;
  const source = isFork ? 'fork' : 'resume';
  return { ...facts, source, stored: earlier, earlier };
}

function createNothingStoredError(startDirectory: string): HooklineError {
  return new HooklineError('SESSION_UNKNOWN', {
    message: `no session is stored for ${startDirectory}`,
    hint: '`hookline sessions list` shows all that are.',
  });
}

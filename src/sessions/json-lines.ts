import { copyFileSync, mkdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Clock } from '../base/clock.ts';
import { errnoOf, HooklineError, messageOf } from '../base/errors.ts';
import { appendPrivateFile, createPrivateDirectory, isAbsent, isDirectory } from '../base/files.ts';
import { findLatestSession, listSessions } from './list-sessions.ts';
import { createStoredSession, orUnwritable, unwritable } from './create-stored-session.ts';
import { isSessionId, sessionsDirectory, unknownSession } from './session-id.ts';
import { claimSession, refuseIfHeld } from './claim-session.ts';
import {
  readRecord,
  recordOf,
  type SessionRecord,
  transcriptIn,
  writeRecord,
} from './session-record.ts';
import type { ResumedSession, SessionStore, StoredSession } from './store.ts';
import { type StoredConversation, readConversation } from './transcript/conversation.ts';

export interface SessionStoreOptions {
  readonly stateDirectory: string;
  readonly clock: Clock;
  /** Written into every line. */
  readonly version: string;
}

/**
 * Sessions as files: `<state>/sessions/<id>/` holds `transcript.jsonl`, which tells everything,
 * `session.json`, which saves reading it, the transcripts of sub-agents and what tools put there.
 * They stay until a person removes them: what was said cannot be had again.
 */
export function createSessionStore(options: SessionStoreOptions): SessionStore {
  const { version, clock } = options;
  const sessions = sessionsDirectory(options.stateDirectory);
  const resume = (id: string): ResumedSession =>
    resumeSession(findSession(sessions, id), { id, version });
  return {
    create: (facts) => createSession(sessions, recordOf(facts), version),
    resume,
    fork(id, newId) {
      const source = findSession(sessions, id);
      const { record } = readRecord(source);
      const facts = { ...record.facts, id: newId, createdAt: clock.now(), forkedFrom: id };
      copySession(source, path.join(sessions, checkedId(newId)), { ...record, facts });
      return resume(newId);
    },
    findLatest: (startDirectory) => findLatestSession(sessions, startDirectory),
    list: () => listSessions(sessions),
    remove: (id) => removeSession(findSession(sessions, id), id),
  };
}

function createSession(sessions: string, record: SessionRecord, version: string): StoredSession {
  const { id } = record.facts;
  const directory = path.join(sessions, checkedId(id));
  return makeDirectory(directory, () => {
    const release = claimSession(directory, id);
    writeRecord(directory, record);
    // Hooks are told of it before the first line.
    appendPrivateFile(transcriptIn(directory), '');
    return createStoredSession({
      directory,
      record,
      isGuessed: false,
      messageCount: 0,
      version,
      release,
    });
  });
}

function checkedId(id: string): string {
  if (isSessionId(id)) return id;
  throw new HooklineError('SESSION_UNWRITABLE', {
    message: `a session’s id should be letters, digits, dots and dashes, at most 128, found ${JSON.stringify(id)}`,
    hint: 'Choose another id.',
  });
}

/** Makes a directory and what is in it, or neither. */
function makeDirectory<Result>(directory: string, fill: () => Result): Result {
  return orUnwritable(directory, () => {
    createPrivateDirectory(path.dirname(directory));
    try {
      mkdirSync(directory, { mode: 0o700 });
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') throw error;
      throw unwritable(directory, 'there is a session of this id already');
    }
    try {
      return fill();
    } catch (error) {
      rmSync(directory, { recursive: true, force: true });
      throw error;
    }
  });
}

function findSession(sessions: string, id: string): string {
  const directory = path.join(sessions, id);
  if (isSessionId(id) && isDirectory(directory)) return directory;
  throw unknownSession(id);
}

interface Resuming {
  readonly id: string;
  readonly version: string;
}

function resumeSession(directory: string, { id, version }: Resuming): ResumedSession {
  const release = orUnwritable(directory, () => claimSession(directory, id));
  try {
    const { record, problem } = readRecord(directory);
    const { problems, cwd, ...conversation } = readStored(directory);
    const { messageCount } = conversation;
    return {
      ...createStoredSession({
        directory,
        record,
        isGuessed: problem !== null,
        messageCount,
        version,
        release,
      }),
      ...conversation,
      cwd: cwd ?? record.facts.startDirectory,
      title: record.title,
      problems: problem === null ? problems : [problem, ...problems],
    };
  } catch (error) {
    release();
    throw error;
  }
}

function readStored(directory: string): StoredConversation {
  const transcript = transcriptIn(directory);
  try {
    return readConversation(transcript);
  } catch (error) {
    if (isAbsent(error)) return { ...NOTHING_SAID, problems: [`${transcript} is missing`] };
    throw new HooklineError('SESSION_UNWRITABLE', {
      message: `the session’s transcript ${transcript} cannot be read: ${messageOf(error)}`,
      hint: 'Check its rights; going on without it would lose what was said.',
      cause: error,
    });
  }
}

const NOTHING_SAID: StoredConversation = {
  messages: [],
  messageCount: 0,
  cwd: null,
  lastMessageAt: null,
  deferred: null,
  contextTokens: 0,
  problems: [],
};

/** What sub-agents and tools left stays with the original. */
function copySession(source: string, directory: string, record: SessionRecord): void {
  makeDirectory(directory, () => {
    const transcript = transcriptIn(source);
    const isThere = statSync(transcript, { throwIfNoEntry: false }) !== undefined;
    if (isThere) copyFileSync(transcript, transcriptIn(directory));
    writeRecord(directory, record);
  });
}

function removeSession(directory: string, id: string): void {
  refuseIfHeld(directory, id);
  try {
    rmSync(directory, { recursive: true });
  } catch (error) {
    throw new HooklineError('CONFIG_UNWRITABLE', {
      message: `the session in ${directory} cannot be removed: ${messageOf(error)}`,
      hint: 'Check the rights of its directory.',
      cause: error,
    });
  }
}

import { copyFileSync, mkdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Clock } from '../base/clock.ts';
import { getErrorCode, HooklineError, getErrorMessage, isHooklineError } from '../base/errors.ts';
import {
  appendPrivateFile,
  createPrivateDirectory,
  isNotFoundError,
  isDirectory,
  isLink,
} from '../base/files.ts';
import {
  findLatestSession,
  listSessions,
  readRecord,
  createSessionRecord,
  type SessionRecord,
  getTranscriptPath,
  writeRecord,
  extractPrompt,
} from './session-record.ts';
import { isSessionId, getSessionsDirectory, createUnknownSessionError } from './session-id.ts';
import { lockSession, checkSessionUnlocked } from './session-locks.ts';
import type {
  ResumedSession,
  SessionStore,
  StoredSession,
  TranscriptEntry,
} from './session-store.ts';
import { type StoredConversation, readConversation } from './transcript/read-transcript.ts';
import { createBranchReader } from './git-branch.ts';
import { TranscriptFile } from './transcript/write-transcript.ts';

/**
 * Stores sessions as files: `<state>/sessions/<id>/` has `<id>.jsonl`, the complete record,
 * `session.json`, which saves reading it, the transcripts of sub-agents and files of tools. They stay
 * until the user removes them.
 */
export function createSessionStore(options: {
  readonly stateDirectory: string;
  readonly clock: Clock;
  /** Written into every line. */
  readonly version: string;
}): SessionStore {
  const { version, clock } = options;
  const sessions = getSessionsDirectory(options.stateDirectory);
  const resume = (id: string): ResumedSession =>
    resumeSession(findSession(sessions, id), id, version);
  return {
    create: (facts) => createSession(sessions, createSessionRecord(facts), version),
    resume,
    fork(id, newId) {
      const source = findSession(sessions, id);
      const { record } = readRecord(source);
      const facts = { ...record.facts, id: newId, createdAt: clock.now(), forkedFrom: id };
      copySession(source, path.join(sessions, checkSessionId(newId)), { ...record, facts });
      return resume(newId);
    },
    findLatest: (startDirectory) => findLatestSession(sessions, startDirectory),
    list: () => listSessions(sessions),
    remove: (id) => removeSession(findSession(sessions, id), id),
  };
}

function createSession(sessions: string, record: SessionRecord, version: string): StoredSession {
  const { id } = record.facts;
  const directory = path.join(sessions, checkSessionId(id));
  return createDirectory(directory, () => {
    const release = lockSession(directory, id);
    writeRecord(directory, record);
    // Hooks get its path before the first line is written.
    appendPrivateFile(getTranscriptPath(directory), '');
    return createStoredSession({
      directory,
      record,
      isRecordUnreadable: false,
      messageCount: 0,
      version,
      release,
    });
  });
}

function checkSessionId(id: string): string {
  if (isSessionId(id)) return id;
  throw new HooklineError('SESSION_UNWRITABLE', {
    message: `a session’s id should be letters, digits, dots and dashes, at most 128, found ${JSON.stringify(id)}`,
    hint: 'Choose another id.',
  });
}

/** Creates and fills a directory; removes it when filling fails. */
function createDirectory<Result>(directory: string, fill: () => Result): Result {
  return wrapWriteErrors(directory, () => {
    createPrivateDirectory(path.dirname(directory));
    try {
      mkdirSync(directory, { mode: 0o700 });
    } catch (error) {
      if (getErrorCode(error) !== 'EEXIST') throw error;
      throw createUnwritableError(directory, 'a session with this id already exists');
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
  throw createUnknownSessionError(id);
}

function resumeSession(directory: string, id: string, version: string): ResumedSession {
  checkStoredHere(directory);
  const release = wrapWriteErrors(directory, () => lockSession(directory, id));
  try {
    const { record, problem } = readRecord(directory);
    const { problems, cwd, ...conversation } = readStoredConversation(directory);
    const { messageCount } = conversation;
    return {
      ...createStoredSession({
        directory,
        record,
        isRecordUnreadable: problem !== null,
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

/** A session that somebody copied here may hold links, through which its lines would be written elsewhere. */
function checkStoredHere(directory: string): void {
  const places = [directory, getTranscriptPath(directory), getAgentsDirectory(directory)];
  const link = places.find(isLink);
  if (link === undefined) return;
  throw new HooklineError('SESSION_UNWRITABLE', {
    message: `the session should be stored in ${directory}, found a link at ${link}`,
    hint: 'Put the file or directory itself there, or start another session.',
  });
}

function readStoredConversation(directory: string): StoredConversation {
  const transcript = getTranscriptPath(directory);
  try {
    return readConversation(transcript);
  } catch (error) {
    if (isNotFoundError(error)) {
      return { ...EMPTY_CONVERSATION, problems: [`${transcript} is missing`] };
    }
    throw new HooklineError('SESSION_UNWRITABLE', {
      message: `the session’s transcript ${transcript} cannot be read: ${getErrorMessage(error)}`,
      hint: 'Check its permissions; without it the conversation would be lost.',
      cause: error,
    });
  }
}

const EMPTY_CONVERSATION: StoredConversation = {
  messages: [],
  messageCount: 0,
  cwd: null,
  lastMessageAt: null,
  deferred: null,
  contextTokens: 0,
  problems: [],
};

/** Files of sub-agents and tools are not copied. */
function copySession(source: string, directory: string, record: SessionRecord): void {
  createDirectory(directory, () => {
    const transcript = getTranscriptPath(source);
    const exists = statSync(transcript, { throwIfNoEntry: false }) !== undefined;
    if (exists) copyFileSync(transcript, getTranscriptPath(directory));
    writeRecord(directory, record);
  });
}

function removeSession(directory: string, id: string): void {
  checkSessionUnlocked(directory, id);
  try {
    rmSync(directory, { recursive: true });
  } catch (error) {
    throw new HooklineError('CONFIG_UNWRITABLE', {
      message: `the session in ${directory} cannot be removed: ${getErrorMessage(error)}`,
      hint: 'Check the permissions of its directory.',
      cause: error,
    });
  }
}

interface OpenedSession {
  readonly directory: string;
  readonly record: SessionRecord;
  /** Whether session.json could not be read. */
  readonly isRecordUnreadable: boolean;
  readonly messageCount: number;
  readonly version: string;
  /** Releases the session for other processes. */
  readonly release: () => void;
}

/** Writes a session that this process has locked. */
function createStoredSession(opened: OpenedSession): StoredSession {
  const { directory, release } = opened;
  const recordWriter = new RecordWriter(opened);
  const appendEntry = createEntryWriter(opened);
  let isOpen = true;
  return {
    facts: opened.record.facts,
    directory,
    transcriptPath: getTranscriptPath(directory),
    append(entry) {
      if (!isOpen) throw createUnwritableError(directory, 'it was closed');
      const uuid = appendEntry(entry);
      if (entry.agentId === undefined) recordWriter.update(entry);
      return uuid;
    },
    agentTranscriptPath: (agentId) => getAgentTranscriptPath(directory, agentId),
    rename: (title) => recordWriter.rename(title),
    close() {
      if (!isOpen) return;
      isOpen = false;
      try {
        recordWriter.close();
      } finally {
        release();
      }
    },
  };
}

function createEntryWriter({ directory, record, version }: OpenedSession): StoredSession['append'] {
  const { id: sessionId, startDirectory, model } = record.facts;
  const branch = createBranchReader(startDirectory);
  const transcripts = new Map<string, TranscriptFile>();
  const main = getTranscriptPath(directory);
  return (entry) => {
    const { agentId } = entry;
    const file = agentId === undefined ? main : getAgentTranscriptPath(directory, agentId);
    const transcript = transcripts.get(file) ?? new TranscriptFile(file);
    transcripts.set(file, transcript);
    return wrapWriteErrors(file, () =>
      transcript.append(entry, { sessionId, version, modelId: model.id, gitBranch: branch() }),
    );
  };
}

/** May fail: listing then reads the transcript instead. */
function tryWriteRecord(directory: string, record: SessionRecord): boolean {
  try {
    writeRecord(directory, record);
    return true;
  } catch {
    return false;
  }
}

/** A shorter transcript is read faster than its count is stored. */
const MIN_COUNTED_BYTES = 256 * 1024;

/** Writes session.json, so that listing need not read the transcript. */
class RecordWriter {
  readonly #directory: string;
  readonly #isRecordUnreadable: boolean;
  #record: SessionRecord;
  #messageCount: number;

  constructor({ directory, isRecordUnreadable, record, messageCount }: OpenedSession) {
    this.#directory = directory;
    this.#isRecordUnreadable = isRecordUnreadable;
    this.#record = record;
    this.#messageCount = messageCount;
  }

  update(entry: TranscriptEntry): void {
    if (entry.type === 'message' || entry.type === 'compaction') this.#messageCount += 1;
    if (this.#record.firstPrompt !== '' || entry.type !== 'message') return;
    const firstPrompt = extractPrompt(entry);
    if (firstPrompt !== null) this.#record = { ...this.#record, firstPrompt };
  }

  rename(title: string): void {
    const record = { ...this.#record, title };
    wrapWriteErrors(this.#directory, () => writeRecord(this.#directory, record));
    this.#record = record;
  }

  close(): void {
    const transcript = getTranscriptPath(this.#directory);
    const bytes = statSync(transcript, { throwIfNoEntry: false })?.size;
    // The session was removed by hand.
    if (bytes === undefined) return;
    // Replacing a file forces a flush, which takes longer than a short run.
    const isShort = bytes - this.#record.counted.bytes < MIN_COUNTED_BYTES;
    if (isShort && !this.#isRecordUnreadable) return;
    this.#record = { ...this.#record, counted: { messages: this.#messageCount, bytes } };
    tryWriteRecord(this.#directory, this.#record);
  }
}

function getAgentTranscriptPath(directory: string, agentId: string): string {
  const name = agentId.replaceAll(/[^\w-]/gu, '-').slice(0, MAX_NAME_LENGTH);
  return path.join(getAgentsDirectory(directory), `agent-${name}.jsonl`);
}

function getAgentsDirectory(directory: string): string {
  return path.join(directory, 'subagents');
}

const MAX_NAME_LENGTH = 128;

/** Runs a write; throws SESSION_UNWRITABLE when it fails. */
function wrapWriteErrors<Result>(place: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (isHooklineError(error)) throw error;
    throw createUnwritableError(place, getErrorMessage(error), error);
  }
}

function createUnwritableError(place: string, why: string, cause?: unknown): HooklineError {
  return new HooklineError('SESSION_UNWRITABLE', {
    message: `the session cannot be stored in ${place}: ${why}`,
    hint: 'Free space and check the permissions there, or set another directory in HOOKLINE_HOME.',
    cause,
  });
}

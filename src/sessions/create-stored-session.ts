import { statSync } from 'node:fs';
import path from 'node:path';
import { HooklineError, isHooklineError, getErrorMessage } from '../base/errors.ts';
import { createBranchReader } from './git-branch.ts';
import type { ReleaseLock } from './claim-session.ts';
import {
  extractPrompt,
  type SessionRecord,
  getTranscriptPath,
  writeRecord,
} from './session-record.ts';
import type { StoredSession, TranscriptEntry } from './store.ts';
import { formatEntryLines } from './transcript/entry-lines.ts';
import { openTranscript, type TranscriptFile } from './transcript/transcript-file.ts';

export interface OpenedSession {
  readonly directory: string;
  readonly record: SessionRecord;
  /** Whether there was no record that could be read. */
  readonly isGuessed: boolean;
  readonly messageCount: number;
  readonly version: string;
  readonly release: ReleaseLock;
}

/** Writes a session that this process has claimed. */
export function createStoredSession(opened: OpenedSession): StoredSession {
  const { directory, release } = opened;
  const keeper = createRecordKeeper(opened);
  const write = createWriter(opened);
  let isOpen = true;
  return {
    facts: opened.record.facts,
    directory,
    transcriptPath: getTranscriptPath(directory),
    append(entry) {
      if (!isOpen) throw createUnwritableError(directory, 'it was closed');
      const uuid = write(entry);
      if (entry.agentId === undefined) keeper.notice(entry);
      return uuid;
    },
    agentTranscriptPath: (agentId) => transcriptOf(directory, agentId),
    rename: (title) => keeper.rename(title),
    close() {
      if (!isOpen) return;
      isOpen = false;
      try {
        keeper.settle();
      } finally {
        release();
      }
    },
  };
}

function createWriter({ directory, record, version }: OpenedSession): StoredSession['append'] {
  const { id: sessionId, startDirectory, model } = record.facts;
  const branch = createBranchReader(startDirectory);
  const transcripts = new Map<string, TranscriptFile>();
  return (entry) => {
    const file = transcriptOf(directory, entry.agentId);
    const transcript = transcripts.get(file) ?? openTranscript(file);
    transcripts.set(file, transcript);
    const frame = { sessionId, version, modelId: model.id, gitBranch: branch() };
    return wrapWriteErrors(file, () =>
      transcript.append((parentUuid) => formatEntryLines(entry, { ...frame, parentUuid })),
    );
  };
}

interface RecordKeeper {
  notice(entry: TranscriptEntry): void;
  rename(title: string): void;
  settle(): void;
}

/** It may fail: the transcript tells as much to whoever reads all of it. */
function isKept(directory: string, record: SessionRecord): boolean {
  try {
    writeRecord(directory, record);
    return true;
  } catch {
    return false;
  }
}

/** A shorter transcript is read in less time than it takes to note what it says. */
const WORTH_COUNTING_BYTES = 256 * 1024;

/** Keeps what listing needs to know, so that it need not read the transcript. */
function createRecordKeeper(opened: OpenedSession): RecordKeeper {
  const { directory } = opened;
  let { record, messageCount } = opened;
  return {
    notice(entry) {
      if (entry.type === 'message' || entry.type === 'compaction') messageCount += 1;
      if (record.firstPrompt !== '' || entry.type !== 'message') return;
      const firstPrompt = extractPrompt(entry);
      if (firstPrompt !== null) record = { ...record, firstPrompt };
    },
    rename(title) {
      wrapWriteErrors(directory, () => writeRecord(directory, { ...record, title }));
      record = { ...record, title };
    },
    settle() {
      const bytes = statSync(getTranscriptPath(directory), { throwIfNoEntry: false })?.size;
      // Somebody has removed the session by hand.
      if (bytes === undefined) return;
      // Replacing a file makes the system write it out at once, which takes longer than a short run.
      const isShort = bytes - record.counted.bytes < WORTH_COUNTING_BYTES;
      if (isShort && !opened.isGuessed) return;
      record = { ...record, counted: { messages: messageCount, bytes } };
      isKept(directory, record);
    },
  };
}

function transcriptOf(directory: string, agentId: string | undefined): string {
  if (agentId === undefined) return getTranscriptPath(directory);
  const name = agentId.replaceAll(/[^\w-]/gu, '-').slice(0, LONGEST_NAME);
  return path.join(directory, 'subagents', `agent-${name}.jsonl`);
}

const LONGEST_NAME = 128;

/** Does what writes; throws SESSION_UNWRITABLE when the machine refuses. */
export function wrapWriteErrors<Result>(place: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (isHooklineError(error)) throw error;
    throw createUnwritableError(place, getErrorMessage(error), error);
  }
}

export function createUnwritableError(place: string, why: string, cause?: unknown): HooklineError {
  return new HooklineError('SESSION_UNWRITABLE', {
    message: `the session cannot be stored in ${place}: ${why}`,
    hint: 'Make room and check the rights there, or name another place in HOOKLINE_HOME.',
    cause,
  });
}

import { statSync } from 'node:fs';
import path from 'node:path';
import { getErrorMessage } from '../base/errors.ts';
import { findRealPath } from '../base/paths.ts';
import { readSessionIds } from './session-id.ts';
import {
  findFirstPrompt,
  readRecord,
  type SessionRecord,
  getTranscriptPath,
} from './session-record.ts';
import type { SessionSummary } from './session-store.ts';
import { countMessages } from './transcript/conversation.ts';

/** All sessions, the last used one first. A broken one is listed with its problem. */
export function listSessions(sessions: string): readonly SessionSummary[] {
  return readSessionIds(sessions)
    .map((id) => summarizeSession(path.join(sessions, id), id))
    .toSorted((one, other) => other.lastUsedAt - one.lastUsedAt || compareIds(one.id, other.id));
}

function compareIds(one: string, other: string): number {
  return one < other ? -1 : 1;
}

function summarizeSession(directory: string, id: string): SessionSummary {
  const { record, problem } = readRecord(directory);
  const { facts, title, firstPrompt } = record;
  const transcript = findTranscript(directory);
  const counted =
    transcript === null
      ? MISSING_TRANSCRIPT
      : countSessionMessages(directory, record, transcript.bytes);
  return {
    id,
    title,
    firstPrompt:
      firstPrompt === '' && counted.messages > 0 ? findFirstPrompt(directory) : firstPrompt,
    startDirectory: facts.startDirectory,
    model: facts.model.id,
    createdAt: facts.createdAt,
    lastUsedAt: transcript?.changedAt ?? facts.createdAt,
    messageCount: counted.messages,
    problem: problem ?? counted.problem,
  };
}

interface Transcript {
  readonly bytes: number;
  readonly changedAt: number;
}

function findTranscript(directory: string): Transcript | null {
  try {
    const { size: bytes, mtimeMs: changedAt } = statSync(getTranscriptPath(directory));
    return { bytes, changedAt };
  } catch {
    return null;
  }
}

interface MessageCount {
  readonly messages: number;
  readonly problem: string | null;
}

const MISSING_TRANSCRIPT: MessageCount = {
  messages: 0,
  problem: 'its transcript is missing or not accessible',
};

/** Reads only what was added since the stored count: nothing, for a session that was closed. */
function countSessionMessages(
  directory: string,
  { counted }: SessionRecord,
  bytes: number,
): MessageCount {
  if (counted.bytes === bytes) return { messages: counted.messages, problem: null };
  const from = counted.bytes < bytes ? counted : { messages: 0, bytes: 0 };
  try {
    const more = countMessages(getTranscriptPath(directory), from.bytes);
    return { messages: from.messages + more, problem: null };
  } catch (error) {
    const problem = `its transcript cannot be read: ${getErrorMessage(error)}`;
    return { messages: from.messages, problem };
  }
}

/** The session of this directory with the latest message; null when there is none. */
export function findLatestSession(sessions: string, startDirectory: string): string | null {
  const directory = resolveOrSame(startDirectory);
  const isInDirectory = (id: string): boolean => {
    const { record } = readRecord(path.join(sessions, id));
    return resolveOrSame(record.facts.startDirectory) === directory;
  };
  const used = readSessionIds(sessions).flatMap((id) => {
    const transcript = findTranscript(path.join(sessions, id));
    return transcript === null || transcript.bytes === 0 ? [] : [{ id, ...transcript }];
  });
  const latestFirst = used.toSorted((one, other) => other.changedAt - one.changedAt);
  return latestFirst.find(({ id }) => isInDirectory(id))?.id ?? null;
}

function resolveOrSame(directory: string): string {
  return findRealPath(directory) ?? directory;
}

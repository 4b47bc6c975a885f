import { existsSync, readdirSync, renameSync, rmSync, writeFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { getErrorMessage } from '../base/errors.ts';
import { readTextIfPresent } from '../base/files.ts';
import { truncateText, isRecord, parseJson } from '../base/json.ts';
import { type Message, getMessageText } from './messages.ts';
import type { SessionFacts, SessionSummary } from './session-store.ts';
import { readTranscript, countMessages } from './transcript/read-transcript.ts';
import { findRealPath } from '../base/paths.ts';
import { readSessionIds } from './session-id.ts';

/** The content of `session.json`. */
export interface SessionRecord {
  readonly facts: SessionFacts;
  readonly title: string | null;
  /** Truncated; empty until there is one. */
  readonly firstPrompt: string;
  /** The number of messages when the transcript had this many bytes. */
  readonly counted: { readonly messages: number; readonly bytes: number };
}

export function createSessionRecord(facts: SessionFacts): SessionRecord {
  return { facts, title: null, firstPrompt: '', counted: { messages: 0, bytes: 0 } };
}

const RECORD_FILE = 'session.json';
const TRANSCRIPT_EXTENSION = '.jsonl';

/** The transcript of a session, named after it, because hooks take the file's name for the session's id. */
export function getTranscriptPath(directory: string): string {
  const file = path.join(directory, `${path.basename(directory)}${TRANSCRIPT_EXTENSION}`);
  if (existsSync(file)) return file;
  const other = findOtherTranscript(directory);
  return other === undefined ? file : path.join(directory, other);
}

/** Earlier versions named it `transcript.jsonl`, and a copied directory has the name of its original. */
function findOtherTranscript(directory: string): string | undefined {
  try {
    return readdirSync(directory).find((name) => name.endsWith(TRANSCRIPT_EXTENSION));
  } catch {
    return undefined;
  }
}

/** Replaces the record in one step; throws on failure. Only the process with the lock may write it. */
export function writeRecord(directory: string, record: SessionRecord): void {
  const file = path.join(directory, RECORD_FILE);
  const temporary = `${file}.tmp`;
  try {
    writeFileSync(temporary, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** The record, or one recovered from the transcript when session.json cannot be read. */
export function readRecord(directory: string): {
  readonly record: SessionRecord;
  readonly problem: string | null;
} {
  const file = path.join(directory, RECORD_FILE);
  const read = parseRecordFile(file);
  if (typeof read !== 'string') return { record: withDirectoryId(read, directory), problem: null };
  const problem = `${file} ${read}; its content is recovered from the transcript`;
  return { record: recoverRecord(directory), problem };
}

/** A copied directory is a separate session. */
function withDirectoryId(record: SessionRecord, directory: string): SessionRecord {
  return { ...record, facts: { ...record.facts, id: path.basename(directory) } };
}

/** The record, or the problem with it. */
function parseRecordFile(file: string): SessionRecord | string {
  try {
    const text = readTextIfPresent(file);
    if (text === null) return 'is missing';
    const parsed = parseJson(text);
    return (parsed.ok ? parseRecord(parsed.value) : null) ?? 'is not a valid session record';
  } catch (error) {
    return `cannot be read: ${getErrorMessage(error)}`;
  }
}

function parseRecord(value: unknown): SessionRecord | null {
  if (!isRecord(value)) return null;
  const facts = parseFacts(value['facts']);
  if (facts === null) return null;
  const { title, firstPrompt, counted } = value;
  const { messages, bytes } = isRecord(counted) ? counted : {};
  const isCounted = typeof messages === 'number' && typeof bytes === 'number';
  return {
    facts,
    title: typeof title === 'string' ? title : null,
    firstPrompt: typeof firstPrompt === 'string' ? firstPrompt : '',
    counted: isCounted ? { messages, bytes } : { messages: 0, bytes: 0 },
  };
}

function parseFacts(value: unknown): SessionFacts | null {
  if (!isRecord(value)) return null;
  const { id, startDirectory, workspaceRoots, permissionMode, createdAt } = value;
  const { taskId, ulid, forkedFrom } = value;
  const model = parseModel(value['model']);
  if (typeof id !== 'string' || typeof startDirectory !== 'string' || model === null) return null;
  if (typeof permissionMode !== 'string' || typeof createdAt !== 'number') return null;
  if (typeof taskId !== 'string' || typeof ulid !== 'string') return null;
  if (!Array.isArray(workspaceRoots)) return null;
  const roots = workspaceRoots.filter((root) => typeof root === 'string');
  const facts = { id, startDirectory, workspaceRoots: roots, model, permissionMode, createdAt };
  const origin = typeof forkedFrom === 'string' ? { forkedFrom } : {};
  return { ...facts, taskId, ulid, ...origin };
}

function parseModel(value: unknown): SessionFacts['model'] | null {
  const { provider, id } = isRecord(value) ? value : {};
  return typeof provider === 'string' && typeof id === 'string' ? { provider, id } : null;
}

const MAX_HEAD_LINES = 200;

function recoverRecord(directory: string): SessionRecord {
  const head = readHead(getTranscriptPath(directory));
  const startDirectory = head.cwd ?? '';
  const facts: SessionFacts = {
    id: path.basename(directory),
    startDirectory,
    workspaceRoots: startDirectory === '' ? [] : [startDirectory],
    model: { provider: '', id: head.model ?? '' },
    permissionMode: 'default',
    createdAt: head.at ?? 0,
    taskId: String(head.at ?? 0),
    ulid: '',
  };
  return { ...createSessionRecord(facts), firstPrompt: head.prompt ?? '' };
}

/** The facts in the first lines of a transcript, as far as it can be read. */
function readHead(transcript: string) {
  let cwd: string | null = null;
  let at: number | null = null;
  let model: string | null = null;
  let prompt: string | null = null;
  let lines = 0;
  try {
    for (const line of readTranscript(transcript, () => undefined)) {
      const message = line.type === 'message' ? line : null;
      cwd ??= line.cwd;
      at ??= line.at;
      model ??= message?.model ?? null;
      prompt ??= message === null ? null : extractPrompt(message);
      lines += 1;
      if (lines === MAX_HEAD_LINES || (model !== null && prompt !== null)) break;
    }
  } catch {
    // Listing and resuming report that the transcript cannot be read.
    return { cwd, at, model, prompt };
  }
  return { cwd, at, model, prompt };
}

/** The beginning of the first prompt, for a record without it. */
function findFirstPrompt(directory: string): string {
  return readHead(getTranscriptPath(directory)).prompt ?? '';
}

const MAX_PROMPT_LENGTH = 500;

/** The beginning of a prompt that the user typed; null for other messages. */
export function extractPrompt({
  message,
  isMeta,
  isSummary,
}: {
  readonly message: Message;
  readonly isMeta?: boolean;
  readonly isSummary?: boolean;
}): string | null {
  const isTyped = message.role === 'user' && isMeta !== true && isSummary !== true;
  const text = isTyped ? getMessageText(message) : '';
  return text === '' ? null : truncateText(text, MAX_PROMPT_LENGTH);
}

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

function findTranscript(directory: string) {
  try {
    const { size: bytes, mtimeMs: changedAt } = statSync(getTranscriptPath(directory));
    return { bytes, changedAt };
  } catch {
    return null;
  }
}

const MISSING_TRANSCRIPT = {
  messages: 0,
  problem: 'its transcript is missing or not accessible',
};

/** Reads only what was added since the stored count: nothing, for a session that was closed. */
function countSessionMessages(directory: string, { counted }: SessionRecord, bytes: number) {
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

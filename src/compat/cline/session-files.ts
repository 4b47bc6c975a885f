import path from 'node:path';
import { systemClock } from '../../base/clock.ts';
import { dropUndefined } from '../../base/defined.ts';
import { getErrorMessage } from '../../base/errors.ts';
import { readTextIfPresent, writePrivateFile } from '../../base/files.ts';
import { isRecord, parseJson } from '../../base/json.ts';
import type { ProviderMessage } from '../../plugins/contract/message.ts';
import type { AgentUsage } from '../../plugins/contract/snapshot.ts';
import type { Message } from '../../sessions/messages.ts';
import type { ClineCoreStartInput } from './start-input.ts';
import { VERSION } from '../../base/version.ts';
import { readSurroundings, getStateDirectory } from '../../host/surroundings.ts';
import { createSessionStore } from '../../sessions/jsonl-session-store.ts';
import { isSessionId, getSessionsDirectory } from '../../sessions/session-id.ts';
import { getTranscriptPath } from '../../sessions/session-record.ts';
import type { SessionStore } from '../../sessions/session-store.ts';
import { readConversation } from '../../sessions/transcript/read-transcript.ts';
import { SessionNotFoundError } from './errors.ts';

export type SessionStatus = 'idle' | 'running' | 'pending' | 'completed' | 'failed' | 'cancelled';

/** The record of a session, as `get` and `list` return it. */
export interface SessionRecord {
  sessionId: string;
  source: string;
  pid: number;
  startedAt: string;
  endedAt?: string;
  exitCode?: number | null;
  status: SessionStatus;
  interactive: boolean;
  provider: string;
  model: string;
  cwd: string;
  workspaceRoot: string;
  enableTools: boolean;
  enableSpawn: boolean;
  enableTeams: boolean;
  isSubagent: boolean;
  prompt?: string;
  metadata?: Record<string, unknown>;
  messagesPath?: string;
  updatedAt: string;
}

/** Creates the record of a session that begins now. */
export function createRecord(id: string, input: ClineCoreStartInput, cwd: string): SessionRecord {
  const { config, interactive, prompt, sessionMetadata, source } = input;
  const now = new Date(systemClock.now()).toISOString();
  return {
    sessionId: id,
    source: source ?? 'core',
    pid: process.pid,
    startedAt: now,
    status: prompt === undefined ? 'idle' : 'running',
    interactive: interactive === true,
    provider: config.providerId,
    model: config.modelId,
    cwd,
    workspaceRoot: config.workspaceRoot ?? cwd,
    enableTools: config.enableTools !== false,
    enableSpawn: config.enableSpawnAgent !== false,
    enableTeams: false,
    isSubagent: false,
    ...dropUndefined({ prompt, metadata: sessionMetadata }),
    updatedAt: now,
  };
}

/** The record as it stands in its file. */
export interface SessionManifest {
  version: 1;
  session_id: string;
  source: string;
  pid: number;
  started_at: string;
  ended_at?: string;
  exit_code?: number | null;
  status: SessionStatus;
  interactive: boolean;
  provider: string;
  model: string;
  cwd: string;
  workspace_root: string;
  enable_tools: boolean;
  enable_spawn: boolean;
  enable_teams: boolean;
  prompt?: string;
  metadata?: Record<string, unknown>;
  messages_path?: string;
}

/** The whole state of a session, as the event `session_snapshot` has it. */
export interface CoreSessionSnapshot {
  version: 1;
  sessionId: string;
  source: string;
  status: SessionStatus;
  createdAt: string;
  updatedAt: string;
  endedAt: string | null;
  exitCode: number | null;
  interactive: boolean;
  workspace: { cwd: string; root: string };
  model: { providerId: string; modelId: string };
  capabilities: { enableTools: boolean; enableSpawn: boolean; enableTeams: boolean };
  lineage: { isSubagent: boolean };
  prompt?: string;
  metadata?: Record<string, unknown>;
  artifacts?: { messagesPath?: string };
  usage?: AgentUsage;
  aggregateUsage?: AgentUsage;
}

export function createSessionSnapshot(
  record: SessionRecord,
  usage: AgentUsage | null,
): CoreSessionSnapshot {
  const { prompt, metadata, messagesPath } = record;
  return {
    version: 1,
    sessionId: record.sessionId,
    source: record.source,
    status: record.status,
    createdAt: record.startedAt,
    updatedAt: record.updatedAt,
    endedAt: record.endedAt ?? null,
    exitCode: record.exitCode ?? null,
    interactive: record.interactive,
    workspace: { cwd: record.cwd, root: record.workspaceRoot },
    model: { providerId: record.provider, modelId: record.model },
    capabilities: {
      enableTools: record.enableTools,
      enableSpawn: record.enableSpawn,
      enableTeams: record.enableTeams,
    },
    lineage: { isSubagent: record.isSubagent },
    ...dropUndefined({ prompt, metadata }),
    artifacts: dropUndefined({ messagesPath }),
    ...(usage === null ? {} : { usage, aggregateUsage: usage }),
  };
}

export interface SessionFiles {
  readonly manifestPath: string;
  readonly messagesPath: string;
}

/** Resolves the files that Cline's programs read, beside our own transcript. */
export function resolveFiles(sessionsDirectory: string | null, id: string): SessionFiles {
  if (sessionsDirectory === null) return { manifestPath: '', messagesPath: '' };
  const directory = path.join(sessionsDirectory, id);
  return {
    manifestPath: path.join(directory, `${id}.json`),
    messagesPath: path.join(directory, `${id}.messages.json`),
  };
}

export function toManifest(record: SessionRecord): SessionManifest {
  const { endedAt, exitCode, prompt, metadata, messagesPath } = record;
  return {
    version: 1,
    session_id: record.sessionId,
    source: record.source,
    pid: record.pid,
    started_at: record.startedAt,
    ...dropUndefined({ ended_at: endedAt, exit_code: exitCode }),
    status: record.status,
    interactive: record.interactive,
    provider: record.provider,
    model: record.model,
    cwd: record.cwd,
    workspace_root: record.workspaceRoot,
    enable_tools: record.enableTools,
    enable_spawn: record.enableSpawn,
    enable_teams: record.enableTeams,
    ...dropUndefined({ prompt, metadata, messages_path: messagesPath }),
  };
}

/** The record in a manifest file; null when the file cannot be read. */
function readManifest({ manifestPath, messagesPath }: SessionFiles): SessionRecord | null {
  const read = parseJson(readIfReadable(manifestPath) ?? '');
  if (!read.ok || !isRecord(read.value)) return null;
  const fields = read.value;
  const readText = (key: string): string => (typeof fields[key] === 'string' ? fields[key] : '');
  const { pid, exit_code: exitCode, metadata, prompt } = fields;
  const endedAt = readText('ended_at');
  return {
    sessionId: readText('session_id'),
    source: readText('source'),
    pid: typeof pid === 'number' ? pid : 0,
    startedAt: readText('started_at'),
    ...(endedAt === '' ? {} : { endedAt }),
    ...(typeof exitCode === 'number' ? { exitCode } : {}),
    status: readStatus(fields['status']),
    interactive: fields['interactive'] === true,
    provider: readText('provider'),
    model: readText('model'),
    cwd: readText('cwd'),
    workspaceRoot: readText('workspace_root'),
    enableTools: fields['enable_tools'] === true,
    enableSpawn: fields['enable_spawn'] === true,
    enableTeams: fields['enable_teams'] === true,
    isSubagent: false,
    ...(typeof prompt === 'string' ? { prompt } : {}),
    ...(isRecord(metadata) ? { metadata } : {}),
    messagesPath,
    updatedAt: endedAt === '' ? readText('started_at') : endedAt,
  };
}

const STATUSES: readonly SessionStatus[] = [
  'idle',
  'running',
  'pending',
  'completed',
  'failed',
  'cancelled',
];

function readStatus(value: unknown): SessionStatus {
  return STATUSES.find((status) => status === value) ?? 'completed';
}

function readIfReadable(file: string): string | null {
  try {
    return file === '' ? null : readTextIfPresent(file);
  } catch {
    return null;
  }
}

/** Writes both files; a failure is only reported, because the transcript has everything. */
export async function writeFiles(
  { manifestPath, messagesPath }: SessionFiles,
  record: SessionRecord,
  messages: readonly ProviderMessage[],
): Promise<string | null> {
  if (manifestPath === '') return null;
  const stored = {
    version: 1,
    updated_at: new Date(systemClock.now()).toISOString(),
    sessionId: record.sessionId,
    messages,
  };
  try {
    await writePrivateFile(manifestPath, `${JSON.stringify(toManifest(record), null, 2)}\n`);
    await writePrivateFile(messagesPath, `${JSON.stringify(stored)}\n`);
    return null;
  } catch (error) {
    return `what the session is like could not be written to ${manifestPath}: ${getErrorMessage(error)}`;
  }
}

/** Lists the ids of all sessions on this machine, most recently used first. */
export function listStoredIds(): readonly string[] {
  return (
    openStore()
      ?.list()
      .map(({ id }) => id) ?? []
  );
}

/** Finds the record of a session that is not open here. */
export function findStoredRecord(id: string): SessionRecord | undefined {
  const state = getStateDirectory(readSurroundings());
  if (state === null || !isSessionId(id)) return undefined;
  return readManifest(resolveFiles(getSessionsDirectory(state), id)) ?? findForeignRecord(id);
}

/** Finds the record of a session that the command line or an editor started. */
function findForeignRecord(id: string): SessionRecord | undefined {
  const found = openStore()
    ?.list()
    .find((each) => each.id === id);
  if (found === undefined) return undefined;
  const { firstPrompt, startDirectory, model, createdAt, lastUsedAt, title } = found;
  return {
    sessionId: id,
    source: 'hookline',
    pid: 0,
    startedAt: new Date(createdAt).toISOString(),
    status: 'completed',
    interactive: false,
    provider: '',
    model,
    cwd: startDirectory,
    workspaceRoot: startDirectory,
    enableTools: true,
    enableSpawn: true,
    enableTeams: false,
    isSubagent: false,
    prompt: firstPrompt,
    ...(title === null ? {} : { metadata: { title } }),
    updatedAt: new Date(lastUsedAt).toISOString(),
  };
}

/** Throws SessionNotFoundError when there is nothing to read. */
export function readStoredMessages(id: string): readonly Message[] {
  const state = getStateDirectory(readSurroundings());
  try {
    if (state === null || !isSessionId(id)) throw new SessionNotFoundError(id);
    const transcript = getTranscriptPath(path.join(getSessionsDirectory(state), id));
    return readConversation(transcript).messages;
  } catch {
    throw new SessionNotFoundError(id);
  }
}

/** Whether there was one to remove. */
export function removeStored(id: string): boolean {
  try {
    openStore()?.remove(id);
    return true;
  } catch {
    return false;
  }
}

function openStore(): SessionStore | null {
  const state = getStateDirectory(readSurroundings());
  if (state === null) return null;
  return createSessionStore({ stateDirectory: state, clock: systemClock, version: VERSION });
}

import path from 'node:path';
import { systemClock } from '../base/clock.ts';
import { VERSION } from '../base/version.ts';
import { readSurroundings, getStateDirectory } from '../host/config.ts';
import { createSessionStore } from '../sessions/jsonl-session-store.ts';
import type { Message } from '../sessions/messages.ts';
import { isSessionId, getSessionsDirectory } from '../sessions/session-id.ts';
import type { SessionStore } from '../sessions/session-store.ts';
import { readConversation } from '../sessions/transcript/conversation.ts';
import { SessionNotFoundError } from './errors.ts';
import { filesOf, readManifest, type SessionRecord } from './session-files.ts';

/** The ids of all sessions on this machine, the one used last first. */
export function storedIds(): readonly string[] {
  return (
    openStore()
      ?.list()
      .map(({ id }) => id) ?? []
  );
}

/** What is known of a session that is not open here. */
export function findStoredRecord(id: string): SessionRecord | undefined {
  const state = getStateDirectory(readSurroundings());
  if (state === null || !isSessionId(id)) return undefined;
  return readManifest(filesOf(getSessionsDirectory(state), id)) ?? recordOfOther(id);
}

/** Of a session that another program began: the command line, an editor. */
function recordOfOther(id: string): SessionRecord | undefined {
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
    const transcript = path.join(getSessionsDirectory(state), id, 'transcript.jsonl');
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

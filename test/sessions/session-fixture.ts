import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Clock } from '../../src/base/clock.ts';
import { createSessionStore } from '../../src/sessions/jsonl-session-store.ts';
import { type Message, createUserMessage } from '../../src/sessions/messages.ts';
import type {
  SessionFacts,
  SessionStore,
  TranscriptEntry,
} from '../../src/sessions/session-store.ts';
import { createDirectory } from '../base/directory.ts';

/** 2026-01-02T03:04:05.006Z */
export const START = 1_767_323_045_006;

const CLOCK: Clock = { now: () => START, elapsed: () => 0 };

/** A store in a temporary state directory, with a directory to work in beside it. */
export interface SessionFixture {
  readonly store: SessionStore;
  readonly state: string;
  readonly sessions: string;
  readonly work: string;
}

export function createSessionFixture(files: Readonly<Record<string, string>> = {}): SessionFixture {
  const work = createDirectory(files);
  const state = path.join(createDirectory(), 'state');
  return {
    store: storeIn(state),
    state,
    sessions: path.join(state, 'sessions'),
    work,
  };
}

export function storeIn(state: string): SessionStore {
  return createSessionStore({ stateDirectory: state, clock: CLOCK, version: '1.2.3' });
}

export function factsOf({ work }: Pick<SessionFixture, 'work'>, id = 'one'): SessionFacts {
  return {
    id,
    startDirectory: work,
    workspaceRoots: [work],
    model: { provider: 'scripted', id: 'test-model' },
    permissionMode: 'default',
    createdAt: START,
    taskId: '1767323045006',
    ulid: '01KDY0F2WETEST0000000000AB',
  };
}

type EntryFields = Omit<Extract<TranscriptEntry, { type: 'message' }>, 'type' | 'message'>;

export function createMessageEntry(
  message: Message,
  more: Partial<EntryFields> = {},
): TranscriptEntry {
  return { type: 'message', message, at: START, cwd: '/work', promptId: null, ...more };
}

export function createUserEntry(text: string, more: Partial<EntryFields> = {}): TranscriptEntry {
  return createMessageEntry(createUserMessage(text), more);
}

export function createAssistantEntry(
  text: string,
  more: Partial<EntryFields> = {},
): TranscriptEntry {
  return createMessageEntry({ role: 'assistant', content: [{ type: 'text', text }] }, more);
}

/** A transcript's lines, as objects. */
export function linesOf(file: string): readonly unknown[] {
  const text = readFileSync(file, 'utf8');
  return text.split('\n').flatMap((line): unknown[] => (line === '' ? [] : [JSON.parse(line)]));
}

import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ScriptTurn } from '../src/agent/models/scripted.ts';
import type { RunResult } from '../src/agent/runtime-event.ts';
import { systemClock } from '../src/base/clock.ts';
import { createSessionStore } from '../src/sessions/jsonl-session-store.ts';
import type { Message } from '../src/sessions/messages.ts';
import type { StoredSession, TranscriptEntry } from '../src/sessions/session-store.ts';
import type { TempWorkspace } from './temp-workspace.ts';

// Several, because an agent that reads the same again and again is stopped.
const FILES = ['one.js', 'two.js', 'three.js', 'four.js'];
const LINE = 'export const answer = "forty-two"; // and so on\n';
const LINES = 40;

export const DONE = 'All done.';

/** Gives the workspace files of two kilobytes to read. */
export function writeFiles({ workspace }: TempWorkspace): void {
  for (const name of FILES) writeFileSync(path.join(workspace, name), LINE.repeat(LINES));
}

/** Turns that each read one file, and a last one that answers. */
export function createReadingTurns(count: number): ScriptTurn[] {
  const reads = Array.from({ length: count }, (_, index) => ({
    tools: [{ name: 'Read', input: { file_path: getFile(index) } }],
  }));
  return [...reads, { text: DONE }];
}

function getFile(index: number): string {
  return FILES[index % FILES.length] ?? '';
}

/** A row that measures something else than it says is worse than none. */
export function refuseUnlessDone(result: RunResult | null): void {
  if (result?.ending === 'done' && result.text === DONE) return;
  throw new Error(`expected a run that is done, found ${JSON.stringify(result)}`);
}

export interface Stored {
  readonly id: string;
  readonly directory: string;
}

/** A session that is stored already, of a prompt and as many turns, each with one Read. */
export function storeSession({ home, workspace }: TempWorkspace, turns: number): Stored {
  const store = createSessionStore({
    stateDirectory: path.join(home, '.hookline'),
    clock: systemClock,
    version: '0',
  });
  const session = store.create({
    id: randomUUID(),
    startDirectory: workspace,
    workspaceRoots: [workspace],
    model: { provider: 'scripted', id: 'scripted' },
    permissionMode: 'default',
    createdAt: systemClock.now(),
    taskId: '1',
    ulid: '01J00000000000000000000000',
  });
  appendMessage(session, {
    message: { role: 'user', content: [{ type: 'text', text: 'read them all' }] },
  });
  for (let turn = 0; turn < turns; turn++) createTextTurn(session, turn);
  session.close();
  return { id: session.facts.id, directory: session.directory };
}

function createTextTurn(session: StoredSession, turn: number): void {
  const id = `call_${turn + 1}`;
  const input = { file_path: getFile(turn) };
  const content = LINE.repeat(LINES);
  const asked: Message = {
    role: 'assistant',
    content: [{ type: 'tool_use', id, name: 'Read', input }],
  };
  const answered: Message = {
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: id, content }],
  };
  // Few tokens: a conversation that fills the model would be summed up first.
  appendMessage(session, { message: asked, usage: { input_tokens: 100, output_tokens: 10 } });
  appendMessage(session, { message: answered, toolUseResult: { type: 'text', file: { content } } });
}

type Said = Pick<
  Extract<TranscriptEntry, { type: 'message' }>,
  'message' | 'usage' | 'toolUseResult'
>;

function appendMessage(session: StoredSession, said: Said): void {
  const cwd = session.facts.startDirectory;
  session.append({ type: 'message', ...said, at: systemClock.now(), cwd, promptId: null });
}

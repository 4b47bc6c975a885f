import { existsSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { createSessionStore } from '../../../src/sessions/jsonl-session-store.ts';
import type { AssistantBlock, UserBlock } from '../../../src/sessions/messages.ts';
import type { SessionStore, StoredSession } from '../../../src/sessions/session-store.ts';
import { jsonOf, runHookline } from '../hookline.ts';
import { at, createTempWorkspace, type TempWorkspace } from '../temp-workspace.ts';
import { hasTerminal, runInTerminal } from '../terminal.ts';

const FIRST = '11111111-aaaa-4aaa-8aaa-aaaaaaaaaaaa';
const SECOND = '11111111-bbbb-4bbb-8bbb-bbbbbbbbbbbb';
const START = Date.UTC(2026, 0, 2, 3, 4, 5);
const SECRET = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';

function sessionsDirectory({ home }: TempWorkspace): string {
  return path.join(home, '.hookline', 'sessions');
}

function storeOf({ home }: TempWorkspace): SessionStore {
  const stateDirectory = path.join(home, '.hookline');
  return createSessionStore({ stateDirectory, clock: systemClock, version: '0.0.0' });
}

function createSession(workspace: TempWorkspace, id: string): StoredSession {
  return storeOf(workspace).create({
    id,
    startDirectory: workspace.repo,
    workspaceRoots: [workspace.repo],
    model: { provider: 'scripted', id: 'test-model' },
    permissionMode: 'default',
    createdAt: START,
    taskId: '1',
    ulid: '',
  });
}

const SPOT = { at: START + 60_000, cwd: '/', promptId: null } as const;

function ask(session: StoredSession, content: readonly UserBlock[], isMeta = false): void {
  session.append({ ...SPOT, type: 'message', message: { role: 'user', content }, isMeta });
}

function answer(session: StoredSession, content: readonly AssistantBlock[]): void {
  session.append({ ...SPOT, type: 'message', message: { role: 'assistant', content } });
}

function text(words: string): { readonly type: 'text'; readonly text: string } {
  return { type: 'text', text: words };
}

/** A place with a closed session of every kind of line. */
function createWorkspaceWithSession(): TempWorkspace {
  const workspace = createTempWorkspace();
  const session = createSession(workspace, FIRST);
  ask(session, [text('be brief')], true);
  ask(session, [text(`fix it\nwith ${SECRET}`)]);
  answer(session, [
    { type: 'thinking', thinking: 'let me see' },
    text('I look.\n'),
    { type: 'tool_use', id: 'c1', name: 'Bash', input: { command: `curl -H ${SECRET}\nls` } },
    { type: 'tool_use', id: 'c2', name: 'Odd', input: { x: [1] } },
  ]);
  ask(session, [
    { type: 'tool_result', tool_use_id: 'c1', content: 'a\u001B[2J\nb\nc' },
    { type: 'tool_result', tool_use_id: 'c2', content: 'x'.repeat(200), is_error: true },
  ]);
  session.append({ ...SPOT, type: 'note', level: 'error', text: 'the model failed' });
  session.append({
    ...SPOT,
    type: 'compaction',
    trigger: 'auto',
    tokensBefore: 9000,
    summary: { role: 'user', content: [text('in short')] },
  });
  const call = { type: 'tool_use', id: 'c3', name: 'Bash', input: { command: 'rm -r x' } } as const;
  session.append({ ...SPOT, type: 'deferral', call });
  session.append({ ...SPOT, agentId: 'a1', type: 'note', level: 'info', text: 'elsewhere' });
  session.close();
  utimesSync(session.transcriptPath, START / 1000, START / 1000);
  return workspace;
}

const UTC = { env: { TZ: 'UTC' } };

describe('sessions list', () => {
  it('says so when there is none', async () => {
    const workspace = createTempWorkspace();
    expect(await runHookline(['sessions', 'list'], at(workspace))).toEqual({
      code: 0,
      stdout: 'No stored sessions.\n',
      stderr: '',
    });
    const json = await runHookline(['sessions', 'list', '--json'], at(workspace));
    expect(jsonOf(json)).toEqual({ sessions: [] });
  });

  it('lists sessions with their first prompts, without secrets, and with their problems', async () => {
    const workspace = createWorkspaceWithSession();
    const { transcriptPath } = createSession(workspace, SECOND);
    utimesSync(transcriptPath, START / 1000 + 60, START / 1000 + 60);
    rmSync(path.join(sessionsDirectory(workspace), SECOND, 'session.json'));
    const { code, stdout } = await runHookline(['sessions', 'list'], at(workspace, UTC));
    expect(code).toBe(0);
    expect(stdout.split('\n').map((line) => line.split(/ {2,}/u))).toEqual([
      ['SESSION', 'LAST USED', 'DIRECTORY', 'MODEL', 'MESSAGES', 'PROMPT'],
      ['11111111-b', '2026-01-02 03:05', '?', '?', '0'],
      [
        '',
        expect.stringContaining(
          'session.json is missing; its content is recovered from the transcript',
        ),
      ],
      [
        '11111111-a',
        '2026-01-02 03:04',
        '.',
        'test-model',
        '5',
        expect.stringMatching(/^fix it with (?!ghp)/u),
      ],
      [''],
    ]);
    const json = jsonOf(await runHookline(['sessions', 'list', '--json', '--raw'], at(workspace)));
    expect(json.sessions[1]).toEqual({
      id: FIRST,
      title: null,
      firstPrompt: `fix it\nwith ${SECRET}`,
      startDirectory: workspace.repo,
      model: 'test-model',
      createdAt: START,
      lastUsedAt: START,
      messageCount: 5,
      problem: null,
    });
  });
});

describe('sessions show', () => {
  it('prints messages and tool calls, readably and without secrets', async () => {
    const workspace = createWorkspaceWithSession();
    const result = await runHookline(['sessions', 'show', '1111'], at(workspace, UTC));
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(result.stdout).not.toContain(SECRET);
    const { stdout } = await runHookline(['sessions', 'show', '1111', '--raw'], at(workspace, UTC));
    expect(stdout).toBe(`session     ${FIRST}
directory   .
model       scripted test-model
from        2026-01-02 03:04 to 2026-01-02 03:05
transcript  ~/.hookline/sessions/${FIRST}/${FIRST}.jsonl
context: be brief

> fix it
  with ${SECRET}
thinking: let me see

I look.
• Bash curl -H ${SECRET} (and 1 more line)
• Odd {"x":[1]}
  → a\\u{1b}[2J (and 2 more lines)
  ✗ ${'x'.repeat(119)}…
error: the model failed
note: conversation compacted (auto, 9000 tokens before)
    in short
note: deferred Bash rm -r x

Sub-agent transcripts:
  ~/.hookline/sessions/${FIRST}/subagents/agent-a1.jsonl
`);
  });

  it('gives all of it as JSON', async () => {
    const workspace = createWorkspaceWithSession();
    const result = await runHookline(['sessions', 'show', FIRST, '--json'], at(workspace));
    expect(result.stdout).not.toContain(SECRET);
    expect(jsonOf(result)).toMatchObject({
      id: FIRST,
      startDirectory: workspace.repo,
      problems: [],
      lines: [
        { type: 'message', isMeta: true },
        { type: 'message', message: { role: 'user' } },
        { type: 'message', model: 'test-model' },
        { type: 'message', message: { content: [{ tool_use_id: 'c1' }, { is_error: true }] } },
        { type: 'note', level: 'error', text: 'the model failed' },
        { type: 'compaction', trigger: 'auto', tokensBefore: 9000 },
        { type: 'message', isSummary: true },
        { type: 'deferral', call: { id: 'c3' } },
      ],
    });
  });

  it('prints the rest of a transcript that is broken, and says what is missing', async () => {
    const workspace = createTempWorkspace();
    const session = createSession(workspace, FIRST);
    ask(session, [text('hello')]);
    session.close();
    writeFileSync(session.transcriptPath, '{"half', { flag: 'a' });
    const { code, stdout, stderr } = await runHookline(['sessions', 'show', FIRST], at(workspace));
    expect(code).toBe(0);
    expect(stdout).toContain('\n> hello\n');
    expect(stderr).toBe(`note: ${session.transcriptPath}:2 is incomplete and was skipped\n`);
  });

  it('lists the sessions that an id may stand for, or says that there is none', async () => {
    const workspace = createWorkspaceWithSession();
    createSession(workspace, SECOND).close();
    const [several, none, elsewhere] = await Promise.all(
      ['1111', 'nothing', '../sessions'].map((id) =>
        runHookline(['sessions', 'show', id], at(workspace)),
      ),
    );
    expect(several).toEqual({
      code: 2,
      stdout: '',
      stderr: `hookline: 2 sessions have ids that begin with "1111": ${FIRST}, ${SECOND}\n  Use a longer prefix.\n`,
    });
    expect(none).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('session "nothing" not found'),
    });
    expect(elsewhere).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('session "../sessions" not found'),
    });
  });
});

describe('sessions rm', () => {
  it('deletes nothing without a yes, and whole sessions with it', async () => {
    const workspace = createWorkspaceWithSession();
    createSession(workspace, SECOND).close();
    const refused = await runHookline(['sessions', 'rm', FIRST], at(workspace));
    expect(refused).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(
        `cannot ask without a terminal: Delete 1 session (${FIRST})?`,
      ),
    });
    const unknown = await runHookline(['sessions', 'rm', FIRST, 'nothing', '--yes'], at(workspace));
    expect(unknown.code).toBe(2);
    expect(readdirSync(sessionsDirectory(workspace))).toEqual([FIRST, SECOND]);
    const deleted = await runHookline(
      ['sessions', 'rm', FIRST, '11111111-b', SECOND, '--yes', '--json'],
      at(workspace),
    );
    expect(jsonOf(deleted)).toEqual({ deleted: [FIRST, SECOND] });
    expect(readdirSync(sessionsDirectory(workspace))).toEqual([]);
  });

  it('refuses a session that is in use, and from inside of an agent', async () => {
    const workspace = createTempWorkspace();
    createSession(workspace, FIRST);
    const busy = await runHookline(['sessions', 'rm', FIRST, '--yes'], at(workspace));
    expect(busy).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`is in use by process ${process.pid}`),
    });
    const inside = at(workspace, { env: { HOOKLINE_SESSION: '1' } });
    expect(await runHookline(['sessions', 'rm', FIRST, '--yes'], inside)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('cannot run inside an agent session'),
    });
  });

  it.skipIf(!hasTerminal)('asks on a terminal', async () => {
    const workspace = createWorkspaceWithSession();
    const no = await runInTerminal(['sessions', 'rm', FIRST], at(workspace), {
      dialogue: [['Delete 1 session', 'n']],
    });
    expect(no).toMatchObject({ code: 1, stdout: expect.stringContaining('Nothing was deleted.') });
    const yes = await runInTerminal(['sessions', 'rm', FIRST], at(workspace), {
      dialogue: [['Delete 1 session', 'y']],
    });
    expect(yes).toMatchObject({ code: 0, stdout: expect.stringContaining('Deleted 1 session.') });
    expect(existsSync(path.join(sessionsDirectory(workspace), FIRST))).toBe(false);
  });
});

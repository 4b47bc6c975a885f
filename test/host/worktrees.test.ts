import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Person } from '../../src/agent/session-context.ts';
import type { HostOptions } from '../../src/host/create-host.ts';
import { createAgentFixture, type Reaction, type AgentFixture } from '../agent/agent-fixture.ts';
import { calls, named, on, createModelRecorder } from '../agent/scripted-session.ts';
import { hasProgram } from '../cli/temp-workspace.ts';

const WRITE = (file: string) => calls(['Write', { file_path: file, content: 'new\n' }]);

/** A real repository with one commit. */
function createRepository(react?: Reaction): AgentFixture {
  const fixture = createAgentFixture(react);
  rmSync(path.join(fixture.workspace, '.git'), { recursive: true });
  fixture.write('secrets/key.txt', 'hush\n');
  git(fixture.workspace, 'init', '--quiet');
  git(fixture.workspace, 'add', '.');
  git(fixture.workspace, 'commit', '--quiet', '-m', 'first');
  return fixture;
}

function git(cwd: string, ...args: readonly string[]): string {
  const who = ['-c', 'user.name=x', '-c', 'user.email=x@example.org'];
  return execFileSync('git', [...who, ...args], { cwd, encoding: 'utf8', stdio: 'pipe' }).trim();
}

async function play(
  fixture: AgentFixture,
  turns: Parameters<typeof createModelRecorder>[0],
  options: HostOptions = {},
) {
  const recorder = createModelRecorder([...turns, { text: 'Done.' }]);
  const host = await fixture.open({ model: recorder.model, ...options });
  const startResult = await host.start({ prompt: 'work', worktree: 'w1' });
  await host.dispose();
  const notices = fixture.runtimeEvents.flatMap((event) =>
    event.type === 'notice' ? [event.text] : [],
  );
  return { ...startResult, recorder, notices };
}

describe.skipIf(!hasProgram('git'))('a session in a worktree of git', () => {
  const treeOf = ({ workspace }: AgentFixture): string => path.join(workspace, '.worktrees', 'w1');

  it('works in it, and removes it when nothing was changed', async () => {
    const fixture = createRepository();
    const { result } = await play(fixture, [calls(['Bash', { command: 'pwd' }])]);
    expect(result?.ending).toBe('done');
    expect(named(fixture, 'WorktreeCreate')).toMatchObject([
      { worktree: 'w1', cwd: fixture.workspace, startDirectory: fixture.workspace, promptId: null },
    ]);
    expect(named(fixture, 'PreToolUse')).toMatchObject([
      {
        cwd: treeOf(fixture),
        startDirectory: fixture.workspace,
        workspaceRoots: [treeOf(fixture)],
      },
    ]);
    expect(named(fixture, 'PostToolUse')).toMatchObject([{ result: { text: treeOf(fixture) } }]);
    expect(named(fixture, 'WorktreeRemove')).toMatchObject([{ path: treeOf(fixture) }]);
    expect(existsSync(treeOf(fixture))).toBe(false);
    expect(git(fixture.workspace, 'branch', '--list', 'worktree-*')).toBe('');
    expect(git(fixture.workspace, 'status', '--porcelain')).toBe('');
  });

  it('leaves it, with a notice, when something was changed', async () => {
    const fixture = createRepository();
    const { notices } = await play(fixture, [WRITE('a.txt')], { permissionMode: 'acceptEdits' });
    expect(readFileSync(path.join(treeOf(fixture), 'a.txt'), 'utf8')).toBe('new\n');
    expect(existsSync(path.join(fixture.workspace, 'a.txt'))).toBe(false);
    expect(notices).toEqual([
      `the worktree ${treeOf(fixture)} has changes and is kept; remove it with \`git worktree remove\``,
    ]);
    expect(named(fixture, 'WorktreeRemove')).toEqual([]);
    expect(git(fixture.workspace, 'status', '--porcelain')).toBe('');
  });

  it('goes on in one that exists, and leaves it there', async () => {
    const fixture = createRepository();
    await play(fixture, [WRITE('a.txt')], { permissionMode: 'acceptEdits' });
    const { result } = await play(fixture, [calls(['Bash', { command: 'cat a.txt' }])]);
    expect(result?.ending).toBe('done');
    expect(existsSync(treeOf(fixture))).toBe(true);
  });

  it('keeps the rules of the project: what is denied there is denied in the copy', async () => {
    const fixture = createRepository();
    const { result } = await play(fixture, [calls(['Read', { file_path: 'secrets/key.txt' }])], {
      deny: ['Read(./secrets/**)'],
    });
    expect(result?.denials).toMatchObject([{ tool: 'Read' }]);
  });

  it('keeps a branch that was there before, with all its commits', async () => {
    const fixture = createRepository();
    await play(fixture, [WRITE('a.txt')], { permissionMode: 'acceptEdits' });
    git(treeOf(fixture), 'add', '.');
    git(treeOf(fixture), 'commit', '--quiet', '-m', 'worth keeping');
    git(fixture.workspace, 'worktree', 'remove', treeOf(fixture));
    await play(fixture, [calls(['Bash', { command: 'pwd' }])]);
    expect(existsSync(treeOf(fixture))).toBe(false);
    expect(git(fixture.workspace, 'log', '-1', '--format=%s', 'worktree-w1')).toBe('worth keeping');
  });

  it('leaves one with ignored files, which may be the result', async () => {
    const fixture = createRepository();
    fixture.write('.git/info/exclude', 'results\n');
    await play(fixture, [WRITE('results')], { permissionMode: 'acceptEdits' });
    expect(existsSync(path.join(treeOf(fixture), 'results'))).toBe(true);
  });

  it('runs no program that the repository brings in its own .git', async () => {
    const fixture = createRepository();
    fixture.write('.git/hooks/post-checkout', '#!/bin/sh\necho ran >> $LOG\n');
    const monitor = fixture.write('.git/monitor', '#!/bin/sh\necho ran >> $LOG\n');
    git(fixture.workspace, 'config', 'core.fsmonitor', monitor);
    await play(fixture, []);
    expect(named(fixture, 'WorktreeRemove')).toHaveLength(1);
    expect(fixture.log()).toEqual([]);
  });

  it('shares it with others of the host; the last one to leave removes it', async () => {
    const fixture = createRepository();
    const host = await fixture.open({
      model: createModelRecorder([{ text: 'One.' }, { text: 'Two.' }]).model,
    });
    const first = await host.start({ prompt: 'one', worktree: 'w1' });
    const second = await host.start({ afterClear: true, worktree: 'w1' });
    await host.end(first.sessionId, 'clear');
    expect(existsSync(treeOf(fixture))).toBe(true);
    expect((await host.send(second.sessionId, 'two')).text).toBe('Two.');
    await host.end(second.sessionId);
    expect(existsSync(treeOf(fixture))).toBe(false);
    expect(named(fixture, 'WorktreeCreate')).toHaveLength(1);
  });

  it('is not begun where there is no repository', async () => {
    const fixture = createAgentFixture();
    rmSync(path.join(fixture.workspace, '.git'), { recursive: true });
    await expect(play(fixture, [])).rejects.toMatchObject({
      code: 'WORKTREE_FAILED',
      message: expect.stringMatching(
        /^the worktree could not be created: .*not a git repository/su,
      ),
    });
    expect(fixture.runtimeEvents.map(({ type }) => type)).toEqual(['hook']);
  });

  it.each(['../out', '-x', '', 'a/b', '.git', 'a.lock', 'a.'])(
    'is not called %j',
    async (worktree) => {
      const fixture = createAgentFixture();
      const host = await fixture.open({ model: createModelRecorder([]).model });
      await expect(host.start({ prompt: 'work', worktree })).rejects.toMatchObject({
        code: 'USAGE_INVALID',
      });
    },
  );
});

describe('a worktree that a hook makes', () => {
  function made() {
    const worktreeHolder = { path: '' };
    const fixture = createAgentFixture(
      on('WorktreeCreate', () => ({ worktreePath: worktreeHolder.path })),
    );
    worktreeHolder.path = path.join(fixture.workspace, '..', 'copy');
    mkdirSync(worktreeHolder.path);
    writeFileSync(path.join(worktreeHolder.path, 'only-here.txt'), 'here\n');
    return { fixture, directory: path.resolve(worktreeHolder.path) };
  }

  const answering = (answer: string): Person => ({
    approve: async () => ({ isAllowed: false }),
    answer: async ([question]) => ({ [question?.question ?? '']: answer }),
  });

  it('is worked in, and stays when no user can be asked', async () => {
    const { fixture, directory } = made();
    const { notices, result } = await play(fixture, [
      calls(['Read', { file_path: 'only-here.txt' }]),
    ]);
    expect(result?.ending).toBe('done');
    expect(named(fixture, 'PostToolUse')).toHaveLength(1);
    expect(notices).toEqual([`the worktree ${directory} is kept`]);
    expect(named(fixture, 'WorktreeRemove')).toEqual([]);
  });

  it.each([
    ['Remove', 1],
    ['Keep', 0],
  ])('is left to the user: %s', async (answer, times) => {
    const { fixture, directory } = made();
    await play(fixture, [], { person: answering(answer) });
    expect(named(fixture, 'WorktreeRemove').map((event) => event.path)).toEqual(
      Array.from({ length: times }, () => directory),
    );
  });

  it('must be a directory', async () => {
    const fixture = createAgentFixture(
      on('WorktreeCreate', () => ({ worktreePath: '/nowhere/at/all' })),
    );
    await expect(play(fixture, [])).rejects.toMatchObject({
      code: 'WORKTREE_FAILED',
      message:
        'the worktree could not be created: a WorktreeCreate hook returned /nowhere/at/all, which is not a directory',
    });
  });

  it('may be refused', async () => {
    const fixture = createAgentFixture(
      on('WorktreeCreate', () => ({ effect: 'deny', reason: 'the disk is full' })),
    );
    await expect(play(fixture, [])).rejects.toMatchObject({
      message: 'the worktree could not be created: the disk is full',
    });
  });
});

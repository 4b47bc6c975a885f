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
  const stage = createAgentFixture(react);
  rmSync(path.join(stage.workspace, '.git'), { recursive: true });
  stage.write('secrets/key.txt', 'hush\n');
  git(stage.workspace, 'init', '--quiet');
  git(stage.workspace, 'add', '.');
  git(stage.workspace, 'commit', '--quiet', '-m', 'first');
  return stage;
}

function git(cwd: string, ...args: readonly string[]): string {
  const who = ['-c', 'user.name=x', '-c', 'user.email=x@example.org'];
  return execFileSync('git', [...who, ...args], { cwd, encoding: 'utf8', stdio: 'pipe' }).trim();
}

async function play(
  stage: AgentFixture,
  turns: Parameters<typeof createModelRecorder>[0],
  options: HostOptions = {},
) {
  const spoken = createModelRecorder([...turns, { text: 'Done.' }]);
  const host = await stage.open({ model: spoken.model, ...options });
  const started = await host.start({ prompt: 'work', worktree: 'w1' });
  await host.dispose();
  const notices = stage.runtimeEvents.flatMap((event) =>
    event.type === 'notice' ? [event.text] : [],
  );
  return { ...started, spoken, notices };
}

describe.skipIf(!hasProgram('git'))('a session in a worktree of git', () => {
  const treeOf = ({ workspace }: AgentFixture): string => path.join(workspace, '.worktrees', 'w1');

  it('works in it, and removes it when nothing was changed', async () => {
    const stage = createRepository();
    const { result } = await play(stage, [calls(['Bash', { command: 'pwd' }])]);
    expect(result?.ending).toBe('done');
    expect(named(stage, 'WorktreeCreate')).toMatchObject([
      { worktree: 'w1', cwd: stage.workspace, startDirectory: stage.workspace, promptId: null },
    ]);
    expect(named(stage, 'PreToolUse')).toMatchObject([
      { cwd: treeOf(stage), startDirectory: stage.workspace, workspaceRoots: [treeOf(stage)] },
    ]);
    expect(named(stage, 'PostToolUse')).toMatchObject([{ result: { text: treeOf(stage) } }]);
    expect(named(stage, 'WorktreeRemove')).toMatchObject([{ path: treeOf(stage) }]);
    expect(existsSync(treeOf(stage))).toBe(false);
    expect(git(stage.workspace, 'branch', '--list', 'worktree-*')).toBe('');
    expect(git(stage.workspace, 'status', '--porcelain')).toBe('');
  });

  it('leaves it, with a notice, when something was changed', async () => {
    const stage = createRepository();
    const { notices } = await play(stage, [WRITE('a.txt')], { permissionMode: 'acceptEdits' });
    expect(readFileSync(path.join(treeOf(stage), 'a.txt'), 'utf8')).toBe('new\n');
    expect(existsSync(path.join(stage.workspace, 'a.txt'))).toBe(false);
    expect(notices).toEqual([
      `the worktree ${treeOf(stage)} has changes and is kept; remove it with \`git worktree remove\``,
    ]);
    expect(named(stage, 'WorktreeRemove')).toEqual([]);
    expect(git(stage.workspace, 'status', '--porcelain')).toBe('');
  });

  it('goes on in one that exists, and leaves it there', async () => {
    const stage = createRepository();
    await play(stage, [WRITE('a.txt')], { permissionMode: 'acceptEdits' });
    const { result } = await play(stage, [calls(['Bash', { command: 'cat a.txt' }])]);
    expect(result?.ending).toBe('done');
    expect(existsSync(treeOf(stage))).toBe(true);
  });

  it('keeps the rules of the project: what is denied there is denied in the copy', async () => {
    const stage = createRepository();
    const { result } = await play(stage, [calls(['Read', { file_path: 'secrets/key.txt' }])], {
      deny: ['Read(./secrets/**)'],
    });
    expect(result?.denials).toMatchObject([{ tool: 'Read' }]);
  });

  it('keeps a branch that was there before, with all its commits', async () => {
    const stage = createRepository();
    await play(stage, [WRITE('a.txt')], { permissionMode: 'acceptEdits' });
    git(treeOf(stage), 'add', '.');
    git(treeOf(stage), 'commit', '--quiet', '-m', 'worth keeping');
    git(stage.workspace, 'worktree', 'remove', treeOf(stage));
    await play(stage, [calls(['Bash', { command: 'pwd' }])]);
    expect(existsSync(treeOf(stage))).toBe(false);
    expect(git(stage.workspace, 'log', '-1', '--format=%s', 'worktree-w1')).toBe('worth keeping');
  });

  it('leaves one with ignored files, which may be the result', async () => {
    const stage = createRepository();
    stage.write('.git/info/exclude', 'results\n');
    await play(stage, [WRITE('results')], { permissionMode: 'acceptEdits' });
    expect(existsSync(path.join(treeOf(stage), 'results'))).toBe(true);
  });

  it('runs no program that the repository brings in its own .git', async () => {
    const stage = createRepository();
    stage.write('.git/hooks/post-checkout', '#!/bin/sh\necho ran >> $LOG\n');
    const monitor = stage.write('.git/monitor', '#!/bin/sh\necho ran >> $LOG\n');
    git(stage.workspace, 'config', 'core.fsmonitor', monitor);
    await play(stage, []);
    expect(named(stage, 'WorktreeRemove')).toHaveLength(1);
    expect(stage.log()).toEqual([]);
  });

  it('shares it with others of the host; the last one to leave removes it', async () => {
    const stage = createRepository();
    const host = await stage.open({
      model: createModelRecorder([{ text: 'One.' }, { text: 'Two.' }]).model,
    });
    const first = await host.start({ prompt: 'one', worktree: 'w1' });
    const second = await host.start({ afterClear: true, worktree: 'w1' });
    await host.end(first.sessionId, 'clear');
    expect(existsSync(treeOf(stage))).toBe(true);
    expect((await host.send(second.sessionId, 'two')).text).toBe('Two.');
    await host.end(second.sessionId);
    expect(existsSync(treeOf(stage))).toBe(false);
    expect(named(stage, 'WorktreeCreate')).toHaveLength(1);
  });

  it('is not begun where there is no repository', async () => {
    const stage = createAgentFixture();
    rmSync(path.join(stage.workspace, '.git'), { recursive: true });
    await expect(play(stage, [])).rejects.toMatchObject({
      code: 'WORKTREE_FAILED',
      message: expect.stringMatching(
        /^the worktree could not be created: .*not a git repository/su,
      ),
    });
    expect(stage.runtimeEvents.map(({ type }) => type)).toEqual(['hook']);
  });

  it.each(['../out', '-x', '', 'a/b', '.git', 'a.lock', 'a.'])(
    'is not called %j',
    async (worktree) => {
      const stage = createAgentFixture();
      const host = await stage.open({ model: createModelRecorder([]).model });
      await expect(host.start({ prompt: 'work', worktree })).rejects.toMatchObject({
        code: 'USAGE_INVALID',
      });
    },
  );
});

describe('a worktree that a hook makes', () => {
  function made() {
    const place = { path: '' };
    const stage = createAgentFixture(on('WorktreeCreate', () => ({ worktreePath: place.path })));
    place.path = path.join(stage.workspace, '..', 'copy');
    mkdirSync(place.path);
    writeFileSync(path.join(place.path, 'only-here.txt'), 'here\n');
    return { stage, directory: path.resolve(place.path) };
  }

  const answering = (answer: string): Person => ({
    approve: async () => ({ isAllowed: false }),
    answer: async ([question]) => ({ [question?.question ?? '']: answer }),
  });

  it('is worked in, and stays when no user can be asked', async () => {
    const { stage, directory } = made();
    const { notices, result } = await play(stage, [
      calls(['Read', { file_path: 'only-here.txt' }]),
    ]);
    expect(result?.ending).toBe('done');
    expect(named(stage, 'PostToolUse')).toHaveLength(1);
    expect(notices).toEqual([`the worktree ${directory} is kept`]);
    expect(named(stage, 'WorktreeRemove')).toEqual([]);
  });

  it.each([
    ['Remove', 1],
    ['Keep', 0],
  ])('is left to the user: %s', async (answer, times) => {
    const { stage, directory } = made();
    await play(stage, [], { person: answering(answer) });
    expect(named(stage, 'WorktreeRemove').map((event) => event.path)).toEqual(
      Array.from({ length: times }, () => directory),
    );
  });

  it('must be a directory', async () => {
    const stage = createAgentFixture(
      on('WorktreeCreate', () => ({ worktreePath: '/nowhere/at/all' })),
    );
    await expect(play(stage, [])).rejects.toMatchObject({
      code: 'WORKTREE_FAILED',
      message:
        'the worktree could not be created: a WorktreeCreate hook returned /nowhere/at/all, which is not a directory',
    });
  });

  it('may be refused', async () => {
    const stage = createAgentFixture(
      on('WorktreeCreate', () => ({ effect: 'deny', reason: 'the disk is full' })),
    );
    await expect(play(stage, [])).rejects.toMatchObject({
      message: 'the worktree could not be created: the disk is full',
    });
  });
});

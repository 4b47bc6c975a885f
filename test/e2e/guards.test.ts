import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { hooklineProgram } from '../cli/hookline.ts';
import {
  answering,
  createTempWorkspace,
  HOOKS,
  PRE_TOOL_USE,
  trust,
  write,
} from '../cli/temp-workspace.ts';
import { bash, DONE, errorOf, linesOf, runScript, toolEnds, writeTask } from './agent-run.ts';
import { claudeHooks } from './hook-log.ts';

const STREAM = ['--output', 'stream-json'];
const DENYING = { [`${HOOKS}/PreToolUse`]: answering({ cancel: true, errorMessage: 'no' }) };
const ECHO = [bash('echo hi'), DONE];

describe('denials by hooks', () => {
  it('end no run, however many there are, and however alike', async () => {
    const workspace = createTempWorkspace();
    claudeHooks(workspace, { PreToolUse: 'cat > /dev/null; echo no >&2; exit 2' });
    const turns = [...Array.from({ length: 20 }, () => bash('echo hi')), DONE];
    const result = await runScript(workspace, turns, ['go', ...STREAM]);
    expect(result.code).toBe(0);
    expect(toolEnds(result).map(({ deniedBy }) => deniedBy)).toEqual(Array(20).fill('hook'));
    expect(linesOf(result).at(-1)).toMatchObject({ type: 'result', ending: 'done', text: 'Done.' });
  });
});

describe('hooks of an untrusted workspace', () => {
  it('are skipped, with a warning, and run once they are trusted', async () => {
    const workspace = createTempWorkspace(DENYING);
    const before = await runScript(workspace, ECHO, ['go']);
    expect(before).toMatchObject({ code: 0, stdout: 'Done.\n' });
    expect(before.stderr).toContain(`not run: ${PRE_TOOL_USE}: untrusted`);
    expect(before.stderr).not.toContain('denied');
    expect(before.stderr).toMatch(
      /\nnote: run `hookline trust` to review hooks that are not trusted\n$/,
    );
    trust(workspace);
    const after = await runScript(workspace, ECHO, ['go', ...STREAM]);
    expect(after.stderr).toContain('denied: Bash: ');
    expect(toolEnds(after)[0]).toMatchObject({ tool: 'Bash', deniedBy: 'hook' });
    write(
      workspace.repo,
      `${HOOKS}/PreToolUse`,
      answering({ cancel: true, errorMessage: 'changed' }),
    );
    const changed = await runScript(workspace, ECHO, ['go']);
    expect(changed.stderr).toContain(`not run: ${PRE_TOOL_USE}: modified`);
  });

  it('make --strict exit 3, which they do not once trusted', async () => {
    const workspace = createTempWorkspace(DENYING);
    expect(await runScript(workspace, ECHO, ['go', '--strict'])).toMatchObject({
      code: 3,
      stdout: 'Done.\n',
    });
    trust(workspace);
    expect(await runScript(workspace, ECHO, ['go', '--strict'])).toMatchObject({ code: 0 });
  });

  it('a hook that fails makes --strict exit 3, and is reported in every case', async () => {
    const workspace = createTempWorkspace({
      [`${HOOKS}/PreToolUse`]: '#!/bin/sh\necho oops >&2; exit 9\n',
    });
    trust(workspace);
    const lenient = await runScript(workspace, ECHO, ['go']);
    expect(lenient).toMatchObject({ code: 0, stdout: 'Done.\n' });
    expect(lenient.stderr).toContain(`failed: ${PRE_TOOL_USE}: `);
    expect(await runScript(workspace, ECHO, ['go', '--strict'])).toMatchObject({ code: 3 });
  });

  it('--no-hooks runs none of them', async () => {
    const workspace = createTempWorkspace(DENYING);
    trust(workspace);
    expect(await runScript(workspace, ECHO, ['go', '--no-hooks'])).toEqual({
      code: 0,
      stdout: 'Done.\n',
      stderr: 'note: hooks are disabled by a flag: no hook runs, and no plugin on disk is loaded\n',
    });
  });

  it('--no-hooks prints the answer of a run that takes its time, too', async () => {
    const workspace = createTempWorkspace();
    // Long enough for hooks to be watched, if there were any.
    const script = [bash('sleep 0.7'), DONE];
    const flags = ['go', '--no-hooks', '--permission-mode', 'bypassPermissions'];
    expect(await runScript(workspace, script, flags)).toMatchObject({ code: 0, stdout: 'Done.\n' });
  });
});

describe('a hook that asks', () => {
  const asking = answering({
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'ask',
      permissionDecisionReason: 'please look',
    },
  });

  it('is a denial without a user, in every mode, and the output says so', async () => {
    const workspace = createTempWorkspace();
    const command = write(workspace.directory, 'ask', asking);
    claudeHooks(workspace, { PreToolUse: command });
    const args = ['go', '--permission-mode', 'bypassPermissions', ...STREAM];
    const result = await runScript(workspace, ECHO, args);
    expect(toolEnds(result)[0]).toMatchObject({ deniedBy: 'nobody' });
    expect(errorOf(toolEnds(result)[0])).toBe('please look');
    expect(result.stderr).toBe(
      'denied: Bash: please look (a hook asked for approval, and no user is available)\n',
    );
  });

  it('may be one of PermissionRequest, which answers in the place of a user', async () => {
    const workspace = createTempWorkspace();
    const decision = { behavior: 'allow' };
    const answer = { hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } };
    claudeHooks(workspace, {
      PermissionRequest: write(workspace.directory, 'allow', answering(answer)),
    });
    const result = await runScript(workspace, [bash('touch made'), DONE], ['go']);
    expect(result).toEqual({ code: 0, stdout: 'Done.\n', stderr: '' });
    expect(existsSync(path.join(workspace.repo, 'made'))).toBe(true);
  });
});

describe('rules of an untrusted workspace', () => {
  const settings = {
    '.claude/settings.json': JSON.stringify({
      permissions: { allow: ['Bash(touch:*)'], deny: ['Read(./secret.txt)'] },
    }),
    'secret.txt': 'hunter2\n',
  };
  const turns = [
    bash('touch made'),
    { tools: [{ name: 'Read', input: { file_path: 'secret.txt' } }] },
    DONE,
  ];

  it('allow nothing before, and count after; what they deny is denied in both cases', async () => {
    const workspace = createTempWorkspace(settings);
    const before = await runScript(workspace, turns, ['go', ...STREAM]);
    expect(toolEnds(before).map(({ deniedBy }) => deniedBy)).toEqual(['nobody', 'rule']);
    expect(before.stderr).toContain('what .claude/settings.json allows is ignored (untrusted');
    expect(before.stdout).not.toContain('hunter2');
    trust(workspace);
    const after = await runScript(workspace, turns, ['go', ...STREAM]);
    expect(toolEnds(after).map(({ deniedBy }) => deniedBy)).toEqual([null, 'rule']);
    expect(existsSync(path.join(workspace.repo, 'made'))).toBe(true);
  });

  it('cannot make the mode looser', async () => {
    const workspace = createTempWorkspace({
      '.claude/settings.json': JSON.stringify({
        permissions: { defaultMode: 'bypassPermissions' },
      }),
    });
    const before = await runScript(workspace, [bash('touch made'), DONE], ['go', ...STREAM]);
    expect(linesOf(before)[0]).toMatchObject({ permissionMode: 'default' });
    expect(existsSync(path.join(workspace.repo, 'made'))).toBe(false);
  });
});

describe('protected paths', () => {
  const BYPASS = ['--permission-mode', 'bypassPermissions', '--allow', 'Bash', '--allow', 'Write'];
  const trustCommand = `node '${hooklineProgram()}' trust --yes`;

  it.each([
    ['Write', { file_path: '.claude/settings.json', content: '{}' }],
    ['Write', { file_path: '.clinerules/hooks/PostToolUse', content: '#!/bin/sh\n' }],
    ['Write', { file_path: '~/.hookline/trust.json', content: '{}' }],
    ['Write', { file_path: '.git/hooks/pre-commit', content: '#!/bin/sh\n' }],
    ['Edit', { file_path: '.claude/settings.json', old_string: 'env', new_string: 'hooks' }],
    ['write_to_file', { path: '.claude/settings.json', content: '{}' }],
    ['editor', { path: '.cline/hooks.json', new_text: '{}' }],
    ['Bash', { command: 'hookline trust --yes' }],
    ['Bash', { command: trustCommand }],
    ['Bash', { command: 'env -u HOOKLINE_SESSION_ID hookline trust --yes' }],
    ['Bash', { command: 'echo {} > .claude/settings.json' }],
    ['Bash', { command: 'cd .clinerules && rm -rf hooks' }],
    ['Bash', { command: 'cp a.json ~/.hookline/trust.json' }],
    ['run_commands', { commands: ['true', 'rm .claude/settings.json'] }],
  ])('%s %j is denied without a user, in every mode', async (name, input) => {
    const workspace = createTempWorkspace({
      '.claude/settings.json': JSON.stringify({ env: {} }),
      ...DENYING,
      'a.json': '{}',
    });
    const before = readFileSync(path.join(workspace.repo, '.claude/settings.json'), 'utf8');
    const readTurn = { tools: [{ name: 'Read', input: { file_path: '.claude/settings.json' } }] };
    const turns = [readTurn, { tools: [{ name, input }] }, DONE];
    const result = await runScript(workspace, turns, ['go', ...BYPASS, ...STREAM]);
    const [, end] = toolEnds(result);
    expect(end).toMatchObject({ tool: name });
    expect(['nobody', 'rule']).toContain(end?.['deniedBy']);
    expect(errorOf(end)).toMatch(/only a person|No user is available/i);
    expect(readFileSync(path.join(workspace.repo, '.claude/settings.json'), 'utf8')).toBe(before);
    expect(existsSync(path.join(workspace.repo, `${HOOKS}/PreToolUse`))).toBe(true);
    expect(existsSync(path.join(workspace.home, '.hookline/trust.json'))).toBe(false);
    expect(existsSync(path.join(workspace.repo, `${HOOKS}/PostToolUse`))).toBe(false);
    expect(existsSync(path.join(workspace.repo, '.git/hooks'))).toBe(false);
  });

  it('`hookline trust` refuses inside a session even when a rule lets it through', async () => {
    const workspace = createTempWorkspace(DENYING);
    writeTask(workspace.repo, trustCommand);
    const args = ['go', ...BYPASS, ...STREAM, '--sandbox', 'off'];
    const result = await runScript(workspace, [bash('node task.cjs'), DONE], args);
    expect(errorOf(toolEnds(result)[0])).toContain(
      '`hookline trust` cannot run inside an agent session or a hook',
    );
    expect(existsSync(path.join(workspace.home, '.hookline/trust.json'))).toBe(false);
  });
});

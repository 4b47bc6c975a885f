import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { computeSha256 } from '../../../src/trust/file-map.ts';
import { jsonOf, runHookline } from '../hookline.ts';
import {
  answering,
  at,
  createTempWorkspace,
  HOOKS,
  type TempWorkspace,
  PRE_TOOL_USE,
  trust,
  write,
} from '../temp-workspace.ts';

const GUARD = `${HOOKS}/PreToolUse`;
const DENYING = answering({ cancel: true, errorMessage: 'no' });

async function effectIn(workspace: TempWorkspace, flags: readonly string[] = []): Promise<string> {
  const args = ['hooks', 'fire', 'PreToolUse', '--json', ...flags];
  return jsonOf(await runHookline(args, at(workspace))).effect;
}

describe('hookline trust', () => {
  it('prints what would run and what trust does not cover, and refuses without a terminal', async () => {
    const workspace = createTempWorkspace({
      [GUARD]: '#!/bin/sh\nnpm run lint && ./scripts/check.sh\n',
      [`${HOOKS}/lib/help.sh`]: 'true\n',
      'scripts/check.sh': 'true\n',
    });
    const { code, stdout, stderr } = await runHookline(['trust'], at(workspace));
    expect(code).toBe(1);
    expect(stdout).toContain(`${PRE_TOOL_USE}  untrusted: it was never trusted here\n`);
    expect(stdout).toContain(`  binds     ${GUARD}, ${HOOKS}/lib/help.sh, scripts/check.sh\n`);
    expect(stdout).toContain('  not bound npm run lint, /bin/sh (interpreter)\n');
    expect(stdout).toContain('  │ npm run lint && ./scripts/check.sh\n');
    expect(stderr).toContain('cannot ask without a terminal');
    expect(stderr).toContain('--yes');
  });

  it('remembers the bytes with --yes, in a file that only its owner can read', async () => {
    const workspace = createTempWorkspace({ [GUARD]: DENYING });
    expect(await effectIn(workspace)).toBe('pass');
    const result = await runHookline(['trust', '--yes', '--json'], at(workspace));
    expect(jsonOf(result)).toEqual({
      trusted: [
        {
          id: PRE_TOOL_USE,
          path: path.join(workspace.repo, GUARD),
          digest: expect.stringMatching(/^[0-9a-f]{64}$/),
          files: [GUARD],
          notBound: ['/bin/sh (interpreter)'],
        },
      ],
    });
    expect(await effectIn(workspace)).toBe('deny');
    expect(statSync(path.join(workspace.home, '.hookline/trust.json')).mode & 0o777).toBe(0o600);
  });

  it('binds what a hook of a directory in the repository names, not all that lies there', async () => {
    const entry = { type: 'command', command: '"$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh' };
    const workspace = createTempWorkspace({
      'pkg/.claude/settings.json': JSON.stringify({ hooks: { PreToolUse: [{ hooks: [entry] }] } }),
      'pkg/.claude/hooks/guard.sh': '#!/bin/sh\nexit 0\n',
      'pkg/src/a.ts': '',
    });
    const inPackage = at(workspace, { cwd: path.join(workspace.repo, 'pkg') });
    const { trusted } = jsonOf(await runHookline(['trust', '--yes', '--json'], inPackage));
    expect(trusted).toMatchObject([{ files: ['//entry-text', 'pkg/.claude/hooks/guard.sh'] }]);
  });

  it('counts one hook as one', async () => {
    const workspace = createTempWorkspace({ [GUARD]: DENYING });
    trust(workspace);
    const { stdout } = await runHookline(['trust'], at(workspace));
    expect(stdout).toBe('1 hook already trusted.\n');
  });

  it('trusts only the hooks that are named', async () => {
    const workspace = createTempWorkspace({
      [GUARD]: DENYING,
      '.cline/hooks/PreToolUse': answering({}),
    });
    await runHookline(['trust', '--yes', PRE_TOOL_USE], at(workspace));
    const { hooks } = jsonOf(await runHookline(['hooks', 'list', '--json'], at(workspace)));
    expect(hooks.map(({ id, state }: { id: string; state: string }) => [id, state])).toEqual([
      [PRE_TOOL_USE, 'ready'],
      ['cline:workspace-cline:PreToolUse', 'untrusted'],
    ]);
  });

  it('shows the difference after a change, and says when nothing is left to trust', async () => {
    const workspace = createTempWorkspace({ [GUARD]: '#!/bin/sh\necho one\necho two\n' });
    trust(workspace);
    write(workspace.repo, GUARD, '#!/bin/sh\necho one\necho three\n');
    write(workspace.repo, `${HOOKS}/new.txt`, 'text\n');
    const changed = await runHookline(['trust', '--yes'], at(workspace));
    expect(changed.stdout).toContain(
      `${PRE_TOOL_USE}  modified: ${GUARD}, ${HOOKS}/new.txt changed`,
    );
    expect(changed.stdout).toContain('   echo one\n  -echo two\n  +echo three\n');
    expect(changed.stdout).toContain(`added: ${HOOKS}/new.txt\n`);
    const [again, json] = await Promise.all([
      runHookline(['trust'], at(workspace)),
      runHookline(['trust', '--json'], at(workspace)),
    ]);
    expect(again.code).toBe(0);
    expect(again.stdout).toContain('already trusted');
    expect(jsonOf(json)).toEqual({ trusted: [] });
  });

  it('has nothing to do in a workspace without hooks', async () => {
    const result = await runHookline(['trust'], at(createTempWorkspace()));
    expect(result).toEqual({
      code: 0,
      stdout: 'No hooks to trust in this workspace.\n',
      stderr: '',
    });
  });
});

describe('hookline untrust', () => {
  it('forgets one hook or all of the workspace', async () => {
    const workspace = createTempWorkspace({
      [GUARD]: DENYING,
      '.cline/hooks/PreToolUse': answering({}),
    });
    trust(workspace);
    const one = await runHookline(['untrust', PRE_TOOL_USE], at(workspace));
    expect(one).toMatchObject({ code: 0, stdout: 'Revoked trust in 1 hook.\n' });
    expect(await effectIn(workspace)).toBe('pass');
    const rest = await runHookline(['untrust', '--json'], at(workspace));
    expect(jsonOf(rest)).toEqual({ forgotten: 1 });
  });

  it('leaves a hook of the same name in another root trusted', async () => {
    const workspace = createTempWorkspace({ [GUARD]: DENYING, [`lib/${GUARD}`]: DENYING });
    const roots = ['--root', '.', '--root', 'lib'];
    trust(workspace, roots);
    const one = await runHookline(['untrust', PRE_TOOL_USE, '--json', ...roots], at(workspace));
    expect(jsonOf(one)).toEqual({ forgotten: 1 });
    const listed = await runHookline(['hooks', 'list', '--json', ...roots], at(workspace));
    const states = jsonOf(listed).hooks.map((hook: { id: string; state: string }) => [
      hook.id,
      hook.state,
    ]);
    expect(states).toEqual([
      [PRE_TOOL_USE, 'untrusted'],
      ['cline:workspace@lib:PreToolUse', 'ready'],
    ]);
  });
});

describe('hookline lock', () => {
  it('writes hashes that count only where they are named', async () => {
    const workspace = createTempWorkspace({ [GUARD]: DENYING });
    const locked = await runHookline(['lock', '--json'], at(workspace));
    const file = path.join(workspace.repo, 'hookline.lock.json');
    expect(jsonOf(locked)).toEqual({ file, hooks: [PRE_TOOL_USE] });
    expect(await effectIn(workspace)).toBe('pass');
    expect(await effectIn(workspace, ['--lock', file])).toBe('deny');
    const hash = computeSha256(readFileSync(file));
    expect(await effectIn(workspace, ['--lock', file, '--lock-sha256', hash])).toBe('deny');
    const other = await runHookline(
      ['hooks', 'fire', 'PreToolUse', '--lock', file, '--lock-sha256', '0'.repeat(64)],
      at(workspace),
    );
    expect(other).toMatchObject({ code: 2, stdout: '' });
  });

  it('compares, and exits with 1 when something differs', async () => {
    const workspace = createTempWorkspace({ [GUARD]: DENYING });
    await runHookline(['lock', '--file', 'ci/lock.json'], at(workspace)).then(
      ({ code, stderr }) => {
        expect(code).toBe(2);
        expect(stderr).toContain('ci/lock.json cannot be written');
      },
    );
    await runHookline(['lock'], at(workspace));
    const same = await runHookline(['lock', '--check'], at(workspace));
    expect(same.code).toBe(0);
    expect(same.stdout).toMatch(/^Hooks match .*hookline\.lock\.json\.\n$/);

    write(workspace.repo, GUARD, answering({}));
    write(workspace.repo, '.cline/hooks/PreToolUse', answering({}));
    const [differs, json] = await Promise.all([
      runHookline(['lock', '--check'], at(workspace)),
      runHookline(['lock', '--check', '--json'], at(workspace)),
    ]);
    expect(differs.code).toBe(1);
    expect(differs.stdout).toContain(`  changed ${PRE_TOOL_USE} ${GUARD}\n`);
    expect(jsonOf(json)).toMatchObject({
      same: false,
      added: [{ id: 'cline:workspace-cline:PreToolUse' }],
      removed: [],
      changed: [{ id: PRE_TOOL_USE, entry: GUARD, paths: [GUARD] }],
    });
    expect(await effectIn(workspace, ['--lock', 'hookline.lock.json'])).toBe('pass');
  });

  it('reads a named file relative to the start directory, and the usual one from the root', async () => {
    const workspace = createTempWorkspace({ [GUARD]: DENYING, 'sub/.keep': '' });
    const below = at(workspace, { cwd: path.join(workspace.repo, 'sub') });
    const fileOf = async (args: readonly string[]): Promise<string> =>
      jsonOf(await runHookline([...args, '--json'], below)).file;
    const usual = path.join(workspace.repo, 'hookline.lock.json');
    const lockFile = path.join(workspace.repo, 'sub/my.lock.json');
    expect(await fileOf(['lock'])).toBe(usual);
    expect(await fileOf(['lock', '--check'])).toBe(usual);
    expect(await fileOf(['lock', '--file', 'my.lock.json'])).toBe(lockFile);
    expect(await fileOf(['--lock', 'my.lock.json', 'lock', '--check'])).toBe(lockFile);
  });
});

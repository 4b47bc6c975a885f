import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { computeSha256 } from '../../src/trust/file-map.ts';
import { jsonOf, runHookline } from './hookline.ts';
import {
  answering,
  at,
  createTempWorkspace,
  HOOKS,
  type TempWorkspace,
  PRE_TOOL_USE,
  trust,
  write,
} from './temp-workspace.ts';

const GUARD = `${HOOKS}/PreToolUse`;
const DENYING = answering({ cancel: true, errorMessage: 'no' });

async function effectIn(place: TempWorkspace, flags: readonly string[] = []): Promise<string> {
  const args = ['hooks', 'fire', 'PreToolUse', '--json', ...flags];
  return jsonOf(await runHookline(args, at(place))).effect;
}

describe('hookline trust', () => {
  it('prints what would run and what trust does not cover, and refuses without a terminal', async () => {
    const place = createTempWorkspace({
      [GUARD]: '#!/bin/sh\nnpm run lint && ./scripts/check.sh\n',
      [`${HOOKS}/lib/help.sh`]: 'true\n',
      'scripts/check.sh': 'true\n',
    });
    const { code, stdout, stderr } = await runHookline(['trust'], at(place));
    expect(code).toBe(1);
    expect(stdout).toContain(`${PRE_TOOL_USE}  untrusted: it was never trusted here\n`);
    expect(stdout).toContain(`  binds     ${GUARD}, ${HOOKS}/lib/help.sh\n`);
    expect(stdout).toContain('  not bound scripts/check.sh, npm run lint\n');
    expect(stdout).toContain('  │ npm run lint && ./scripts/check.sh\n');
    expect(stderr).toContain('cannot ask without a terminal');
    expect(stderr).toContain('--yes');
  });

  it('remembers the bytes with --yes, in a file that only its owner can read', async () => {
    const place = createTempWorkspace({ [GUARD]: DENYING });
    expect(await effectIn(place)).toBe('pass');
    const result = await runHookline(['trust', '--yes', '--json'], at(place));
    expect(jsonOf(result)).toEqual({
      trusted: [
        {
          id: PRE_TOOL_USE,
          path: path.join(place.repo, GUARD),
          digest: expect.stringMatching(/^[0-9a-f]{64}$/),
          files: [GUARD],
          notBound: [],
        },
      ],
    });
    expect(await effectIn(place)).toBe('deny');
    expect(statSync(path.join(place.home, '.hookline/trust.json')).mode & 0o777).toBe(0o600);
  });

  it('binds what a hook of a directory in the repository names, not all that lies there', async () => {
    const entry = { type: 'command', command: '"$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh' };
    const place = createTempWorkspace({
      'pkg/.claude/settings.json': JSON.stringify({ hooks: { PreToolUse: [{ hooks: [entry] }] } }),
      'pkg/.claude/hooks/guard.sh': '#!/bin/sh\nexit 0\n',
      'pkg/src/a.ts': '',
    });
    const inPackage = at(place, { cwd: path.join(place.repo, 'pkg') });
    const { trusted } = jsonOf(await runHookline(['trust', '--yes', '--json'], inPackage));
    expect(trusted).toMatchObject([{ files: ['//entry-text', 'pkg/.claude/hooks/guard.sh'] }]);
  });

  it('counts one hook as one', async () => {
    const place = createTempWorkspace({ [GUARD]: DENYING });
    trust(place);
    const { stdout } = await runHookline(['trust'], at(place));
    expect(stdout).toBe('1 hook already trusted.\n');
  });

  it('trusts only the hooks that are named', async () => {
    const place = createTempWorkspace({
      [GUARD]: DENYING,
      '.cline/hooks/PreToolUse': answering({}),
    });
    await runHookline(['trust', '--yes', PRE_TOOL_USE], at(place));
    const { hooks } = jsonOf(await runHookline(['hooks', 'list', '--json'], at(place)));
    expect(hooks.map(({ id, state }: { id: string; state: string }) => [id, state])).toEqual([
      [PRE_TOOL_USE, 'ready'],
      ['cline:workspace-cline:PreToolUse', 'untrusted'],
    ]);
  });

  it('shows the difference after a change, and says when nothing is left to trust', async () => {
    const place = createTempWorkspace({ [GUARD]: '#!/bin/sh\necho one\necho two\n' });
    trust(place);
    write(place.repo, GUARD, '#!/bin/sh\necho one\necho three\n');
    write(place.repo, `${HOOKS}/new.txt`, 'text\n');
    const changed = await runHookline(['trust', '--yes'], at(place));
    expect(changed.stdout).toContain(
      `${PRE_TOOL_USE}  modified: ${GUARD}, ${HOOKS}/new.txt changed`,
    );
    expect(changed.stdout).toContain('   echo one\n  -echo two\n  +echo three\n');
    expect(changed.stdout).toContain(`added: ${HOOKS}/new.txt\n`);
    const [again, json] = await Promise.all([
      runHookline(['trust'], at(place)),
      runHookline(['trust', '--json'], at(place)),
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
    const place = createTempWorkspace({
      [GUARD]: DENYING,
      '.cline/hooks/PreToolUse': answering({}),
    });
    trust(place);
    const one = await runHookline(['untrust', PRE_TOOL_USE], at(place));
    expect(one).toMatchObject({ code: 0, stdout: 'Revoked trust in 1 hook.\n' });
    expect(await effectIn(place)).toBe('pass');
    const rest = await runHookline(['untrust', '--json'], at(place));
    expect(jsonOf(rest)).toEqual({ forgotten: 1 });
  });

  it('leaves a hook of the same name in another root trusted', async () => {
    const place = createTempWorkspace({ [GUARD]: DENYING, [`lib/${GUARD}`]: DENYING });
    const roots = ['--root', '.', '--root', 'lib'];
    trust(place, roots);
    const one = await runHookline(['untrust', PRE_TOOL_USE, '--json', ...roots], at(place));
    expect(jsonOf(one)).toEqual({ forgotten: 1 });
    const listed = await runHookline(['hooks', 'list', '--json', ...roots], at(place));
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
    const place = createTempWorkspace({ [GUARD]: DENYING });
    const locked = await runHookline(['lock', '--json'], at(place));
    const file = path.join(place.repo, 'hookline.lock.json');
    expect(jsonOf(locked)).toEqual({ file, hooks: [PRE_TOOL_USE] });
    expect(await effectIn(place)).toBe('pass');
    expect(await effectIn(place, ['--lock', file])).toBe('deny');
    const hash = computeSha256(readFileSync(file));
    expect(await effectIn(place, ['--lock', file, '--lock-sha256', hash])).toBe('deny');
    const other = await runHookline(
      ['hooks', 'fire', 'PreToolUse', '--lock', file, '--lock-sha256', '0'.repeat(64)],
      at(place),
    );
    expect(other).toMatchObject({ code: 2, stdout: '' });
  });

  it('compares, and exits with 1 when something differs', async () => {
    const place = createTempWorkspace({ [GUARD]: DENYING });
    await runHookline(['lock', '--file', 'ci/lock.json'], at(place)).then(({ code, stderr }) => {
      expect(code).toBe(2);
      expect(stderr).toContain('ci/lock.json cannot be written');
    });
    await runHookline(['lock'], at(place));
    const same = await runHookline(['lock', '--check'], at(place));
    expect(same.code).toBe(0);
    expect(same.stdout).toMatch(/^Hooks match .*hookline\.lock\.json\.\n$/);

    write(place.repo, GUARD, answering({}));
    write(place.repo, '.cline/hooks/PreToolUse', answering({}));
    const [differs, json] = await Promise.all([
      runHookline(['lock', '--check'], at(place)),
      runHookline(['lock', '--check', '--json'], at(place)),
    ]);
    expect(differs.code).toBe(1);
    expect(differs.stdout).toContain(`  changed ${PRE_TOOL_USE} ${GUARD}\n`);
    expect(jsonOf(json)).toMatchObject({
      same: false,
      added: [{ id: 'cline:workspace-cline:PreToolUse' }],
      removed: [],
      changed: [{ id: PRE_TOOL_USE, entry: GUARD, paths: [GUARD] }],
    });
    expect(await effectIn(place, ['--lock', 'hookline.lock.json'])).toBe('pass');
  });

  it('reads a named file relative to the start directory, and the usual one from the root', async () => {
    const place = createTempWorkspace({ [GUARD]: DENYING, 'sub/.keep': '' });
    const below = at(place, { cwd: path.join(place.repo, 'sub') });
    const fileOf = async (args: readonly string[]): Promise<string> =>
      jsonOf(await runHookline([...args, '--json'], below)).file;
    const usual = path.join(place.repo, 'hookline.lock.json');
    const named = path.join(place.repo, 'sub/my.lock.json');
    expect(await fileOf(['lock'])).toBe(usual);
    expect(await fileOf(['lock', '--check'])).toBe(usual);
    expect(await fileOf(['lock', '--file', 'my.lock.json'])).toBe(named);
    expect(await fileOf(['--lock', 'my.lock.json', 'lock', '--check'])).toBe(named);
  });
});

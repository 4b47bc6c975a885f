import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createHost } from '../../src/host/create-host.ts';
import { jsonOf, runHookline } from '../cli/hookline.ts';
import {
  at,
  createTempWorkspace,
  isRoot,
  NOBODY,
  type TempWorkspace,
  trust,
  write,
} from '../cli/temp-workspace.ts';

const SETTINGS = '.claude/settings.json';
const FIRE = ['hooks', 'fire', 'PreToolUse', '--tool', 'Bash', '--json', '--strict'];
const LIST = ['hooks', 'list'];
const DENY = { type: 'command', command: 'echo no >&2; exit 2' };
const GUARD = JSON.stringify({ hooks: { PreToolUse: [{ hooks: [DENY] }] } });

/** A workspace with the user's guard in `.cline/hooks.json`, and this as the user's settings. */
function createWorkspaceWith(settings: string | Uint8Array): TempWorkspace {
  const workspace = createTempWorkspace();
  write(workspace.home, '.cline/hooks.json', GUARD);
  write(workspace.home, SETTINGS, settings);
  return workspace;
}

describe('a settings file', () => {
  it.each([
    ['invalid UTF-8', Buffer.from([0xff, 0xfe, 0x7b, 0x7d]), 'expected JSON, found'],
    ['null', 'null', 'expected an object with "hooks", found null'],
    ['an array', '[]', 'expected an object with "hooks", found'],
    ['a string', '"hooks"', 'expected an object with "hooks", found'],
    ['a comment alone', '// nothing', 'expected JSON'],
    [
      'JSON that breaks off',
      '{"hooks": {"PreToolUse": [',
      'expected JSON, found the end of the file',
    ],
    ['text after its JSON', '{} more', 'expected JSON, found'],
    ['NUL', '\u0000', 'expected JSON'],
    ['hooks that are an array', '{"hooks": []}', '"hooks": expected an object of events, found'],
    ['hooks that are null', '{"hooks": null}', '"hooks": expected an object of events, found null'],
  ])('with %s is reported with its position, and the neighbours run', async (_name, text, says) => {
    const workspace = createWorkspaceWith(text);
    const [list, fired, doctor] = await Promise.all([
      runHookline(LIST, at(workspace)),
      runHookline(FIRE, at(workspace)),
      runHookline(['doctor'], at(workspace)),
    ]);
    expect(list.stdout).toContain(says);
    expect(list.stdout).toMatch(/^Ignored:\n.*settings\.json {2}a guard may be missing: line 1: /m);
    expect(fired.code).toBe(1);
    expect(JSON.parse(fired.stdout).outcomes).toContainEqual(
      expect.objectContaining({
        hook: 'claude:user:settings.json:line-1',
        failure: expect.objectContaining({
          kind: 'config',
          message: expect.stringContaining(says),
        }),
      }),
    );
    // Printed once: it is in the verdict.
    expect(fired.stderr).toBe('');
    expect(doctor.code).toBe(1);
    for (const { stderr } of [list, fired, doctor]) expect(stderr).not.toMatch(/^ {4}at /m);
  });

  it('that is empty is reported, and guards nothing', async () => {
    const workspace = createWorkspaceWith(' \n');
    const list = await runHookline(LIST, at(workspace));
    expect(list.stdout).toContain('line 1: expected JSON, found an empty file');
    expect(list.stdout).not.toContain('broken');
  });

  it.each([
    ['a byte-order mark', `\uFEFF${GUARD}`],
    ['CRLF', GUARD.replaceAll(',', ',\r\n')],
    ['comments and trailing commas', `/* a */ ${GUARD.replace(/\}$/, ',}')} // b`],
    ['invalid UTF-8 inside a string', Buffer.from(GUARD.replace('no', '\u00ff'), 'latin1')],
    ['unknown keys', GUARD.replace('{', '{"colour": {"a": [null]}, "$schema": 5, ')],
    ['15 MB', `${GUARD}${' '.repeat(15 * 1024 * 1024)}`],
    ['a key "__proto__"', GUARD.replace('{', '{"__proto__": {"disableAllHooks": true}, ')],
  ])('with %s works', async (_name, text) => {
    const workspace = createTempWorkspace();
    write(workspace.home, SETTINGS, text);
    const { code } = await runHookline(FIRE, at(workspace));
    expect(code).toBe(1);
  });

  it('loses only the entry that is wrong, and says so on every dispatch of its gate', async () => {
    const broken = [
      { hooks: [{ type: 'command' }, DENY, null, { type: 'telepathy' }] },
      { matcher: 5, hooks: [DENY] },
      { hooks: 'x' },
      7,
    ];
    const workspace = createTempWorkspace();
    write(
      workspace.home,
      SETTINGS,
      JSON.stringify({ hooks: { PreToolUse: broken, Stop: 'x' } }, null, 1),
    );
    const result = await runHookline(FIRE, at(workspace));
    const { outcomes, effect } = jsonOf(result);
    expect({ code: result.code, effect }).toEqual({ code: 1, effect: 'deny' });
    const failures = outcomes.filter(({ status }: { status: string }) => status === 'failed');
    expect(failures).toHaveLength(6);
    const list = await runHookline(LIST, at(workspace));
    expect(list.stdout).toMatch(/line \d+: "Stop": expected an array of matcher groups, found/);
  });

  it('loses only the setting that is wrong', async () => {
    const workspace = createTempWorkspace();
    const wrong = { disableAllHooks: 'yes', env: [], enabledPlugins: 5, allowedHttpHookUrls: 'x' };
    write(workspace.home, SETTINGS, JSON.stringify({ ...wrong, ...JSON.parse(GUARD) }));
    const [fired, list] = await Promise.all([
      runHookline(FIRE, at(workspace)),
      runHookline(LIST, at(workspace)),
    ]);
    expect(fired.code).toBe(1);
    expect(list.stdout).toContain('expected true or false, found string');
  });

  it('may lie in a path with spaces, quotes and newlines', async () => {
    const workspace = createTempWorkspace();
    const repo = path.join(workspace.directory, `a b 'c' "d"\n$(touch pwned) ;e`);
    const command = '"$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh';
    const exec = {
      type: 'command',
      command: '${CLAUDE_PROJECT_DIR}/.claude/hooks/guard.sh',
      args: [],
    };
    const hooks = { PreToolUse: [{ hooks: [{ type: 'command', command }, exec] }] };
    write(repo, SETTINGS, JSON.stringify({ hooks }));
    write(repo, '.claude/hooks/guard.sh', '#!/bin/sh\necho no >&2\nexit 2\n');
    write(repo, '.git/HEAD', '');
    const there = { ...workspace, repo };
    trust(there);
    const result = await runHookline(FIRE, at(there));
    expect(result.code).toBe(1);
    expect(jsonOf(result)).toMatchObject({
      effect: 'deny',
      outcomes: [{ status: 'decided' }, { status: 'decided' }],
    });
    write(repo, '.claude/hooks/guard.sh', '#!/bin/sh\nexit 0\n');
    expect(jsonOf(await runHookline(FIRE, at(there))).outcomes).toEqual([]);
  });

  it.skipIf(!isRoot)('that cannot be read is a warning, not a pass (needs root)', async () => {
    const workspace = createTempWorkspace();
    write(workspace.home, SETTINGS, GUARD);
    chmodSync(workspace.directory, 0o755);
    chmodSync(path.join(workspace.home, SETTINGS), 0o600);
    const { code, stderr } = await runHookline(FIRE, at(workspace, { uid: NOBODY }));
    expect(code).toBe(3);
    expect(stderr).toContain('a guard may be missing');
    expect(stderr).toContain('cannot be read: EACCES');
  });
});

describe('what changes between discovery and run', () => {
  async function hostOf(workspace: TempWorkspace) {
    const env = { PATH: process.env['PATH'], HOME: workspace.home };
    const { home, repo: cwd } = workspace;
    const { platform, execPath: nodePath } = process;
    return createHost({ cwd, surroundings: { cwd, env, platform, home, nodePath } });
  }
  const event = { name: 'PreToolUse', tool: { callId: '1', name: 'Bash', input: {} } } as const;

  it('a deleted settings file still guards, until hooks are discovered again', async () => {
    const workspace = createTempWorkspace();
    const file = write(workspace.home, SETTINGS, GUARD);
    const host = await hostOf(workspace);
    rmSync(file);
    const before = await host.engine.dispatch(event);
    host.rescan();
    const after = await host.engine.dispatch(event);
    await host.dispose();
    expect([before.effect, after.effect]).toEqual(['deny', 'pass']);
  });

  it('a deleted script of the user’s is a failure, of the workspace’s a loss of trust', async () => {
    const script = (name: string) => ({ type: 'command', command: 'sh', args: [name] });
    const settingsOf = (name: string): string =>
      JSON.stringify({ hooks: { PreToolUse: [{ hooks: [script(name)] }] } });
    const workspace = createTempWorkspace({
      'tools/guard.sh': 'exit 2\n',
      [SETTINGS]: settingsOf('tools/guard.sh'),
    });
    const own = write(workspace.home, 'guard.sh', 'exit 2\n');
    write(workspace.home, SETTINGS, settingsOf(own));
    trust(workspace);
    const host = await hostOf(workspace);
    rmSync(own);
    rmSync(path.join(workspace.repo, 'tools/guard.sh'));
    const verdict = await host.engine.dispatch(event);
    await host.dispose();
    expect(verdict.outcomes).toHaveLength(1);
    expect(verdict.outcomes[0]).toMatchObject({ hook: 'claude:user:PreToolUse:guard.sh' });
    expect(verdict.skipped).toMatchObject([{ why: expect.stringMatching(/^modified: /) }]);
  });

  it('a current directory that is gone does not stop a guard', async () => {
    const workspace = createTempWorkspace();
    write(workspace.home, SETTINGS, GUARD);
    const host = await hostOf(workspace);
    const verdict = await host.engine.dispatch({
      ...event,
      cwd: path.join(workspace.repo, 'gone'),
    });
    await host.dispose();
    expect(verdict.effect).toBe('deny');
  });

  it('a settings file that becomes unreadable is reported when it is read again', async () => {
    const workspace = createTempWorkspace();
    const file = write(workspace.home, SETTINGS, GUARD);
    const host = await hostOf(workspace);
    writeFileSync(file, '{');
    host.rescan();
    expect(host.hooks()).toEqual([]);
    expect(host.ignored()).toEqual([
      {
        path: file,
        why: 'line 1: expected JSON, found the end of the file at column 2 (missing } at the end)',
        mayHideHook: true,
      },
    ]);
    await host.dispose();
  });
});

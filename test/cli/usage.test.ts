import { spawn } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { environmentOf, hooklineProgram, jsonOf, resultOf, runHookline } from './hookline.ts';
import {
  answering,
  at,
  createTempWorkspace,
  HOOKS,
  PRE_TOOL_USE,
  write,
} from './temp-workspace.ts';

const NOT_UNDERSTOOD: readonly (readonly [args: string, says: string])[] = [
  ['', 'Usage: hookline'],
  ['hooks', 'Usage: hookline hooks'],
  ['nonsense', 'unknown command "nonsense"'],
  ['hooks nonsense', 'unknown command "nonsense"'],
  ['hooks list --nonsense', 'unknown option "--nonsense"'],
  ['hooks list more', 'too many arguments'],
  ['hooks rm', 'missing argument "id"'],
  ['hooks fire', 'missing event'],
  ['hooks fire PreTolUse', 'Did you mean PreToolUse?'],
  ['hooks fire nonsense', 'Events: SessionStart'],
  ['hooks explain PreTolUse', 'Did you mean PreToolUse?'],
  ['hooks fire PreToolUse --input {broken', '--input must be JSON, found "{broken"'],
  ['hooks fire PreToolUse --facts absent.json', 'absent.json cannot be read'],
  ['hooks fire PreToolUse --facts list.json', 'must contain a JSON object, found array'],
  ['hooks fire PreToolUse --facts types.json', '"tool" of PreToolUse should be object'],
  ['hooks fire --payload broken.json', 'broken.json is not valid JSON'],
  ['hooks fire --payload -', 'the payload on stdin is not valid JSON'],
  ['hooks fire PreToolUse --facts -', 'the text on stdin is not valid JSON'],
  ['hooks fire --payload list.json', 'not a payload of a Cline hook'],
  ['hooks fire --payload absent.json', 'absent.json cannot be read'],
  ['hooks fire --payload list.json --as nobody', '--as must be cline or claude, found "nobody"'],
  ['hooks fire PostToolUse --success maybe', '--success must be true or false'],
  ['hooks fire Stop --tool Write', 'Stop is not about a tool'],
  ['hooks fire PreToolUse --result text', 'PreToolUse carries no tool result'],
  ['hooks disable nothing', 'hook "nothing" not found'],
  ['hooks enable nothing', 'hook "nothing" not found'],
  ['hooks rm nothing --yes', 'hook "nothing" not found'],
  ['trust nothing', 'hook "nothing" not found'],
  ['untrust nothing', 'hook "nothing" not found'],
  ['hooks list --cwd absent', '--cwd must be a directory'],
  ['hooks list --root absent', 'a workspace root should be a directory, found nothing'],
  ['hooks list --root list.json', 'a workspace root should be a directory, found a file'],
  ['hooks list --hooks-dir absent', '--hooks-dir must be a directory of Cline hooks'],
  ['run --mcp-config absent.json go', '--mcp-config must be a file of MCP servers'],
  ['hooks list --lock absent.json', 'the lock absent.json cannot be read'],
  ['hooks list --lock list.json', 'list.json is not a valid lock'],
  ['hooks list --lock-sha256 00', '--lock-sha256 requires --lock'],
  ['lock --check', 'hookline.lock.json cannot be read: file not found'],
];

describe('a command line that cannot be understood', () => {
  it.each(NOT_UNDERSTOOD)('hookline %s: exit code 2, only stderr, %j', async (args, says) => {
    const workspace = createTempWorkspace({
      'list.json': '[]',
      'types.json': '{"tool": "Write"}',
      'broken.json': '{',
    });
    const { code, stdout, stderr } = await runHookline(
      args.split(' ').filter(Boolean),
      at(workspace),
    );
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(says);
    expect(stderr).not.toMatch(/^ {4}at /m);
  });
});

it('prints help and version to stdout', async () => {
  const workspace = createTempWorkspace();
  const runs = await Promise.all(
    [['--help'], ['hooks', 'fire', '--help'], ['hooks', '--help'], ['--version']].map((args) =>
      runHookline(args, at(workspace)),
    ),
  );
  expect(runs.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
    runs.map(() => ({ code: 0, stderr: '' })),
  );
  const [help, fireHelp, groupHelp, version] = runs.map(({ stdout }) => stdout);
  expect(help).toContain('Review the workspace’s hooks and trust them');
  expect(fireHelp).toContain('--payload <file>');
  expect(fireHelp).toContain('--strict');
  expect(groupHelp).toContain('explain [options] [event]');
  expect(groupHelp).not.toContain('--strict');
  expect(version).toMatch(/^\d+\.\d+\.\d+\n$/);
});

it('says so when the current directory was deleted', async () => {
  const workspace = createTempWorkspace();
  const script = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"';
  const command = [process.execPath, hooklineProgram(), 'hooks', 'list'];
  const child = spawn('/bin/sh', ['-c', script, 'sh', ...command], {
    cwd: workspace.directory,
    env: environmentOf(workspace),
  });
  const { code, stderr } = await resultOf(child);
  expect(code).toBe(2);
  expect(stderr).toContain('the current directory cannot be found');
});

describe('flags for directories', () => {
  it('uses --cwd as the start directory for every path', async () => {
    const workspace = createTempWorkspace({
      [`${HOOKS}/PreToolUse`]: answering({ cancel: true, errorMessage: 'no' }),
      'facts.json': '{"iteration": 1}',
    });
    const elsewhere = at(workspace, { cwd: workspace.directory });
    await runHookline(['--cwd', 'repo', 'lock'], elsewhere);
    const result = await runHookline(
      '--cwd repo --lock hookline.lock.json --json hooks fire PreToolUse --facts facts.json'.split(
        ' ',
      ),
      elsewhere,
    );
    expect({ code: result.code, effect: jsonOf(result).effect }).toEqual({
      code: 1,
      effect: 'deny',
    });
  });

  it('looks in every --root and distinguishes their hooks', async () => {
    const workspace = createTempWorkspace({ [`${HOOKS}/PreToolUse`]: answering({}) });
    write(workspace.directory, `library/${HOOKS}/PreToolUse`, answering({}));
    const { hooks, roots } = jsonOf(
      await runHookline(
        ['hooks', 'list', '--json', '--root', '.', '--root', '../library'],
        at(workspace),
      ),
    );
    expect(roots).toEqual([workspace.repo, `${workspace.directory}/library`]);
    expect(hooks.map(({ id }: { id: string }) => id)).toEqual([
      PRE_TOOL_USE,
      'cline:workspace@library:PreToolUse',
    ]);
  });

  it('runs hooks of --hooks-dir at once outside the workspace, and inside only when trusted', async () => {
    const workspace = createTempWorkspace({ 'tools/PreToolUse': answering({ cancel: true }) });
    write(workspace.directory, 'mine/PreToolUse', answering({ cancel: true }));
    const [mine, tools] = await Promise.all(
      ['../mine', 'tools'].map((directory) =>
        runHookline(['hooks', 'fire', 'PreToolUse', '--hooks-dir', directory], at(workspace)),
      ),
    );
    expect(mine?.stdout).toContain('PreToolUse: deny (1 hook run)');
    expect(tools?.stdout).toContain('cline:given:PreToolUse: not run: untrusted');
  });

  it.each([
    ['--no-hooks', ['--no-hooks'], {}, 'a flag'],
    ['HOOKLINE_HOOKS=off', [], { HOOKLINE_HOOKS: 'off' }, 'HOOKLINE_HOOKS'],
  ])('runs nothing with %s, and says so', async (_name, flags, env, origin) => {
    const workspace = createTempWorkspace();
    write(workspace.home, 'Documents/Cline/Hooks/PreToolUse', answering({ cancel: true }));
    const fired = await runHookline(
      ['hooks', 'fire', 'PreToolUse', ...flags],
      at(workspace, { env }),
    );
    expect(fired).toEqual({
      code: 0,
      stdout: 'PreToolUse: pass (no hook ran)\n',
      stderr: `note: hooks are disabled by ${origin}: no hook runs, and no plugin on disk is loaded\n`,
    });
  });
});

import { chmodSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.ts';
import { ERROR_CODES } from '../../src/base/errors.ts';
import { type HooklineResult, jsonOf, runHookline } from './hookline.ts';
import { at, createTempWorkspace, HOOKS, isRoot, NOBODY, write } from './temp-workspace.ts';

/** The one object that stderr consists of. */
function errorOf({ stderr }: HooklineResult) {
  const object = JSON.parse(stderr);
  expect(object.error).toEqual({
    code: expect.any(String),
    message: expect.any(String),
    hint: expect.toSatisfy((hint) => hint === null || typeof hint === 'string'),
  });
  expect(Object.keys(ERROR_CODES)).toContain(object.error.code);
  return object;
}

describe('with --json stderr is one object when', () => {
  it.each(COMMANDS.map(({ usage }) => usage.replace(/ [[<].*$/, '')))(
    'hookline %s gets an unknown option',
    async (usage) => {
      const args = [...usage.split(' '), '--json', '--no-such-option'];
      const result = await runHookline(args, at(createTempWorkspace()));
      expect(result).toMatchObject({ code: 2, stdout: '' });
      expect(errorOf(result)).toEqual({
        error: {
          code: 'USAGE_INVALID',
          message: 'unknown option "--no-such-option"',
          hint: `See \`hookline ${usage} --help\`.`,
        },
      });
    },
  );

  it.each([
    [['hoks'], 'unknown command "hoks"', 'Did you mean hooks? See `hookline --help`.'],
    [['versio'], 'unknown command "versio"', 'Did you mean version? See `hookline --help`.'],
    [['help', 'trst'], 'unknown command "trst"', 'Did you mean trust? See `hookline --help`.'],
    [
      ['help', 'hooks', 'fier'],
      'unknown command "fier"',
      'Did you mean fire? See `hookline hooks --help`.',
    ],
    [['mcp', 'lst'], 'unknown command "lst"', 'Did you mean list? See `hookline mcp --help`.'],
    [[], 'missing command', 'See `hookline --help`.'],
    [['hooks'], 'missing command', 'See `hookline hooks --help`.'],
    [['hooks', 'rm'], 'missing argument "id"', 'See `hookline hooks rm --help`.'],
    [
      ['hooks', 'list', 'x'],
      'too many arguments for hooks list: expected 0, found 1',
      'See `hookline hooks list --help`.',
    ],
    [
      ['hooks', 'fire', 'Stop', '--tool'],
      '--tool needs a value: <name>',
      'See `hookline hooks fire --help`.',
    ],
    [
      ['run', '--output', 'jsn', 'x'],
      '--output must be text, json or stream-json, found "jsn"',
      'Did you mean json? See `hookline run --help`.',
    ],
  ])('%j cannot be understood', async (args, message, hint) => {
    const result = await runHookline([...args, '--json'], at(createTempWorkspace()));
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(errorOf(result)).toEqual({ error: { code: 'USAGE_INVALID', message, hint } });
  });

  it.each([
    [['hooks', 'fire'], 'USAGE_INVALID'],
    [['hooks', 'fire', 'Nope'], 'EVENT_UNKNOWN'],
    [['hooks', 'fire', 'PreToolUse', '--input', '{'], 'USAGE_INVALID'],
    [['hooks', 'fire', '--payload', 'absent.json'], 'USAGE_INVALID'],
    [['hooks', 'explain', 'Nope'], 'EVENT_UNKNOWN'],
    [['hooks', 'enable', 'nope'], 'HOOK_UNKNOWN'],
    [['hooks', 'new', 'Nope'], 'EVENT_UNKNOWN'],
    [['hooks', 'import', '--from', 'claude'], 'USAGE_INVALID'],
    [['hooks', 'test', 'absent'], 'USAGE_INVALID'],
    [['trust', 'nope'], 'HOOK_UNKNOWN'],
    [['untrust', 'nope'], 'HOOK_UNKNOWN'],
    [['lock', '--check'], 'LOCK_INVALID'],
    [['hooks', 'list', '--lock', 'absent'], 'LOCK_INVALID'],
    [['hooks', 'list', '--cwd', 'absent'], 'USAGE_INVALID'],
    [['hooks', 'list', '--settings', '{'], 'USAGE_INVALID'],
    [['run'], 'USAGE_INVALID'],
    [['run', 'x'], 'MODEL_KEY_MISSING'],
    [['run', '-P', 'nope', 'x'], 'MODEL_UNKNOWN'],
    [['run', '--script', 'absent', 'x'], 'USAGE_INVALID'],
    [['run', '--resume', 'nope', 'x'], 'SESSION_UNKNOWN'],
    [['run', '--worktree', 'a', '--script', '../turns.json', 'x'], 'WORKTREE_FAILED'],
    [['chat'], 'USAGE_INVALID'],
    [['mcp', 'add', 'x'], 'USAGE_INVALID'],
    [['mcp', 'rm', 'x'], 'MCP_FAILED'],
    [['sessions', 'show'], 'SESSION_UNKNOWN'],
    [['sessions', 'rm', 'nope', '--yes'], 'SESSION_UNKNOWN'],
    [['session', 'state'], 'SESSION_UNREACHABLE'],
    [['plugin', 'install', './absent'], 'PLUGIN_INSTALL_FAILED'],
    [['plugin', 'enable', 'nope'], 'PLUGIN_UNKNOWN'],
    [['plugin', 'validate', 'nope'], 'PLUGIN_UNKNOWN'],
    [['plugin', 'demo', 'nope'], 'PLUGIN_UNKNOWN'],
    [['plugin', 'update', 'nope'], 'PLUGIN_UNKNOWN'],
  ])('%j fails', async (args, code) => {
    const workspace = createTempWorkspace();
    write(workspace.directory, 'turns.json', '[{"text":"Hi."}]');
    const result = await runHookline([...args, '--json'], at(workspace));
    expect(result.stdout).toBe('');
    expect(result.code).not.toBe(0);
    const { error } = errorOf(result);
    expect({ code: error.code, isCapital: /^[A-Z][a-z]/.test(error.message) }).toEqual({
      code,
      isCapital: false,
    });
    expect(error.message).not.toMatch(/\.$/);
    expect(error.hint).toMatch(/^[A-Z`]/);
  });

  it('there was something to note before', async () => {
    const workspace = createTempWorkspace({ '.claude/settings.json': '{' });
    const result = await runHookline(['hooks', 'enable', 'nope', '--json'], at(workspace));
    expect(errorOf(result)).toEqual({
      error: expect.objectContaining({ code: 'HOOK_UNKNOWN' }),
      notes: [expect.stringMatching(/^note: a guard may be missing: /)],
    });
  });

  it('a run fails, whose result is on stdout', async () => {
    const workspace = createTempWorkspace({ '.claude/settings.json': '{' });
    write(workspace.directory, 'turns.json', '[]');
    const result = await runHookline(
      ['run', '--script', '../turns.json', '--json', 'x'],
      at(workspace),
    );
    expect(result.code).toBe(1);
    const { reason } = jsonOf(result);
    expect(errorOf(result)).toEqual({
      error: { code: 'RUN_FAILED', message: reason, hint: null },
      notes: [expect.stringMatching(/^note: a guard may be missing: /)],
    });
  });

  it.runIf(isRoot)('the home directory cannot be written', async () => {
    const workspace = createTempWorkspace({ [`${HOOKS}/PreToolUse`]: '#!/bin/sh\n' });
    write(workspace.directory, 'turns.json', '[{"text":"Hi."}]');
    chmodSync(workspace.directory, 0o755);
    const where = at(workspace, { uid: NOBODY });
    const run = ['run', '--script', '../turns.json', '--json', 'x'];
    const codes = [];
    for (const args of [
      run,
      ['trust', '--yes', '--json'],
      ['mcp', 'add', 'x', '--json', '--', 'cat'],
    ]) {
      const result = await runHookline(args, where);
      expect(result.code).toBe(2);
      codes.push(errorOf(result).error.code);
    }
    expect(codes).toEqual(['SESSION_UNWRITABLE', 'CONFIG_UNWRITABLE', 'CONFIG_UNWRITABLE']);
  });
});

it('with --json notes of a command that succeeds are lines on stderr', async () => {
  const workspace = createTempWorkspace({ '.claude/settings.json': '{' });
  const { code, stdout, stderr } = await runHookline(['trust', '--json'], at(workspace));
  expect({ code, isJson: stdout.startsWith('{') || stdout.startsWith('[') }).toEqual({
    code: 0,
    isJson: true,
  });
  expect(stderr).toMatch(/^note: a guard may be missing: .*\n$/);
});

it('without --json an error is a line and its hint', async () => {
  const workspace = createTempWorkspace();
  const run = (...args: string[]) => runHookline(args, at(workspace));
  expect(await run('hoks')).toEqual({
    code: 2,
    stdout: '',
    stderr: 'hookline: unknown command "hoks"\n  Did you mean hooks? See `hookline --help`.\n',
  });
  expect(await run('help', 'nope')).toEqual({
    code: 2,
    stdout: '',
    stderr: 'hookline: unknown command "nope"\n  See `hookline --help`.\n',
  });
  expect(await run('hooks', 'fire', '--payload', 'absent.json')).toEqual({
    code: 2,
    stdout: '',
    stderr:
      'hookline: absent.json cannot be read: file not found\n  Pass an existing file, or - for stdin.\n',
  });
});

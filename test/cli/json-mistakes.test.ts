import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runHookline } from './hookline.ts';
import { at, createTempWorkspace, type TempWorkspace, write } from './temp-workspace.ts';

const BROKEN = '{\n  "mcpServers": {\n    "b: 1\n  }\n}\n';
const TURNS = '[{"tools":[{"name":"Bash","input":{"command":"true"}}]},{"text":"Done."}]';
const RUN = ['run', '--script', '../turns.json', '--allow', 'Bash', 'go'];
const FIRE = ['hooks', 'fire', 'PreToolUse', '--tool', 'Bash', '--input', '{"command":"ls"}'];
const LIST = ['hooks', 'list'];

/** What a command prints about the one mistake: line, column and guess, once. */
async function expectExplained(args: readonly string[], workspace: TempWorkspace): Promise<void> {
  write(workspace.directory, 'turns.json', TURNS);
  const { stdout, stderr } = await runHookline(args, at(workspace));
  const printed = stdout + stderr;
  const lines = printed.split('\n').filter((line) => line.includes('missing quote after b'));
  expect(lines).toHaveLength(1);
  expect(printed).toMatch(/line 3\b|\w:3\b/);
  expect(lines[0]).toContain('column 10');
  expect(printed).not.toMatch(/^ {4}at /m);
}

describe('a mistake in a file is printed once, with line, column and a guess', () => {
  it.each([
    ['.claude/settings.json', LIST],
    ['.claude/settings.json', FIRE],
    ['.claude/settings.json', [...FIRE, '--json']],
    ['.claude/settings.json', ['hooks', 'explain', 'PreToolUse']],
    ['.claude/settings.json', RUN],
    ['.claude/settings.json', ['doctor']],
    ['.claude/settings.json', ['trust']],
    ['.claude/settings.json', ['lock']],
    ['.claude/settings.json', ['hooks', 'new', 'Stop', '--dialect', 'claude']],
    ['.claude/settings.json', ['hooks', 'import', '--from', 'claude', '--dry-run']],
    ['.claude/settings.local.json', LIST],
    ['.cline/hooks.json', LIST],
    ['.cline/hooks.json', FIRE],
    ['.cline/settings.json', LIST],
    ['.mcp.json', ['mcp', 'list']],
    ['.mcp.json', ['mcp', 'add', 'x', '--scope', 'project', '--', 'cat']],
    ['.mcp.json', RUN],
    ['.cline/plugins/p/package.json', ['plugin', 'list']],
    ['.cline/plugins/p/package.json', LIST],
    ['.cline/plugins/p/package.json', ['plugin', 'validate', '.cline/plugins/p']],
    ['.cline/plugins/p/package.json', ['plugin', 'install', './.cline/plugins/p']],
    ['.cline/plugins/p/package.json', RUN],
    ['plugin/hooks/hooks.json', ['--plugin-dir', 'plugin', ...LIST]],
    ['plugin/hooks/hooks.json', ['--plugin-dir', 'plugin', ...FIRE]],
    ['plugin/.claude-plugin/plugin.json', ['--plugin-dir', 'plugin', ...LIST]],
    ['plugin/.claude-plugin/marketplace.json', ['--plugin-dir', 'plugin', ...LIST]],
    ['hook-tests/one/case.json', ['hooks', 'test']],
    ['x.json', ['--settings', 'x.json', ...LIST]],
    ['x.json', ['--lock', 'x.json', ...LIST]],
    ['x.json', ['run', '--mcp-config', 'x.json', '--script', '../turns.json', 'go']],
    ['x.json', ['run', '--script', 'x.json', 'go']],
    ['x.json', ['hooks', 'fire', '--payload', 'x.json']],
    ['x.json', ['hooks', 'fire', 'PreToolUse', '--facts', 'x.json']],
  ])('%s: hookline %j', async (file, args) => {
    const workspace = createTempWorkspace({ [file]: BROKEN });
    if (file.startsWith('.cline/plugins')) {
      write(workspace.repo, '.cline/plugins/p/index.ts', 'export default { name: "p" };');
    }
    await expectExplained(args, workspace);
  });

  it.each([
    ['.claude/settings.json', LIST],
    ['.claude.json', ['mcp', 'list']],
    ['.claude.json', RUN],
    ['.hookline/mcp.json', ['mcp', 'list']],
    ['.hookline/mcp.json', ['mcp', 'add', 'x', '--', 'cat']],
    ['.hookline/config.json', LIST],
    ['.hookline/config.json', FIRE],
    ['.cline/hooks.json', FIRE],
  ])('~/%s: hookline %j', async (file, args) => {
    const workspace = createTempWorkspace();
    write(workspace.home, file, BROKEN);
    await expectExplained(args, workspace);
  });

  it.each([
    ['--input', ['hooks', 'fire', 'PreToolUse', '--input', BROKEN]],
    ['--settings', ['--settings', BROKEN, ...LIST]],
    ['--mcp-config', ['run', '--mcp-config', BROKEN, '--script', '../turns.json', 'go']],
  ])('JSON of %s', async (_flag, args) => {
    await expectExplained(args, createTempWorkspace());
  });

  it('lists of installed Claude plugins', async () => {
    const workspace = createTempWorkspace();
    const enabledPlugins = { 'one@market': true, 'two@market': true };
    write(workspace.home, '.claude/settings.json', JSON.stringify({ enabledPlugins }));
    write(workspace.home, '.claude/plugins/installed_plugins.json', BROKEN);
    await expectExplained(LIST, workspace);
  });

  it('the plugins that Cline disables', async () => {
    const workspace = createTempWorkspace();
    write(workspace.home, '.cline/plugins/p.ts', 'export default { name: "p" };');
    write(workspace.home, '.cline/data/settings/global-settings.json', BROKEN);
    await expectExplained(LIST, workspace);
  });
});

it('a file that cannot be read is no hook: not listed, not counted, not in the statistics', async () => {
  const workspace = createTempWorkspace({ '.claude/settings.json': BROKEN });
  const fired = await runHookline(FIRE, at(workspace));
  expect(fired.stdout.split('\n').slice(0, 4)).toEqual([
    'PreToolUse: pass (no hook ran)',
    `  ✗ ${path.join(workspace.repo, '.claude/settings.json')}:3: not read (ignored: fail-open)`,
    '      expected JSON, found "\\n" at column 10 (missing quote after b)',
    '      Correct the file; until then its hooks do not run.',
  ]);
  const explained = await runHookline(['hooks', 'explain', 'PreToolUse'], at(workspace));
  expect(explained.stdout).not.toContain('would run');
  const { stdout } = await runHookline(['hooks', 'stats', '--json'], at(workspace));
  expect(JSON.parse(stdout)).toMatchObject({ hooks: [], dispatches: 1 });
});

/** A hook of each kind that prints this text. */
function createHooks(text: string): Readonly<Record<string, TempWorkspace>> {
  const script = `#!/bin/sh\ncat > /dev/null\nprintf '%s' '${text}'\n`;
  const cline = createTempWorkspace();
  write(cline.home, '.cline/hooks/PreToolUse', script);
  const claude = createTempWorkspace();
  const command = write(claude.home, 'hook.sh', script);
  const hooks = { PreToolUse: [{ hooks: [{ type: 'command', command }] }] };
  write(claude.home, '.claude/settings.json', JSON.stringify({ hooks }));
  return { cline, claude };
}

it.each(['cline', 'claude'])(
  'so is a %s hook’s answer that is not JSON, in fire and run',
  async (dialect) => {
    const workspace = createHooks('{\n  "decision": "block",\n  "b: 1\n}')[dialect];
    if (workspace === undefined) return expect.unreachable();
    write(workspace.directory, 'turns.json', TURNS);
    for (const args of [FIRE, RUN]) {
      const { stdout, stderr } = await runHookline(args, at(workspace));
      const lines = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('after b'));
      expect(lines).toEqual([expect.stringContaining('line 3, column 8: missing quote after b')]);
    }
  },
);

it('the line is counted from the beginning of what a hook prints', async () => {
  const { cline } = createHooks('log\nlog\n{"cancel": tru}');
  if (cline === undefined) return expect.unreachable();
  const { stdout } = await runHookline(FIRE, at(cline));
  expect(stdout).toContain('line 3, column 12: tru is not JSON; write true');
});

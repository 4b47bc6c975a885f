import { existsSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { jsonOf, runHookline } from '../hookline.ts';
import {
  at,
  createTempWorkspace,
  hasProgram,
  type TempWorkspace,
  trust,
  write,
} from '../temp-workspace.ts';

const NEW = ['hooks', 'new', '--dialect', 'claude', '--lang', 'node'];
const RM_ALL = ['--tool', 'Bash', '--input', '{"command":"rm -rf /"}'];
const COMMAND = '"$CLAUDE_PROJECT_DIR"/.claude/hooks/PreToolUse.mjs';

function settingsOf({ repo }: TempWorkspace): string {
  return readFileSync(path.join(repo, '.claude', 'settings.json'), 'utf8');
}

async function statesIn(workspace: TempWorkspace): Promise<Record<string, string>> {
  const { hooks } = jsonOf(await runHookline(['hooks', 'list', '--json'], at(workspace)));
  return Object.fromEntries(
    hooks.map(({ id, state }: { id: string; state: string }) => [id, state]),
  );
}

describe('hooks new --dialect claude', () => {
  it('writes a script and its entry, trusts it, and it works at once', async () => {
    const workspace = createTempWorkspace();
    const newResult = await runHookline([...NEW, 'PreToolUse'], at(workspace));
    const script = path.join(workspace.repo, '.claude', 'hooks', 'PreToolUse.mjs');
    const settings = path.join(workspace.repo, '.claude', 'settings.json');
    expect(newResult).toEqual({
      code: 0,
      stderr: '',
      stdout: [
        script,
        `configured in ${settings}:7`,
        'It runs before a tool call, and denies commands that would delete the whole disk or home directory.',
        `  try it:         hookline hooks fire PreToolUse --tool Bash --input '{"command":"rm -rf /"}'`,
        '  after editing:  hookline trust',
        '',
      ].join('\n'),
    });
    expect(statSync(script).mode & 0o777).toBe(0o755);
    expect(JSON.parse(settingsOf(workspace))).toEqual({
      hooks: {
        PreToolUse: [
          { matcher: 'Bash', hooks: [{ type: 'command', command: `${COMMAND} || exit 2` }] },
        ],
      },
    });
    const fired = await runHookline(
      ['hooks', 'fire', 'PreToolUse', ...RM_ALL, '--json'],
      at(workspace),
    );
    expect(fired.code).toBe(1);
    expect(jsonOf(fired)).toMatchObject({ effect: 'deny', skipped: [] });
  });

  it('writes an entry that denies when a module that the script imports is missing', async () => {
    const workspace = createTempWorkspace();
    await runHookline([...NEW, 'PreToolUse'], at(workspace));
    const script = path.join(workspace.repo, '.claude', 'hooks', 'PreToolUse.mjs');
    const text = readFileSync(script, 'utf8');
    const broken = text.replace('\n', "\nimport 'no-such-module';\n");
    write(path.dirname(script), path.basename(script), broken);
    await runHookline(['trust', '--yes'], at(workspace));
    const input = ['--tool', 'Bash', '--input', '{"command":"ls"}', '--json'];
    const fired = await runHookline(['hooks', 'fire', 'PreToolUse', ...input], at(workspace));
    expect(fired.code).toBe(1);
    expect(jsonOf(fired)).toMatchObject({
      effect: 'deny',
      reasons: [{ text: expect.stringContaining('no-such-module') }],
    });
  });

  it('keeps comments, foreign entries, their trust and links in the settings', async () => {
    const workspace = createTempWorkspace({
      'settings/claude.json': `{
  // mine
  "model": "opus",
  "hooks": {
    "Stop": [{ "hooks": [{ "type": "command", "command": ".claude/hooks/own.sh" }] }]
  }
}
`,
      '.claude/hooks/own.sh': '#!/bin/sh\nexit 0\n',
    });
    const settings = path.join(workspace.repo, '.claude', 'settings.json');
    symlinkSync('../settings/claude.json', settings);
    trust(workspace);
    const newResult = await runHookline(
      [...NEW, 'pretooluse', '--matcher', 'Edit', '--json'],
      at(workspace),
    );
    expect(jsonOf(newResult)).toEqual({
      path: path.join(workspace.repo, '.claude', 'hooks', 'PreToolUse.mjs'),
      settings,
      event: 'PreToolUse',
      lang: 'node',
      id: 'claude:project:PreToolUse:PreToolUse.mjs',
      trusted: true,
      try: expect.stringContaining('hookline hooks fire PreToolUse'),
    });
    const text = settingsOf(workspace);
    expect(text).toMatch(/^\{\n {2}\/\/ mine\n {2}"model": "opus",\n/);
    expect(text).toContain('"matcher": "Edit"');
    expect(statSync(settings, { bigint: false }).isFile()).toBe(true);
    expect(readFileSync(path.join(workspace.repo, 'settings', 'claude.json'), 'utf8')).toBe(text);
    expect(await statesIn(workspace)).toEqual({
      'claude:project:Stop:own.sh': 'ready',
      'claude:project:PreToolUse:PreToolUse.mjs': 'ready',
    });
  });

  it('writes the user’s own with --global, and replaces only with --force', async () => {
    const workspace = createTempWorkspace();
    const first = await runHookline([...NEW, 'Stop', '--global'], at(workspace));
    expect(first.code).toBe(0);
    const script = path.join(workspace.home, '.claude', 'hooks', 'Stop.mjs');
    const settings = path.join(workspace.home, '.claude', 'settings.json');
    const before = readFileSync(settings, 'utf8');
    expect(JSON.parse(before)).toEqual({
      hooks: { Stop: [{ hooks: [{ type: 'command', command: '~/.claude/hooks/Stop.mjs' }] }] },
    });
    write(workspace.home, '.claude/hooks/Stop.mjs', '// changed\n');
    const second = await runHookline([...NEW, 'Stop', '--global'], at(workspace));
    expect(second).toMatchObject({ code: 2, stdout: '' });
    expect(second.stderr).toContain(`a hook for Stop already exists: ${script}`);
    expect(readFileSync(script, 'utf8')).toBe('// changed\n');
    const third = await runHookline([...NEW, 'Stop', '--global', '--force'], at(workspace));
    expect(third.code).toBe(0);
    expect(readFileSync(script, 'utf8')).toContain('Stop runs when the agent is about to finish');
    expect(readFileSync(settings, 'utf8')).toBe(before);
  });

  it('refuses a matcher that cannot be compiled, and writes nothing', async () => {
    const workspace = createTempWorkspace();
    const refused = await runHookline([...NEW, 'PreToolUse', '--matcher', '['], at(workspace));
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(/^hookline: --matcher should be names such as Edit\|Write, or /);
    expect(existsSync(path.join(workspace.repo, '.claude'))).toBe(false);
  });

  it('says that a matcher has no effect, and that a switch keeps hooks off', async () => {
    const workspace = createTempWorkspace({ '.claude/settings.json': '{"disableAllHooks": true}' });
    const off = await runHookline([...NEW, 'Stop'], at(workspace));
    expect(off.code).toBe(0);
    expect(off.stderr).toMatch(/^note: it does not run: .*disableAllHooks/);
    const useless = createTempWorkspace();
    const newResult = await runHookline([...NEW, 'Stop', '--matcher', 'Bash'], at(useless));
    expect(newResult.stderr).toContain('note: the matcher is ignored: Stop has nothing to match');
  });

  it('writes nothing where the settings cannot be understood or are not the repository’s', async () => {
    const broken = createTempWorkspace({ '.claude/settings.json': '{ "hooks": ' });
    const refused = await runHookline([...NEW, 'Stop'], at(broken));
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain(
      `${path.join(broken.repo, '.claude', 'settings.json')}: line 1: expected JSON, found the end of the file at column 12 (missing a value and } at the end)`,
    );
    expect(existsSync(path.join(broken.repo, '.claude', 'hooks'))).toBe(false);

    const linked = createTempWorkspace({ '.claude/x': '' });
    const outside = write(linked.home, 'settings.json', '{}');
    symlinkSync(outside, path.join(linked.repo, '.claude', 'settings.json'));
    const stray = await runHookline([...NEW, 'Stop'], at(linked));
    expect(stray.code).toBe(2);
    expect(stray.stderr).toContain(`is a link to ${outside}`);
    expect(readFileSync(outside, 'utf8')).toBe('{}');
  });

  it('refuses an event that the format does not have', async () => {
    const workspace = createTempWorkspace();
    const [typo, cline] = await Promise.all([
      runHookline([...NEW, 'PreTolUse'], at(workspace)),
      runHookline([...NEW, 'TaskResume'], at(workspace)),
    ]);
    expect(typo).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Did you mean PreToolUse?'),
    });
    expect(cline).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Claude’s format has: PreToolUse'),
    });
  });

  it('names a program that runs TypeScript', async () => {
    const workspace = createTempWorkspace();
    const newResult = await runHookline(
      ['hooks', 'new', 'Stop', '--dialect', 'claude', '--lang', 'ts'],
      at(workspace),
    );
    expect(newResult.code).toBe(0);
    const [{ hooks }] = JSON.parse(settingsOf(workspace)).hooks.Stop;
    expect(hooks[0].command).toMatch(
      /^(?:node|bun|tsx|npx --yes tsx) "\$CLAUDE_PROJECT_DIR"\/\.claude\/hooks\/Stop\.mts$/,
    );
  });

  it.skipIf(!hasProgram('jq') || !hasProgram('bash'))(
    'uses bash by default [needs bash and jq]',
    async () => {
      const workspace = createTempWorkspace();
      const newResult = await runHookline(
        ['hooks', 'new', 'Stop', '--dialect', 'claude', '--json'],
        at(workspace),
      );
      expect(jsonOf(newResult)).toMatchObject({
        lang: 'bash',
        path: expect.stringMatching(/Stop\.sh$/),
      });
    },
  );
});

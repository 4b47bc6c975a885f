import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../../src/cli/commands.ts';
import { listDialectsWith } from '../../../src/dialects/index.ts';
import { jsonOf, runHookline } from '../hookline.ts';
import {
  at,
  createTempWorkspace,
  HOOKS,
  answering,
  type TempWorkspace,
  trust,
  write,
} from '../temp-workspace.ts';

const GUARD = 'claude:project:PreToolUse:guard.sh';

const SETTINGS = `{
  // guards of this repository
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Edit|Write",
        "hooks": [
          { "type": "command", "command": "\\"$CLAUDE_PROJECT_DIR\\"/.claude/hooks/guard.sh" } // first
        ]
      },
      { "matcher": "Bash", "hooks": [{ "type": "command", "command": "true", "if": "Bash(git push *)" }] }
    ]
  },
  "model": "opus"
}
`;

function createWorkspaceWithGuard(files: Readonly<Record<string, string>> = {}): TempWorkspace {
  return createTempWorkspace({
    '.claude/settings.json': SETTINGS,
    '.claude/hooks/guard.sh': '#!/bin/sh\ncat > /dev/null\necho "not here" >&2\nexit 2\n',
    ...files,
  });
}

function settingsFile({ repo }: TempWorkspace): string {
  return path.join(repo, '.claude', 'settings.json');
}

describe('hooks list', () => {
  it('shows entries of settings with matcher, place and command, within 80 columns', async () => {
    const workspace = createWorkspaceWithGuard({ [`${HOOKS}/PreToolUse`]: answering({}) });
    trust(workspace);
    const { stdout } = await runHookline(['hooks', 'list'], at(workspace));
    expect(stdout).toBe(
      [
        'HOOK                                EVENT       MATCHER     STATE',
        'cline:workspace:PreToolUse          PreToolUse              ready',
        '  .clinerules/hooks/PreToolUse',
        'claude:project:PreToolUse:guard.sh  PreToolUse  Edit|Write  ready',
        '  .claude/settings.json:8 · command "$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh',
        'claude:project:PreToolUse:true      PreToolUse  Bash        ready',
        '  .claude/settings.json:11 · command true · if Bash(git push *)',
        '',
        'Trust does not cover interpreters outside of the workspace: /bin/sh',
        '',
      ].join('\n'),
    );
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  it('has line, matcher and what the dialect knows in its JSON', async () => {
    const workspace = createWorkspaceWithGuard();
    const { hooks } = jsonOf(await runHookline(['hooks', 'list', '--json'], at(workspace)));
    expect(hooks).toMatchObject([
      {
        id: GUARD,
        dialect: 'claude',
        event: 'PreToolUse',
        matcher: 'Edit|Write',
        path: settingsFile(workspace),
        line: 8,
        state: 'untrusted',
        type: 'command',
        runs: '"$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh',
      },
      { line: 11, if: 'Bash(git push *)' },
    ]);
  });
});

describe('hooks explain', () => {
  it('says why an entry does not fit: matcher, condition, or a copy that runs instead', async () => {
    const workspace = createWorkspaceWithGuard({
      '.cline/hooks.json': JSON.stringify({
        hooks: {
          PreToolUse: [{ hooks: [{ type: 'command', command: 'true', if: 'Bash(git push *)' }] }],
        },
      }),
    });
    trust(workspace);
    const explain = async (input: string): Promise<string> => {
      const args = ['hooks', 'explain', 'PreToolUse', '--tool', 'Bash', '--input', input];
      return (await runHookline(args, at(workspace))).stdout;
    };
    const other = await explain('{"command":"ls"}');
    expect(other).toContain(`would not ${GUARD}: matcher "Edit|Write" does not match Bash`);
    expect(other).toContain('if "Bash(git push *)" is not met');
    const push = await explain('{"command":"git push"}');
    expect(push).toContain('would run claude:project-cline:PreToolUse:true');
    expect(push).toMatch(
      /would not claude:project:PreToolUse:true: .*project-cline:PreToolUse:true/,
    );
  });
});

describe('hooks disable and enable', () => {
  it('switch an entry off and on by its id, without touching the settings', async () => {
    const workspace = createWorkspaceWithGuard();
    trust(workspace);
    await runHookline(['hooks', 'disable', GUARD], at(workspace));
    const off = await runHookline(['hooks', 'fire', 'PreToolUse', '--json'], at(workspace));
    expect(jsonOf(off)).toMatchObject({ effect: 'pass', outcomes: [] });
    await runHookline(['hooks', 'enable', GUARD], at(workspace));
    const on = await runHookline(['hooks', 'fire', 'PreToolUse', '--json'], at(workspace));
    expect(jsonOf(on)).toMatchObject({ effect: 'deny', outcomes: [{ hook: GUARD }] });
    expect(readFileSync(settingsFile(workspace), 'utf8')).toBe(SETTINGS);
  });
});

describe('an entry that cannot work', () => {
  const broken = {
    hooks: {
      PreToolUse: [{ matcher: '[', hooks: [{ type: 'command', command: 'true' }] }],
    },
  };
  const id = 'claude:project:PreToolUse:true';
  const problem = 'it never matches';

  it('would fail, says hooks explain', async () => {
    const workspace = createTempWorkspace({ '.claude/settings.json': JSON.stringify(broken) });
    trust(workspace);
    const explain = ['hooks', 'explain', 'PreToolUse', '--tool', 'Bash'];
    const [readable, json] = await Promise.all([
      runHookline(explain, at(workspace)),
      runHookline([...explain, '--json'], at(workspace)),
    ]);
    expect(readable.stdout).toMatch(
      /^ {2}would fail claude:project:PreToolUse:true: .*it never matches/m,
    );
    expect(jsonOf(json).runs).toMatchObject([
      { hook: id, problem: expect.stringContaining(problem) },
    ]);
  });

  it('says that while it waits for trust, too', async () => {
    const workspace = createTempWorkspace({ '.claude/settings.json': JSON.stringify(broken) });
    const list = await runHookline(['hooks', 'list'], at(workspace));
    expect(list.stdout).toMatch(/^claude:project:PreToolUse:true .* untrusted$/m);
    expect(list.stdout).toMatch(/^ {2}it would fail: .*it never matches/m);
    const result = await runHookline(['trust', '--yes'], at(workspace));
    expect(result.stdout).toMatch(/^ {2}problem {3}.*it never matches/m);
  });
});

describe('hooks disable of an entry', () => {
  const ENTRY = 'claude:project:PreToolUse:true';
  const settings = (...timeouts: readonly number[]): string => {
    const hooks = timeouts.map((timeout) => ({ type: 'command', command: 'true', timeout }));
    return JSON.stringify({ hooks: { PreToolUse: [{ hooks }] } });
  };
  const listed = async (workspace: TempWorkspace) => {
    const { hooks } = jsonOf(await runHookline(['hooks', 'list', '--json'], at(workspace)));
    return hooks.map(({ id, enabled, timeoutMs }: Record<string, unknown>) => [
      id,
      timeoutMs,
      enabled,
    ]);
  };

  it('switches off this entry, not whatever gets its id later', async () => {
    const workspace = createTempWorkspace({ '.claude/settings.json': settings(1) });
    await runHookline(['hooks', 'disable', ENTRY], at(workspace));
    expect(await listed(workspace)).toEqual([[ENTRY, 1000, false]]);

    write(workspace.repo, '.claude/settings.json', settings(2));
    expect(await listed(workspace)).toEqual([[ENTRY, 2000, true]]);
    const { stdout } = await runHookline(['hooks', 'list'], at(workspace));
    expect(stdout).toContain('  was disabled before it changed');

    write(workspace.repo, '.claude/settings.json', settings(2, 1));
    expect(await listed(workspace)).toEqual([
      [ENTRY, 2000, true],
      [`${ENTRY}~2`, 1000, false],
    ]);
    await runHookline(['hooks', 'enable', `${ENTRY}~2`], at(workspace));
    expect(await listed(workspace)).toEqual([
      [ENTRY, 2000, true],
      [`${ENTRY}~2`, 1000, true],
    ]);
  });

  it('forgets the old entry when the new one is switched off or on', async () => {
    const workspace = createTempWorkspace({ '.claude/settings.json': settings(1) });
    await runHookline(['hooks', 'disable', ENTRY], at(workspace));
    write(workspace.repo, '.claude/settings.json', settings(2));
    await runHookline(['hooks', 'enable', ENTRY], at(workspace));
    const { stdout } = await runHookline(['hooks', 'list'], at(workspace));
    expect(stdout).not.toContain('was disabled');
    const config = path.join(workspace.home, '.hookline', 'config.json');
    expect(JSON.parse(readFileSync(config, 'utf8'))).toEqual({ hooks: { disabled: [] } });
  });

  it('still obeys a configuration that names only the id', async () => {
    const workspace = createTempWorkspace({ '.claude/settings.json': settings(1) });
    const disabled = [{ id: ENTRY, root: workspace.repo }];
    write(workspace.home, '.hookline/config.json', JSON.stringify({ hooks: { disabled } }));
    expect(await listed(workspace)).toEqual([[ENTRY, 1000, false]]);
  });
});

describe('hooks rm', () => {
  it('shows the entry and removes only it; script, comments and others stay', async () => {
    const workspace = createWorkspaceWithGuard();
    trust(workspace);
    const refused = await runHookline(['hooks', 'rm', GUARD], at(workspace));
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain('"matcher": "Edit|Write"');
    expect(refused.stderr).toContain('Remove this PreToolUse entry from');
    expect(readFileSync(settingsFile(workspace), 'utf8')).toBe(SETTINGS);

    const removed = await runHookline(['hooks', 'rm', GUARD, '--yes'], at(workspace));
    const script = path.join(workspace.repo, '.claude', 'hooks', 'guard.sh');
    expect(removed).toEqual({
      code: 0,
      stderr: '',
      stdout: `Removed the entry at ${settingsFile(workspace)}:8.\nKept script: ${script}\n`,
    });
    expect(existsSync(script)).toBe(true);
    const text = readFileSync(settingsFile(workspace), 'utf8');
    expect(text).toContain('// guards of this repository');
    expect(text).toContain('"model": "opus"');
    const { hooks } = jsonOf(await runHookline(['hooks', 'list', '--json'], at(workspace)));
    expect(hooks).toMatchObject([{ id: 'claude:project:PreToolUse:true', state: 'ready' }]);
  });

  it('removes the right one of several on a line, and keeps the trust of one that moves up', async () => {
    const entry = (timeout: number): object => ({ type: 'command', command: 'true', timeout });
    const group = { hooks: [entry(1), entry(2), entry(3)] };
    const workspace = createTempWorkspace({
      '.claude/settings.json': JSON.stringify({ hooks: { Stop: [group] } }),
    });
    trust(workspace);
    const id = 'claude:project:Stop:true~2';
    const removed = await runHookline(['hooks', 'rm', id, '--yes', '--json'], at(workspace));
    expect(jsonOf(removed)).toMatchObject({ id, removed: { event: 'Stop', line: 1 } });
    expect(JSON.parse(readFileSync(settingsFile(workspace), 'utf8'))).toEqual({
      hooks: { Stop: [{ hooks: [entry(1), entry(3)] }] },
    });
    const { hooks } = jsonOf(await runHookline(['hooks', 'list', '--json'], at(workspace)));
    expect(hooks).toMatchObject([
      { id: 'claude:project:Stop:true', state: 'ready', timeoutMs: 1000 },
      { id, state: 'ready', timeoutMs: 3000 },
    ]);
  });

  it('removes an entry that is broken', async () => {
    const workspace = createTempWorkspace({
      '.claude/settings.json': '{"hooks": {"PreToolUse": [{"hooks": [{"type": "comand"}]}]}}\n',
    });
    const id = 'claude:project:PreToolUse:line-1';
    const removed = await runHookline(['hooks', 'rm', id, '--yes'], at(workspace));
    expect(removed.code).toBe(0);
    expect(readFileSync(settingsFile(workspace), 'utf8')).not.toContain('comand');
  });

  it('removes nothing that came on the command line', async () => {
    const input = JSON.stringify({
      hooks: { Stop: [{ hooks: [{ type: 'command', command: 'true' }] }] },
    });
    const args = ['hooks', 'rm', 'claude:flag:Stop:true', '--yes', '--settings', input];
    const refused = await runHookline(args, at(createTempWorkspace()));
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(/was given on the command line|cannot be removed/);
  });
});

describe('doctor', () => {
  it('reports settings, broken entries, files that are not read and programs that are missing', async () => {
    const workspace = createTempWorkspace({
      '.claude/settings.json': JSON.stringify({
        hooks: {
          PreToolUse: [{ hooks: [{ type: 'comand' }] }],
          Stop: [{ hooks: [{ type: 'command', command: 'jq . | bun x.ts' }] }],
          Stopp: [],
        },
      }),
      '.claude/hooks.json': '{}',
    });
    const bin = path.dirname(write(workspace.directory, 'bin/nothing', ''));
    const result = await runHookline(['doctor', '--json'], at(workspace, { env: { PATH: bin } }));
    expect(result.code).toBe(1);
    const { findings, problems } = jsonOf(result);
    expect(problems).toBe(3);
    const hint = (about: string, text: string) => ({
      about,
      level: 'hint',
      text: expect.stringContaining(text),
    });
    expect(findings).toEqual(
      expect.arrayContaining([
        { about: 'settings', level: 'fine', text: `${settingsFile(workspace)}: 2 hooks` },
        {
          ...hint(settingsFile(workspace), 'event "Stopp" not found'),
          level: 'problem',
        },
        {
          ...hint(path.join(workspace.repo, '.claude', 'hooks.json'), 'is not read'),
          level: 'problem',
        },
        hint('claude:project:Stop:x.ts', 'names jq and bun, which are not on the PATH'),
        expect.objectContaining({ about: 'claude:project:PreToolUse:line-1', level: 'problem' }),
      ]),
    );
  });

  it('points at variables that no host sets, in commands and in their scripts', async () => {
    const hook = (command: string) => ({ hooks: [{ type: 'command', command }] });
    const workspace = createTempWorkspace({
      '.claude/hooks/format.py': 'import os\nprint(os.environ["CLAUDE_TOOL_INPUT"])\n',
      '.claude/settings.json': JSON.stringify({
        hooks: {
          PostToolUse: [
            hook('prettier $CLAUDE_FILE_PATHS'),
            hook('python3 .claude/hooks/format.py'),
          ],
        },
      }),
    });
    const result = await runHookline(['doctor', '--json'], at(workspace));
    const { findings } = jsonOf(result);
    expect(findings).toEqual(
      expect.arrayContaining([
        {
          about: 'claude:project:PostToolUse:prettier',
          level: 'hint',
          text: '$CLAUDE_FILE_PATHS is never set: read .tool_input.file_path of the JSON on stdin instead',
        },
        {
          about: 'claude:project:PostToolUse:format.py',
          level: 'hint',
          text: 'its script names CLAUDE_TOOL_INPUT, which is never set: read .tool_input of the JSON on stdin instead',
        },
      ]),
    );
  });
});

it('reads the payloads of every dialect', () => {
  const choices = COMMANDS.flatMap(({ flags }) => flags)
    .filter(({ flag }) => flag.startsWith('--as '))
    .map((flag) => flag.choices);
  expect(choices.length).toBeGreaterThan(0);
  for (const each of choices) expect(each).toEqual(listDialectsWith('readPayload'));
});

import { chmodSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { listAgentNames } from '../../../src/agents/agents.ts';
import { jsonOf, runHookline } from '../hookline.ts';
import { runInProcess } from '../in-process.ts';
import { at, createTempWorkspace, type TempWorkspace, write } from '../temp-workspace.ts';

const SETTINGS = '.claude/settings.json';

function createWorkspace(settings = '{}'): TempWorkspace {
  const workspace = createTempWorkspace();
  chmodSync(write(workspace.home, SETTINGS, settings), 0o644);
  return workspace;
}

function readSettings({ home }: TempWorkspace): string {
  return readFileSync(path.join(home, SETTINGS), 'utf8');
}

describe('hookline agents', () => {
  it('knows nine agents', () => {
    expect(listAgentNames()).toEqual([
      'claude',
      'cline',
      'codex',
      'copilot',
      'cursor',
      'droid',
      'gemini',
      'opencode',
      'qwen',
    ]);
  });

  it('lists them with what was found and what is on', async () => {
    const workspace = createWorkspace();
    await runInProcess(['agents', 'enable', 'claude'], at(workspace));
    const { agents } = jsonOf(await runInProcess(['agents', 'list', '--json'], at(workspace)));
    expect(agents[0]).toEqual({
      agent: 'claude',
      title: 'Claude Code',
      found: path.join(workspace.home, '.claude'),
      files: [path.join(workspace.home, SETTINGS)],
    });
    expect(agents[2]).toMatchObject({ agent: 'codex', found: null, files: [] });
  });

  it('prints the status in one shape', async () => {
    const workspace = createWorkspace();
    const status = await runInProcess(['agents', 'status', '--json'], at(workspace));
    expect(status.code).toBe(0);
    expect(jsonOf(status).agents).toEqual(
      listAgentNames().map((agent) => ({
        agent,
        state: 'off',
        guard: false,
        lastEvent: null,
        lastFailure: null,
        causes: [],
      })),
    );
  });

  it('says what is recorded and where', async () => {
    const workspace = createWorkspace();
    const { stdout } = await runInProcess(['agents', 'enable', 'claude'], at(workspace));
    expect(stdout).toContain('Claude Code: enabled');
    expect(stdout).toContain('records SessionStart, UserPromptSubmit, PreToolUse');
    expect(stdout).toContain('~/.hookline/events.db');
    expect(stdout).toContain('~/.cline/hook-events/claude-hook-events.json');
  });

  it('shows the difference in a dry run, without secrets, and writes nothing', async () => {
    const secret = `sk-ant-api03-${'a1B2'.repeat(12)}`;
    const text = `{\n  "env": { "ANTHROPIC_API_KEY": "${secret}" }\n}\n`;
    const workspace = createWorkspace(text);
    const { stdout } = await runInProcess(
      ['agents', 'enable', 'claude', '--dry-run'],
      at(workspace),
    );
    expect(stdout).toContain('+  "hooks": {');
    expect(stdout).not.toContain(secret);
    expect(readSettings(workspace)).toBe(text);
    expect(existsSync(path.join(workspace.home, '.hookline'))).toBe(false);
  });

  it('switches on all that are installed, and all off', async () => {
    const workspace = createWorkspace();
    mkdirSync(path.join(workspace.home, '.codex'));
    const enabled = await runInProcess(['agents', 'enable', '--all', '--json'], at(workspace));
    expect(jsonOf(enabled).enabled.map(({ agent }: { agent: string }) => agent)).toEqual([
      'claude',
      'codex',
    ]);
    await runInProcess(['agents', 'enable', 'claude', '--project'], at(workspace));
    expect(existsSync(path.join(workspace.repo, SETTINGS))).toBe(true);
    const elsewhere = createTempWorkspace();
    const options = { cwd: elsewhere.repo, home: workspace.home };
    const disabled = await runInProcess(['agents', 'disable', '--all'], options);
    expect(disabled.code).toBe(0);
    expect(readSettings(workspace)).toBe('{}');
    expect(existsSync(path.join(workspace.repo, '.claude'))).toBe(false);
    expect(existsSync(path.join(workspace.home, '.codex/hooks.json'))).toBe(false);
  });

  it('goes on with the others when one refuses, and fails', async () => {
    const workspace = createWorkspace('{ broken');
    mkdirSync(path.join(workspace.home, '.codex'));
    const enabled = await runInProcess(['agents', 'enable', '--all', '--json'], at(workspace));
    expect(enabled.code).toBe(1);
    expect(jsonOf(enabled)).toMatchObject({
      enabled: [{ agent: 'codex' }],
      failed: [{ agent: 'claude', error: { code: 'CONFIG_INVALID' } }],
    });
  });

  it('does not run its own entries', async () => {
    const workspace = createWorkspace();
    mkdirSync(path.join(workspace.home, '.cline'));
    await runInProcess(['agents', 'enable', 'claude', 'cline'], at(workspace));
    const listing = jsonOf(await runInProcess(['hooks', 'list', '--json'], at(workspace)));
    expect(listing.hooks).toEqual([]);
    const why = expect.stringContaining('records events of another agent');
    expect(listing.ignored).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ path: path.join(workspace.home, SETTINGS), why }),
        expect.objectContaining({ path: path.join(workspace.home, '.cline/hooks.json'), why }),
        expect.objectContaining({
          path: path.join(workspace.home, 'Documents/Cline/Hooks/PreToolUse'),
          why,
        }),
      ]),
    );
  });

  it('also when the state directory has another name, but runs those of others', async () => {
    const env = { HOOKLINE_HOME: path.join(createTempWorkspace().home, 'state') };
    const guard = { hooks: [{ type: 'command', command: "'/opt/tools/bin/hook' claude" }] };
    const workspace = createWorkspace(JSON.stringify({ hooks: { PreToolUse: [guard] } }));
    await runInProcess(['agents', 'enable', 'claude'], at(workspace, { env }));
    const listing = jsonOf(await runInProcess(['hooks', 'list', '--json'], at(workspace, { env })));
    expect(listing.hooks).toHaveLength(1);
  });
});

describe('exit codes', () => {
  it.each([
    ['a name that no agent has', ['enable', 'claud'], '{}', 2],
    ['no name', ['enable'], '{}', 2],
    ['a broken file', ['enable', 'claude'], '{', 2],
    ['an agent that is not installed', ['enable', 'codex'], '{}', 1],
    ['a status that is broken', ['status', 'claude'], '{', 1],
    ['a status that is off', ['status', 'claude'], '{}', 0],
    ['nothing to switch off', ['disable', 'claude'], '{}', 0],
  ])('of %s', async (_, words, settings, code) => {
    const workspace = createWorkspace(settings);
    expect((await runHookline(['agents', ...words], at(workspace))).code).toBe(code);
  });

  it.each([
    ['--enable', '{}', 0o644, 0],
    ['--status', '{}', 0o644, 0],
    ['--disable', '{}', 0o644, 0],
    ['--enable', '{', 0o644, 3],
    ['--status', '{', 0o644, 3],
    ['--enable', '{}', 0o444, 4],
  ])('of claude-hook %s are those of the former package', async (word, settings, mode, code) => {
    const workspace = createWorkspace(settings);
    chmodSync(path.join(workspace.home, SETTINGS), mode);
    expect((await runHookline(['claude-hook', word], at(workspace))).code).toBe(code);
  });

  it.each(['--enable', '--status'])('of cline-hook %s without Cline', async (word) => {
    const workspace = createWorkspace();
    expect((await runHookline(['cline-hook', word], at(workspace))).code).toBe(5);
  });

  it.each([
    ['agents', 'enable', 'claude'],
    ['agents', 'disable', '--all'],
    ['agents', 'npx-compat', '--yes'],
    ['uninstall'],
    ['claude-hook', '--enable'],
  ])('refuse inside a session: %s %s %s', async (...words) => {
    const workspace = createWorkspace();
    const env = { HOOKLINE_SESSION: 's1' };
    const refused = await runHookline(words.filter(Boolean), at(workspace, { env }));
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('cannot run inside an agent session or a hook');
    expect(readSettings(workspace)).toBe('{}');
  });
});

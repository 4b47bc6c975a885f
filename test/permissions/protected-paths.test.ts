import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { bash, call, createMachine, open } from './session.ts';

/** Whether it is asked about where all else is allowed. */
function isAsked(name: string, about: string): boolean {
  const machine = createMachine({ 'ws/.claude/settings.json': '{}', 'ws/.git/config': '' });
  const session = open(machine, { mode: 'bypassPermissions' });
  const { effect, isOverridable } = session.judge(
    call(name, about.replace('HOME', machine.home), machine.root),
  );
  expect(isOverridable).toBe(effect === 'allow');
  return effect === 'ask';
}

describe('writing', () => {
  test.each([
    '.clinerules/hooks/PreToolUse',
    '.cline/hooks/x.sh',
    '.cline/hooks.json',
    '.cline/plugins/p/index.ts',
    '.claude/settings.json',
    '.claude/settings.local.json',
    '.CLAUDE/Settings.JSON',
    'packages/a/.claude/settings.json',
    '.claude/hooks/check.sh',
    '.claude/skills/s/SKILL.md',
    '.mcp.json',
    '.claude.json',
    '.cline/data/settings/cline_mcp_settings.json',
    '.hookline/config.json',
    '.git/hooks/pre-commit',
    '.git/config',
    '.git/modules/lib/hooks/pre-commit',
    'src/../.claude/settings.json',
    'HOME/.claude/settings.json',
    'HOME/.claude/plugins/x/hooks/hooks.json',
    'HOME/.hookline/trust.json',
    'HOME/Documents/Cline/Hooks/PreToolUse',
    'HOME/Documents/Cline/Plugins/guard.ts',
    '~/.cline/hooks/PreToolUse',
  ])('%s is asked about', (file) => {
    expect(['Write', 'Edit'].map((name) => isAsked(name, file))).toEqual([true, true]);
  });

  test.each([
    'src/a.ts',
    '.clinerules/rules.md',
    '.claude/CLAUDE.md',
    '.claude/commands/x.md',
    'settings.json',
    'hooks/hooks.ts',
    '.github/x',
    '.gitignore',
  ])('%s is not', (file) => {
    expect(isAsked('Write', file)).toBe(false);
  });

  test('reading is fine', () => {
    expect(isAsked('Read', '.claude/settings.json')).toBe(false);
  });

  test('the input of a foreign tool is checked', () => {
    expect([
      isAsked('mcp__files__write', '.claude/settings.json'),
      isAsked('mcp__files__write', 'src/a.ts'),
    ]).toEqual([true, false]);
  });

  test('a link does not hide where it leads', () => {
    const machine = createMachine();
    const { root } = machine;
    mkdirSync(path.join(root, '.claude'));
    symlinkSync('.claude', path.join(root, 'harmless'));
    symlinkSync('.claude/settings.json', path.join(root, 'dangling.json'));
    const session = open(machine, { mode: 'bypassPermissions' });
    const effects = [
      call('Write', 'harmless/settings.json', root),
      call('Write', 'dangling.json', root),
      bash('echo {} > dangling.json', root),
      bash('cp x harmless/settings.json', root),
    ].map((each) => session.judge(each).effect);
    expect(effects).toEqual(['ask', 'ask', 'ask', 'ask']);
  });
});

describe('a command', () => {
  test.each([
    'cat .claude/settings.json',
    'echo {} > .claude/settings.json',
    'echo {} >.clau"de"/settings.json',
    'echo {} > .cl*/settings.json',
    'echo {} | tee .mcp.json',
    'cp evil.json ./.claude/',
    'mv evil .clinerules',
    'rm -rf .git',
    'ln -s /tmp/x .git/hooks/pre-commit',
    'cd .claude && echo {} > settings.json',
    'cd .git && cd hooks && cp /tmp/x pre-commit',
    'D=.claude; echo {} > $D/settings.json',
    'echo {} > $D/settings.json',
    'echo {} > ~/.claude/settings.json',
    'echo {} > "$HOME/.hookline/trust.json"',
    'git checkout evil -- .claude',
    'git --git-dir=.git config core.hooksPath x',
    "node -e \"require('fs').writeFileSync('.claude/settings.json', '{}')\"",
    "bash -c 'echo x > .mcp.json'",
    'sed -i s/a/b/ .GIT/config',
    'chmod +x .clinerules/hooks/{PreToolUse,x}',
  ])('%j is asked about', (command) => {
    expect(isAsked('Bash', command)).toBe(true);
  });

  test.each([
    'hookline trust',
    'hookline trust --yes',
    'hookline untrust',
    'hookline lock',
    'hookline mcp add x -- sh -c evil',
    'hookline plugin install evil',
    'hookline agents enable claude',
    'hook"line" tru\\st',
    'HOOKLINE_SESSION= hookline trust',
    'env -u HOOKLINE_SESSION hookline trust',
    'npx hookline trust',
    'npx -y hookline@latest trust',
    'npx --package=hookline -- hookline trust',
    'node dist/bin/hookline.js trust',
    './node_modules/.bin/hookline --json trust',
    "sh -c 'hookline trust'",
    'sudo hookline trust',
    'echo trust | xargs hookline',
    'echo hookline trust | xargs -I{} sh -c {}',
    'ls; hookline --cwd x trust',
    'hookline $VERB',
    '$(which hookline) trust',
    'alias h=hookline; h trust',
    'H=hookline; $H trust',
  ])('%j is asked about', (command) => {
    expect(isAsked('Bash', command)).toBe(true);
  });

  test.each([
    'ls -la .claude',
    'cat .clinerules/rules.md',
    'git status',
    'git add .',
    'hookline hooks list',
    'hookline --version',
    'npm test',
    'git worktree lock x',
    'rm -rf dist',
    'tar --exclude=.git -czf x.tgz src',
    'echo "a / b"',
    'node -e "1 / 2"',
    'echo "${PATH##*:}" ${X%/*}',
  ])('%j is not', (command) => {
    expect(isAsked('Bash', command)).toBe(false);
  });

  test('is asked about from inside of a protected directory', () => {
    const machine = createMachine({ 'ws/.claude/x': '' });
    const session = open(machine, { mode: 'bypassPermissions' });
    const inside = path.join(machine.root, '.claude');
    expect([
      session.judge(bash('echo {} > settings.json', inside)).effect,
      session.judge(bash('echo {} > notes.md', inside)).effect,
    ]).toEqual(['ask', 'allow']);
  });
});

test('the reason names the path', () => {
  const machine = createMachine();
  const file = path.join(machine.root, '.mcp.json');
  expect(open(machine).judge(call('Write', '.mcp.json', machine.root))).toEqual({
    effect: 'ask',
    reason: `Write on ${file} needs approval in every mode: it touches ${file}, which controls what runs here.`,
    isOverridable: false,
    needsPerson: true,
    suggestions: [],
  });
});

/** The ones of these that are asked about in a session that allows all else. */
function listAsked(tool: string, texts: readonly string[]): readonly string[] {
  const machine = createMachine();
  const session = open(machine, { mode: 'bypassPermissions' });
  return texts.filter((text) => session.judge(call(tool, text, machine.root)).effect === 'ask');
}

describe('the whole list', () => {
  const DIRECTORIES = [
    '.claude',
    '.cline',
    '.clinerules',
    '.git',
    '.hookline',
    '.config',
    '.vscode',
    'src',
    'documents',
    'Documents/Cline',
    'Documents/Cline/Rules',
    'cline',
  ];
  const NAMES = [
    'hooks/x',
    'plugins/x',
    'skills/x',
    'agents/x',
    'rules/x',
    'commands/x',
    'data/x',
    'settings.json',
    'settings.local.json',
    'settings-x.json',
    'managed-settings.json',
    'hooks.json',
    'plugin.json',
    'trust.json',
    'config.json',
    'mcp.json',
    'x.md',
    '.mcp.json',
    '.claude.json',
    'cline_mcp_settings.json',
    'config',
    'config.worktree',
    'modules/a/config',
    'modules/a/hooks/x',
  ];

  test('of files and directories', () => {
    const files = DIRECTORIES.flatMap((directory) => NAMES.map((name) => `${directory}/${name}`));
    expect(listAsked('Write', files)).toMatchInlineSnapshot(`
      [
        ".claude/hooks/x",
        ".claude/plugins/x",
        ".claude/skills/x",
        ".claude/agents/x",
        ".claude/settings.json",
        ".claude/settings.local.json",
        ".claude/settings-x.json",
        ".claude/.mcp.json",
        ".claude/.claude.json",
        ".claude/cline_mcp_settings.json",
        ".cline/hooks/x",
        ".cline/plugins/x",
        ".cline/settings.json",
        ".cline/hooks.json",
        ".cline/.mcp.json",
        ".cline/.claude.json",
        ".cline/cline_mcp_settings.json",
        ".clinerules/hooks/x",
        ".clinerules/.mcp.json",
        ".clinerules/.claude.json",
        ".clinerules/cline_mcp_settings.json",
        ".git/hooks/x",
        ".git/.mcp.json",
        ".git/.claude.json",
        ".git/cline_mcp_settings.json",
        ".git/config",
        ".git/config.worktree",
        ".git/modules/a/config",
        ".git/modules/a/hooks/x",
        ".hookline/hooks/x",
        ".hookline/plugins/x",
        ".hookline/skills/x",
        ".hookline/agents/x",
        ".hookline/rules/x",
        ".hookline/commands/x",
        ".hookline/data/x",
        ".hookline/settings.json",
        ".hookline/settings.local.json",
        ".hookline/settings-x.json",
        ".hookline/managed-settings.json",
        ".hookline/hooks.json",
        ".hookline/plugin.json",
        ".hookline/trust.json",
        ".hookline/config.json",
        ".hookline/mcp.json",
        ".hookline/x.md",
        ".hookline/.mcp.json",
        ".hookline/.claude.json",
        ".hookline/cline_mcp_settings.json",
        ".hookline/config",
        ".hookline/config.worktree",
        ".hookline/modules/a/config",
        ".hookline/modules/a/hooks/x",
        ".config/.mcp.json",
        ".config/.claude.json",
        ".config/cline_mcp_settings.json",
        ".vscode/.mcp.json",
        ".vscode/.claude.json",
        ".vscode/cline_mcp_settings.json",
        "src/.mcp.json",
        "src/.claude.json",
        "src/cline_mcp_settings.json",
        "documents/.mcp.json",
        "documents/.claude.json",
        "documents/cline_mcp_settings.json",
        "Documents/Cline/hooks/x",
        "Documents/Cline/plugins/x",
        "Documents/Cline/.mcp.json",
        "Documents/Cline/.claude.json",
        "Documents/Cline/cline_mcp_settings.json",
        "Documents/Cline/Rules/hooks/x",
        "Documents/Cline/Rules/.mcp.json",
        "Documents/Cline/Rules/.claude.json",
        "Documents/Cline/Rules/cline_mcp_settings.json",
        "cline/.mcp.json",
        "cline/.claude.json",
        "cline/cline_mcp_settings.json",
      ]
    `);
  });

  test('of directories that contain them', () => {
    const commands = DIRECTORIES.map((directory) => `rm -rf ${directory}`);
    expect(listAsked('Bash', commands)).toMatchInlineSnapshot(`
      [
        "rm -rf .claude",
        "rm -rf .cline",
        "rm -rf .clinerules",
        "rm -rf .git",
        "rm -rf .hookline",
        "rm -rf .config",
      ]
    `);
  });

  test('of names below an unknown directory', () => {
    const commands = NAMES.map((name) => `echo > $X/${name}`);
    expect(listAsked('Bash', commands)).toMatchInlineSnapshot(`
      [
        "echo > $X/settings.json",
        "echo > $X/settings.local.json",
        "echo > $X/hooks.json",
        "echo > $X/trust.json",
        "echo > $X/.mcp.json",
        "echo > $X/.claude.json",
        "echo > $X/cline_mcp_settings.json",
      ]
    `);
  });
});

describe('a file whose name is known only when the command runs', () => {
  test.each([
    'echo x > "$F"',
    'F=$(printf .claude/settings.json); echo x > "$F"',
    'read F < names.txt; echo x >> $F',
    'echo x > "$D/$F"',
    'cat README.md | tee "$F"',
    'cp README.md "$F"',
    'mv README.md "$D/$F"',
    'dd if=README.md of="$F"',
    'sh unknown.sh',
  ])('is asked about when it is written: %s', (command) => {
    expect(isAskedWithScripts(command)).toBe(true);
  });

  test.each([
    'echo x > "out-$N.log"',
    'echo x > "$OUT/report.txt"',
    'F=out.txt; echo x > "$F"',
    'cat "$F"',
    'cp "$F" out.txt',
    'sh known.sh',
  ])('is not asked about when it cannot be a protected one, or is only read: %s', (command) => {
    expect(isAskedWithScripts(command)).toBe(false);
  });

  function isAskedWithScripts(command: string): boolean {
    const machine = createMachine({
      'ws/unknown.sh': '#!/bin/sh\nF=$(cat names.txt)\necho x > "$F"\n',
      'ws/known.sh': '#!/bin/sh\nLOG=out.log\necho x > "$LOG"\ncp README.md "$1"\n',
    });
    const session = open(machine, { mode: 'bypassPermissions' });
    return session.judge(bash(command, machine.root)).effect === 'ask';
  }
});

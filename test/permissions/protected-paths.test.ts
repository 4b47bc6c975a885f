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
    '.github/hooks/x',
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

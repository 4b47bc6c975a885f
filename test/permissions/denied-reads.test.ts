import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { bash, createMachine, open, type Machine } from './session.ts';

function machineWithSecrets(): Machine {
  const machine = createMachine({
    'ws/.env': 'KEY=1',
    'ws/secrets/key': '',
    'ws/src/a.ts': '',
    'ws/src/b/c.ts': '',
  });
  mkdirSync(path.join(machine.root, '.git'));
  return machine;
}

type Mode = 'default' | 'acceptEdits' | 'bypassPermissions';

function effectOf(rules: readonly string[], command: string, mode: Mode = 'default'): string {
  const machine = machineWithSecrets();
  return open(machine, { rules, mode }).judge(bash(command, machine.root)).effect;
}

/** Git shows only what is tracked, which the mode that allows everything leaves to the user. */
function expectedInBypass(command: string): string {
  return command.startsWith('git') ? 'allow' : 'ask';
}

describe('a command that reads whole directories', () => {
  test.each([
    'grep -r . .',
    'grep -rn KEY',
    'grep -nri KEY ./',
    'grep --recursive KEY .',
    'grep -d recurse KEY .',
    'grep --directories=recurse KEY .',
    'grep -r -A 3 src',
    'grep -r -e src',
    'cd src && grep -r KEY',
    'rg --hidden .',
    'rg -. KEY',
    'rg KEY .',
    'rg -e src',
    'rg -g src KEY',
    'rg -r src KEY',
    'ls | rg KEY',
    'git diff',
    'git diff HEAD~1',
    "git diff -- ':!src'",
    'git diff -- :/',
    'git diff -- src .',
    'git diff --stat -p',
    'git show',
    'git show HEAD',
    'git --no-pager show --stat HEAD',
    'git log -p',
    'git log --oneline -p',
    'git log -u -1',
    'git log --patch',
    'git log -U3',
    'git log --cc',
    'git log --binary',
    'git status -v',
    'git status -vv',
  ])('%j is asked about while a file in it must not be read', (command) => {
    const rules = ['deny Read(./.env)'];
    expect([
      effectOf([], command),
      effectOf(rules, command),
      effectOf(rules, command, 'acceptEdits'),
      effectOf(rules, command, 'bypassPermissions'),
    ]).toEqual(['allow', 'ask', 'ask', expectedInBypass(command)]);
  });

  test.each([
    'grep -rn KEY src',
    'grep KEY src/a.ts',
    'grep -A 3 KEY src/a.ts',
    'rg KEY src',
    'rg -n KEY src/a.ts',
    'find . -type f',
    'ls -la',
    'git status',
    'git branch -a',
    'git log --oneline -5',
    'git log -n 3 --format=%s --stat',
    'git diff --stat',
    'git diff --name-only HEAD~1',
    'git diff HEAD~1 -- src',
    'git log -p -- src/a.ts',
  ])('%j runs when no denied file lies there', (command) => {
    expect(effectOf(['deny Read(./.env)'], command)).toBe('allow');
  });

  test.each([
    ['deny Read(*.env)', 'grep -r KEY src', 'ask'],
    ['deny Read(**/.env)', 'rg KEY src', 'ask'],
    ['deny Read(*.env)', 'rg KEY src/a.ts', 'allow'],
    ['deny Read(/src/*/c.ts)', 'grep -r KEY src', 'ask'],
    ['deny Read(/src/*/c.ts)', 'grep -r KEY src/b', 'ask'],
    ['deny Read(/SRC/b/**)', 'grep -r KEY src', 'ask'],
    ['deny Read(./src/b/**)', 'rg KEY', 'ask'],
    ['deny Read(~/.ssh/**)', 'rg KEY', 'allow'],
    ['deny Read(//etc/**)', 'git diff', 'allow'],
    ['deny Grep(./secrets/**)', 'rg KEY', 'ask'],
    ['deny Read', 'rg KEY', 'ask'],
    ['deny Edit(./.env)', 'rg KEY', 'allow'],
    ['allow Read(./.env)', 'rg KEY', 'allow'],
  ])('with %j, %j gets %j', (rule, command, effect) => {
    expect(effectOf([rule], command)).toBe(effect);
  });

  test('is judged by where a link leads', () => {
    const machine = machineWithSecrets();
    symlinkSync(path.join(machine.root, 'secrets'), path.join(machine.root, 'open'));
    const session = open(machine, { rules: ['deny Read(./secrets/**)'] });
    expect(session.judge(bash('grep -r . open/', machine.root)).effect).toBe('ask');
  });

  test('is judged for the whole repository, wherever git runs in it', () => {
    const machine = machineWithSecrets();
    const session = open(machine, { rules: ['deny Read(/.env)'] });
    const cwd = path.join(machine.root, 'src');
    expect([
      session.judge(bash('git diff', cwd)).effect,
      session.judge(bash('git diff -- .', cwd)).effect,
    ]).toEqual(['ask', 'allow']);
  });

  test('runs all the same where a rule allows it', () => {
    expect(effectOf(['deny Read(./.env)', 'allow Bash(git diff:*)'], 'git diff')).toBe('allow');
  });

  test('does not move them to another name either', () => {
    const rules = ['deny Read(./secrets/**)'];
    expect([
      effectOf(rules, 'mv secrets open', 'acceptEdits'),
      effectOf(rules, 'mv src/a.ts src/z.ts', 'acceptEdits'),
      effectOf(rules, 'mv src/a.ts src/b', 'acceptEdits'),
    ]).toEqual(['ask', 'allow', 'allow']);
  });
});

describe('which files must not be read', () => {
  test('is decided file by file, in every mode', () => {
    const machine = machineWithSecrets();
    symlinkSync(path.join(machine.root, '.env'), path.join(machine.root, 'plain.txt'));
    const rules = ['deny Read(./.env)', 'deny Grep(./secrets/**)', 'deny Edit(./src/**)'];
    const isDenied = open(machine, { rules, mode: 'bypassPermissions' }).deniedReads(machine.root);
    const files = ['.env', '.ENV', 'secrets/key', 'plain.txt', 'src/a.ts', 'src/.env', 'new.txt'];
    expect(files.filter((file) => isDenied?.(path.join(machine.root, file)))).toEqual([
      '.env',
      '.ENV',
      'secrets/key',
      'plain.txt',
    ]);
  });

  test('is undefined without a rule that denies reading', () => {
    const machine = machineWithSecrets();
    const rules = ['deny Edit(./.env)', 'ask Read(./.env)', 'allow Read', 'deny Glob'];
    expect(open(machine, { rules }).deniedReads(machine.root)).toBeNull();
  });

  test('counts from where the session began and from where the agent went', () => {
    const machine = machineWithSecrets();
    const src = path.join(machine.root, 'src');
    const isDenied = open(machine, { rules: ['deny Read(./.env)'] }).deniedReads(src);
    const files = ['.env', 'src/.env', 'src/b/.env'].map((file) => path.join(machine.root, file));
    expect(files.map((file) => isDenied?.(file))).toEqual([true, true, false]);
  });

  test('follows the rules of the session', () => {
    const machine = machineWithSecrets();
    const session = open(machine);
    session.update([
      {
        type: 'addRules',
        behavior: 'deny',
        rules: [{ toolName: 'Read', ruleContent: './.env' }],
        destination: 'session',
      },
    ]);
    expect(session.deniedReads(machine.root)?.(path.join(machine.root, '.env'))).toBe(true);
  });
});

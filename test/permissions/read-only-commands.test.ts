import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { bash, createMachine, open, type Machine } from './session.ts';

function machineWithFiles(): Machine {
  return createMachine({ 'ws/src/a.ts': '', 'ws/src/b/c.ts': '', 'ws/.git/HEAD': '' });
}

function effectIn(mode: 'default' | 'acceptEdits', command: string): string {
  const machine = machineWithFiles();
  return open(machine, { mode }).judge(bash(command, machine.root)).effect;
}

describe('without a question', () => {
  test.each([
    'ls',
    'ls -la src',
    'pwd',
    'cat src/a.ts',
    'cat "src/a.ts"',
    'head -n 5 src/a.ts | tail -2',
    'wc -l src/a.ts',
    'echo hello /world',
    'grep -rn "/api/v1" src',
    'grep -A 3 foo src/a.ts',
    "rg 'foo|bar' src",
    'rg --files src',
    "find . -name '*.ts' -type f",
    'stat src/a.ts',
    'which node',
    'true',
    'cut -d , -f 1 src/a.ts',
    'git status',
    'git --no-pager log --oneline -5',
    'git diff HEAD~1 -- src',
    'git show main:src/a.ts',
    'git branch -a',
    'git branch --show-current',
    'cd src && ls',
    'cat src/a.ts 2>/dev/null',
    'ls src; pwd; git status',
  ])('%j runs', (command) => {
    expect(effectIn('default', command)).toBe('allow');
  });

  test.each([
    'ls /',
    'ls ..',
    'ls ~',
    'ls ~root',
    'cat ~/.ssh/id_rsa',
    'cat /etc/passwd',
    'cat ../outside',
    "cat $'\\x2fetc/passwd'",
    'cat $F',
    'cat "$F"',
    'cat *.ts',
    'cat src/a.ts > b',
    'cat < /etc/passwd',
    'cd .. && ls',
    'cd && ls',
    'cd - && ls',
    'cd src && cat ../../x',
    'cd $X && ls',
    'cut -d: -f1 /etc/passwd',
    'grep -e root /etc/passwd',
    'grep -eroot /etc/passwd',
    'grep --regexp=root /etc/passwd',
    'grep --reg=root /etc/passwd',
    'grep root /etc/passwd',
    'grep -f /etc/passwd src/a.ts',
    'grep -R x src',
    'rg --files /etc',
    'rg --pre=./evil x src',
    'rg --pre ./evil x src',
    'rg -f/etc/passwd src',
    'rg --follow x src',
    'find / -name x',
    'find . -delete',
    'find . -exec rm {} ;',
    'find . -execdir rm {} +',
    'find . -ok rm {} ;',
    'find . -fprintf x y',
    'find -L . -name x',
    'wc --files0-from=/etc/x',
    'git push',
    'git branch new',
    'git branch -D main',
    'git branch -m x',
    'git diff --output=x',
    'git diff --outp x',
    'git log --ext-diff',
    'git diff --no-index /etc/passwd src/a.ts',
    'git -c core.pager=evil log',
    'git -C /elsewhere status',
    'git --git-dir=x status',
    'GIT_EXTERNAL_DIFF=evil git diff',
    'cd src && git status',
    './ls',
    '/bin/ls',
    'sudo ls',
    'ls | sh',
    'ls | xargs rm',
    'PATH=./evil; ls',
    'for PATH in ./evil; do ls; done',
    'toString x',
    'constructor',
    'ls <(rm x)',
    'date -s x',
    'tee x',
  ])('%j does not run', (command) => {
    expect(effectIn('default', command)).toBe('ask');
  });

  test('git needs approval where a repository may have its own settings', () => {
    const machine = machineWithFiles();
    const bare = path.join(machine.root, 'evil');
    mkdirSync(path.join(bare, 'objects'), { recursive: true });
    mkdirSync(path.join(bare, 'HEAD'));
    const session = open(machine);
    expect([
      session.judge(bash('git status', bare)).effect,
      session.judge(bash('git status', path.join(machine.root, 'src'))).effect,
    ]).toEqual(['ask', 'allow']);
  });
});

describe('when edits are accepted', () => {
  test.each([
    'mkdir -p src/new/deep',
    'touch src/x.ts',
    'mv src/a.ts src/z.ts',
    'cp src/a.ts src/z.ts && ls src',
  ])('%j runs', (command) => {
    expect([effectIn('acceptEdits', command), effectIn('default', command)]).toEqual([
      'allow',
      'ask',
    ]);
  });

  test.each([
    'rm src/a.ts',
    'mkdir ../x',
    'touch /tmp/x',
    'mv src/a.ts ..',
    'cp -r src/. .',
    'cp -a src x',
    'cp src/a.ts -t /tmp',
    'cp --target-directory=/tmp src/a.ts',
    'mv src/a.ts .claude',
    'cp src/a.ts .git/config',
    'chmod +x src/a.ts',
    'sed -i s/a/b/ src/a.ts',
    'mkdir $X',
  ])('%j is still asked about', (command) => {
    expect(effectIn('acceptEdits', command)).toBe('ask');
  });
});

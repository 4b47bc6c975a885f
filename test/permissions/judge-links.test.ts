import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { bash, call, createMachine, open } from './session.ts';

function linked() {
  const machine = createMachine({
    'ws/src/a.ts': '',
    'ws/secrets/key': '',
    'outside/b.txt': '',
  });
  const { base, root } = machine;
  symlinkSync(path.join(base, 'outside'), path.join(root, 'out'));
  symlinkSync('secrets', path.join(root, 'docs'));
  symlinkSync('../secrets/key', path.join(root, 'src/readme'));
  symlinkSync(path.join(base, 'outside/new.txt'), path.join(root, 'src/dangling'));
  symlinkSync(root, path.join(base, 'alias'));
  return machine;
}

test('a deny rule covers a file under every name', () => {
  const machine = linked();
  const session = open(machine, { mode: 'bypassPermissions', rules: ['deny Read(./secrets/**)'] });
  const { root, base } = machine;
  const effects = [
    call('Read', 'docs/key', root),
    call('Read', 'src/readme', root),
    call('Read', path.join(base, 'alias/secrets/key'), root),
    call('Grep', 'docs', root),
    bash('cat docs/key', root),
    bash('cat src/readme', root),
    bash(`cat ${base}/alias/docs/key`, root),
  ].map((each) => session.judge(each).effect);
  expect(effects).toEqual(Array.from({ length: 7 }, () => 'deny'));
});

test('a deny rule written with a link holds for what the link leads to', () => {
  const machine = linked();
  const session = open(machine, { mode: 'bypassPermissions', rules: ['deny Edit(docs/**)'] });
  expect(session.judge(call('Write', 'docs/key', machine.root)).effect).toBe('deny');
});

test('nothing outside is allowed by a link that leads there', () => {
  const machine = linked();
  const { root } = machine;
  const session = open(machine, {
    mode: 'acceptEdits',
    rules: ['allow Edit(src/**)', 'allow Read(src/**)'],
  });
  const effects = [
    call('Read', 'out/b.txt', root),
    call('Write', 'out/b.txt', root),
    call('Write', 'src/dangling', root),
    call('Read', 'src/dangling', root),
    bash('cat out/b.txt', root),
    bash('cp src/a.ts out/b.txt', root),
    bash('touch src/dangling', root),
  ].map((each) => session.judge(each).effect);
  expect(effects).toEqual(Array.from({ length: 7 }, () => 'ask'));
});

test('a workspace that is itself reached by a link is the same one', () => {
  const machine = linked();
  const alias = path.join(machine.base, 'alias');
  const session = open(machine, { cwd: alias, roots: [alias], rules: ['allow Edit(src/**)'] });
  expect([
    session.judge(call('Read', 'src/a.ts', alias)).effect,
    session.judge(call('Write', 'src/a.ts', alias)).effect,
    session.judge(call('Read', path.join(machine.root, 'src/a.ts'), alias)).effect,
  ]).toEqual(['allow', 'allow', 'allow']);
});

test('an added directory is worked in like the workspace', () => {
  const machine = linked();
  const outside = path.join(machine.base, 'outside');
  const session = open(machine, { mode: 'acceptEdits' });
  const listEffects = () =>
    [call('Read', 'out/b.txt', machine.root), call('Write', `${outside}/c`, machine.root)].map(
      (each) => session.judge(each).effect,
    );
  expect(listEffects()).toEqual(['ask', 'ask']);
  session.addDirectory(outside);
  expect([listEffects(), session.directories()]).toEqual([['allow', 'allow'], [outside]]);
});

/** A link in the workspace leads into `outside`, beside which lies a secret. */
function createParentTrap() {
  const machine = createMachine({
    'ws/src/a.ts': '',
    'ws/notes.txt': '',
    'outside/deep/b.txt': '',
    'outside/notes.txt': 'secret',
    'outside/.claude/settings.json': '{}',
    'outside/.claude/deep/d.txt': '',
    'ws/vault/deep/c.txt': '',
    'ws/vault/key': 'secret',
  });
  symlinkSync(path.join(machine.base, 'outside/deep'), path.join(machine.root, 'link'));
  symlinkSync('vault/deep', path.join(machine.root, 'inner'));
  symlinkSync(path.join(machine.base, 'outside/.claude/deep'), path.join(machine.root, 'config'));
  return machine;
}

/** As the model writes it, without resolving anything. */
function writtenCall(name: string, file: string, cwd: string) {
  return { ...call(name, '.', cwd), input: { [name === 'Grep' ? 'path' : 'file_path']: file } };
}

test('the parent of a link is where the link leads, for file tools and commands', () => {
  const machine = createParentTrap();
  const { root } = machine;
  const session = open(machine, { mode: 'acceptEdits', rules: ['deny Read(./vault/**)'] });
  const effects = [
    writtenCall('Read', 'link/../notes.txt', root),
    writtenCall('Write', 'link/../new.txt', root),
    writtenCall('Grep', 'link/..', root),
    bash('cat link/../notes.txt', root),
    bash('cd link/.. && cat notes.txt', root),
    bash('cd link && cat ../notes.txt', root),
    bash('cp notes.txt link/../notes.txt', root),
    writtenCall('Read', 'inner/../key', root),
    bash('cat inner/../key', root),
    bash('cat < inner/../key', root),
    bash('cd inner && cat ../key', root),
    bash('cd -P inner/.. && cat key', root),
    bash('cat ../key', path.join(root, 'inner')),
  ].map((each) => session.judge(each).effect);
  expect(effects).toEqual([...Array.from({ length: 7 }, () => 'ask'), ...Array(6).fill('deny')]);
});

test('a protected file is protected behind the parent of a link', () => {
  const machine = createParentTrap();
  const { root } = machine;
  const session = open(machine, { mode: 'bypassPermissions' });
  const effects = [
    writtenCall('Write', 'config/../settings.json', root),
    bash('echo {} > config/../settings.json', root),
    bash('cd config; echo {} > ../settings.json', root),
  ].map((each) => session.judge(each).effect);
  expect(effects).toEqual(['ask', 'ask', 'ask']);
});

test('what cannot be resolved is asked about where a rule could match it', () => {
  const machine = createParentTrap();
  const { root } = machine;
  symlinkSync('two', path.join(root, 'one'));
  symlinkSync('one', path.join(root, 'two'));
  const rules = ['deny Read(./vault/**)', 'deny Edit(./vault/**)'];
  const calls = [
    writtenCall('Read', 'one/key', root),
    writtenCall('Write', 'one/key', root),
    bash('cat one/key', root),
    bash('echo x > one/key', root),
  ];
  const judgeAll = (mode: 'bypassPermissions' | 'dontAsk', texts: readonly string[]) =>
    calls.map((each) => open(machine, { mode, rules: texts }).judge(each).effect);
  expect(judgeAll('bypassPermissions', rules)).toEqual(['ask', 'ask', 'ask', 'ask']);
  expect(judgeAll('dontAsk', rules)).toEqual(['deny', 'deny', 'deny', 'deny']);
});

test('names with newlines and bytes that are not text are no way round', () => {
  const machine = createParentTrap();
  const { root } = machine;
  symlinkSync('vault', path.join(root, 'new\nline'));
  symlinkSync('vault/key', Buffer.concat([Buffer.from(`${root}/k`), Buffer.from([0xff])]));
  const session = open(machine, { mode: 'bypassPermissions', rules: ['deny Read(./vault/**)'] });
  const effects = [
    writtenCall('Read', 'new\nline/key', root),
    bash('cat "new\nline/key"', root),
    bash("cat $'new\\nline/key'", root),
    bash('cat k?', root),
    bash('cat k*', root),
  ].map((each) => session.judge(each).effect);
  expect(effects).toEqual(['deny', 'deny', 'deny', 'ask', 'ask']);
});

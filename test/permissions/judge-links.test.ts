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

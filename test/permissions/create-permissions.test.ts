import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { PermissionUpdate } from '../../src/permissions/permissions.ts';
import { bash, call, createMachine, open, rule } from './session.ts';

describe('a ruling', () => {
  test('of a deny rule is the sentence that the model gets', () => {
    const machine = createMachine();
    const session = open(machine, { rules: ['deny Bash(git push:*)'] });
    expect(session.judge(bash('git push', machine.root))).toEqual({
      effect: 'deny',
      reason:
        'Permission to use Bash with command git push has been denied by the rule Bash(git push:*) of .claude/settings.json.',
      isOverridable: false,
      suggestions: [],
    });
  });

  test('of an ask rule overrides a hook', () => {
    const machine = createMachine();
    const session = open(machine, { rules: ['ask Bash(git push:*)', 'allow Bash'] });
    expect(session.judge(bash('git push', machine.root))).toEqual({
      effect: 'ask',
      reason:
        'Bash with command git push needs approval: required by the rule Bash(git push:*) of .claude/settings.json.',
      isOverridable: false,
      suggestions: [],
    });
  });

  test('of the mode alone does not', () => {
    const machine = createMachine();
    expect(open(machine).judge(bash('npm test', machine.root))).toEqual({
      effect: 'ask',
      reason:
        'No rule allows Bash with command npm test, and in the mode default it needs approval.',
      isOverridable: true,
      suggestions: [
        {
          type: 'addRules',
          rules: [{ toolName: 'Bash', ruleContent: 'npm test:*' }],
          behavior: 'allow',
          destination: 'session',
        },
      ],
    });
  });

  test('of the mode plan overrides a hook and an allow rule', () => {
    const machine = createMachine();
    const session = open(machine, { mode: 'plan', rules: ['allow Edit'] });
    expect(session.judge(call('Edit', 'a.ts', machine.root))).toMatchObject({
      effect: 'deny',
      isOverridable: false,
      reason: expect.stringContaining('the mode plan allows only reading, planning and asking'),
    });
  });

  test('of an unreadable command names the rule that may forbid it', () => {
    const machine = createMachine();
    const session = open(machine, { mode: 'bypassPermissions', rules: ['deny Bash(git push:*)'] });
    expect(session.judge(bash('$X', machine.root)).reason).toBe(
      'Bash with command $X needs approval: what it runs is not certain, and the rule Bash(git push:*) of .claude/settings.json may deny it.',
    );
  });

  test('without a user names what would have been asked', () => {
    const machine = createMachine();
    const { effect, reason, suggestions } = open(machine, { mode: 'dontAsk' }).judge(
      bash('npm test', machine.root),
    );
    expect([effect, suggestions]).toEqual(['deny', []]);
    expect(reason).toMatch(/^Permission to use Bash with command npm test has been denied: /);
  });

  test('prints a long command in one line', () => {
    const machine = createMachine();
    const { reason } = open(machine).judge(bash(`npm test\n${'x'.repeat(1000)}`, machine.root));
    expect([reason.length < 350, reason.includes('\n')]).toEqual([true, false]);
  });
});

describe('suggestions', () => {
  const added = (rules: readonly string[]): readonly PermissionUpdate[] => [
    {
      type: 'addRules',
      rules: rules.map((ruleContent) => ({ toolName: 'Bash', ruleContent })),
      behavior: 'allow',
      destination: 'session',
    },
  ];

  test.each([
    ['git push origin main', added(['git push:*'])],
    ['npm run build -- --watch', added(['npm run build:*'])],
    ['make all', added(['make all'])],
    ['ls && npm test && git push', added(['npm test:*', 'git push:*'])],
    ['npm test > x', []],
    ['X=y npm test', []],
    ['./run.sh a*b', []],
  ])('for %j', (command, expected) => {
    const machine = createMachine();
    expect(open(machine).judge(bash(command, machine.root)).suggestions).toEqual(expected);
  });

  test('for files, addresses and foreign tools', () => {
    const machine = createMachine();
    const session = open(machine);
    const outside = path.join(machine.base, 'other/file.txt');
    const suggested = [
      call('Edit', 'src/a.ts', machine.root),
      call('Edit', outside, machine.root),
      call('Read', outside, machine.root),
      call('WebFetch', 'https://example.com/x?y', machine.root),
      call('mcp__a__b', 'x', machine.root),
    ].map((each) => session.judge(each).suggestions);
    const allowing = (toolName: string, ruleContent?: string) => ({
      type: 'addRules',
      rules: [ruleContent === undefined ? { toolName } : { toolName, ruleContent }],
      behavior: 'allow',
      destination: 'session',
    });
    const acceptEdits = { type: 'setMode', mode: 'acceptEdits', destination: 'session' };
    expect(suggested).toEqual([
      [acceptEdits],
      [
        { type: 'addDirectories', directories: [path.dirname(outside)], destination: 'session' },
        acceptEdits,
      ],
      [allowing('Read', `/${path.dirname(outside)}/**`)],
      [allowing('WebFetch', 'domain:example.com')],
      [allowing('mcp__a__b')],
    ]);
  });

  test.each([
    ['Bash', 'npm run build && git push'],
    ['Edit', 'src/a.ts'],
    ['Edit', '../other/file.txt'],
    ['Read', '../other/file.txt'],
    ['WebFetch', 'https://example.com/'],
    ['mcp__a__b', 'x'],
  ])('for %s %s let the same call pass once they are taken over', (name, about) => {
    const machine = createMachine({ 'other/file.txt': '' });
    const session = open(machine);
    const toolCall = call(name, about, machine.root);
    const { effect, suggestions } = session.judge(toolCall);
    expect([effect, session.update(suggestions), session.judge(toolCall).effect]).toEqual([
      'ask',
      [],
      'allow',
    ]);
  });
});

describe('updates', () => {
  const allowPush = {
    type: 'addRules',
    rules: [{ toolName: 'Bash', ruleContent: 'git push:*' }],
    behavior: 'allow',
    destination: 'session',
  };

  test('add, replace and remove rules of the session', () => {
    const machine = createMachine();
    const session = open(machine);
    const effect = () => session.judge(bash('git push', machine.root)).effect;
    const effects = [allowPush, { ...allowPush, type: 'replaceRules', rules: [] }, allowPush].map(
      (update) => [session.update([update]), effect()],
    );
    const removed = [session.update([{ ...allowPush, type: 'removeRules' }]), effect()];
    expect([...effects, removed]).toEqual([
      [[], 'allow'],
      [[], 'ask'],
      [[], 'allow'],
      [[], 'ask'],
    ]);
  });

  test('never reach the rules of a file', () => {
    const machine = createMachine();
    const session = open(machine, { rules: ['deny Bash(git push:*)'] });
    const notes = session.update([
      allowPush,
      { ...allowPush, behavior: 'deny', type: 'removeRules' },
      { ...allowPush, behavior: 'deny', type: 'replaceRules', rules: [] },
    ]);
    expect([notes, session.judge(bash('git push', machine.root)).effect]).toEqual([
      ['the deny rule Bash(git push:*) was not removed: this session did not add it'],
      'deny',
    ]);
  });

  test('for a file count for the session and say so', () => {
    const machine = createMachine();
    const session = open(machine);
    expect([
      session.update([{ ...allowPush, destination: 'localSettings' }]),
      session.judge(bash('git push', machine.root)).effect,
    ]).toEqual([
      ['a permission update for "localSettings" applies to this session only: no file is changed'],
      'allow',
    ]);
  });

  test('set the mode, but not the one that asks for nothing', () => {
    const session = open(createMachine());
    const set = (mode: string) =>
      session.update([{ type: 'setMode', mode, destination: 'session' }]);
    expect([set('acceptEdits'), session.mode(), set('bypassPermissions'), session.mode()]).toEqual([
      [],
      'acceptEdits',
      ['the mode bypassPermissions was not set: the session was not started in it'],
      'acceptEdits',
    ]);
  });

  test('may go back to the mode that the session was started in', () => {
    const session = open(createMachine(), { mode: 'bypassPermissions' });
    session.setMode('default');
    const notes = session.update([
      { type: 'setMode', mode: 'bypassPermissions', destination: 'session' },
    ]);
    expect([notes, session.mode()]).toEqual([[], 'bypassPermissions']);
  });

  test('add and remove directories that are there', () => {
    const machine = createMachine({ 'other/x': '' });
    const session = open(machine);
    const other = path.join(machine.base, 'other');
    const notes = session.update([
      { type: 'addDirectories', directories: ['../other', '/not/there'], destination: 'session' },
    ]);
    const before = session.directories();
    session.update([{ type: 'removeDirectories', directories: [other], destination: 'session' }]);
    expect([notes, before, session.directories()]).toEqual([
      ['/not/there was not added: it does not exist'],
      [other],
      [],
    ]);
  });

  test.each([
    [null, 'expected an object, found null'],
    [7, 'expected an object, found number'],
    [
      { type: 'explode' },
      '"type" should be addRules, replaceRules, removeRules, setMode, addDirectories, removeDirectories, found "explode"',
    ],
    [{ ...allowPush, behavior: 'maybe' }, '"behavior" of addRules should be allow, ask or deny'],
    [
      { ...allowPush, rules: 'Bash' },
      '"rules" of addRules should be a list of objects with "toolName" and perhaps "ruleContent"',
    ],
    [
      { ...allowPush, rules: [{ toolName: 7 }] },
      '"rules" of addRules should be a list of objects with "toolName" and perhaps "ruleContent"',
    ],
    [
      { type: 'setMode', mode: 'yolo' },
      '"mode" of setMode should be one of default, acceptEdits, plan, bypassPermissions, dontAsk',
    ],
    [
      { type: 'addDirectories', directories: [''] },
      '"directories" of addDirectories should be a list of paths',
    ],
  ])('%j is not used', (update, why) => {
    const session = open(createMachine());
    expect(session.update([update])).toEqual([`a permission update was ignored: ${why}`]);
  });

  test('with an invalid rule say so', () => {
    const session = open(createMachine());
    expect(session.update([{ ...allowPush, rules: [{ toolName: 'no rule(' }] }])).toEqual([
      '"no rule(" is not a permission rule: expected for example "Bash(git push:*)", "Read(./secrets/**)" or "mcp__server"',
    ]);
  });
});

test('the mode that an administrator switched off cannot be set at all', () => {
  const session = open(createMachine(), {
    bypassForbiddenBy: '/etc/claude-code/managed-settings.json',
  });
  expect(() => session.setMode('bypassPermissions')).toThrow(
    'the mode bypassPermissions is disabled by /etc/claude-code/managed-settings.json',
  );
});

test('rules that change while the session runs count at once', () => {
  const machine = createMachine();
  let rules = [rule('allow Bash(git push:*)')];
  const session = open(machine, { followed: () => rules });
  const effect = () => session.judge(bash('git push', machine.root)).effect;
  const before = effect();
  rules = [rule('deny Bash(git push:*)')];
  expect([before, effect()]).toEqual(['allow', 'deny']);
});

test('a rule that does not count now allows nothing', () => {
  const machine = createMachine();
  let counts = false;
  const session = open(machine, {
    followed: () => [{ ...rule('allow Bash(git push:*)'), counts: () => counts }],
  });
  const effect = () => session.judge(bash('git push && ls', machine.root)).effect;
  const before = effect();
  counts = true;
  expect([before, effect()]).toEqual(['ask', 'allow']);
});

test('a rule of another root is relative to that root', () => {
  const machine = createMachine({ 'lib/secret': '' });
  const lib = path.join(machine.base, 'lib');
  const session = open(machine, {
    roots: [machine.root, lib],
    followed: () => [{ ...rule('deny Read(/secret)'), root: lib }],
  });
  expect([
    session.judge(call('Read', `${lib}/secret`, machine.root)).effect,
    session.judge(call('Read', 'secret', machine.root)).effect,
  ]).toEqual(['deny', 'allow']);
});

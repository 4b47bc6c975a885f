import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PERMISSION_MODES } from '../../src/permissions/permissions.ts';
import { call, createMachine, open } from './session.ts';

const STRICTNESS = ['allow', 'ask', 'deny'];

const CONTENTS = [
  'Bash',
  'Bash(git push:*)',
  'Bash(git *)',
  'Bash(ls)',
  'Bash(rm -rf *)',
  'Read',
  'Read(./secrets/**)',
  'Read(**/key)',
  'Read(//etc/**)',
  'Edit',
  'Edit(src/**)',
  'Edit(*.ts)',
  'Write(src/a.ts)',
  'WebFetch(domain:example.com)',
  'mcp__files',
  'mcp__files__read',
  'Agent(Explore)',
  'Nonsense(',
];
const CALLS = [
  'Bash git push',
  'Bash git status && git push',
  'Bash ls',
  'Bash rm -rf src',
  'Bash cat secrets/key',
  'Bash $CMD x',
  'Bash echo x > src/a.ts',
  'Bash hookline trust',
  'Read secrets/key',
  'Read /etc/passwd',
  'Grep secrets',
  'Write src/a.ts',
  'Edit .claude/settings.json',
  'WebFetch https://example.com/',
  'mcp__files__read x',
  'Agent Explore',
  'TodoWrite x',
];

const behaviors = fc.constantFrom('allow', 'ask', 'deny');
const rules = fc
  .tuple(behaviors, fc.constantFrom(...CONTENTS))
  .map(([behavior, text]) => `${behavior} ${text}`);
const modes = fc.constantFrom(...PERMISSION_MODES);
const calls = fc.constantFrom(...CALLS);

function createJudge() {
  const machine = createMachine({ 'ws/src/a.ts': '', 'ws/secrets/key': '' });
  return (
    written: readonly string[],
    mode: (typeof PERMISSION_MODES)[number],
    asked: string,
  ): string => {
    const [name = '', ...about] = asked.split(' ');
    const session = open(machine, { mode, rules: written });
    return session.judge(call(name, about.join(' '), machine.root)).effect;
  };
}

test('a deny rule wins over every other rule and every mode', () => {
  const judge = createJudge();
  fc.assert(
    fc.property(fc.array(rules), rules, modes, calls, (others, one, mode, asked) => {
      const denying = one.replace(/^\w+/, 'deny');
      fc.pre(judge([denying], 'bypassPermissions', asked) === 'deny');
      expect(judge([...others, denying], mode, asked)).toBe('deny');
    }),
  );
});

test('one more rule that denies or asks never loosens', () => {
  const judge = createJudge();
  fc.assert(
    fc.property(fc.array(rules), rules, modes, calls, (others, one, mode, asked) => {
      const tighter = one.replace(/^allow/, 'ask');
      const before = judge(others, mode, asked);
      const after = judge([...others, tighter], mode, asked);
      expect(STRICTNESS.indexOf(after)).toBeGreaterThanOrEqual(STRICTNESS.indexOf(before));
    }),
  );
});

test('the order of rules does not matter', () => {
  const judge = createJudge();
  fc.assert(
    fc.property(fc.array(rules), modes, calls, (written, mode, asked) => {
      const effects = [written, written.toReversed(), written.toSorted()].map((each) =>
        judge(each, mode, asked),
      );
      expect(new Set(effects).size).toBe(1);
    }),
  );
});

test('whatever a call looks like, it is judged, and never allowed by what cannot be read', () => {
  const machine = createMachine();
  const session = open(machine, {
    rules: [
      'deny Bash(git push:*)',
      'allow Bash(git *)',
      'deny Read(./secrets/**)',
      'allow Edit(src/**)',
    ],
  });
  const names = fc.constantFrom('Bash', 'Read', 'Edit', 'Grep', 'Glob', 'WebFetch', 'mcp__a__b');
  fc.assert(
    fc.property(names, fc.anything(), (name, input) => {
      const { effect, reason } = session.judge({ ...call(name, 'x', machine.root), input });
      expect(STRICTNESS).toContain(effect);
      expect(reason).not.toBe('');
      if (name !== 'Grep' && name !== 'Glob') expect(effect).not.toBe('allow');
    }),
  );
});

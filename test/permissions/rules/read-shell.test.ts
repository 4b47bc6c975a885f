import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readShell } from '../../../src/permissions/rules/read-shell.ts';
import { createDirectory } from '../../base/directory.ts';
import { bash, createMachine, open } from '../session.ts';

const UNKNOWN = '\0';

function listWords(line: string): readonly (readonly string[])[] {
  const reading = readShell(line, { cwd: createDirectory(), home: '/home/me' });
  return reading.commands.map(({ words }) => words);
}

test('a variable has every value that the line gives it', () => {
  expect(listWords('F=a; cat "$F"; F=b')).toEqual([
    ['=', 'a'],
    ['cat', 'a'],
    ['cat', 'b'],
    ['=', 'b'],
  ]);
});

test('what the line does not say is unknown, quoted or not', () => {
  expect(listWords('rm "$F" $G "$(x)" ~/y')).toEqual([
    ['rm', UNKNOWN, UNKNOWN, UNKNOWN, '/home/me/y'],
    ['x'],
  ]);
});

test('xargs has the words that are printed into it', () => {
  expect(listWords('echo push | xargs git')).toEqual([
    ['echo', 'push'],
    ['xargs', 'git', 'push'],
  ]);
});

const PIECES =
  'git|push|"|\'|$(|)|`|${|}|<<E\n|E\n|;|&&|>|<| |\n|\\|bash -c|eval|for f in|do|done|[[|]]|((|$x|\0|\uFFFD'
    .split('|')
    .concat('|');

test('whatever a line looks like, it is read', () => {
  const pieces = fc.constantFrom(...PIECES);
  fc.assert(
    fc.property(fc.array(fc.oneof(pieces, fc.string()), { maxLength: 20 }), (parts) => {
      const reading = readShell(parts.join(''), { cwd: '/', home: null });
      expect(typeof reading.mayRunAnything).toBe('boolean');
    }),
    { numRuns: 500 },
  );
});

const CARRIERS = [
  'sudo',
  'env',
  'nice',
  'timeout 5',
  'taskset 1',
  'unshare -r',
  'flock x',
  'command',
];
const SCRIPTS = [
  "bash -c '%'",
  "sh -ce '%'",
  "eval '%'",
  "bash <<< '%'",
  '( % )',
  '{ %; }',
  "su -c '%'",
];

test('however carriers are nested, a denied command is not allowed', () => {
  const machine = createMachine();
  const session = open(machine, { mode: 'bypassPermissions', rules: ['deny Bash(git push:*)'] });
  const carriers = fc.array(fc.constantFrom(...CARRIERS), { maxLength: 3 });
  fc.assert(
    fc.property(carriers, fc.constantFrom('%', ...SCRIPTS), carriers, (outer, script, inner) => {
      const command = [...inner, 'git push'].join(' ');
      const isGroup = /^[({]/.test(script);
      const line = [...(isGroup ? [] : outer), script.replace('%', command)].join(' ');
      expect(session.judge(bash(line, machine.root)).effect).not.toBe('allow');
    }),
    { numRuns: 300 },
  );
});

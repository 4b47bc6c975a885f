import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  parsePlainCommand,
  parseShellCommands,
} from '../../../src/permissions/rules/shell-commands.ts';

const WORDS = [
  'ls',
  'git',
  'push',
  '-la',
  '--flag',
  'a.b/c',
  './run',
  'x@y',
  '%1',
  '2',
  'in',
  'do',
  'time',
  'exec',
  'command',
  'xargs',
  'if',
  'then',
  'function',
  'eval',
  'source',
  '.',
  ':',
  'true',
];

test('a plain line is read as the parser reads it', () => {
  const word = fc.oneof(fc.constantFrom(...WORDS), fc.stringMatching(/^[\w@%+:,./-]{1,8}$/));
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), (words) => {
      const line = words.join(' ');
      const plain = parsePlainCommand(line);
      // The blank at the end means nothing to a shell, and makes the fast tokenizer leave the line to the parser.
      fc.pre(plain !== null);
      expect(plain).toEqual(parseShellCommands(`${line} `));
    }),
    { numRuns: 2000 },
  );
});

test.each(['ls *', 'a=b', 'ls; rm', 'ls > x', '$X', '"a"', 'ls\nrm', 'ls ~', 'exec ls', ''])(
  '%j is left to the parser',
  (line) => {
    expect(parsePlainCommand(line)).toBe(null);
  },
);

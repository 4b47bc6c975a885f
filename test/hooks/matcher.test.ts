import { spawnSync } from 'node:child_process';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isHooklineError } from '../../src/base/errors.ts';
import { compileMatcher, type PatternScreen } from '../../src/hooks/matcher.ts';

const NAMES = ['Bash', 'Write', 'mcp__srv__echo', 'mcp__my-srv__echo'] as const;

const trusting: PatternScreen = () => ({ safe: true });
const distrusting: PatternScreen = () => ({ safe: false, why: 'it backtracks' });

function fitting(matcher: string | undefined, screen?: PatternScreen): readonly string[] {
  const { fits } = compileMatcher(matcher, screen);
  return NAMES.filter((name) => fits([name]));
}

const [BASH, WRITE, MCP, MCP_DASH] = NAMES;

describe('which names a matcher fits', () => {
  test.each<[readonly (string | undefined)[], readonly string[]]>([
    [[undefined, '', '*', '.*'], NAMES],
    [['Bash', ' Bash ', 'Bash|', '|Bash', '^Bash$', '^B', 'Ba*', 'Ba.*', 'Task|Bash'], [BASH]],
    [['bash', 'BASH', 'Ba', 'ash', 'Bash.', 'bash.*'], []],
    [
      ['Bash|Write', 'Bash | Write', 'Bash,Write', 'Bash||Write'],
      [BASH, WRITE],
    ],
    [['Bash(echo *)', '!Write'], []],
    [['mcp__srv', 'mcp__srv__', 'mcp__my-srv'], []],
    [['mcp__srv__.*', 'mcp__srv__*', 'mcp__srv__echo'], [MCP]],
    [
      ['mcp__.*', 'mcp__*'],
      [MCP, MCP_DASH],
    ],
  ])('%j', (matchers, expected) => {
    for (const matcher of matchers) {
      expect([matcher, fitting(matcher)]).toEqual([matcher, expected]);
    }
  });

  test('a list is tried on every name of the subject, and exactly', () => {
    const { fits } = compileMatcher('Edit|execute_command');
    expect(fits(['Bash', 'execute_command', 'run_commands'])).toBe(true);
    expect(fits(['Bash', 'run_commands'])).toBe(false);
    expect(fits([])).toBe(false);
  });

  test('the old name of a tool fits because it is one of its names', () => {
    expect(compileMatcher('Task').fits(['Agent', 'Task', 'new_task'])).toBe(true);
    expect(compileMatcher('^Task$').fits(['Agent', 'Task', 'new_task'])).toBe(true);
  });

  test('a plugin’s agent type is a pattern because of its colon', () => {
    const matcher = compileMatcher('^plugin:name$');
    expect([matcher.kind, matcher.fits(['plugin:name']), matcher.fits(['my-plugin:name'])]).toEqual(
      ['pattern', true, false],
    );
  });

  test('a list of nothing but separators fits nothing', () => {
    expect([' ', '|', ',,'].map((matcher) => fitting(matcher))).toEqual([[], [], []]);
  });
});

describe('kinds', () => {
  test.each([
    [undefined, { text: '', kind: 'all', note: null }],
    ['*', { text: '*', kind: 'all', note: null }],
    ['Edit, Write', { text: 'Edit, Write', kind: 'list', note: null }],
    ['mcp__my-srv', { text: 'mcp__my-srv', kind: 'list', note: null }],
    ['^Edit$', { text: '^Edit$', kind: 'pattern', note: null }],
  ])('%j', (text, expected) => {
    expect(compileMatcher(text)).toEqual({ ...expected, fits: expect.any(Function) });
  });
});

describe('look-around and back-references', () => {
  const guard = '^(?!Write).*$';

  test('run natively when the screen accepts them', () => {
    expect(fitting(guard, trusting)).toEqual([BASH, MCP, MCP_DASH]);
    expect(compileMatcher(guard, trusting).note).toBe('runs on the backtracking engine, screened');
  });

  test.each([
    ['no screen for it is set up', undefined],
    ['it backtracks', distrusting],
  ] as const)('are refused when %s', (why, screen) => {
    expect(() => compileMatcher(guard, screen)).toThrow(
      expect.objectContaining({
        code: 'MATCHER_INVALID',
        message: expect.stringContaining(`could hang: ${why}`),
        hint: expect.stringContaining('Edit|Write'),
      }),
    );
  });

  test('the screen receives the pattern that would run', () => {
    const records: string[] = [];
    compileMatcher('(B)(?=ash)', (pattern) => {
      records.push(pattern.source);
      return { safe: true };
    });
    expect(records).toEqual(['(B)(?=ash)']);
  });

  test('patterns that the linear engine accepts are not screened', () => {
    expect(() => compileMatcher('^(a+)+$', distrusting)).not.toThrow();
  });
});

describe('a screen that decides what counts otherwise', () => {
  test.each([true, false])('an unsafe pattern is not run and fits %s', (otherwise) => {
    const matcher = compileMatcher('(?=(a+)+$)b', () => ({ safe: false, why: 'slow', otherwise }));
    expect([matcher.fits(['Bash']), matcher.fits(['b'])]).toEqual([otherwise, otherwise]);
    expect(matcher.note).toContain(`counts as matching ${otherwise ? 'everything' : 'nothing'}`);
  });

  test.each([true, false])(
    'a safe pattern is not run on names that are too long: %s',
    (otherwise) => {
      const { fits } = compileMatcher('^(?!a)b$', () => ({ safe: true, otherwise }));
      expect([fits(['b']), fits(['c']), fits(['b'.repeat(1001)])]).toEqual([
        true,
        false,
        otherwise,
      ]);
    },
  );
});

test('texts that are lists can be distinguished from patterns', () => {
  const lists = { characters: /^[\w|]*$/u, separator: /\|/u };
  const kinds = ['a|b', 'a,b', 'a-b'].map((text) => compileMatcher(text, undefined, lists).kind);
  expect(kinds).toEqual(['list', 'pattern', 'pattern']);
});

test('long names fit plain patterns as short ones do', () => {
  const { fits } = compileMatcher('^a.*b$');
  const middle = 'x'.repeat(300);
  expect([fits([`a${middle}b`]), fits([`a${middle}c`]), fits(['axb'])]).toEqual([
    true,
    false,
    true,
  ]);
});

describe('what is no regular expression', () => {
  test.each(['[', '(Bash', '**', '(?i)bash', '(?P<a>b)', 'Bash(*)', '+', 'a{2,1}', '(?<=', '\\'])(
    '%s is refused',
    (text) => {
      expect(() => compileMatcher(text, trusting)).toThrow(
        expect.objectContaining({
          code: 'MATCHER_INVALID',
          message: expect.stringContaining(JSON.stringify(text)),
        }),
      );
    },
  );
});

test('compiling throws nothing but MATCHER_INVALID, and what it compiles never throws', () => {
  const pieces = fc.constantFrom(
    '(',
    ')',
    '[',
    ']',
    '*',
    '+',
    '?',
    '{2}',
    '|',
    '^',
    '$',
    '\\',
    '(?=',
    '(?<',
    'a',
    '\\1',
    '\\p{',
    '-',
    '.',
    '🙂',
  );
  const texts = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.array(pieces, { maxLength: 12 }).map((list) => list.join('')),
  );
  fc.assert(
    fc.property(texts, fc.boolean(), fc.string(), (text, safe, name) => {
      try {
        const { fits } = compileMatcher(text, safe ? trusting : distrusting);
        expect(typeof fits([name])).toBe('boolean');
      } catch (error) {
        expect(isHooklineError(error) && error.code).toBe('MATCHER_INVALID');
      }
    }),
  );
});

test('a name in a list always fits, and fits alone', () => {
  const names = fc.stringMatching(/^\w[\w-]{0,8}$/);
  fc.assert(
    fc.property(fc.uniqueArray(names, { minLength: 2 }), ([outside = '', ...listed]) => {
      const { fits } = compileMatcher(listed.join(' | '));
      expect(listed.every((name) => fits([name]))).toBe(true);
      expect(fits([outside])).toBe(false);
    }),
  );
});

test('patterns that would take a backtracking engine for ever answer at once', () => {
  const { stdout, signal } = spawnSync(
    process.execPath,
    ['--import', 'jiti/register', path.join(import.meta.dirname, 'fixtures/match-evil.ts')],
    { cwd: path.resolve(import.meta.dirname, '../..'), timeout: 240_000, encoding: 'utf8' },
  );
  expect(signal).toBeNull();
  expect(JSON.parse(stdout)).toEqual({
    fitting: [false, false, false, false, false],
    refused: ['MATCHER_INVALID', 'MATCHER_INVALID'],
  });
});

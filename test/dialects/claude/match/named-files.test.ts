import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import {
  findNamedFiles,
  findNamedFilesInArgs,
} from '../../../../src/dialects/claude/match/named-files.ts';
import { tokenizePlainLine } from '../../../../src/permissions/rules/shell-words.ts';
import { parse } from 'unbash';

const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'named-files-')));
afterAll(() => rmSync(root, { recursive: true }));

for (const file of [
  '.claude/hooks/check.sh',
  'scripts/lint.js',
  'runner',
  'tools/guard/__main__.py',
  'sub/x.sh',
  '.claude/top.sh',
  'a=b/c.sh',
]) {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
  writeFileSync(path.join(root, file), '');
}

const variables = {
  CLAUDE_PROJECT_DIR: root,
  CLAUDE_PLUGIN_ROOT: path.join(root, 'plugin'),
  PWD: root,
  HOME: '/home/me',
};
const context = { root, cwd: root, variables };

function below(files: readonly string[]): string[] {
  return files.map((file) => path.relative(root, file).replaceAll(path.sep, '/')).toSorted();
}

describe('files that a command line names', () => {
  test.each([
    ['"$CLAUDE_PROJECT_DIR"/.claude/hooks/check.sh', ['.claude/hooks/check.sh']],
    ['"$CLAUDE_PROJECT_DIR/.claude/hooks/check.sh" --fast', ['.claude/hooks/check.sh']],
    ['${CLAUDE_PROJECT_DIR}/.claude/hooks/check.sh', ['.claude/hooks/check.sh']],
    ['python3 ${CLAUDE_PLUGIN_ROOT}/hooks/a.py', ['plugin/hooks/a.py']],
    ['"$CLAUDE_PLUGIN_ROOT"/x', ['plugin/x']],
    ['$PWD/sub/x.sh', ['sub/x.sh']],
    ['./sub/x.sh', ['sub/x.sh']],
    ['node scripts/lint.js', ['scripts/lint.js']],
    ['node scripts/lint', ['scripts/lint', 'scripts/lint.js']],
    ['bun run missing/later.ts', ['missing/later.ts']],
    ['python3 check.py', ['check.py']],
    [
      'python3 -m tools.guard',
      ['tools/guard.py', 'tools/guard/__init__.py', 'tools/guard/__main__.py'],
    ],
    ['bash runner', ['runner']],
    ["bash -c './sub/x.sh && node scripts/lint.js'", ['scripts/lint.js', 'sub/x.sh']],
    ['env A=1 sh -ec \'exec "$CLAUDE_PROJECT_DIR"/sub/x.sh\'', ['sub/x.sh']],
    ['eval "./sub/x.sh"', ['sub/x.sh']],
    ['cd sub && ./x.sh', ['sub/x.sh', 'x.sh']],
    ['cat < sub/x.sh | tee out/log.txt', ['sub/x.sh']],
    ['x=$(./sub/x.sh); echo "$x"', ['sub/x.sh']],
    ['"$(git rev-parse --show-toplevel)"/sub/x.sh', ['sub/x.sh']],
    ['"${CLAUDE_PROJECT_DIR:-.}"/sub/x.sh', ['sub/x.sh']],
    ['$UNHEARD_OF/sub/x.sh', ['sub/x.sh']],
    ['node --import=./sub/a.mjs -r./sub/b.cjs', ['sub/a.mjs', 'sub/b.cjs']],
    ['. ./sub/x.sh', ['sub/x.sh']],
    ['sub\\/x.sh', ['sub/x.sh']],
    ['jq -r .tool_input.command', []],
    ['echo hello && true', []],
    ['curl https://example.com/a.sh', []],
    ['/usr/bin/env ls ~/x.sh', []],
    ['cat ../outside.sh', []],
    ['', []],
  ])('%s', (line, expected) => {
    const found = below(findNamedFiles(line, context).files);
    expect(expected.filter((file) => !found.includes(file))).toEqual([]);
    if (expected.length === 0) expect(found).toEqual([]);
  });

  test('relative ones are looked for from where the hook runs, too', () => {
    const { files } = findNamedFiles('./x.sh', { ...context, cwd: path.join(root, 'sub') });
    expect(below(files)).toEqual(['sub/x.sh', 'x.sh']);
  });

  test('a missing one is bound wherever it may come to be', () => {
    const { files } = findNamedFiles('./new.sh', { ...context, cwd: path.join(root, 'sub') });
    expect(below(files)).toEqual(['new.sh', 'sub/new.sh']);
  });
});

describe('files that arguments name', () => {
  test.each([
    [[`${root}/sub/x.sh`], ['sub/x.sh']],
    [['python3', 'sub/a b.py'], ['sub/a b.py']],
    [['bash', '-c', './sub/x.sh'], ['sub/x.sh']],
    [['echo', '$HOME/x'], ['$HOME/x']],
  ])('%j', (words, expected) => {
    expect(below(findNamedFilesInArgs(words, context).files)).toEqual(
      expect.arrayContaining(expected),
    );
  });
});

describe('a word of the form NAME=/path', () => {
  test.each([
    [[`root=${root}`], []],
    [[`rules=${root}/sub/x.sh`], ['sub/x.sh']],
    [['rules=sub/new.sh'], ['sub/new.sh']],
    [['PATHS=./sub/x.sh:./sub/new.sh'], ['sub/new.sh', 'sub/x.sh']],
    [['a=b/c.sh'], ['a=b/c.sh', 'b/c.sh']],
  ])('%j names what follows the sign', (args, expected) => {
    expect(below(findNamedFilesInArgs(['node', ...args], context).files)).toEqual(expected);
  });

  test('the same in a command line', () => {
    const { files } = findNamedFiles('env rules="$CLAUDE_PROJECT_DIR"/sub/x.sh true', context);
    expect(below(files)).toEqual(['sub/x.sh']);
  });
});

describe('directories of hooks', () => {
  test.each([
    ['.claude/hooks/check.sh', ['.claude/hooks']],
    ['.cline/tools/a.sh', ['.cline/tools']],
    ['my/hooks/lib/a.sh', ['my/hooks/lib']],
    ['cat .claude/hooks/*.sh', ['.claude/hooks']],
    ['run-parts .claude/hooks', ['.claude/hooks']],
    ['.claude/top.sh', []],
    ['./sub/x.sh', []],
    ['./top.sh', []],
  ])('%s', (line, expected) => {
    expect(below(findNamedFiles(line, context).directories)).toEqual(expected);
  });

  test('a root below a directory called hooks does not count', () => {
    const inner = path.join(root, '.claude/hooks');
    const { directories } = findNamedFiles('./check.sh', { ...context, root: inner, cwd: inner });
    expect(directories).toEqual([]);
  });
});

test('the arguments of cat are among the named files', () => {
  const names = fc.array(fc.stringMatching(/^[A-Za-z][\w. $'"#-]{0,8}\w$/), {
    minLength: 2,
    maxLength: 4,
  });
  fc.assert(
    fc.property(names, (list) => {
      const file = list.join('/');
      const line = `cat '${file.replaceAll("'", String.raw`'\''`)}'`;
      expect(findNamedFiles(line, context).files).toContain(path.join(root, file));
    }),
  );
});

test('no line makes the reader throw', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' })), (line) => {
      expect(Array.isArray(findNamedFiles(line, context).files)).toBe(true);
    }),
  );
});

test('a line that is split without the parser is split the same by the parser', () => {
  const pieces = fc.constantFrom(
    'a',
    'b/c',
    ' ',
    '\t',
    '"d e"',
    "'f'",
    "'$A'",
    '""',
    ':',
    '-x',
    '.',
    '@',
    ',',
  );
  fc.assert(
    fc.property(fc.array(pieces), (list) => {
      const line = list.join('');
      const [statement] = parse(line).commands;
      const command = statement?.command.type === 'Command' ? statement.command : null;
      const shellWords = [command?.name, ...(command?.args ?? [])].flatMap((word) => word ?? []);
      expect(tokenizePlainLine(line, {})).toEqual(
        shellWords.map((word) => ('value' in word ? word.value : word)),
      );
    }),
  );
});

describe('files that a hook writes', () => {
  const WRITES = [
    'jq -c . > $CLAUDE_PROJECT_DIR/log/seen.json',
    'jq -c . >> log/seen.json',
    'node check.mjs 2> log/errors.txt',
    'jq -c . | tee -a log/seen.json',
    'node check.mjs &> log/all.txt',
  ];

  test.each(WRITES)('is not bound: %s', (line) => {
    const files = findNamedFiles(line, context).files.filter((file) => file.includes('/log/'));
    expect(files).toEqual([]);
  });

  test.each([
    'touch .claude_signal.txt',
    'touch sub/state.json && rm -f sub/old.json; mkdir -p out/logs',
  ])('nor what a hook only makes, marks or removes: %s', (line) => {
    expect(findNamedFiles(line, context).files).toEqual([]);
  });

  test('but what a hook runs after having made it is', () => {
    expect(below(findNamedFiles('touch sub/later.sh; sh sub/later.sh', context).files)).toEqual([
      'sub/later.sh',
    ]);
  });

  test('but what a hook reads is', () => {
    expect(findNamedFiles('jq . < log/rules.json', context).files).toContain(
      path.join(context.root, 'log', 'rules.json'),
    );
  });
});

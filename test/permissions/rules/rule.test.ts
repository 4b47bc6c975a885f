import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { parseRule, isRuleMatch, type RuleContext } from '../../../src/permissions/rules/rule.ts';

const PLACES = { cwd: '/ws/app', root: '/ws', home: '/home/me' };
const GUARD: RuleContext = { ...PLACES, mode: 'guard' };
const EXACT: RuleContext = { ...PLACES, mode: 'exact' };

function matches(text: string, input: unknown, context = GUARD): boolean {
  const rule = parseRule(text);
  return rule !== null && isRuleMatch(rule, { names: [rule.tool], input }, context);
}

function isGuarded(pattern: string, command: string): boolean {
  return matches(`Bash(${pattern})`, { command });
}

describe('parsing', () => {
  test.each(['', '*', 'Nope(', 'Bash)', '(x)', 'mcp__srv__*', 'Bash (x)', 'a b'])(
    '%j is no rule',
    (text) => {
      expect(parseRule(text)).toBeNull();
    },
  );

  test.each([
    'Bash',
    'Bash()',
    'Bash(*)',
    ' Bash ',
    'mcp__my-srv__echo',
    'Bash(a(b)c)',
    'Bash(a\nb)',
  ])('%j is one', (text) => {
    expect(parseRule(text)).toMatchObject({ tool: expect.stringMatching(/^[\w-]+$/) });
  });

  test('another tool’s call never matches', () => {
    const rule = parseRule('Edit');
    expect(rule && isRuleMatch(rule, { names: ['Write'], input: {} }, GUARD)).toBe(false);
  });
});

describe('a guard over commands', () => {
  test.each([
    ['git push *', '"git" p\\ush x'],
    ['git push *', 'time git push x'],
    ['git push *', '! git push x'],
    ['git push *', 'f() { git push x; }; f'],
    ['git push *', 'while true; do git push x; done'],
    ['git push *', 'X=$(git push x)'],
    ['git push *', 'echo "$(git push x)"'],
    ['git push *', 'git push x > out'],
    ['git push *', 'git push x 2>&1 | tee log'],
    ['git push *', 'case a in a) git push x;; esac'],
    ['git push', 'git push > out'],
    ['git * main', 'git push origin main'],
    ['* --force', 'git push --force'],
    ['rm *', '{rm,-rf,x}'],
    ['rm *', 'r? x'],
    ['rm *', 'cat <<< "x"'],
    ['rm *', `echo ${'x'.repeat(400_000)}`],
    ['rm *', 'if then fi ('],
    ['git push:*', 'git push'],
    ['git  push   *', 'git push x'],
    ['rm -rf *', 'rm {-rf,/tmp/x}'],
    ['rm -rf *', 'true && rm -r[f] x'],
    ['rm -rf *', 'rm -?f x'],
    ['rm -rf *', 'rm *'],
    ['rm -rf *', 'rm @(-rf) x'],
    ['rm -rf *', 'rm "$FLAGS" {a,b}'],
    ['rm -rf *', '"rm" {-rf,x}'],
    ['kill -9 *', 'kill -$((3 * 3)) 1'],
    ['git push', 'git {push,}'],
    ['git push *', 'git -{C,/d} push x'],
    ['git * --force', 'git push {--force,x}'],
    ['rm -rf *', 'exec rm -rf x'],
    ['rm -rf *', 'exec -c -a name rm -rf x'],
    ['rm -rf *', 'exec -la name rm -rf x'],
    ['rm -rf *', 'exec -aname rm -rf x'],
    ['rm -rf *', 'command rm -rf x'],
    ['rm -rf *', 'command -p -- rm -rf x'],
    ['rm -rf *', '\\command "rm" -rf x'],
    ['rm -rf *', 'command exec rm {-rf,x}'],
    ['cd *', 'builtin cd x'],
    ['rm *', 'exec $CMD x'],
    ['rm *', 'command r? x'],
    ['rm *', 'command -{p,x} rm x'],
    ['git push *', 'echo a | command xargs git push'],
    ['exec *', 'exec rm x'],
  ])('%s fires for %j', (pattern, command) => {
    expect(isGuarded(pattern, command)).toBe(true);
  });

  test.each([
    ['git push:*', 'git pushx'],
    ['git push *', 'echo git push x'],
    ['git push *', 'echo "git push x"'],
    ['git push *', "echo 'a; git push x'"],
    ['* --force', 'git push --force-with-lease'],
    ['a*a', 'a'],
    ['git push *', '# git push x'],
    ['rm *', 'echo $(date)'],
    ['rm *', ''],
    ['git push *', 'ls *.ts'],
    ['git push *', 'git add *.ts {a,b}'],
    ['git push *', 'git show HEAD^{tree}'],
    ['git push *', 'git commit -m "$MESSAGE"'],
    ['rm -rf *', "rm '{-rf,x}'"],
    ['rm -rf *', 'rm -r\\[f\\] x'],
    ['git push *', 'command -v git push x'],
    ['git push *', 'command -pV git push x'],
    ['rm *', 'exec > out'],
    ['rm *', 'command'],
    ['rm *', 'exec echo rm x'],
    ['git push *', 'sudo git push x'],
  ])('%s does not fire for %j', (pattern, command) => {
    expect(isGuarded(pattern, command)).toBe(false);
  });

  test('a call that cannot be read is guarded', () => {
    expect(
      [undefined, null, {}, { command: 7 }].map((input) => matches('Bash(git *)', input)),
    ).toEqual([true, true, true, true]);
  });
});

describe('an exact rule over commands', () => {
  const allows = (pattern: string, command: string): boolean =>
    matches(`Bash(${pattern})`, { command }, EXACT);

  test.each([
    ['git *', 'git status'],
    ['git *', 'git status && git diff 2>/dev/null'],
    ['git *', 'git log 2>&1 | git hash-object --stdin'],
    ['ls', 'ls'],
  ])('%s allows %j', (pattern, command) => {
    expect(allows(pattern, command)).toBe(true);
  });

  test.each([
    ['git *', 'git status && rm x'],
    ['git *', 'git status; $CMD'],
    ['git *', 'git show $(rm x)'],
    ['git *', 'git diff > file'],
    ['git *', 'PATH=/tmp git status'],
    ['git *', 'git commit -F - <<EOF\nx\nEOF'],
    ['git *', "git status 'unterminated && ${x}"],
    ['git *', ''],
    ['git push *', 'git "push x"'],
    ['git *', 'exec git status'],
    ['command *', 'command $CMD'],
  ])('%s does not allow %j', (pattern, command) => {
    expect(allows(pattern, command)).toBe(false);
  });

  test('a call that cannot be read is not allowed', () => {
    expect(matches('Bash(git *)', {}, EXACT)).toBe(false);
    expect(matches('Unheard(of)', {}, EXACT)).toBe(false);
  });
});

describe('paths', () => {
  const fits = (pattern: string, file_path: string, context = GUARD): boolean =>
    matches(`Write(${pattern})`, { file_path }, context);

  test.each([
    ['*.ts', '/ws/app/a/b.ts'],
    ['*.ts', 'a/b.ts'],
    ['src/**', '/ws/app/src/a/b'],
    ['./src/**', '/ws/app/src/a'],
    ['src', '/ws/app/lib/src/a'],
    ['**/src/**', '/ws/app/lib/src/a'],
    ['/app/**', '/ws/app/a'],
    ['//etc/**', '/etc/passwd'],
    ['~/.ssh/*', '/home/me/.ssh/id'],
    ['~/.ssh/*', '~/.ssh/id'],
    ['.env*', '/ws/app/.env.local'],
  ])('%s covers %s', (pattern, file) => {
    expect([fits(pattern, file), fits(pattern, file, EXACT)]).toEqual([true, true]);
  });

  test.each([
    ['src/**', '/ws/app/lib/src/a'],
    ['src/**', '/ws/src/a'],
    ['*.ts', '/ws/app/a.tsx'],
    ['/src/**', '/ws/app/src/a'],
    ['//etc/**', '/ws/app/etc/x'],
    ['~/x', '/ws/app/x'],
    ['!*.ts', '/ws/app/a.ts'],
    ['*.ts', '/ws/app'],
  ])('%s does not cover %s', (pattern, file) => {
    expect([fits(pattern, file), fits(pattern, file, EXACT)]).toEqual([false, false]);
  });

  test.each([
    ['*.ts', '/elsewhere/a.ts'],
    ['**/x/*', '/elsewhere/x/a.ts'],
    ['*.ts', '/ws/app/A.TS'],
  ])('%s covers %s for a guard only', (pattern, file) => {
    expect([fits(pattern, file), fits(pattern, file, EXACT)]).toEqual([true, false]);
  });
});

describe('links', () => {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'rule-links-')));
  afterAll(() => rmSync(root, { recursive: true }));
  const app = path.join(root, 'app');
  mkdirSync(path.join(app, 'src/inner'), { recursive: true });
  writeFileSync(path.join(app, '.env'), '');
  symlinkSync('.env', path.join(app, 'link'));
  symlinkSync('link', path.join(app, 'second'));
  symlinkSync('.env.absent', path.join(app, 'dangling'));
  symlinkSync('round', path.join(app, 'round'));
  symlinkSync('src', path.join(app, 'dir'));
  symlinkSync(root, path.join(root, 'self'));

  const isMeant = (
    pattern: string,
    file_path: string,
    mode: RuleContext['mode'] = 'guard',
    cwd = app,
  ): boolean => matches(`Write(${pattern})`, { file_path }, { cwd, root: cwd, home: root, mode });

  test.each([
    ['.env', 'link'],
    ['.env', 'second'],
    ['.env', path.join(app, 'link')],
    ['./.env', 'link'],
    ['/.env', 'link'],
    ['~/app/.env', 'link'],
    ['.env.*', 'dangling'],
    ['src/**', 'dir/new.ts'],
    ['src/**', 'dir/inner/deep/new.ts'],
    ['src/**', path.join(root, 'self/app/src/new.ts')],
    ['link', 'link'],
    ['.env', 'round'],
    ['dir/**', 'dir/new.ts'],
  ])('a guard of %s is asked about %s', (pattern, file) => {
    expect(isMeant(pattern, file)).toBe(true);
  });

  test.each([
    ['.env', 'other'],
    ['src/**', 'lib/new.ts'],
  ])('a guard of %s is not asked about %s', (pattern, file) => {
    expect(isMeant(pattern, file)).toBe(false);
  });

  test('a directory that is itself reached by a link is the same one', () => {
    const cwd = path.join(root, 'self/app');
    expect(isMeant('src/**', 'dir/new.ts', 'guard', cwd)).toBe(true);
  });

  test('an exact rule allows nothing because of where a link leads', () => {
    expect(isMeant('.env', 'link', 'exact')).toBe(false);
  });
});

describe('other tools', () => {
  test.each([
    ['WebFetch(domain:example.com)', { url: 'https://example.com/a' }, true],
    ['WebFetch(domain:example.com)', { url: 'https://evil.com/example.com' }, false],
    ['WebFetch(domain:*.example.com)', { url: 'https://a.example.com' }, true],
    ['Agent(Explore)', { subagent_type: 'Explore' }, true],
    ['Agent(Explore)', { subagent_type: 'Plan' }, false],
    ['Unheard(of)', {}, true],
  ])('%s on %j: %s', (text, input, expected) => {
    expect(matches(text, input)).toBe(expected);
  });
});

describe('properties', () => {
  const pieces = fc.array(
    fc.constantFrom(
      'git',
      ' ',
      'push',
      '*',
      ':',
      '(',
      ')',
      '$',
      '{',
      '}',
      '`',
      '"',
      "'",
      '\\',
      '#',
      '\n',
      '&&',
      '|',
      ';',
      '<',
      '>',
      '<<E',
      '[',
      '!',
      '/',
      '~',
      '..',
      'é',
      '\0',
    ),
    { maxLength: 15 },
  );
  const texts = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    pieces.map((list) => list.join('')),
  );

  // Two texts that are chosen apart from each other hardly ever match.
  const related = fc.oneof(
    fc.tuple(texts, texts),
    texts.map((text) => [text, text] as const),
    fc.tuple(texts, texts).map(([start, rest]) => [`${start}*`, start + rest] as const),
    fc.tuple(texts, texts).map(([start, rest]) => [`${start}:*`, `${start} ${rest}`] as const),
  );

  test('no rule and no call make the matcher throw', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('Bash', 'Write', 'WebFetch', 'Agent', 'X'),
        texts,
        texts,
        (tool, content, said) => {
          const input = { command: said, file_path: said, url: said, subagent_type: said };
          for (const text of [content, `${tool}(${content})`]) {
            expect(typeof matches(text, input)).toBe('boolean');
            expect(typeof matches(text, input, EXACT)).toBe('boolean');
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  test('what an exact rule allows, a guard of the same text asks about', () => {
    fc.assert(
      fc.property(fc.constantFrom('Bash', 'Write'), related, (tool, [content, said]) => {
        const input = { command: said, file_path: said };
        const text = `${tool}(${content})`;
        fc.pre(matches(text, input, EXACT));
        expect(matches(text, input)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  test('a command without wildcards matches itself', () => {
    const words = fc.array(fc.stringMatching(/^[a-z][\w./-]{0,8}$/), {
      minLength: 1,
      maxLength: 5,
    });
    const keywords =
      /^(?:if|then|else|elif|fi|for|while|until|do|done|case|esac|select|function|time|coproc|in)$/;
    fc.assert(
      fc.property(words, (list) => {
        fc.pre(!list.some((word) => keywords.test(word)));
        const command = list.join(' ');
        expect(matches(`Bash(${command})`, { command })).toBe(true);
        expect(matches(`Bash(${command})`, { command }, EXACT)).toBe(list[0] !== 'xargs');
      }),
    );
  });

  test('a path without wildcards matches itself', () => {
    const names = fc.array(fc.stringMatching(/^[a-z][\w-]{0,8}$/), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(names, (list) => {
        expect(matches(`Write(${list.join('/')})`, { file_path: list.join('/') }, EXACT)).toBe(
          true,
        );
      }),
    );
  });
});

test.each([
  ['Bash(rm -rf *)', 'rm "$F" victim'],
  ['Bash(rm -rf *)', 'rm "$(echo -rf)" victim'],
  ['Bash(git push:*)', 'git "$VERB"'],
  ['Bash(git push:*)', 'git "${VERB}" origin'],
])('a condition %s is met by %s, because a quoted variable may be any word', (rule, command) => {
  const context = { cwd: '/', root: '/', home: null, mode: 'guard' as const };
  expect(matches(rule, { command }, context)).toBe(true);
});

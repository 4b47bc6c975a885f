import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isHooklineError } from '../../../src/base/errors.ts';
import { parseSource, type SourceContext } from '../../../src/plugins/install/parse-source.ts';
import { getSourceKey, formatSource } from '../../../src/plugins/install/source.ts';

const HERE: SourceContext = {
  cwd: '/work',
  home: '/home/me',
  exists: (file) => file === '/work/plugins/mine' || file === '/work/one.ts',
};

function read(text: string, kind?: 'npm' | 'git') {
  return parseSource(text, { ...HERE, ...(kind === undefined ? {} : { kind }) });
}

function refusal(text: string, kind?: 'npm' | 'git'): string {
  try {
    return `read as ${formatSource(read(text, kind))}`;
  } catch (error) {
    if (!isHooklineError(error)) throw error;
    return error.message.replace('plugin install: ', '');
  }
}

const local = (path: string) => ({ kind: 'local', path });
const npm = (name: string, wanted: string | null = null) => ({ kind: 'npm', name, wanted });
const git = (url: string, ref: string | null = null, host = 'github.com') => ({
  kind: 'git',
  url,
  host,
  name: 'repo',
  ref,
});
const remote = (url: string, file: string) => ({ kind: 'remote', url, file });

describe('the source of a plugin', () => {
  it.each([
    ['./mine', local('/work/mine')],
    ['.', local('/work')],
    ['../mine', local('/mine')],
    ['/opt/mine', local('/opt/mine')],
    ['~/mine', local('/home/me/mine')],
    ['~', local('/home/me')],
    ['plugins/mine', local('/work/plugins/mine')],
    ['one.ts', local('/work/one.ts')],
    ['./weather-metrics', local('/work/weather-metrics')],
    ['weather-metrics', { kind: 'official', slug: 'weather-metrics' }],
    ['goal', { kind: 'official', slug: 'goal' }],
    ['@scope/name', npm('@scope/name')],
    ['@scope/name@^2.1', npm('@scope/name', '^2.1')],
    ['npm:name', npm('name')],
    ['npm:name@next', npm('name', 'next')],
    ['npm:@scope/name@1.2.3', npm('@scope/name', '1.2.3')],
    ['git:github.com/owner/repo', git('https://github.com/owner/repo')],
    ['git:https://github.com/owner/repo#v1', git('https://github.com/owner/repo', 'v1')],
    ['https://github.com/owner/repo', git('https://github.com/owner/repo')],
    ['https://github.com/owner/repo@v1', git('https://github.com/owner/repo', 'v1')],
    ['https://github.com/owner/repo.git', git('https://github.com/owner/repo.git')],
    ['ssh://git@github.com/owner/repo@v1', git('ssh://git@github.com/owner/repo', 'v1')],
    ['git@github.com:owner/repo', git('git@github.com:owner/repo')],
    ['git@github.com:owner/repo@v1.0', git('git@github.com:owner/repo', 'v1.0')],
    ['git@github.com:owner/repo#a/b', git('git@github.com:owner/repo', 'a/b')],
    ['https://example.org/a/p.ts', remote('https://example.org/a/p.ts', 'p.ts')],
    ['https://example.org/p.mjs?x=1#y', remote('https://example.org/p.mjs?x=1', 'p.mjs')],
    ['http://127.0.0.1:80/p.js', remote('http://127.0.0.1/p.js', 'p.js')],
    ['http://localhost:8080/p.mts', remote('http://localhost:8080/p.mts', 'p.mts')],
    [
      'https://github.com/o/r/blob/main/a/p.ts',
      remote('https://raw.githubusercontent.com/o/r/main/a/p.ts', 'p.ts'),
    ],
  ])('reads %s', (text, source) => {
    expect(read(text)).toEqual(source);
  });

  it.each([
    ['github.com/owner/repo', git('https://github.com/owner/repo')],
    ['github.com/owner/repo#v1.2.0', git('https://github.com/owner/repo', 'v1.2.0')],
    ['github.com/owner/repo@feature/x', git('https://github.com/owner/repo', 'feature/x')],
    [
      'git.example.org:8443/a/repo',
      git('https://git.example.org:8443/a/repo', null, 'git.example.org:8443'),
    ],
    ['git+https://github.com/owner/repo', git('https://github.com/owner/repo')],
    ['file:///srv/a@b/repo', git('file:///srv/a@b/repo', null, 'file')],
  ])('reads --git %s', (text, source) => {
    expect(read(text, 'git')).toEqual(source);
  });

  it.each([
    ['name', npm('name')],
    ['npm:name', npm('name')],
    ['@a/b@latest', npm('@a/b', 'latest')],
  ])('reads --npm %s', (text, source) => {
    expect(read(text, 'npm')).toEqual(source);
  });

  it.each([
    ['', '"" not found, and it does not name a package, repository or URL'],
    [
      'plugins/other',
      '"plugins/other" not found, and it does not name a package, repository or URL',
    ],
    ['name@1.0.0', '"name@1.0.0" not found, and it does not name a package, repository or URL'],
    ['github.com/owner/repo', '"github.com/owner/repo" not found'],
    ['~you/mine', '~ means your home directory, found "~you/mine"'],
    ['npm:', 'expected the name of an npm package, found ""'],
    ['npm:./a.tgz', 'an npm package is named as it is in the registry, found "./a.tgz"'],
    ['npm:a.tgz', 'an npm package is named as it is in the registry, found "a.tgz"'],
    ['npm:a@npm:b', 'an npm package is named as it is in the registry, found "a@npm:b"'],
    ['npm:owner/repo', 'an npm package is named as it is in the registry, found "owner/repo"'],
    [
      'npm:https://example.org/a.tgz',
      'an npm package is named as it is in the registry, found "https://example.org/a.tgz"',
    ],
    ['npm:--global', 'expected the name of an npm package, found "--global"'],
    [
      'http://example.org/p.ts',
      'a plugin is downloaded over https only, found "http://example.org/p.ts"',
    ],
    [
      'https://a:b@example.org/p.ts',
      'an address with a name or a password in it would be written down',
    ],
    [
      'https://example.org/p.d.ts',
      'expected the address of a file or of a repository, found "https://example.org/p.d.ts"',
    ],
    [
      'https://example.org',
      'expected the address of a file or of a repository, found "https://example.org"',
    ],
    [
      'https://github.com/o/r/blob/main/p.py',
      'a plugin file ends in .ts, .mts, .js or .mjs, found "https://github.com/o/r/blob/main/p.py"',
    ],
    [
      'http://example.org/owner/repo',
      'http:// is neither private nor signed, found "http://example.org/owner/repo"',
    ],
    [
      'git://example.org/owner/repo',
      'git:// is neither private nor signed, found "git://example.org/owner/repo"',
    ],
    [
      'ext::sh -c touch% /tmp/x',
      '"ext::sh -c touch% /tmp/x" not found, and it does not name a package, repository or URL',
    ],
    ['git:ext::sh -c id', 'expected the address of a git repository, found "ext::sh -c id"'],
    [
      'https://a:b@github.com/o/r',
      'the address of a repository should hold no password, which would be written down',
    ],
    ['file:///srv/plugin', 'expected a path, found "file:///srv/plugin"'],
    ['https://github.com/o/r#-x', 'expected a branch, a tag or a commit after # or @, found "-x"'],
    ['https://github.com/o/r#', 'expected a branch, a tag or a commit after # or @, found ""'],
    [
      'https://github.com/o/r#a:b',
      'expected a branch, a tag or a commit after # or @, found "a:b"',
    ],
  ])('refuses %s', (text, message) => {
    expect(refusal(text)).toBe(message);
  });

  it.each([
    ['--upload-pack=x', 'expected the address of a git repository, found "--upload-pack=x"'],
    ['github.com', 'expected the address of a git repository, found "github.com"'],
    ['github.com/o/r@--x', 'expected a branch, a tag or a commit after # or @, found "--x"'],
    ['./repo', 'expected the address of a git repository, found "./repo"'],
  ])('refuses --git %s', (text, message) => {
    expect(refusal(text, 'git')).toBe(message);
  });

  it('is the same source when its record is read again, whatever it contained', () => {
    const word = fc.stringMatching(/^[a-z@.:/#~+_\-\d]{0,24}$/u);
    const sources = fc.oneof(
      word,
      fc.string(),
      fc
        .tuple(fc.constantFrom('npm:', 'git:', './', '@a/', 'git@h.io:', 'https://h.io/'), word)
        .map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(
        sources,
        fc.constantFrom('npm' as const, 'git' as const, undefined),
        (text, kind) => {
          try {
            const source = read(text, kind);
            const again = read(formatSource(source));
            expect(again).toEqual(source);
            expect(getSourceKey(again)).toBe(getSourceKey(source));
          } catch (error) {
            if (!isHooklineError(error)) throw error;
            expect(error.code).toBe('USAGE_INVALID');
          }
        },
      ),
      { numRuns: 3000 },
    );
  });
});

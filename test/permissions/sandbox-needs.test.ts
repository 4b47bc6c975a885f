import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { listSandboxNeeds } from '../../src/permissions/sandbox-needs.ts';
import { createGitConfigurationReader } from '../../src/process/git/git-configuration.ts';
import { createDirectory, write } from '../base/directory.ts';

const SSH = 'git@host.example:team/app.git';
const HTTPS = 'https://host.example/team/app.git';

/** A repository with these settings, and a home directory with a git configuration of the user. */
function createPlace(settings: Readonly<Record<string, string>> = {}, userConfig = '') {
  const base = createDirectory({ 'repo/sub/a': '', 'home/.gitconfig': userConfig });
  const cwd = path.join(base, 'repo');
  const home = path.join(base, 'home');
  execFileSync('git', ['init', '-q', '-b', 'main', '.'], { cwd });
  for (const [key, value] of Object.entries(settings)) {
    execFileSync('git', ['config', '--add', key, value], { cwd });
  }
  const read = createGitConfigurationReader(
    { PATH: process.env['PATH'] ?? '', HOME: home },
    'linux',
  );
  return {
    base,
    list: (line: string) =>
      listSandboxNeeds(line, {
        cwd,
        home,
        readGitConfiguration: (directory) => read(directory, [cwd]),
      }).map(({ command, places, variables, changesSubmodules }) =>
        [command, ...places, ...variables, ...(changesSubmodules ? ['modules'] : [])].join(' '),
      ),
  };
}

const AGENT = '.ssh SSH_AUTH_SOCK';

describe('a repository with an ssh remote', () => {
  test.each([
    ['git push', [`git push (${SSH}) ${AGENT}`]],
    ['git push origin main', [`git push (${SSH}) ${AGENT}`]],
    ['git -C sub push -u origin main', [`git push (${SSH}) ${AGENT}`]],
    ['cd sub && git fetch --depth 1', [`git fetch (${SSH}) ${AGENT}`]],
    ['git pull --rebase', [`git pull (${SSH}) ${AGENT}`]],
    ['git ls-remote', [`git ls-remote (${SSH}) ${AGENT}`]],
    ['git remote update', [`git remote (${SSH}) ${AGENT}`]],
    ['git lfs push origin main', [`git lfs (${SSH}) ${AGENT}`]],
    ['timeout 60 git push', [`git push (${SSH}) ${AGENT}`]],
    ['make && (git push || true)', [`git push (${SSH}) ${AGENT}`]],
    ['bash -c "git push"', [`git push (${SSH}) ${AGENT}`]],
    [`git clone ssh://host.example/x`, [`git clone (ssh://host.example/x) ${AGENT}`]],
    [`git push ${HTTPS}`, [`git push (${HTTPS}) .netrc`]],
    ['git push ../other', []],
    [`git clone ${HTTPS}`, []],
    ['git status', []],
    ['git commit -m "git push"', []],
    ['git remote -v', []],
    ['git log origin/main', []],
    ['echo git push', []],
    ['cat push.txt', []],
  ])('%s', (line, expected) => {
    expect(createPlace({ 'remote.origin.url': SSH }).list(line)).toEqual(expected);
  });
});

describe('the remote that counts', () => {
  const remotes = { 'remote.origin.url': HTTPS, 'remote.deploy.url': SSH };
  test.each<readonly [string, Readonly<Record<string, string>>, string, readonly string[]]>([
    ['is the named one', remotes, 'git fetch deploy', [`git fetch (${SSH}) ${AGENT}`]],
    ['is origin', remotes, 'git fetch', []],
    [
      'is that of the branch',
      { ...remotes, 'branch.main.remote': 'deploy' },
      'git fetch',
      [`git fetch (${SSH}) ${AGENT}`],
    ],
    [
      'is another one for a push',
      { ...remotes, 'remote.pushDefault': 'deploy' },
      'git push',
      [`git push (${SSH}) ${AGENT}`],
    ],
    [
      'has another address for a push',
      { 'remote.origin.url': SSH, 'remote.origin.pushurl': '../x' },
      'git push',
      [],
    ],
    [
      'has an address that is rewritten',
      { 'remote.origin.url': 'work:app', 'url.https://host.example/.insteadOf': 'work:' },
      'git fetch',
      [],
    ],
    [
      'is rewritten for a push',
      {
        'remote.origin.url': HTTPS,
        'url.git@host.example:.pushInsteadOf': 'https://host.example/',
      },
      'git push',
      [`git push (${SSH}) ${AGENT}`],
    ],
    [
      'is rewritten by an option',
      remotes,
      'git -c url.git@host.example:.insteadOf=https://host.example/ fetch',
      [`git fetch (${SSH}) ${AGENT}`],
    ],
    ['is a host with a colon only', { 'remote.origin.url': 'ext::sh' }, 'git fetch', []],
  ])('%s', (_name, settings, line, expected) => {
    expect(createPlace(settings).list(line)).toEqual(expected);
  });

  test('is not known elsewhere, so that a command may need keys', () => {
    const { list, base } = createPlace({ 'remote.origin.url': HTTPS });
    const other = path.join(base, 'other');
    execFileSync('git', ['init', '-q', other]);
    expect(list(`git -C ${other} push`)).toEqual([`git push ${AGENT}`]);
    expect(list('git -C "$X" push')).toEqual([`git push ${AGENT}`]);
    expect(list(`git -C ${other} status`)).toEqual([]);
  });
});

test('a push over https needs what the credential helpers read', () => {
  const userConfig =
    '[credential]\n\thelper = store\n\thelper = !/usr/bin/gh auth git-credential\n';
  const { list } = createPlace({ 'remote.origin.url': HTTPS }, userConfig);
  expect(list('git push')).toEqual([
    `git push (${HTTPS}) .netrc .git-credentials .config/git/credentials .config/gh`,
  ]);
  expect(list('git fetch')).toEqual([]);
});

test('a password in an address is not repeated', () => {
  const { list } = createPlace();
  expect(list('git push ssh://me:secret@host/x')).toEqual([`git push (ssh://me@host/x) ${AGENT}`]);
});

describe('a signature', () => {
  test.each<readonly [string, Readonly<Record<string, string>>, readonly string[]]>([
    ['git commit -m x', {}, []],
    ['git commit -S -m x', {}, ['git commit, which signs .gnupg']],
    ['git commit -m x', { 'commit.gpgSign': 'true' }, ['git commit, which signs .gnupg']],
    ['git commit --no-gpg-sign -m x', { 'commit.gpgSign': 'true' }, []],
    [
      'git commit -m x',
      { 'commit.gpgSign': 'true', 'gpg.format': 'ssh' },
      [`git commit, which signs ${AGENT}`],
    ],
    ['git tag -s v1', {}, ['git tag, which signs .gnupg']],
    ['git tag v1', { 'commit.gpgSign': 'true' }, []],
    ['git log', { 'commit.gpgSign': 'true' }, []],
  ])('%s with %j', (line, settings, expected) => {
    expect(createPlace(settings).list(line)).toEqual(expected);
  });
});

describe('submodules', () => {
  test('that are updated are written, and fetched', () => {
    const { list } = createPlace({ 'remote.origin.url': SSH, 'submodule.lib.url': '../lib' });
    expect(list('git submodule update --init lib')).toEqual([
      `git submodule (${SSH}) ${AGENT}`,
      'git submodule modules',
    ]);
    expect(list('git pull --recurse-submodules ../x')).toEqual(['git pull modules']);
    expect(list('git submodule status')).toEqual([]);
  });
});

test.each([
  ['ssh host ls', [`ssh ${AGENT}`]],
  ['scp a host:b', [`scp ${AGENT}`]],
  ['rsync -a src/ host:dst/', [`rsync ${AGENT}`]],
  ['rsync -a src/ dst/', []],
  ['rsync rsync://host/x .', []],
  ['rsync host::module .', []],
  ['ssh -V', []],
  ['gh pr create --fill', ['gh .config/gh']],
  ['gh --version', []],
  ['aws s3 ls && kubectl get pods', ['aws .aws', 'kubectl .kube']],
  ['/usr/bin/gpg --sign x', ['gpg .gnupg']],
  ['cargo build', []],
  ['cargo publish', ['cargo .cargo/credentials .cargo/credentials.toml']],
  ['env A=1 gcloud info', ['gcloud .config/gcloud']],
  ['ls ~/.ssh', []],
  ['npm run ssh-tunnel', []],
  ['echo aws', []],
])('%s', (line, expected) => {
  expect(createPlace().list(line)).toEqual(expected);
});

test('a script that a line runs is not looked at', () => {
  const { list, base } = createPlace({ 'remote.origin.url': SSH });
  write(path.join(base, 'repo/release.sh'), '#!/bin/sh\ngit push\n', 0o755);
  expect(list('./release.sh')).toEqual([]);
});

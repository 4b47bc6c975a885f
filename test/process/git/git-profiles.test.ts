import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGitProfiles } from '../../../src/process/git/git-profiles.ts';
import { hasProgram, isRoot, NOBODY } from '../../cli/temp-workspace.ts';

interface Place {
  readonly base: string;
  readonly repo: string;
  readonly env: Readonly<Record<string, string>>;
  sh(script: string): void;
}

/** A repository with one commit and the user's git configuration beside it. */
function createPlace(setup = ':'): Place {
  const base = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'hookline-git-')));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const repo = path.join(base, 'repo');
  const env = { PATH: process.env['PATH'] ?? '', HOME: base };
  mkdirSync(repo);
  writeFileSync(
    path.join(base, '.gitconfig'),
    '[user]\n\tname = x\n\temail = x@example.org\n[protocol "file"]\n\tallow = always\n',
  );
  const sh = (script: string): void => {
    execFileSync('sh', ['-e', '-c', script], { cwd: repo, env, stdio: 'pipe' });
  };
  sh('git init --quiet . && echo a > a.txt && git add . && git commit --quiet -m first');
  sh(setup);
  return { base, repo, env, sh };
}

function findProfile({ env, repo }: Place, directory = repo, own: readonly string[] = [repo]) {
  return createGitProfiles(env, process.platform)(directory, own);
}

/** The settings of a profile as git would read them; the last of a key holds. */
function readSettings(profile: ReturnType<typeof findProfile>): Readonly<Record<string, string>> {
  expect(profile).toBeTypeOf('object');
  const all: Readonly<Record<string, string>> =
    typeof profile === 'string' ? {} : profile.variables;
  const count = Number(all['GIT_CONFIG_COUNT'] ?? 0);
  return Object.fromEntries(
    Array.from({ length: count }, (_none, index) => [
      all[`GIT_CONFIG_KEY_${index}`] ?? '',
      all[`GIT_CONFIG_VALUE_${index}`] ?? '',
    ]),
  );
}

const hasGit = hasProgram('git');

describe.skipIf(!hasGit)('while a command runs in a sandbox', () => {
  it('a commondir that names its own directory changes nothing', () => {
    const place = createPlace(
      'git init --quiet ../lib && git -C ../lib commit --quiet --allow-empty -m one && git submodule --quiet add ../lib lib',
    );
    const modules = path.join(place.repo, '.git/modules/lib');
    for (const directory of [path.join(place.repo, '.git'), modules]) {
      writeFileSync(path.join(directory, 'commondir'), `${directory}\n`);
    }
    expect(findProfile(place)).toMatchObject({ directory: place.repo });
    expect(findProfile(place, path.join(place.repo, 'lib'))).toMatchObject({
      directory: path.join(place.repo, 'lib'),
    });
    writeFileSync(path.join(place.repo, '.git/commondir'), `${modules}\n`);
    expect(findProfile(place)).toContain('which points elsewhere');
  });
});

describe.skipIf(!hasGit)('git runs without a question', () => {
  it('in the session’s own repository, with everything switched off that it names', () => {
    const place = createPlace(
      'git config filter.a.clean x && git config diff.b.textconv y && git config core.fsmonitor z',
    );
    expect(readSettings(findProfile(place))).toEqual({
      'core.fsmonitor': 'false',
      'core.hooksPath': os.devNull,
      'core.pager': 'cat',
      'diff.submodule': 'short',
      'diff.b.textconv': 'cat',
      'filter.a.clean': '',
      'protocol.ext.allow': 'never',
      'safe.bareRepository': 'explicit',
      'status.submoduleSummary': 'false',
      'submodule.recurse': 'false',
    });
  });

  it('with the values of the user’s own configuration for the same keys', () => {
    const place = createPlace(
      'git config --global filter.lfs.clean mine && git config filter.lfs.clean evil && git config filter.lfs.smudge evil',
    );
    expect(readSettings(findProfile(place))).toMatchObject({
      'filter.lfs.clean': 'mine',
      'filter.lfs.smudge': '',
    });
  });

  it('after the settings that the user’s environment has already', () => {
    const place = createPlace();
    const env = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'a.b', GIT_CONFIG_VALUE_0: 'c' };
    const profile = findProfile({ ...place, env: { ...place.env, ...env } });
    expect(profile).toMatchObject({
      variables: { GIT_CONFIG_COUNT: '9', GIT_CONFIG_KEY_1: 'core.fsmonitor' },
    });
    expect(profile).not.toHaveProperty('variables.GIT_CONFIG_KEY_0');
  });

  it.each([
    ['below its top', 'mkdir -p src/deep', 'src/deep', '.'],
    ['in a worktree of it', 'git worktree add --quiet ../w', '../w', '.'],
    ['in a worktree that the session started in', 'git worktree add --quiet ../w', '../w', '../w'],
    ['in a worktree inside of it', 'git worktree add --quiet trees/w', 'trees/w', '.'],
    [
      'in a submodule of it',
      'git clone --quiet . ../lib && git submodule --quiet add ../lib lib',
      'lib',
      '.',
    ],
    [
      'in a submodule that the session started in',
      'git clone --quiet . ../lib && git submodule --quiet add ../lib lib',
      'lib',
      'lib',
    ],
    ['outside of any repository', 'mkdir ../plain', '../plain', '../plain'],
    ['where .git is no repository', 'mkdir -p ../plain/.git', '../plain', '../plain'],
    ['with linked hooks', 'rm -rf .git/hooks && ln -s ../githooks .git/hooks', '.', '.'],
  ])('%s', (_about, setup, directory, own) => {
    const place = createPlace(setup);
    const found = findProfile(place, path.join(place.repo, directory), [
      path.join(place.repo, own),
    ]);
    expect(found).toMatchObject({ directory: path.join(place.repo, directory) });
  });
});

describe.skipIf(!hasGit)('git is asked about', () => {
  it.each([
    [
      'in a nested repository',
      'git init --quiet n',
      'n',
      'n is another repository than the session’s own',
    ],
    ['in a bare repository', 'git init --quiet --bare n', 'n', 'n is a bare repository'],
    ['below a bare repository', 'git init --quiet --bare n', 'n/refs', 'n is a bare repository'],
    ['in .git itself', ':', '.git', '.git is a bare repository'],
    [
      'with a commondir',
      'echo . > .git/commondir',
      '.',
      '.git has a commondir, which points elsewhere',
    ],
    [
      'with a .git that is a FIFO',
      'rm -rf .git && mkfifo .git',
      '.',
      '.git is neither a directory nor a file',
    ],
    [
      'with a .git that is a link',
      'mv .git g && ln -s g .git',
      '.',
      '.git is neither a directory nor a file',
    ],
    [
      'with a .git file that leads into the tree',
      'mv .git g && echo gitdir: g > .git',
      '.',
      '.git is a file that points to REPO/g',
    ],
    [
      'with a .git file that leads out',
      'mv .git ../g && echo gitdir: ../g > .git',
      '.',
      '.git is a file that points to BASE/g',
    ],
    [
      'with a .git file of garbage',
      'rm -rf .git && echo x > .git',
      '.',
      '.git is a file that names no git directory',
    ],
    [
      'with a huge .git file',
      'rm -rf .git && head -c 9000 /dev/zero > .git',
      '.',
      '.git is a file that names no git directory',
    ],
    [
      'with a config that is a FIFO',
      'rm .git/config && mkfifo .git/config',
      '.',
      '.git/config is neither a file nor a directory',
    ],
    [
      'with a HEAD that is a FIFO',
      'rm .git/HEAD && mkfifo .git/HEAD',
      '.',
      '.git/HEAD is neither a file nor a directory',
    ],
    [
      'with a state that is a link',
      'ln -s /etc/hostname .git/shallow',
      '.',
      '.git/shallow is a link',
    ],
    [
      'with linked alternates',
      'ln -s /etc/hostname .git/objects/info/alternates',
      '.',
      '.git/objects/info/alternates is a link',
    ],
    [
      'with a linked list of a rebase',
      'mkdir .git/rebase-merge && ln -s /etc/hostname .git/rebase-merge/done',
      '.',
      '.git/rebase-merge/done is a link',
    ],
  ])('%s', (_about, setup, directory, why) => {
    const place = createPlace(setup);
    const text = why.replace('REPO', place.repo).replace('BASE', place.base);
    expect(findProfile(place, path.join(place.repo, directory))).toBe(path.join(place.repo, text));
  });

  it.each([
    ['an extension of LFS', 'git config lfs.extension.x.clean evil', 'lfs.extension.x.clean'],
    ['a transfer of LFS', 'git config lfs.customtransfer.x.path evil', 'lfs.customtransfer.x.path'],
    ['an unknown program', 'git config future.x.command evil', 'future.x.command'],
  ])('with a program that cannot be switched off: %s', (_about, setup, key) => {
    expect(findProfile(createPlace(setup))).toBe(
      `the repository’s configuration sets ${key}, which cannot be switched off`,
    );
  });

  it.each([
    ['../team.gitconfig', ''],
    ['/dev/stdin', ''],
    ['/proc/self/limits-of-nothing', ''],
    ['../../stdin', 'ln -s /dev/stdin ../stdin'],
    ['../../team', 'ln -s repo/team ../team && touch team'],
    ['~nobody/config', ''],
    ['%(prefix)/config', ''],
  ])('with an include that may change before git runs: %s', (file, setup) => {
    const place = createPlace(`${setup === '' ? ':' : setup}; git config include.path '${file}'`);
    expect(findProfile(place)).toBe(
      `the repository’s configuration includes ${file}, which may change before git runs`,
    );
  });

  it('with a name that is not UTF-8', () => {
    const place = createPlace();
    const line = Buffer.from('[filter "\u00FF"]\n\tclean = evil\n', 'latin1');
    appendFileSync(path.join(place.repo, '.git/config'), line);
    expect(findProfile(place)).toContain('which cannot be switched off');
  });

  it('with more programs than can be switched off', () => {
    const place = createPlace();
    const names = Array.from(
      { length: 600 },
      (_none, index) => `[filter "f${index}"]\n\tclean = x\n`,
    );
    appendFileSync(path.join(place.repo, '.git/config'), names.join(''));
    expect(findProfile(place)).toBe('the repository’s configuration names too many programs');
  });

  it('with a huge configuration', () => {
    const place = createPlace();
    const line = `\tx = ${'y'.repeat(1000)}\n`;
    appendFileSync(path.join(place.repo, '.git/config'), `[a]\n${line.repeat(6000)}`);
    expect(findProfile(place)).toContain('git config failed: ');
  });

  it('with a configuration that git cannot parse', () => {
    const place = createPlace();
    appendFileSync(path.join(place.repo, '.git/config'), '[[[\n');
    expect(findProfile(place)).toContain('failed: fatal: bad config line');
  });

  it('with a working tree elsewhere', () => {
    const place = createPlace('mkdir ../secrets && git config core.worktree ../../secrets');
    expect(findProfile(place)).toBe(
      `git takes ${place.base}/secrets for the working tree of ${place.repo}/.git`,
    );
  });

  it('with a variable that names a repository', () => {
    const place = createPlace();
    const env = { ...place.env, GIT_DIR: '/elsewhere' };
    expect(findProfile({ ...place, env })).toBe('the environment variable GIT_DIR is set');
  });

  it('without git', () => {
    const place = createPlace();
    const env = { ...place.env, PATH: place.base };
    expect(findProfile({ ...place, env })).toBe('git was not found on the PATH');
  });

  it('when git is too old for the settings', () => {
    const place = createPlace();
    const program = path.join(place.base, 'git');
    writeFileSync(program, '#!/bin/sh\necho git version 2.37.9\n');
    chmodSync(program, 0o755);
    const env = { ...place.env, PATH: place.base };
    expect(findProfile({ ...place, env })).toBe(
      'git 2.38 or newer is needed, found git version 2.37.9',
    );
  });

  it.skipIf(!isRoot)('in a repository of another user', () => {
    const place = createPlace('git config core.fsmonitor evil');
    chownSync(place.repo, NOBODY, NOBODY);
    chownSync(path.join(place.repo, '.git'), NOBODY, NOBODY);
    expect(findProfile(place)).toContain('dubious ownership');
  });
});

describe.skipIf(!hasGit)('what was read', () => {
  /** A git that writes down how it was called. */
  function createLoggingGit(place: Place): { env: Place['env']; countCalls(): number } {
    const directory = path.join(place.base, 'bin');
    const log = path.join(place.base, 'log');
    const real = execFileSync('which', ['git'], { encoding: 'utf8' }).trim();
    mkdirSync(directory);
    writeFileSync(
      path.join(directory, 'git'),
      `#!/bin/sh\necho "$*" >> ${log}\nexec ${real} "$@"\n`,
    );
    chmodSync(path.join(directory, 'git'), 0o755);
    writeFileSync(log, '');
    return {
      env: { ...place.env, PATH: `${directory}:${place.env['PATH']}` },
      countCalls: () => readFileSync(log, 'utf8').split('\n').length - 1,
    };
  }

  it('is kept until a file of the configuration changes', () => {
    const place = createPlace();
    const { env, countCalls } = createLoggingGit(place);
    const find = createGitProfiles(env, process.platform);
    const counts = [0, 1].map(() => (find(place.repo, [place.repo]), countCalls()));
    place.sh('git config core.fsmonitor evil && git config filter.x.clean evil');
    const changed = find(place.repo, [place.repo]);
    expect([counts, countCalls(), readSettings(changed)['filter.x.clean']]).toEqual([
      [3, 3],
      5,
      '',
    ]);
  });

  it('is not kept where a file is included, which may come to be', () => {
    const place = createPlace('git config include.path ../../later');
    const find = createGitProfiles(place.env, process.platform);
    const before = readSettings(find(place.repo, [place.repo]));
    writeFileSync(path.join(place.base, 'later'), '[filter "x"]\n\tclean = evil\n');
    const after = readSettings(find(place.repo, [place.repo]));
    expect([before['filter.x.clean'], after['filter.x.clean']]).toEqual([undefined, '']);
  });

  it('is forgotten when the repository is replaced', () => {
    const place = createPlace();
    const find = createGitProfiles(place.env, process.platform);
    find(place.repo, [place.repo]);
    place.sh('mv .git ../g');
    symlinkSync('../g', path.join(place.repo, '.git'));
    expect(find(place.repo, [place.repo])).toBe(
      `${place.repo}/.git is neither a directory nor a file`,
    );
  });
});

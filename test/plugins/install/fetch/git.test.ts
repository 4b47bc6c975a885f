import { chmodSync, existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { installPlugin, updatePlugin } from '../../../../src/plugins/install/install.ts';
import type { GitSource, Source } from '../../../../src/plugins/install/source.ts';
import {
  commitAll,
  createDirectory,
  createRepository,
  filesIn,
  git,
  hasGit,
  getOwnPlugins,
  packageJson,
  PLUGIN,
  toolsFor,
  writeAll,
} from '../install-fixture.ts';
import { refusalOf } from '../../../base/refusal.ts';

function repository(ref: string | null = null): GitSource {
  const url = 'https://github.com/acme/plugin';
  return { kind: 'git', url, host: 'github.com', name: 'plugin', ref };
}

const FILES = {
  'package.json': packageJson(),
  'index.ts': PLUGIN,
  '.npmrc': 'git=./evil',
  '.gitattributes': '* text=auto\n',
};

function install(home: string, source: Source, env: Readonly<Record<string, string>>) {
  return installPlugin(
    { source, place: getOwnPlugins(home), isForced: false },
    toolsFor(home, env),
  );
}

async function refusal(work: Promise<unknown>): Promise<string> {
  return (await refusalOf(work)).message;
}

describe.skipIf(!hasGit)('installing a repository', () => {
  it('keeps the content of the commit, and its id', async () => {
    const home = createDirectory();
    const { repository: place, env } = createRepository(home, FILES);
    const { directory, record } = await install(home, repository(), env);
    expect(path.relative(getOwnPlugins(home).directory, directory)).toMatch(
      /^_installed\/git\/github\.com\/plugin-[\da-f]{12}$/u,
    );
    expect(filesIn(directory)).toEqual([
      'hookline-install.json',
      'package.json',
      'package/.gitattributes',
      'package/index.ts',
      'package/package.json',
    ]);
    expect(record).toMatchObject({
      source: 'git:https://github.com/acme/plugin',
      name: 'my-plugin',
      version: '1.0.0',
      commit: git(place, 'rev-parse', 'HEAD'),
    });
  });

  it('takes a branch, a tag, or a commit that nothing points to any more', async () => {
    const home = createDirectory();
    const { repository: place, env } = createRepository(home, FILES);
    const first = git(place, 'rev-parse', 'HEAD');
    git(place, 'tag', '--annotate', '--message', 'one', 'v1.0');
    writeAll(place, { 'index.ts': `${PLUGIN}// two\n` });
    const second = commitAll(place, 'second');
    git(place, 'branch', 'feature/x');
    writeAll(place, { 'index.ts': `${PLUGIN}// three\n` });
    const third = commitAll(place, 'third');
    const commits = [];
    for (const ref of [null, 'main', 'feature/x', 'v1.0', second, first.slice(0, 8)]) {
      const { record } = await installPlugin(
        { source: repository(ref), place: getOwnPlugins(home), isForced: true },
        toolsFor(home, env),
      );
      commits.push(record.commit);
    }
    expect(commits).toEqual([third, third, second, first, second, first]);
  });

  it('runs no hook of any repository', async () => {
    const home = createDirectory();
    const { env } = createRepository(home, FILES);
    const mark = path.join(home, 'ran');
    writeAll(home, { 'template/hooks/post-checkout': `#!/bin/sh\ntouch ${mark}\n` });
    chmodSync(path.join(home, 'template/hooks/post-checkout'), 0o755);
    await install(home, repository(), {
      ...env,
      GIT_TEMPLATE_DIR: path.join(home, 'template'),
    });
    expect(existsSync(mark)).toBe(false);
  });

  it('updates to the current commit of its ref', async () => {
    const home = createDirectory();
    const { repository: place, env } = createRepository(home, FILES);
    const { directory } = await install(home, repository('main'), env);
    const request = { directory, place: getOwnPlugins(home), home, isDry: false };
    expect(await updatePlugin(request, toolsFor(home, env))).toMatchObject({ isNew: false });
    writeAll(place, { 'index.ts': `${PLUGIN}// two\n` });
    const second = commitAll(place, 'second');
    const { isNew, after } = await updatePlugin(request, toolsFor(home, env));
    expect({ isNew, commit: after.commit }).toEqual({ isNew: true, commit: second });
    expect(readFileSync(path.join(directory, 'package/index.ts'), 'utf8')).toContain('// two');
  });

  it.each([
    ['no-such-branch', "couldn't find remote ref no-such-branch"],
    [
      '0123456789abcdef0123456789abcdef01234567',
      'commit 0123456789abcdef0123456789abcdef01234567 not found',
    ],
  ])('says that there is no %s, and leaves nothing behind', async (ref, why) => {
    const home = createDirectory();
    const { env } = createRepository(home, FILES);
    expect(await refusal(install(home, repository(ref), env))).toBe(
      `git could not fetch https://github.com/acme/plugin: ${why}`,
    );
    expect(existsSync(path.join(getOwnPlugins(home).directory, '_installed'))).toBe(false);
  });

  it('refuses a link out of the repository', async () => {
    const home = createDirectory();
    const { repository: place, env } = createRepository(home, FILES);
    symlinkSync('/etc/passwd', path.join(place, 'notes'));
    commitAll(place, 'link');
    expect(await refusal(install(home, repository(), env))).toBe(
      '"notes" is a link that leads out of the plugin, to "/etc/passwd"',
    );
  });

  it('needs git', async () => {
    const home = createDirectory();
    expect(await refusal(install(home, repository(), { PATH: home }))).toBe(
      'git is needed to install this plugin, and it is not on the PATH',
    );
  });
});

describe.skipIf(!hasGit)('installing from Cline’s collection', () => {
  const COLLECTION = {
    'plugins/weather/package.json': packageJson({ name: 'weather' }),
    'plugins/weather/index.ts': PLUGIN,
    'plugins/other/index.ts': PLUGIN,
  };

  it('installs the one directory', async () => {
    const home = createDirectory();
    const { env } = createRepository(home, COLLECTION);
    const { directory, record } = await install(home, { kind: 'official', slug: 'weather' }, env);
    expect(filesIn(directory)).toEqual([
      'hookline-install.json',
      'package.json',
      'package/index.ts',
      'package/package.json',
    ]);
    expect(record).toMatchObject({ kind: 'official', source: 'weather', name: 'weather' });
  });

  it('prints how a bare name was read when the collection cannot be reached', async () => {
    const home = createDirectory();
    const work = install(home, { kind: 'official', slug: 'weather' }, { PATH: home });
    await expect(work).rejects.toMatchObject({
      message:
        '"weather" is looked for in Cline’s collection of plugins: git is needed to install this plugin, and it is not on the PATH',
      hint: 'Install git. A directory here is named ./weather, a package of the registry npm:weather.',
    });
  });

  it('says when there is none of this name', async () => {
    const home = createDirectory();
    const { env } = createRepository(home, COLLECTION);
    expect(await refusal(install(home, { kind: 'official', slug: 'wether' }, env))).toBe(
      'Cline’s collection of plugins has none that is called "wether"',
    );
  });

  it('prints how one word was read where the collection cannot be reached', async () => {
    const home = createDirectory();
    const { repository: place, env } = createRepository(home, COLLECTION);
    rmSync(place, { recursive: true });
    expect(await refusal(install(home, { kind: 'official', slug: 'weather' }, env))).toMatch(
      /^"weather" is looked for in Cline’s collection of plugins: git could not fetch https:\/\/github.com\/cline\/plugins: /u,
    );
  });
});

import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { findPluginModules } from '../../../src/plugins/find/find-modules.ts';
import {
  installPlugin,
  type PluginsPlace,
  updatePlugin,
} from '../../../src/plugins/install/install.ts';
import {
  listInstalled,
  matchInstalled,
  removeInstalled,
} from '../../../src/plugins/install/installed.ts';
import { findLeftovers } from '../../../src/plugins/install/staging-directory.ts';
import {
  createDirectory,
  filesIn,
  NOW,
  getOwnPlugins,
  packageJson,
  PLUGIN,
  toolsFor,
  writeAll,
} from './install-fixture.ts';
import { refusalOf } from '../../base/refusal.ts';

interface Wanted {
  readonly from: string;
  readonly place: PluginsPlace;
  readonly isForced?: boolean;
}

function install({ from, place, isForced = false }: Wanted) {
  const source = { kind: 'local', path: from } as const;
  return installPlugin({ source, place, isForced }, toolsFor(path.dirname(place.directory)));
}

async function refusal(work: Promise<unknown>): Promise<string> {
  const { code, message } = await refusalOf(work);
  expect(code).toBe('PLUGIN_INSTALL_FAILED');
  return message;
}

const PACKAGE = {
  'mine/package.json': packageJson({
    dependencies: { '@cline/core': '*' },
    devDependencies: { '@cline/shared': '*', typescript: '*' },
    peerDependencies: { '@cline/sdk': '*' },
    peerDependenciesMeta: { '@cline/sdk': { optional: true } },
  }),
  'mine/index.ts': PLUGIN,
  'mine/lib/helper.ts': 'export const help = 1;\n',
  'mine/.git/config': '[core]',
  'mine/node_modules/left/index.js': '',
  'mine/.npmrc': 'git=./evil',
};

describe('installing a directory', () => {
  it('copies it, without files of the installation, and records exactly what came', async () => {
    const home = createDirectory(PACKAGE);
    const pluginsPlace = getOwnPlugins(home);
    const installed = await install({ from: path.join(home, 'mine'), place: pluginsPlace });
    const { directory, record } = installed;
    expect(path.relative(pluginsPlace.directory, directory)).toMatch(
      /^_installed\/local\/mine-[\da-f]{12}$/u,
    );
    expect(
      filesIn(pluginsPlace.directory).map((file) => file.replace(/-[\da-f]{12}/u, '')),
    ).toEqual([
      '_installed/local/mine/hookline-install.json',
      '_installed/local/mine/package.json',
      '_installed/local/mine/package/index.ts',
      '_installed/local/mine/package/lib/helper.ts',
      '_installed/local/mine/package/package.json',
    ]);
    expect(JSON.parse(readFileSync(path.join(directory, 'package.json'), 'utf8'))).toEqual({
      name: 'my-plugin',
      version: '1.0.0',
      private: true,
      cline: { plugins: [{ paths: ['./package/index.ts'], capabilities: ['tools'] }] },
    });
    const copied = JSON.parse(readFileSync(path.join(directory, 'package/package.json'), 'utf8'));
    expect(copied).toMatchObject({
      dependencies: {},
      devDependencies: { typescript: '*' },
      peerDependencies: {},
      peerDependenciesMeta: {},
    });
    expect(record).toEqual({
      source: path.join(home, 'mine'),
      kind: 'local',
      name: 'my-plugin',
      version: '1.0.0',
      commit: null,
      integrity: null,
      sha256: expect.stringMatching(/^[\da-f]{64}$/u),
      entries: [{ path: 'package/index.ts', sha256: expect.stringMatching(/^[\da-f]{64}$/u) }],
      installedAt: new Date(NOW).toISOString(),
    });
    expect(installed).toMatchObject({ capabilities: ['tools'], files: 4, warnings: [] });
    expect(JSON.parse(readFileSync(path.join(directory, 'hookline-install.json'), 'utf8'))).toEqual(
      { recordVersion: 1, ...record },
    );
  });

  it('is found where plugins are searched, with the package’s own name', async () => {
    const home = createDirectory(PACKAGE);
    const pluginsPlace = getOwnPlugins(home);
    const { entryPaths } = await install({ from: path.join(home, 'mine'), place: pluginsPlace });
    const { entries, problems } = findPluginModules(pluginsPlace.directory);
    expect({
      problems,
      entries: entries.map(({ path: file, label }) => ({ file, label })),
    }).toEqual({
      problems: [],
      entries: [{ file: entryPaths[0], label: 'my-plugin' }],
    });
  });

  it('asks for --force where it is installed already, and then swaps it', async () => {
    const home = createDirectory(PACKAGE);
    const pluginsPlace = getOwnPlugins(home);
    const from = path.join(home, 'mine');
    const { directory } = await install({ from, place: pluginsPlace });
    expect(await refusal(install({ from, place: pluginsPlace }))).toBe(
      `my-plugin 1.0.0 is already installed at ${directory}`,
    );
    writeAll(home, { 'mine/index.ts': `${PLUGIN}// new\n` });
    const again = await install({ from, place: pluginsPlace, isForced: true });
    expect(again.directory).toBe(directory);
    expect(readFileSync(path.join(directory, 'package/index.ts'), 'utf8')).toContain('// new');
    expect(existsSync(path.join(pluginsPlace.directory, '_installed/.tmp'))).toBe(false);
  });

  it('keeps the old one when the new one fails', async () => {
    const home = createDirectory(PACKAGE);
    const pluginsPlace = getOwnPlugins(home);
    const from = path.join(home, 'mine');
    await install({ from, place: pluginsPlace });
    const before = filesIn(pluginsPlace.directory);
    writeAll(home, { 'mine/package.json': packageJson({ cline: { plugins: [] } }) });
    expect(await refusal(install({ from, place: pluginsPlace, isForced: true }))).toContain(
      'is empty',
    );
    expect(filesIn(pluginsPlace.directory)).toEqual(before);
  });

  it('records a path in the workspace as relative, so that another checkout can update it', async () => {
    const root = createDirectory(PACKAGE);
    const pluginsPlace = { directory: path.join(root, '.cline/plugins'), workspace: root };
    const { record, directory } = await install({
      from: path.join(root, 'mine'),
      place: pluginsPlace,
    });
    expect(record.source).toBe('./mine');
    const request = { directory, place: pluginsPlace, home: null, isDry: true };
    expect((await updatePlugin(request, toolsFor(root))).isNew).toBe(false);
  });

  it('installs the workspace itself without what is installed in it', async () => {
    const root = createDirectory({ 'package.json': packageJson(), 'index.ts': PLUGIN });
    const pluginsPlace = { directory: path.join(root, '.cline/plugins'), workspace: root };
    await install({ from: root, place: pluginsPlace });
    const { directory } = await install({ from: root, place: pluginsPlace, isForced: true });
    expect(filesIn(path.join(directory, 'package'))).toEqual(['index.ts', 'package.json']);
  });

  it('keeps links within the directory and refuses one that leads out of it', async () => {
    const home = createDirectory({ ...PACKAGE, 'secret.txt': 's' });
    const pluginsPlace = getOwnPlugins(home);
    const from = path.join(home, 'mine');
    symlinkSync(path.join(from, 'lib/helper.ts'), path.join(from, 'same.ts'));
    symlinkSync('./nowhere', path.join(from, 'lost'));
    const { directory } = await install({ from, place: pluginsPlace });
    expect(readFileSync(path.join(directory, 'package/same.ts'), 'utf8')).toContain('help');
    symlinkSync('../secret.txt', path.join(from, 'notes.txt'));
    expect(await refusal(install({ from, place: pluginsPlace, isForced: true }))).toBe(
      `"notes.txt" is a link that leads out of the plugin, to ${JSON.stringify(path.join(home, 'secret.txt'))}`,
    );
  });

  it.each([
    ['no entry', { 'mine/readme.md': 'x' }, 'no plugin found in'],
    ['an entry that is not there', { 'mine/package.json': packageJson() }, '"./index.ts" in'],
    [
      'an entry outside of it',
      {
        'mine/package.json': packageJson({ cline: { plugins: [{ paths: ['../other.ts'] }] } }),
        'other.ts': PLUGIN,
      },
      'it lies outside the package',
    ],
    [
      'a package.json that is none',
      { 'mine/package.json': '{', 'mine/index.ts': PLUGIN },
      'is not JSON',
    ],
    [
      'an unknown capability',
      {
        'mine/package.json': packageJson({
          cline: { plugins: [{ paths: ['./index.ts'], capabilities: ['tool'] }] },
        }),
        'mine/index.ts': PLUGIN,
      },
      'did you mean "tools"?',
    ],
  ])('refuses a package with %s, and leaves nothing behind', async (_, files, message) => {
    const home = createDirectory(files);
    const pluginsPlace = getOwnPlugins(home);
    expect(
      await refusal(install({ from: path.join(home, 'mine'), place: pluginsPlace })),
    ).toContain(message);
    expect(existsSync(path.join(pluginsPlace.directory, '_installed'))).toBe(false);
  });

  it('refuses to write through a link out of the workspace', async () => {
    const outside = createDirectory(PACKAGE);
    const root = createDirectory();
    symlinkSync(outside, path.join(root, '.cline'));
    const pluginsPlace = { directory: path.join(root, '.cline/plugins'), workspace: root };
    expect(await refusal(install({ from: path.join(outside, 'mine'), place: pluginsPlace }))).toBe(
      `${root}/.cline leads out of the workspace, to ${outside}`,
    );
    expect(existsSync(path.join(outside, 'plugins'))).toBe(false);
  });
});

describe('installing a file', () => {
  it('copies it alone, with a note when it needs its neighbours', async () => {
    const home = createDirectory({ 'one.ts': `import { x } from './two.ts';\n${PLUGIN}` });
    const pluginsPlace = getOwnPlugins(home);
    const { directory, warnings, record } = await install({
      from: path.join(home, 'one.ts'),
      place: pluginsPlace,
    });
    expect(filesIn(directory)).toEqual(['hookline-install.json', 'one.ts']);
    expect(record).toMatchObject({ name: 'one', version: null, entries: [{ path: 'one.ts' }] });
    expect(warnings).toEqual([
      'it imports two.ts, which a single file does not bring along: install its directory instead',
    ]);
  });

  it.each([
    ['nothing.ts', 'cannot be installed: not found'],
    ['notes.md', 'is not a plugin: expected a directory, a .ts, .mts, .js or .mjs file, or a .tgz'],
    [
      'types.d.ts',
      'is not a plugin: expected a directory, a .ts, .mts, .js or .mjs file, or a .tgz',
    ],
  ])('refuses %s', async (name, message) => {
    const home = createDirectory({ 'notes.md': '', 'types.d.ts': '' });
    const pluginsPlace = getOwnPlugins(home);
    const file = path.join(home, name);
    expect(await refusal(install({ from: file, place: pluginsPlace }))).toBe(`${file} ${message}`);
  });
});

describe('an install that was interrupted', () => {
  const DEAD = `${NOW - 1000}-4194304-abcdef`;

  it('is not discovered, and is gone after the next one', async () => {
    const home = createDirectory(PACKAGE);
    const pluginsPlace = getOwnPlugins(home);
    writeAll(pluginsPlace.directory, { [`_installed/.tmp/${DEAD}/new/half.ts`]: PLUGIN });
    expect(findPluginModules(pluginsPlace.directory).entries).toEqual([]);
    expect(findLeftovers(pluginsPlace.directory, NOW)).toEqual([
      { directory: path.join(pluginsPlace.directory, '_installed/.tmp', DEAD), missing: null },
    ]);
    await install({ from: path.join(home, 'mine'), place: pluginsPlace });
    expect(findLeftovers(pluginsPlace.directory, NOW)).toEqual([]);
  });

  it('restores what it was about to replace', async () => {
    const home = createDirectory({ ...PACKAGE, 'one.ts': PLUGIN });
    const pluginsPlace = getOwnPlugins(home);
    const { directory } = await install({ from: path.join(home, 'mine'), place: pluginsPlace });
    const leftover = path.join(pluginsPlace.directory, '_installed/.tmp', DEAD);
    mkdirSync(leftover, { recursive: true });
    writeFileSync(
      path.join(leftover, 'target'),
      path.relative(path.join(pluginsPlace.directory, '_installed'), directory),
    );
    renameSync(directory, path.join(leftover, 'old'));
    expect(findLeftovers(pluginsPlace.directory, NOW)).toEqual([
      { directory: leftover, missing: directory },
    ]);
    await install({ from: path.join(home, 'one.ts'), place: pluginsPlace });
    expect(existsSync(path.join(directory, 'package/index.ts'))).toBe(true);
    expect(existsSync(leftover)).toBe(false);
  });

  it('is left alone while its process lives', () => {
    const pluginsPlace = getOwnPlugins(createDirectory());
    const name = `${NOW - 1000}-${process.pid}-abcdef`;
    writeAll(pluginsPlace.directory, { [`_installed/.tmp/${name}/new/x`]: '' });
    expect(findLeftovers(pluginsPlace.directory, NOW)).toEqual([]);
  });

  it('restores nothing when its record points elsewhere', () => {
    const pluginsPlace = getOwnPlugins(createDirectory());
    writeAll(pluginsPlace.directory, {
      [`_installed/.tmp/${DEAD}/old/x`]: '',
      [`_installed/.tmp/${DEAD}/target`]: '../../../elsewhere',
    });
    expect(findLeftovers(pluginsPlace.directory, NOW).map(({ missing }) => missing)).toEqual([
      null,
    ]);
  });
});

describe('taking away', () => {
  it('never follows a link, and removes the link itself', () => {
    const outside = createDirectory({ 'a/mine.ts': PLUGIN, 'b/other.ts': PLUGIN });
    const pluginsPlace = getOwnPlugins(createDirectory());
    mkdirSync(pluginsPlace.directory, { recursive: true });
    symlinkSync(path.join(outside, 'a'), path.join(pluginsPlace.directory, 'linked'));
    symlinkSync(path.join(outside, 'b/other.ts'), path.join(pluginsPlace.directory, 'own.ts'));
    const remove = (name: string): void => {
      const [found, ...more] = matchInstalled(listInstalled(pluginsPlace), name, '/');
      expect(more).toEqual([]);
      removeInstalled(found!);
    };
    expect(() => remove('mine')).toThrow(
      `${pluginsPlace.directory}/linked/mine.ts is reached through a link, and lies in ${outside}/a`,
    );
    remove('own.ts');
    expect(filesIn(pluginsPlace.directory)).toEqual(['linked']);
    expect(filesIn(outside)).toEqual(['a/mine.ts', 'b/other.ts']);
  });
});

describe('updating', () => {
  it('installs new bytes, and nothing where there are none', async () => {
    const home = createDirectory(PACKAGE);
    const pluginsPlace = getOwnPlugins(home);
    const { directory } = await install({ from: path.join(home, 'mine'), place: pluginsPlace });
    const update = (isDry: boolean) =>
      updatePlugin({ directory, place: pluginsPlace, home, isDry }, toolsFor(home));
    expect(await update(false)).toMatchObject({ isNew: false, install: null });
    writeAll(home, { 'mine/package.json': packageJson({ version: '1.1.0' }) });
    expect(await update(true)).toMatchObject({
      isNew: true,
      install: null,
      before: { version: '1.0.0' },
      after: { version: '1.1.0' },
    });
    expect(await update(false)).toMatchObject({ isNew: true, install: { directory } });
    expect(await update(false)).toMatchObject({ isNew: false, before: { version: '1.1.0' } });
  });

  it('keeps the old one when its source is gone', async () => {
    const home = createDirectory(PACKAGE);
    const pluginsPlace = getOwnPlugins(home);
    const { directory } = await install({ from: path.join(home, 'mine'), place: pluginsPlace });
    renameSync(path.join(home, 'mine'), path.join(home, 'moved'));
    const request = { directory, place: pluginsPlace, home, isDry: false };
    expect(await refusal(updatePlugin(request, toolsFor(home)))).toContain(
      'cannot be installed: not found',
    );
    expect(existsSync(path.join(directory, 'package/index.ts'))).toBe(true);
  });
});

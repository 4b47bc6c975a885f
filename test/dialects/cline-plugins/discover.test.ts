import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { invariant } from '../../../src/base/errors.ts';
import { createPluginDiscoverer } from '../../../src/dialects/cline-plugins/discover.ts';
import type { PluginPlaces } from '../../../src/dialects/cline-plugins/find-plugins.ts';
import type { DiscoveredUnit, Discovery, FoundPlugin } from '../../../src/dialects/discovery.ts';
import { createDirectory, write } from '../../base/directory.ts';
import { at, packageJson, PLUGIN } from '../../plugins/find/plugin-sources.ts';

function listDirectories(base: string, more: Partial<PluginPlaces> = {}): PluginPlaces {
  const home = path.join(base, 'home');
  return {
    home,
    documents: [path.join(home, 'Documents')],
    clineDirectory: path.join(home, '.cline'),
    workspaceRoots: [path.join(base, 'ws')],
    paths: [],
    clineSettings: at(home, '.cline/data/settings/global-settings.json'),
    clineServers: at(home, '.cline/data/settings/cline_mcp_settings.json'),
    ...more,
  };
}

function discover(base: string, more: Partial<PluginPlaces> = {}): Discovery {
  return createPluginDiscoverer(listDirectories(base, more)).discover();
}

function only({ plugins = [] }: Discovery): FoundPlugin {
  const [hook, ...others] = plugins;
  expect(others).toEqual([]);
  invariant(hook !== undefined, 'one plugin is found');
  return hook;
}

function unitsOf({ plugins = [] }: Discovery): readonly DiscoveredUnit[] {
  return plugins.map(({ unit }) => unit);
}

/** The ids, with whose each is. */
function idsOf(found: Discovery): Record<string, string> {
  return Object.fromEntries(unitsOf(found).map(({ id, place }) => [id, place]));
}

describe('directories of plugins', () => {
  it('are the user’s, then the workspaces’, then those that were named', () => {
    const base = createDirectory({
      'home/.cline/plugins/own.ts': PLUGIN,
      'home/Documents/Cline/Plugins/written.ts': PLUGIN,
      'home/Moved/Cline/Plugins/moved.ts': PLUGIN,
      'ws/.cline/plugins/team.ts': PLUGIN,
      'lib/.cline/plugins/team.ts': PLUGIN,
      'elsewhere/given.ts': PLUGIN,
      'ws/tools/named.ts': PLUGIN,
    });
    const home = path.join(base, 'home');
    const found = discover(base, {
      documents: [path.join(home, 'Documents'), path.join(home, 'Moved')],
      workspaceRoots: [path.join(base, 'ws'), path.join(base, 'lib')],
      paths: [at(base, 'elsewhere/given.ts'), at(base, 'ws/tools')],
    });
    expect(Object.entries(idsOf(found))).toEqual([
      ['plugin:home:own', 'home'],
      ['plugin:global:written', 'home'],
      ['plugin:global~2:moved', 'home'],
      ['plugin:workspace:team', 'workspace'],
      ['plugin:workspace@lib:team', 'workspace'],
      ['plugin:given:given', 'given'],
      // To name a file of the workspace is not to have looked at it.
      ['plugin:given:named', 'workspace'],
    ]);
    expect(unitsOf(found).map(({ root }) => root)).toEqual([
      null,
      null,
      null,
      path.join(base, 'ws'),
      path.join(base, 'lib'),
      null,
      path.join(base, 'ws'),
    ]);
    expect(unitsOf(found)[4]?.ownId).toBe('plugin:workspace:team');
  });

  it('that do not exist, or are the same, are searched no further', () => {
    const base = createDirectory({ 'ws/.keep': '', 'home/.cline/plugins/one.ts': PLUGIN });
    expect(idsOf(discover(base, { documents: [], clineDirectory: null }))).toEqual({});
    mkdirSync(at(base, 'home/Documents/Cline'), { recursive: true });
    symlinkSync('../../.cline/plugins', at(base, 'home/Documents/Cline/Plugins'));
    expect(idsOf(discover(base))).toEqual({ 'plugin:home:one': 'home' });
  });

  it('of the home directory that lead into a workspace are the workspace’s', () => {
    const base = createDirectory({
      'ws/dotfiles/plugins/a.ts': PLUGIN,
      'ws/b.ts': PLUGIN,
      'home/.cline/.keep': '',
      'home/Documents/Cline/Plugins/.keep': '',
    });
    symlinkSync('../../ws/dotfiles/plugins', at(base, 'home/.cline/plugins'));
    symlinkSync('../../../../ws/b.ts', at(base, 'home/Documents/Cline/Plugins/b.ts'));
    expect(idsOf(discover(base))).toEqual({
      'plugin:home:a': 'workspace',
      'plugin:global:b': 'workspace',
    });
  });

  it('are all watched, with the directories of what was found', () => {
    const base = createDirectory({
      'ws/.cline/plugins/pkg/package.json': packageJson(['src/index.ts']),
      'ws/.cline/plugins/pkg/src/index.ts': PLUGIN,
    });
    const { watched } = discover(base, { paths: [at(base, 'given')] });
    expect(watched).toContain(at(base, 'ws/.cline/plugins/_installed/npm'));
    expect(watched.filter((each) => !each.includes('_installed'))).toEqual([
      at(base, 'home/.cline/plugins'),
      at(base, 'home/Documents/Cline/Plugins'),
      at(base, 'ws/.cline/plugins'),
      at(base, 'given'),
      at(base, 'ws/.cline/plugins/pkg/src'),
      at(base, 'ws/.cline/plugins/pkg'),
      base,
      at(base, 'home/.cline/data/settings'),
    ]);
  });
});

describe('a found plugin', () => {
  it('is listed with its package, tools and trust unit', () => {
    const base = createDirectory({
      'ws/.cline/plugins/pkg/package.json': packageJson([
        { paths: ['index.ts'], capabilities: ['tools', 'rules'] },
      ]),
      'ws/.cline/plugins/pkg/index.ts': PLUGIN,
    });
    const found = only(discover(base));
    const file = at(base, 'ws/.cline/plugins/pkg/index.ts');
    expect(found.kind).toBe('plugin');
    expect(found.entry).toMatchObject({ file, label: 'pkg', capabilities: ['tools', 'rules'] });
    expect(found.unit).toEqual({
      id: 'plugin:workspace:pkg',
      ownId: 'plugin:workspace:pkg',
      dialect: 'plugin',
      eventName: 'plugin',
      path: file,
      line: null,
      place: 'workspace',
      root: path.join(base, 'ws'),
      binds: { entry: file, files: [], directories: [path.dirname(file)], isPackage: true },
      identity: file,
      notes: [],
      problem: null,
      details: {
        source: 'workspace',
        name: 'pkg',
        package: 'pkg@1.2.3',
        capabilities: 'tools, rules',
      },
    });
  });

  it.each([
    ['several of one package', { 'pkg/a.ts': PLUGIN, 'pkg/b.ts': PLUGIN }, ['pkg/a', 'pkg/b']],
    ['the same name twice', { 'x/foo.ts': PLUGIN, 'y/foo.ts': PLUGIN }, ['foo', 'foo~2']],
    ['another ending', { 'foo.js': PLUGIN, 'foo.ts': PLUGIN }, ['foo', 'foo~2']],
    ['a name that cannot be typed', { 'my plugin\n!.ts': PLUGIN }, ['my-plugin-']],
    ['another script', { 'プラグイン.ts': PLUGIN }, ['プラグイン']],
    ['names that differ by case', { 'Guard.ts': PLUGIN, 'guard.ts': PLUGIN }, ['Guard', 'guard']],
  ])('has a name of its own: %s', (_name, files, names) => {
    const all: Record<string, string> = {
      ...files,
      'pkg/package.json': packageJson(['a.ts', 'b.ts']),
    };
    if (!('pkg/a.ts' in files)) delete all['pkg/package.json'];
    const base = createDirectory({ 'ws/.keep': '' });
    for (const [name, text] of Object.entries(all)) {
      write(at(base, `ws/.cline/plugins/${name}`), text);
    }
    expect(unitsOf(discover(base)).map(({ id }) => id)).toEqual(
      names.map((name) => `plugin:workspace:${name}`),
    );
  });

  it('that two paths name is found once', () => {
    const base = createDirectory({ 'ws/.cline/plugins/one.ts': PLUGIN });
    const paths = [at(base, 'ws/.cline/plugins/one.ts'), at(base, 'ws/.cline/plugins')];
    expect(idsOf(discover(base, { paths }))).toEqual({ 'plugin:workspace:one': 'workspace' });
  });

  it('that is broken says why, and has nothing to trust', () => {
    const base = createDirectory({
      'ws/.cline/plugins/pkg/package.json': packageJson(['gone.ts']),
      'home/.keep': '',
    });
    const found = discover(base, { paths: [at(base, 'nothing/there')] });
    expect(
      unitsOf(found).map(({ id, place, runsNothing, problem }) => ({
        id,
        place,
        runsNothing,
        problem,
      })),
    ).toEqual([
      {
        id: 'plugin:workspace:pkg',
        place: 'workspace',
        runsNothing: true,
        problem: expect.stringContaining('"gone.ts" in'),
      },
      {
        id: 'plugin:given:there',
        place: 'given',
        runsNothing: true,
        problem: `${at(base, 'nothing/there')} not found`,
      },
    ]);
  });

  it('of a package that lies beyond the workspace is broken: its bytes could not be bound', () => {
    const base = createDirectory({
      'outside/package.json': packageJson(['index.ts']),
      'outside/index.ts': PLUGIN,
      'ws/.cline/plugins/.keep': '',
    });
    symlinkSync('../../../outside', at(base, 'ws/.cline/plugins/pkg'));
    expect(only(discover(base)).unit).toMatchObject({
      runsNothing: true,
      problem: expect.stringContaining('its package lies outside the workspace'),
    });
  });
});

describe('a file that cannot be loaded', () => {
  it('is listed as ignored, and a module without a plugin is marked as minor', () => {
    const base = createDirectory({
      'ws/.cline/plugins/helper.ts': 'export const one = 1\n',
      'ws/.cline/plugins/view.tsx': PLUGIN,
    });
    symlinkSync('nowhere', at(base, 'ws/.cline/plugins/lost.ts'));
    expect(discover(base).ignored).toEqual([
      {
        path: at(base, 'ws/.cline/plugins/lost.ts'),
        why: 'is a broken link',
        mayHideHook: true,
      },
      { path: at(base, 'ws/.cline/plugins/view.tsx'), why: expect.stringContaining('.tsx files') },
      { path: at(base, 'ws/.cline/plugins/helper.ts'), why: 'no plugin in it', isQuiet: true },
    ]);
  });
});

describe('the files that trust binds', () => {
  it('of a file by itself is its directory without packages, and its imports', () => {
    const base = createDirectory({
      'ws/.cline/plugins/main.ts': `import '../../src/lib.ts'\nimport './pkg/index.ts'\nimport './state/store.ts'\n${PLUGIN}`,
      'ws/.cline/plugins/state/store.ts': '',
      'ws/.cline/plugins/pkg/package.json': packageJson(['index.ts']),
      'ws/.cline/plugins/pkg/index.ts': PLUGIN,
      'ws/.cline/plugins/sub/other.ts': PLUGIN,
      'ws/.cline/plugins/sub/node_modules/zod/index.js': '',
      'ws/src/lib.ts': '',
    });
    const [main, , other] = unitsOf(discover(base));
    expect(main?.binds).toEqual({
      entry: at(base, 'ws/.cline/plugins/main.ts'),
      files: [
        at(base, 'ws/src/lib.ts'),
        at(base, 'ws/.cline/plugins/pkg/index.ts'),
        // What lies in directories with such names is not bound with the others.
        at(base, 'ws/.cline/plugins/state/store.ts'),
      ],
      directories: [at(base, 'ws/.cline/plugins')],
      apart: [at(base, 'ws/.cline/plugins/pkg')],
    });
    expect(other?.binds).toEqual({
      entry: at(base, 'ws/.cline/plugins/sub/other.ts'),
      files: [],
      directories: [at(base, 'ws/.cline/plugins/sub')],
    });
  });

  it('of a package is all of it, with its modules if they are few', () => {
    const pkg = 'ws/.cline/plugins/pkg';
    const base = createDirectory({
      [`${pkg}/package.json`]: packageJson(['src/index.ts']),
      [`${pkg}/src/index.ts`]: `import '../../shared.ts'\n${PLUGIN}`,
      [`${pkg}/node_modules/zod/index.js`]: '',
      'ws/.cline/plugins/shared.ts': '',
    });
    const [hook] = unitsOf(discover(base));
    expect(hook).toMatchObject({
      notes: [],
      binds: {
        entry: at(base, `${pkg}/src/index.ts`),
        files: [at(base, 'ws/.cline/plugins/shared.ts')],
        directories: [at(base, pkg)],
      },
    });
    expect(hook?.binds.apart).toBeUndefined();
  });

  it('of a package with very many modules is all but these, with a note', () => {
    const pkg = 'ws/.cline/plugins/pkg';
    const base = createDirectory({
      [`${pkg}/package.json`]: packageJson(['index.ts']),
      [`${pkg}/index.ts`]: PLUGIN,
    });
    for (let number = 0; number < 2000; number++) {
      write(at(base, `${pkg}/node_modules/big/${number}.js`), '');
    }
    expect(only(discover(base)).unit).toMatchObject({
      notes: ['its node_modules have more files than trust can bind: they are not covered'],
      binds: { directories: [at(base, pkg)], apart: [at(base, `${pkg}/node_modules`)] },
    });
  });

  it('of one installed from npm leaves out the modules beside it, never its own code', () => {
    const home = 'ws/.cline/plugins/_installed/npm/tools-0123456789ab';
    const base = createDirectory({
      [`${home}/package.json`]: packageJson(['package/node_modules/@s/tools/index.js']),
      [`${home}/package/node_modules/@s/tools/index.js`]: PLUGIN,
      [`${home}/package/node_modules/@s/tools/node_modules/own/index.js`]: '',
      [`${home}/package/node_modules/@s/beside/index.js`]: '',
      [`${home}/package/node_modules/other/index.js`]: '',
    });
    for (let number = 0; number < 2000; number++) {
      write(at(base, `${home}/package/node_modules/big/${number}.js`), '');
    }
    const { apart = [] } = only(discover(base)).unit.binds;
    expect(apart.map((each) => path.relative(at(base, home), each)).toSorted()).toEqual([
      'package/node_modules/@s/beside',
      'package/node_modules/@s/tools/node_modules',
      'package/node_modules/big',
      'package/node_modules/other',
    ]);
  });

  it('of a package that is the workspace is the plugin’s directory, its skills and package.json', () => {
    const base = createDirectory({
      'ws/package.json': packageJson(['./.cline/plugins/superpowers.ts']),
      'ws/.cline/plugins/superpowers.ts': PLUGIN,
      'ws/skills/one/SKILL.md': '',
      'ws/src/app.ts': '',
    });
    const { unit: hook, entry } = only(discover(base));
    expect(hook).toMatchObject({ id: 'plugin:workspace:pkg', problem: null });
    expect(hook.binds).toEqual({
      entry: at(base, 'ws/.cline/plugins/superpowers.ts'),
      files: [at(base, 'ws/package.json')],
      directories: [at(base, 'ws/.cline/plugins'), at(base, 'ws/skills')],
    });
    expect(entry.package?.skills).toBe(at(base, 'ws/skills'));
  });

  it('of the user’s own is nothing: they are trusted by where they lie', () => {
    const base = createDirectory({ 'home/.cline/plugins/own.ts': `import '../x.ts'\n${PLUGIN}` });
    const file = at(base, 'home/.cline/plugins/own.ts');
    expect(only(discover(base)).unit.binds).toEqual({ entry: file, files: [], directories: [] });
  });
});

describe('plugins that Cline has switched off', () => {
  const SETTINGS = 'home/.cline/data/settings/global-settings.json';

  it('are off here, too, by the path of the file or where that leads', () => {
    const base = createDirectory({
      'home/.cline/plugins/off.ts': PLUGIN,
      'home/.cline/plugins/on.ts': PLUGIN,
      'other/linked.ts': PLUGIN,
    });
    symlinkSync('../../../other/linked.ts', at(base, 'home/.cline/plugins/linked.ts'));
    const disabledPlugins = [
      at(base, 'home/.cline/plugins/off.ts'),
      at(base, 'other/linked.ts'),
      7,
    ];
    write(at(base, SETTINGS), JSON.stringify({ disabledPlugins }));
    const why = `disabled in Cline: "disabledPlugins" of ${at(base, SETTINGS)}`;
    expect(unitsOf(discover(base)).map(({ id, whyOff }) => [id, whyOff])).toEqual([
      ['plugin:home:linked', why],
      ['plugin:home:off', why],
      ['plugin:home:on', undefined],
    ]);
  });

  it.each(['{', '[]', '{"disabledPlugins": "all"}'])('counts only if it is a list: %s', (text) => {
    const base = createDirectory({ 'home/.cline/plugins/on.ts': PLUGIN, [SETTINGS]: text });
    expect(only(discover(base)).unit.whyOff).toBeUndefined();
  });

  it('in a file of a repository affects only that repository', () => {
    const base = createDirectory({
      'home/.cline/plugins/guard.ts': PLUGIN,
      'ws/.cline/plugins/own.ts': PLUGIN,
    });
    const files = [at(base, 'home/.cline/plugins/guard.ts'), at(base, 'ws/.cline/plugins/own.ts')];
    const clineSettings = write(
      at(base, 'ws/settings.json'),
      JSON.stringify({ disabledPlugins: files }),
    );
    expect(
      unitsOf(discover(base, { clineSettings })).map(({ id, whyOff }) => [
        id,
        whyOff !== undefined,
      ]),
    ).toEqual([
      ['plugin:home:guard', false],
      ['plugin:workspace:own', true],
    ]);
  });
});

import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Host, HostOptions } from '../../../src/host/create-host.ts';
import { toTrustUnit } from '../../../src/host/hook-set.ts';
import { openHooks } from '../../../src/host/open-hooks.ts';
import { createHostProtectedPaths } from '../../../src/host/open-permissions.ts';
import { checkPlugins } from '../../../src/host/plugins/check-plugins.ts';
import type { PluginOptions } from '../../../src/host/plugins/plugin-options.ts';
import { createDisabledEntry } from '../../../src/host/disabled-hooks.ts';
import { bindUnit } from '../../../src/trust/bind-unit.ts';
import { createLock, formatLock } from '../../../src/trust/lock.ts';
import { until, write } from '../../base/directory.ts';
import { at, packageJson, PLUGIN } from '../../plugins/find/plugin-sources.ts';
import {
  answering,
  createTempWorkspace,
  HOOKS,
  hostIn,
  type TempWorkspace,
  trustWorkspace,
} from '../temp-workspace.ts';

const DIRECTORY = 'ws/.cline/plugins';

function open({ surroundings, root }: TempWorkspace, more: HostOptions = {}) {
  return openHooks({ surroundings, roots: [root], ...more });
}

/** Every plugin with its state. */
function statesIn(workspace: TempWorkspace, more: HostOptions = {}, options: PluginOptions = {}) {
  const found = checkPlugins(open(workspace, more), options);
  return Object.fromEntries(found.map(({ unit: hook, status }) => [hook.id, status.state]));
}

describe('plugins of a workspace', () => {
  test('may be loaded once their bytes are trusted, and not after one has changed', async () => {
    const workspace = createTempWorkspace({
      [`${DIRECTORY}/guard.ts`]: PLUGIN,
      [`${DIRECTORY}/helper.ts`]: 'export const one = 1\n',
    });
    expect(statesIn(workspace)).toEqual({ 'plugin:workspace:guard': 'untrusted' });
    await trustWorkspace(workspace);
    expect(statesIn(workspace)).toEqual({ 'plugin:workspace:guard': 'ready' });
    appendFileSync(at(workspace.base, `${DIRECTORY}/helper.ts`), '// other\n');
    expect(statesIn(workspace)).toEqual({ 'plugin:workspace:guard': 'modified' });
  });

  test.each([
    ['its file', `${DIRECTORY}/guard.ts`],
    ['a file beside it that is new', `${DIRECTORY}/new.txt`],
    ['what it imports from elsewhere', 'ws/src/lib.ts'],
    ['what that imports', 'ws/src/deeper.ts'],
    ['a file that would be loaded instead of what it imports', 'ws/src/plain.js'],
  ])('are modified when this changes: %s', async (_name, file) => {
    const workspace = createTempWorkspace({
      [`${DIRECTORY}/guard.ts`]: `import '../../src/lib.ts'\nimport '../../src/plain'\n${PLUGIN}`,
      'ws/src/lib.ts': `import './deeper.ts'\n`,
      'ws/src/deeper.ts': '',
      'ws/src/plain.ts': '',
    });
    await trustWorkspace(workspace);
    expect(statesIn(workspace)).toEqual({ 'plugin:workspace:guard': 'ready' });
    const changed = at(workspace.base, file);
    const before = existsSync(changed) ? readFileSync(changed, 'utf8') : '';
    write(changed, `${before}// changed\n`);
    expect(statesIn(workspace)['plugin:workspace:guard']).toBe('modified');
  });

  test.each([
    'src/index.ts',
    'lib/helper.ts',
    'skills/one/SKILL.md',
    'package.json',
    'node_modules/zod/index.js',
    'brand-new.ts',
  ])('that are packages are modified when %s changes', async (file) => {
    const pkg = `${DIRECTORY}/pkg`;
    const json = packageJson(['src/index.ts']);
    const workspace = createTempWorkspace({
      [`${pkg}/package.json`]: json,
      [`${pkg}/src/index.ts`]: PLUGIN,
      [`${pkg}/lib/helper.ts`]: '',
      [`${pkg}/skills/one/SKILL.md`]: '',
      [`${pkg}/node_modules/zod/index.js`]: '',
    });
    await trustWorkspace(workspace);
    expect(statesIn(workspace)).toEqual({ 'plugin:workspace:pkg': 'ready' });
    const changed = file === 'package.json' ? ` ${json}` : PLUGIN.replace('any', 'evil');
    write(at(workspace.base, `${pkg}/${file}`), changed);
    expect(statesIn(workspace)).toEqual({ 'plugin:workspace:pkg': 'modified' });
  });

  test('do not share trust: a package changes without its neighbours', async () => {
    const workspace = createTempWorkspace({
      [`${DIRECTORY}/one.ts`]: PLUGIN,
      [`${DIRECTORY}/pkg/package.json`]: packageJson(['index.ts']),
      [`${DIRECTORY}/pkg/index.ts`]: PLUGIN,
    });
    await trustWorkspace(workspace);
    write(at(workspace.base, `${DIRECTORY}/pkg/index.ts`), `${PLUGIN}// changed`);
    expect(statesIn(workspace)).toEqual({
      'plugin:workspace:one': 'ready',
      'plugin:workspace:pkg': 'modified',
    });
  });

  test('do not gain trust by becoming a package', async () => {
    const workspace = createTempWorkspace({
      [`${DIRECTORY}/main.ts`]: `import './lib/x.ts'\n${PLUGIN}`,
      [`${DIRECTORY}/lib/x.ts`]: 'export const x = 1\n',
    });
    await trustWorkspace(workspace);
    write(at(workspace.base, `${DIRECTORY}/lib/package.json`), packageJson(['x.ts']));
    write(at(workspace.base, `${DIRECTORY}/lib/x.ts`), PLUGIN);
    expect(statesIn(workspace)).toEqual({
      'plugin:workspace:main': 'modified',
      'plugin:workspace:pkg': 'untrusted',
    });
  });

  test.each([
    ['few', 1],
    ['more than trust can bind', 2100],
  ])('do not load modules that were added later, be they %s', async (_name, count) => {
    const workspace = createTempWorkspace({ [`${DIRECTORY}/guard.ts`]: `import 'zod'\n${PLUGIN}` });
    await trustWorkspace(workspace);
    expect(statesIn(workspace)).toEqual({ 'plugin:workspace:guard': 'ready' });
    for (let number = 0; number < count; number++) {
      write(at(workspace.base, `${DIRECTORY}/node_modules/zod/${number}.js`), '');
    }
    expect(statesIn(workspace)).toEqual({ 'plugin:workspace:guard': 'modified' });
  });

  test('that are links are modified when these lead elsewhere, even to the same bytes', async () => {
    const workspace = createTempWorkspace({
      'outside/one.ts': PLUGIN,
      'outside/two.ts': PLUGIN,
      [`${DIRECTORY}/.keep`]: '',
    });
    const link = at(workspace.base, `${DIRECTORY}/linked.ts`);
    symlinkSync('../../../outside/one.ts', link);
    expect(statesIn(workspace)).toEqual({ 'plugin:workspace:linked': 'untrusted' });
    await trustWorkspace(workspace);
    expect(statesIn(workspace)).toEqual({ 'plugin:workspace:linked': 'ready' });
    rmSync(link);
    symlinkSync('../../../outside/two.ts', link);
    expect(statesIn(workspace)).toEqual({ 'plugin:workspace:linked': 'modified' });
  });

  test('that are broken are never ready, whoever trusts them', async () => {
    const workspace = createTempWorkspace({
      [`${DIRECTORY}/pkg/package.json`]: packageJson(['none.ts']),
    });
    expect(statesIn(workspace)).toEqual({ 'plugin:workspace:pkg': 'broken' });
    expect(statesIn(workspace, { trust: 'all' })).toEqual({ 'plugin:workspace:pkg': 'broken' });
  });

  test('of a nested repository are not looked for', () => {
    const workspace = createTempWorkspace({
      'ws/vendor/lib/.git/HEAD': 'ref: refs/heads/main\n',
      'ws/vendor/lib/.cline/plugins/guest.ts': PLUGIN,
    });
    expect(statesIn(workspace)).toEqual({});
  });

  test('that a lock holds may be loaded where the caller names it', () => {
    const workspace = createTempWorkspace({ [`${DIRECTORY}/guard.ts`]: PLUGIN });
    const units = open(workspace)
      .hookSet.plugins()
      .map(({ unit }) => toTrustUnit(unit));
    const file = write(path.join(workspace.base, 'lock.json'), formatLock(createLock(units)));
    expect(statesIn(workspace, { lock: { file } })).toEqual({ 'plugin:workspace:guard': 'ready' });
    write(at(workspace.base, `${DIRECTORY}/guard.ts`), `${PLUGIN} `);
    expect(statesIn(workspace, { lock: { file } })).toEqual({
      'plugin:workspace:guard': 'modified',
    });
  });

  test('that hold more than trust can bind say so', () => {
    const pkg = `${DIRECTORY}/pkg`;
    const workspace = createTempWorkspace({
      [`${pkg}/package.json`]: packageJson(['index.ts']),
      [`${pkg}/index.ts`]: PLUGIN,
    });
    for (let number = 0; number < 2100; number++) {
      write(at(workspace.base, `${pkg}/data/${number}.txt`), '');
    }
    const [found] = checkPlugins(open(workspace));
    expect(found?.status).toMatchObject({
      state: 'untrusted',
      why: expect.stringContaining('plugin:workspace:pkg would bind more than 2000 files'),
    });
  });
});

describe('other plugins', () => {
  test('of the user are ready, and those that the caller names, outside of workspaces', () => {
    const workspace = createTempWorkspace({
      'home/.cline/plugins/own.ts': PLUGIN,
      'home/Documents/Cline/Plugins/written.ts': PLUGIN,
      'tools/given.ts': PLUGIN,
      'ws/tools/inside.ts': PLUGIN,
    });
    const pluginPaths = [path.join(workspace.base, 'tools'), 'tools/inside.ts', '  ', 'gone.ts'];
    expect(statesIn(workspace, { pluginPaths })).toEqual({
      'plugin:home:own': 'ready',
      'plugin:global:written': 'ready',
      'plugin:given:given': 'ready',
      'plugin:given:inside': 'untrusted',
      'plugin:given:gone': 'broken',
    });
    expect(statesIn(workspace, { pluginPaths }, { discovers: false })).toEqual({
      'plugin:given:given': 'ready',
      'plugin:given:inside': 'untrusted',
      'plugin:given:gone': 'broken',
    });
  });

  test('lie in CLINE_DIR', () => {
    const workspace = createTempWorkspace({ 'moved/plugins/own.ts': PLUGIN }, {});
    const { surroundings } = workspace;
    const env = { ...surroundings.env, CLINE_DIR: path.join(workspace.base, 'moved') };
    expect(statesIn({ ...workspace, surroundings: { ...surroundings, env } })).toEqual({
      'plugin:home:own': 'ready',
    });
  });

  test('of a home directory that is the workspace are the user’s', () => {
    const workspace = createTempWorkspace({ 'home/.cline/plugins/own.ts': PLUGIN });
    const { surroundings, home } = workspace;
    const inHome = { ...workspace, root: home, surroundings: { ...surroundings, cwd: home } };
    expect(statesIn(inHome)).toEqual({ 'plugin:home:own': 'ready' });
  });

  test('that are new or have changed are reported as plugins', async () => {
    const workspace = createTempWorkspace({ 'home/.cline/plugins/one.ts': PLUGIN });
    const newNotices: string[] = [];
    const onOwnHookNews = (text: string): void => void newNotices.push(text);
    await hostIn(workspace, { onOwnHookNews });
    const changed = write(at(workspace.home, '.cline/plugins/one.ts'), `${PLUGIN} `);
    const added = write(at(workspace.home, '.cline/plugins/two.ts'), PLUGIN);
    await hostIn(workspace, { onOwnHookNews });
    expect(newNotices).toEqual([
      `your own plugin changed since the last run: ${changed}`,
      `new plugin of your own since the last run: ${added}`,
    ]);
  });
});

describe('switches', () => {
  test('turn a plugin off, and it stays off when another gets its name', () => {
    const workspace = createTempWorkspace({ 'home/.cline/plugins/z/foo.ts': PLUGIN });
    const disabled = checkPlugins(open(workspace)).map(({ unit: hook }) =>
      createDisabledEntry(hook),
    );
    const off = { flags: { 'hooks.disabled': disabled } };
    expect(statesIn(workspace, off)).toEqual({ 'plugin:home:foo': 'disabled' });
    write(at(workspace.home, '.cline/plugins/a/foo.ts'), PLUGIN);
    expect(statesIn(workspace, off)).toEqual({
      'plugin:home:foo': 'ready',
      'plugin:home:foo~2': 'disabled',
    });
  });

  test('that were written by hand mean whatever has the name', () => {
    const workspace = createTempWorkspace({ 'home/.cline/plugins/foo.ts': PLUGIN });
    const off = { flags: { 'hooks.disabled': [{ id: 'plugin:home:foo', root: null }] } };
    expect(statesIn(workspace, off)).toEqual({ 'plugin:home:foo': 'disabled' });
  });

  test('that Cline has set count, and name their file', () => {
    const workspace = createTempWorkspace({ 'home/.cline/plugins/off.ts': PLUGIN });
    const file = at(workspace.home, '.cline/data/settings/global-settings.json');
    const disabledPlugins = [at(workspace.home, '.cline/plugins/off.ts')];
    write(file, JSON.stringify({ disabledPlugins }));
    const [found] = checkPlugins(open(workspace));
    expect(found?.status).toMatchObject({
      state: 'disabled',
      isEnabled: false,
      why: `disabled in Cline: "disabledPlugins" of ${file}`,
    });
    const { surroundings } = workspace;
    for (const [name, value] of [
      ['CLINE_DATA_DIR', path.join(workspace.base, 'data')],
      ['CLINE_GLOBAL_SETTINGS_PATH', path.join(workspace.base, 'other.json')],
    ] as const) {
      const env = { ...surroundings.env, [name]: value };
      const moved = { ...workspace, surroundings: { ...surroundings, env } };
      expect(statesIn(moved)).toEqual({ 'plugin:home:off': 'ready' });
    }
  });

  test('that turn all hooks off leave plugins on disk unloaded, and say so', async () => {
    const workspace = createTempWorkspace({ 'home/.cline/plugins/own.ts': PLUGIN });
    const notices: string[] = [];
    const host = await hostIn(workspace, {
      flags: { 'hooks.enabled': false },
      onNotice: (notice) => notices.push(notice),
    });
    expect(host.hooks()).toEqual([]);
    expect(notices).toEqual([
      'hooks are disabled by a flag: no hook runs, and no plugin on disk is loaded',
    ]);
  });
});

describe('a host', () => {
  test('asks no plugin for a decision, and finds new ones when it looks again', async () => {
    const workspace = createTempWorkspace({
      [`ws/${HOOKS}/PreToolUse.js`]: answering({ cancel: false }),
      [`${DIRECTORY}/guard.ts`]: PLUGIN,
    });
    await trustWorkspace(workspace);
    const host = await hostIn(workspace);
    expect(handlersOf(host)).toEqual({
      'cline:workspace:PreToolUse.js': 1,
      'plugin:workspace:guard': 0,
    });
    write(at(workspace.home, '.cline/plugins/later.ts'), PLUGIN);
    host.rescan();
    expect(host.hooks().map(({ hook }) => hook.id)).toContain('plugin:home:later');
  });

  test('that watches finds plugins that are added, and that are installed', async () => {
    const workspace = createTempWorkspace({ 'home/.cline/plugins/one.ts': PLUGIN });
    const host = await hostIn(workspace, { watch: true });
    const ids = (): readonly string[] => host.hooks().map(({ hook }) => hook.id);
    write(at(workspace.root, '.cline/plugins/dropped.ts'), PLUGIN);
    await until(() => ids().includes('plugin:workspace:dropped'));
    const installed = at(workspace.home, '.cline/plugins/_installed');
    write(at(installed, '.tmp/half/x.ts'), PLUGIN);
    mkdirSync(path.join(installed, 'local'));
    renameSync(at(installed, '.tmp/half'), at(installed, 'local/x-0123456789ab'));
    await until(() => ids().includes('plugin:home:x'));
    write(at(installed, '.tmp/more/y.ts'), PLUGIN);
    renameSync(at(installed, '.tmp/more'), at(installed, 'local/y-0123456789ab'));
    await until(() => ids().includes('plugin:home:y'));
  });

  test('protects the files of a plugin, but not the whole workspace', () => {
    const workspace = createTempWorkspace({
      'ws/tools/one.ts': PLUGIN,
      'ws/top.ts': PLUGIN,
      'ws/vendor/pkg/package.json': packageJson(['src/index.ts']),
      'ws/vendor/pkg/src/index.ts': PLUGIN,
    });
    const pluginPaths = ['tools/one.ts', 'top.ts', 'vendor/pkg'];
    const protectedPaths = createHostProtectedPaths(open(workspace, { pluginPaths }));
    const isAsked = (file: string): boolean => {
      const input = { file_path: path.join(workspace.root, file), content: '' };
      const call = { names: ['Write'], kind: 'edit', input, cwd: workspace.root } as const;
      return protectedPaths.findTouched(call) !== null;
    };
    const files = ['tools/one.ts', 'tools/new.ts', 'top.ts', 'vendor/pkg/lib/x.ts', 'src/app.ts'];
    expect(files.map(isAsked)).toEqual([true, true, true, true, false]);
  });

  test('that looks for hooks of other kinds only finds no plugins', async () => {
    const workspace = createTempWorkspace({ 'home/.cline/plugins/own.ts': PLUGIN });
    const host = await hostIn(workspace, { dialects: ['cline', 'claude'] });
    expect(host.hooks()).toEqual([]);
  });

  test('binds exactly the files of a plugin of one file and its neighbours', () => {
    const workspace = createTempWorkspace({
      [`${DIRECTORY}/guard.ts`]: PLUGIN,
      [`${DIRECTORY}/data/words.txt`]: '',
      [`${DIRECTORY}/pkg/package.json`]: packageJson(['index.ts']),
      [`${DIRECTORY}/pkg/index.ts`]: PLUGIN,
      [`${DIRECTORY}/pkg/src/state/store.ts`]: '',
      [`${DIRECTORY}/_installed/local/x-0123456789ab/x.ts`]: PLUGIN,
      [`${DIRECTORY}/node_modules/zod/index.js`]: '',
    });
    const found = open(workspace).hookSet.plugins();
    const files = found.map(({ unit }) => [unit.id, bindUnit(toTrustUnit(unit)).files]);
    const hash = expect.stringMatching(/^[0-9a-f]{64}$/);
    expect(Object.fromEntries(files)).toEqual({
      'plugin:workspace:guard': {
        '.cline/plugins/_installed': 'apart',
        '.cline/plugins/data/words.txt': hash,
        '.cline/plugins/guard.ts': hash,
        '.cline/plugins/node_modules/zod/index.js': hash,
        '.cline/plugins/pkg': 'apart',
      },
      'plugin:workspace:pkg': {
        '.cline/plugins/pkg/index.ts': hash,
        '.cline/plugins/pkg/package.json': hash,
        '.cline/plugins/pkg/src/state/store.ts': hash,
      },
      'plugin:workspace:x': { '.cline/plugins/_installed/local/x-0123456789ab/x.ts': hash },
    });
  });
});

function handlersOf(host: Host): Record<string, number> {
  const handlerCounts = new Map(
    host.madeHooks().map(({ hook, handlers }) => [hook.id, handlers.length]),
  );
  return Object.fromEntries(
    host.hooks().map(({ hook: { id } }) => [id, handlerCounts.get(id) ?? 0]),
  );
}

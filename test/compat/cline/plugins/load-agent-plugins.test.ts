import { existsSync, realpathSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  createPluginCommandService,
  discoverPluginModulePaths,
  installPlugin,
  listPluginTools,
  listPluginToolsWithDiagnostics,
  loadAgentPluginFromPath,
  loadAgentPluginsFromPaths,
  loadAgentPluginsFromPathsWithDiagnostics,
  normalizePluginCommandName,
  resolveAgentPluginPaths,
  resolveAndLoadAgentPlugins,
  resolvePluginConfigSearchPaths,
  uninstallPlugin,
} from '../../../../src/index.ts';
import { noopTelemetry } from '../../../../src/plugins/contract/plugin.ts';
import { directoryWith, sample } from '../../../plugins/author/documented-plugins.ts';

/** Directories with these files, and a home among them. */
function createDirectories(files: Readonly<Record<string, string>>): string {
  const directory = directoryWith({ 'home/.keep': '', 'work/.keep': '', ...files });
  vi.stubEnv('HOME', path.join(directory, 'home'));
  for (const name of Object.keys(process.env)) {
    if (/^(?:HOOKLINE|CLINE)_/u.test(name)) vi.stubEnv(name, undefined);
  }
  onTestFinished(() => void vi.unstubAllEnvs());
  return directory;
}

function plugin(name: string, more = ''): string {
  return `export default { name: "${name}", manifest: { capabilities: ["tools", "commands"] }, ${more} };\n`;
}

const COMMAND = `setup(api, ctx) {
  api.registerTool({ name: "look", description: "Looks.", inputSchema: {}, execute: () => ctx.workspaceInfo?.rootPath });
  api.registerCommand({ name: "/Greet", description: "Greets.", handler: (input) => ({ reply: "hi " + input, submitPrompt: "again" }) });
  api.registerCommand({ name: "silent" });
}`;

describe('plugins from disk, without a session', () => {
  it('are imported with what stands for Cline’s packages, and receive the context that is known', async () => {
    const directory = createDirectories({ 'smallest.ts': sample('smallest-plugin') });
    const loaded = await loadAgentPluginFromPath(path.join(directory, 'smallest.ts'));
    expect(loaded).toMatchObject({ name: 'hello-plugin', manifest: { capabilities: ['tools'] } });
    const reports: unknown[] = [];
    Reflect.set(globalThis, 'toldToPlugin', reports);
    onTestFinished(() => void Reflect.deleteProperty(globalThis, 'toldToPlugin'));
    writeFileSync(
      path.join(directory, 'told.ts'),
      plugin('told', 'setup(api, ctx) { toldToPlugin.push(this.name, ctx.user, ctx.session) }'),
    );
    const telling = await loadAgentPluginFromPath('told.ts', {
      cwd: directory,
      user: { email: 'a@b.c' },
    });
    await telling.setup?.(Object.create(null), { session: { sessionId: '1' } });
    expect(reports).toEqual(['told', { email: 'a@b.c' }, { sessionId: '1' }]);
  });

  it('receive the telemetry of their loader where the session has none of its own', async () => {
    const directory = createDirectories({
      'counting.ts': plugin(
        'counting',
        'setup(api, ctx) { ctx.logger.log(String(ctx.telemetry.isEnabled())) }',
      ),
    });
    const enabled: string[] = [];
    const logger = { debug: () => undefined, log: (text: string) => void enabled.push(text) };
    const telemetry = { ...noopTelemetry, isEnabled: () => true };
    const load = (options: object) =>
      loadAgentPluginFromPath('counting.ts', { cwd: directory, logger, ...options });
    const ofSession = { logger: undefined, telemetry: noopTelemetry };
    await (await load({})).setup?.(Object.create(null), ofSession);
    await (await load({ telemetry })).setup?.(Object.create(null), ofSession);
    expect(enabled).toEqual(['false', 'true']);
  });

  it('that cannot be loaded are an error, or a failure beside the others', async () => {
    const directory = createDirectories({
      'good.ts': plugin('good'),
      'broken.ts': 'export default {',
      'bad.ts': 'export default { name: "bad", manifest: { capabilities: ["nothing"] } };\n',
    });
    const files = ['good.ts', 'broken.ts', 'bad.ts', 'missing.ts'].map((name) =>
      path.join(directory, name),
    );
    await expect(loadAgentPluginFromPath(files[2] ?? '')).rejects.toThrow(
      `Invalid plugin module at ${files[2]}: capability "nothing" not found`,
    );
    await expect(loadAgentPluginsFromPaths(files)).rejects.toThrow('Invalid plugin module at');
    const { plugins, pluginPaths, failures } =
      await loadAgentPluginsFromPathsWithDiagnostics(files);
    expect(plugins.map(({ name }) => name)).toEqual(['good']);
    expect(pluginPaths).toEqual([files[0]]);
    expect(failures.map(({ pluginPath, phase }) => [path.basename(pluginPath), phase])).toEqual([
      ['missing.ts', 'load'],
      ['broken.ts', 'load'],
      ['bad.ts', 'load'],
    ]);
    await expect(loadAgentPluginFromPath(files[0] ?? '', { exportName: 'other' })).rejects.toThrow(
      'Hookline has no plugin in an export named "other"',
    );
  });

  it('of one name: the later counts; those for another model are left out', async () => {
    const directory = createDirectories({
      'a.ts': plugin('same'),
      'b.ts': plugin('same'),
      'c.ts':
        'export default { name: "c", manifest: { capabilities: ["tools"], providerIds: [" x "] } };\n',
    });
    const files = ['a.ts', 'b.ts', 'c.ts'].map((name) => path.join(directory, name));
    const { plugins, warnings } = await loadAgentPluginsFromPathsWithDiagnostics(files, {
      providerId: 'y',
    });
    expect(plugins.map(({ name }) => name)).toEqual(['same']);
    expect(warnings).toEqual([
      {
        type: 'duplicate_plugin_override',
        pluginPath: files[1],
        pluginName: 'same',
        overriddenPluginPath: files[0],
        message: `${files[1]} is used instead of ${files[0]}: both are named "same"`,
      },
    ]);
    const matchingPlugins = await loadAgentPluginsFromPaths(files, { providerId: 'x' });
    expect(matchingPlugins.map(({ name }) => name)).toEqual(['same', 'c']);
  });

  it('are found where Cline looks for them', () => {
    const directory = createDirectories({
      'work/.cline/plugins/mine.ts': plugin('mine'),
      'work/.cline/plugins/mine.test.ts': plugin('mine'),
      'home/.cline/plugins/own.ts': plugin('own'),
      'home/.cline/plugins/off.ts': plugin('off'),
      'home/Documents/Cline/Plugins/old.js': plugin('old'),
      'named/index.ts': plugin('named'),
    });
    const at = (name: string): string => path.join(directory, name);
    expect(resolvePluginConfigSearchPaths(at('work'))).toEqual([
      at('work/.cline/plugins'),
      at('home/.cline/plugins'),
      at('home/Documents/Cline/Plugins'),
    ]);
    expect(discoverPluginModulePaths(at('work/.cline/plugins'))).toEqual([
      at('work/.cline/plugins/mine.ts'),
    ]);
    const off = at('home/.cline/plugins/off.ts');
    const all = { workspacePath: at('work'), pluginPaths: ['../named'], cwd: at('work') };
    const settings = directoryWith({ 's.json': JSON.stringify({ disabledPlugins: [off] }) });
    vi.stubEnv('CLINE_GLOBAL_SETTINGS_PATH', path.join(settings, 's.json'));
    expect(resolveAgentPluginPaths(all)).toEqual([
      at('named/index.ts'),
      at('work/.cline/plugins/mine.ts'),
      at('home/.cline/plugins/own.ts'),
      at('home/Documents/Cline/Plugins/old.js'),
    ]);
    expect(resolveAgentPluginPaths({ ...all, includeDisabled: true })).toContain(off);
  });

  it('of a workspace are not loaded before they are trusted; those that the caller names are', async () => {
    const directory = createDirectories({
      'work/.cline/plugins/mine.ts': plugin('mine', 'evil: (globalThis.pluginRan = true)'),
      'home/.cline/plugins/own.ts': plugin('own'),
      'named.ts': plugin('named'),
    });
    const { extensions, failures, shutdown } = await resolveAndLoadAgentPlugins({
      workspacePath: path.join(directory, 'work'),
      pluginPaths: [path.join(directory, 'named.ts')],
    });
    expect(extensions.map(({ name }) => name)).toEqual(['named', 'own']);
    expect(failures).toMatchObject([
      { phase: 'load', message: expect.stringContaining('mine.ts') },
    ]);
    expect('pluginRan' in globalThis).toBe(false);
    await shutdown();
  });

  it('list their tools, with the reason why others have none', async () => {
    const directory = createDirectories({
      'home/.cline/plugins/one.ts': plugin('one', COMMAND),
      'home/.cline/plugins/two.ts': plugin('two', 'setup() { throw new Error("no") }'),
    });
    const workspacePath = path.join(directory, 'work');
    expect(await listPluginTools({ workspacePath, disabledToolNames: ['look'] })).toEqual([
      {
        name: 'look',
        pluginName: 'one',
        path: path.join(directory, 'home/.cline/plugins/one.ts'),
        source: 'global-plugin',
        enabled: false,
        description: 'Looks.',
      },
    ]);
    const { plugins, failures } = await listPluginToolsWithDiagnostics({ workspacePath });
    expect(plugins).toMatchObject([
      { pluginName: 'one', tools: ['look'], commands: ['/Greet', 'silent'] },
    ]);
    expect(failures).toMatchObject([
      { pluginName: 'two', phase: 'setup', message: expect.stringContaining('no') },
    ]);
  });

  it('run their commands, and are loaded again when their files change', async () => {
    const directory = createDirectories({ 'home/.cline/plugins/one.ts': plugin('one', COMMAND) });
    const file = path.join(directory, 'home/.cline/plugins/one.ts');
    const service = createPluginCommandService({ cwd: path.join(directory, 'work') });
    onTestFinished(() => service.shutdown());
    expect(await service.listCommands()).toEqual([{ name: 'greet', description: 'Greets.' }]);
    expect(await service.run('/GREET', ' Ada  and Bob')).toEqual({
      reply: 'hi Ada and Bob',
      submitPrompt: 'again',
    });
    expect(await service.run('nothing', '')).toBeUndefined();
    writeFileSync(file, plugin('one', COMMAND.replace('hi ', 'hello ')));
    utimesSync(file, 1, 1);
    expect(await service.run('greet', 'Ada')).toMatchObject({ reply: 'hello Ada' });
    expect(normalizePluginCommandName(' /Greet ')).toBe('greet');
  });

  it('are installed and removed, and nothing of them runs', async () => {
    const directory = createDirectories({
      'mine.ts': plugin('mine', 'evil: (globalThis.pluginRan = true)'),
    });
    const source = path.join(directory, 'mine.ts');
    const workspace = path.join(directory, 'work');
    const installed = await installPlugin({ source, cwd: workspace });
    expect(installed.source).toBe(source);
    expect(installed.entryPaths).toHaveLength(1);
    expect(installed.entryPaths.every((file) => existsSync(file))).toBe(true);
    expect(realpathSync(installed.installPath)).toContain(path.join('work', '.cline', 'plugins'));
    await expect(installPlugin({ source, cwd: workspace })).rejects.toThrow('already installed');
    const removed = await uninstallPlugin({ name: 'mine', cwd: workspace });
    expect(removed.installPath).toBe(installed.installPath);
    expect(existsSync(installed.installPath)).toBe(false);
    await expect(uninstallPlugin({ name: 'mine', cwd: workspace })).rejects.toThrow(
      'expected one plugin named "mine", found none',
    );
    expect('pluginRan' in globalThis).toBe(false);
  });
});

import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createProgramWorkspace, runProgram } from '../sdk-program.ts';
import { type TempWorkspace, write } from '../../../cli/temp-workspace.ts';

function workspaceWith(files: Readonly<Record<string, string>>): TempWorkspace {
  const workspace = createProgramWorkspace();
  for (const [file, text] of Object.entries(files)) write(workspace.directory, file, text);
  return workspace;
}

const plugin = (name: string, more = ''): string =>
  `export default { name: '${name}', manifest: { capabilities: ['tools', 'hooks'] }, ${more} };`;

describe('a program that installs plugins', () => {
  it('removes one by its path, its name, or the name of the package in it', async () => {
    const workspace = workspaceWith({
      'source/package.json': '{ "name": "@me/inner", "type": "module" }',
      'source/index.ts': plugin('the-plugin'),
    });
    const { reports } = await runProgram<readonly unknown[]>(
      `import { installPlugin, uninstallPlugin } from 'hookline';
      const cwd = process.cwd();
      for (const describe of [
        ({ installPath: path }) => ({ path }),
        ({ entryPaths: [path] }) => ({ path }),
        ({ installPath: path }) => ({ path, cwd: '/' }),
        () => ({ name: '@me/inner', cwd }),
        () => ({ name: 'source', cwd }),
        () => ({ name: '@me/inner', workspaceRoot: cwd }),
      ]) {
        const installed = await installPlugin({ source: '../source', cwd });
        const removed = await uninstallPlugin(describe(installed));
        report([removed.name, removed.removedPaths[0] === installed.installPath, removed.entryPaths.length]);
      }
      report([await uninstallPlugin({ path: '../source', cwd }).catch(({ message }) => message)]);
      report([await uninstallPlugin({}).catch(({ message }) => message)]);`,
      [],
      { workspace },
    );
    expect(reports.slice(0, 6)).toEqual(Array.from({ length: 6 }, () => ['@me/inner', true, 1]));
    expect(reports.slice(6)).toEqual([
      [expect.stringMatching(/^expected one plugin at ".*source", found none$/)],
      ['expected the name or the path of a plugin, found neither'],
    ]);
    expect(existsSync(`${workspace.directory}/source/index.ts`)).toBe(true);
  });

  it('reads sources in the shapes of Cline: paths as they are written, repositories with their owner', async () => {
    const { reports } = await runProgram(
      `import { parsePluginSource } from 'hookline';
      for (const source of [
        ['./x'], ['~/x'], ['sub/dir'], ['foo', 'local'], ['https://github.com/o/r@v1'], ['github.com/o/r', 'git'],
        ['git@github.com:o/r.git', 'git'], ['https://gitlab.com/a/b/c.git'], ['npm:@s/foo@1.2'],
      ]) report(parsePluginSource(...source));`,
      [],
    );
    const repository = (repo: string, host: string, path: string, ref?: string) => ({
      type: 'git',
      repo,
      host,
      path,
      ...(ref === undefined ? {} : { ref }),
    });
    expect(reports).toEqual([
      { type: 'local', path: './x' },
      { type: 'local', path: '~/x' },
      { type: 'local', path: 'sub/dir' },
      { type: 'local', path: 'foo' },
      repository('https://github.com/o/r', 'github.com', 'o/r', 'v1'),
      repository('https://github.com/o/r', 'github.com', 'o/r'),
      repository('git@github.com:o/r.git', 'github.com', 'o/r'),
      repository('https://gitlab.com/a/b/c.git', 'gitlab.com', 'a/b/c'),
      { type: 'npm', spec: '@s/foo@1.2', name: '@s/foo' },
    ]);
  });
});

describe('a program that loads plugins', () => {
  it('hears what they emit, through their context and the global host, until it ends them', async () => {
    const workspace = workspaceWith({
      'emitting.ts': plugin(
        'emitting',
        `setup(_api, ctx) { ctx.emitEvent?.('steer_message', { prompt: 'a' }); },
        hooks: { afterRun() { globalThis.__clinePluginHost.emitEvent('own_event', { n: 1 }); } }`,
      ),
    });
    const { reports } = await runProgram(
      `import { resolveAndLoadAgentPlugins } from 'hookline';
      const { extensions: [one], shutdown } = await resolveAndLoadAgentPlugins({
        pluginPaths: ['../emitting.ts'],
        onEvent: (event) => report(event),
      });
      await one.setup({}, {});
      one.hooks.afterRun({});
      await shutdown();
      report('__clinePluginHost' in globalThis);`,
      [],
      { workspace },
    );
    expect(reports).toEqual([
      { name: 'steer_message', payload: { prompt: 'a' } },
      { name: 'own_event', payload: { n: 1 } },
      false,
    ]);
  });

  it('limits how long their hooks and contributions may take', async () => {
    const workspace = workspaceWith({
      'hanging.ts': plugin(
        'hanging',
        `setup(api) { api.registerTool({ name: 't', description: '', inputSchema: {}, execute: () => new Promise(() => {}) }); },
        hooks: { beforeRun: () => new Promise(() => {}), afterRun() { return this.mark; }, mark: 'own' }`,
      ),
    });
    const { reports } = await runProgram(
      `import { resolveAndLoadAgentPlugins } from 'hookline';
      const { extensions: [one] } = await resolveAndLoadAgentPlugins({
        pluginPaths: ['../hanging.ts'],
        hookTimeoutMs: 20,
        contributionTimeoutMs: 30,
      });
      const alive = setInterval(() => {}, 1000);
      const tools = [];
      await one.setup({ registerTool: (tool) => tools.push(tool) }, {});
      report(await one.hooks.beforeRun({}).catch(({ message }) => message));
      report(await tools[0].execute({}, {}).catch(({ message }) => message));
      report(await one.hooks.afterRun({}));
      clearInterval(alive);`,
      [],
      { workspace },
    );
    expect(reports).toEqual([
      'beforeRun of hanging did not answer within 20 ms',
      'the tool t of hanging did not answer within 30 ms',
      'own',
    ]);
  });

  it('leaves untrusted plugins of the workspace out, unless it trusts them all', async () => {
    const workspace = workspaceWith({});
    write(workspace.repo, '.cline/plugins/mine.ts', plugin('mine'));
    const { reports } = await runProgram(
      `import { resolveAndLoadAgentPlugins } from 'hookline';
      for (const trust of ['record', 'all']) {
        const { extensions, failures } = await resolveAndLoadAgentPlugins({ cwd: process.cwd(), trust });
        report([extensions.map(({ name }) => name), failures.length]);
      }`,
      [],
      { workspace },
    );
    expect(reports).toEqual([
      [[], 1],
      [['mine'], 0],
    ]);
  });

  it('gives each 30 s to be imported, or what CLINE_PLUGIN_IMPORT_TIMEOUT_MS says', async () => {
    const workspace = workspaceWith({
      'slow.ts': `await new Promise(() => {}); ${plugin('slow')}`,
      'fast.ts': plugin('fast'),
    });
    const load = `import { ClineCore, resolveAndLoadAgentPlugins } from 'hookline';
      const alive = setInterval(() => {}, 1000);
      const pluginPaths = ['../slow.ts', '../fast.ts'];
      const { extensions, failures } = await resolveAndLoadAgentPlugins({ pluginPaths });
      report([extensions.map(({ name }) => name), failures.map(({ message }) => message.replace(/.*: /, ''))]);
      const core = await ClineCore.create({ backendMode: 'local' });
      const { sessionId } = await core.start({ config: config({ pluginPaths }) });
      report(core.plugins(sessionId).map(({ name, state, lastError }) => [name, state, lastError]));
      await core.dispose();
      clearInterval(alive);`;
    const { reports } = await runProgram(load, [], {
      workspace,
      env: { CLINE_PLUGIN_IMPORT_TIMEOUT_MS: '300' },
    });
    expect(reports).toEqual([
      [['fast'], [expect.stringContaining('300 ms')]],
      [
        ['fast', 'ready', null],
        ['slow', 'failed', expect.stringContaining('300 ms')],
      ],
    ]);
  });
});

import { describe, expect, it } from 'vitest';
import { type HooklineResult, runHookline } from '../hookline.ts';
import { at, createTempWorkspace, type TempWorkspace, write } from '../temp-workspace.ts';

/** The file has another name than the plugin in it, as with most public ones. */
function createWorkspaceWith(name: string, more = ''): TempWorkspace {
  const workspace = createTempWorkspace();
  const text = `console.log('imported');
export default { name: '${name}', manifest: { capabilities: ['hooks'], ${more} }, hooks: { afterRun() {} } };`;
  write(workspace.home, '.cline/plugins/weather.ts', text);
  return workspace;
}

function plugin(workspace: TempWorkspace, ...words: string[]): Promise<HooklineResult> {
  return runHookline(['plugin', ...words], at(workspace));
}

describe('a plugin whose name differs from its file', () => {
  it('is found by its name in the list', async () => {
    const workspace = createWorkspaceWith('Weather and Metrics');
    expect((await plugin(workspace, 'list')).stdout).toContain('Weather and Metrics  ready');
    const validated = await plugin(workspace, 'validate', 'weather and metrics');
    expect({ ...validated, stdout: validated.stdout.split('\n')[0] }).toMatchObject({
      code: 0,
      stdout: 'Weather and Metrics  fine',
    });
    const disabled = await plugin(workspace, 'disable', 'Weather and Metrics');
    expect(disabled).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Disabled weather/),
      stderr: '',
    });
    expect(await plugin(workspace, 'enable', 'Weather and Metrics')).toMatchObject({
      code: 0,
      stdout: 'Enabled weather.\n',
    });
    expect(await plugin(workspace, 'uninstall', '--yes', 'weather and metrics')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Removed weather /),
    });
  });

  it('is still unknown by other names', async () => {
    const workspace = createWorkspaceWith('weather-and-metrics');
    expect(await plugin(workspace, 'validate', 'metrics')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('plugin "metrics" not found'),
    });
  });
});

it('removes no plugin by the name of one of its tools', async () => {
  const workspace = createTempWorkspace();
  const tool = `{ name: 'greet', description: 'Greets.', inputSchema: {}, execute() {} }`;
  const text = `export default { name: 'greeter', manifest: { capabilities: ['tools'] },
    setup(api) { api.registerTool(${tool}); } };`;
  write(workspace.home, '.cline/plugins/file.ts', text);
  expect(await plugin(workspace, 'uninstall', '--yes', 'greet')).toMatchObject({ code: 2 });
  expect(await plugin(workspace, 'uninstall', '--yes', 'greeter')).toMatchObject({ code: 0 });
});

describe('hookline plugin validate', () => {
  it('finds nothing wrong with a plugin that is made for another provider', async () => {
    const workspace = createWorkspaceWith('router', `providerIds: ['router-plugin']`);
    const { code, stdout } = await plugin(workspace, 'validate', 'weather');
    expect({ code, lines: stdout.trim().split('\n').slice(2) }).toEqual({
      code: 0,
      lines: ['  hooks: afterRun', '  only for router-plugin'],
    });
    expect(stdout.split('\n')[0]).toBe('router  fine');
  });
});

describe('a package without a name', () => {
  it('is listed all the same', async () => {
    const workspace = createTempWorkspace();
    const text = `export default {
  name: 'nameless',
  manifest: { capabilities: ['rules', 'messageBuilders'] },
  setup(api) {
    api.registerRule({ name: 'context', content: 'Be brief.' });
    api.registerMessageBuilder({ build: (messages) => messages });
  },
};`;
    write(workspace.home, '.cline/plugins/nameless.mjs', text);
    const { stdout } = await plugin(workspace, 'list');
    expect(stdout).toContain('rules: without an id; message builders: without a name');
  });

  it('is no plugin, and validate explains what would be one', async () => {
    const workspace = createTempWorkspace();
    write(
      workspace.home,
      '.cline/plugins/shim.ts',
      'export default { register(api: unknown) { return api; } };',
    );
    expect(await plugin(workspace, 'validate', 'shim')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining(
        'it exports no plugin: a plugin is an object with "name" and "manifest", exported as default or as "plugin"',
      ),
    });
  });
});

import { describe, expect, it } from 'vitest';
import { MODULES, sample } from '../author/documented-plugins.ts';
import { createPluginFiles, packaged } from './plugin-files.ts';

interface Tool {
  readonly name: string;
  execute(input: object): unknown;
}

/** Calls a plugin's setup as Cline's documentation shows for tests of plugins. */
async function toolsOf(
  plugin: Record<string, ReturnType<typeof JSON.parse>>,
): Promise<readonly Tool[]> {
  const tools: Tool[] = [];
  const api = { registerTool: (tool: Tool) => tools.push(tool) };
  await plugin['setup'](api, { workspaceInfo: { rootPath: '/tmp/fake-workspace' } });
  return tools;
}

describe('a text of Cline’s documentation, unchanged', () => {
  it('loads: the smallest plugin', async () => {
    const files = createPluginFiles({ 'hello.ts': sample('smallest-plugin') });
    const plugin = await files.plugin('hello.ts');
    const [tool] = await toolsOf(plugin);
    expect(plugin).toMatchObject({ name: 'hello-plugin', manifest: { capabilities: ['tools'] } });
    expect(await tool?.execute({ name: 'Ada' })).toEqual({ greeting: 'Hello, Ada!' });
  });

  it('loads and starts no demo: the single-file template', async () => {
    const files = createPluginFiles({ 'my-plugin.ts': sample('single-file-template') });
    const plugin = await files.plugin('my-plugin.ts');
    const [tool] = await toolsOf(plugin);
    expect(await tool?.execute({ target: 'world' })).toEqual({
      ok: true,
      target: 'world',
      root: '/tmp/fake-workspace',
    });
  });

  it('finds what a package bundles', async () => {
    const files = createPluginFiles({
      'package.json': sample('package-json'),
      'index.ts': MODULES['bundled-assets.ts'](),
      'assets/templates/greeting.md': 'Good day',
    });
    const plugin = await files.plugin('index.ts', { entry: packaged(files, 'index.ts') });
    const [tool] = await toolsOf(plugin);
    expect(tool?.execute({})).toBe('Good day');
  });

  it.each([
    'state-across-hooks.ts',
    'metrics.ts',
    'branch-guard.ts',
    'after-run.ts',
    'message-builder.ts',
    'automation-event.ts',
  ] as const)('loads: %s', async (name) => {
    const files = createPluginFiles({ [name]: MODULES[name]() });
    expect(await files.plugin(name)).toMatchObject({
      manifest: { capabilities: [expect.any(String)] },
    });
  });

  it('loads each entry of a package with several', async () => {
    const entry = (name: string) =>
      `export default { name: '${name}', manifest: { capabilities: ['${name}'] } };`;
    const files = createPluginFiles({
      'package.json': `{ ${sample('multiple-entries')} }`,
      'tools-plugin.ts': entry('tools'),
      'hooks-plugin.ts': entry('hooks'),
    });
    for (const name of ['tools', 'hooks']) {
      const file = `${name}-plugin.ts`;
      expect(await files.plugin(file, { entry: packaged(files, file) })).toMatchObject({ name });
    }
  });
});

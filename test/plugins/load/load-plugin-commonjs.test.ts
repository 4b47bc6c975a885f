import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { builtLoader, createPluginFiles, loadElsewhere, packaged } from './plugin-files.ts';

const FACTS = `name: 'old', manifest: { capabilities: ['tools'] }`;

describe('a plugin in CommonJS', () => {
  it('is what it exports, or what it exports as default', async () => {
    const files = createPluginFiles({
      'a.js': `module.exports = { ${FACTS} };`,
      'b.js': `exports.default = { ${FACTS} };`,
      'c.js': `exports.plugin = { ${FACTS} };`,
      'd.js': `Object.defineProperty(exports, '__esModule', { value: true }); exports.default = { ${FACTS} };`,
      'e.ts': `const plugin = { ${FACTS} }; export = plugin;`,
      'f.ts': `module.exports = { ${FACTS} } as const;`,
    });
    const names = ['a.js', 'b.js', 'c.js', 'd.js', 'e.ts', 'f.ts'];
    const plugins = await Promise.all(names.map((name) => files.plugin(name)));
    expect(plugins.map(({ name }) => String(name))).toEqual(names.map(() => 'old'));
  });

  it('is the very object that it exports, which it may change later', async () => {
    const files = createPluginFiles({
      'a.js': `const plugin = { ${FACTS}, isItself() { return this === plugin; } }; module.exports = plugin;`,
    });
    expect((await files.plugin('a.js'))['isItself']()).toBe(true);
  });

  it('gets the host’s modules, and packages', async () => {
    const files = createPluginFiles({
      'a.js': `
        const { createTool, Agent } = require('@cline/core');
        const { version } = require('@cline/shared/storage');
        const { z } = require('zod');
        const dep = require('dep');
        const { five } = require('./five.ts');
        const path = require('path');
        module.exports = { ${FACTS}, tool: createTool({}), version, Agent, dep, five, zod: typeof z.object, main: __filename === path.join(__dirname, 'a.js') };`,
      'five.ts': 'export const five: number = 5;',
      'node_modules/dep/package.json': '{ "main": "main.js" }',
      'node_modules/dep/main.js': 'module.exports = "dep";',
    });
    const plugin = await files.plugin('a.js');
    expect(plugin).toMatchObject({
      tool: { from: '@cline/core' },
      version: '@cline/shared/storage',
      dep: 'dep',
      five: 5,
      zod: 'function',
      main: true,
    });
    expect(() => new plugin['Agent']()).toThrow('Agent of @cline/core does not exist in Hookline');
  });

  it('may be a part of one in ES modules, and the other way round', async () => {
    const files = createPluginFiles({
      'a.ts': `
        import helper, { named } from './helper.cjs';
        import { createTool } from '@cline/core';
        import * as all from '@cline/sdk';
        export default { ${FACTS}, facts: [helper.named, named, createTool({}).from, all.version] };`,
      'helper.cjs': `exports.named = require('./typed.ts').typed;`,
      'typed.ts': 'export const typed: number = 5;',
      'mixed.js': `import path from 'node:path'; module.exports = { ${FACTS}, sep: path.sep };`,
    });
    expect((await files.plugin('a.ts'))['facts']).toEqual([5, 5, '@cline/core', '@cline/sdk']);
    expect(await files.plugin('mixed.js')).toMatchObject({ sep: '/' });
  });

  it('is a helper when it exports no plugin, and the message names its exports', async () => {
    const files = createPluginFiles({
      'helper.js': 'exports.add = (a, b) => a + b;',
      'script.js': 'globalThis.scriptOfTest = 5;',
      'factory.js': `module.exports = () => ({ ${FACTS} });`,
    });
    expect(await files.load('helper.js')).toEqual({ kind: 'helper' });
    expect(await files.load('script.js')).toEqual({ kind: 'helper' });
    expect(await files.load('factory.js')).toMatchObject({ kind: 'failed' });
  });

  it('loads also where the translator does not run', async () => {
    const files = createPluginFiles({
      'a.ts': `import { createTool } from "@cline/core"; enum E { A = 'typed' } export default { ${FACTS}, is: E.A, tool: createTool({ a: 1 }) };`,
    });
    const library = path.join(files.directory, 'library');
    const built = path.resolve(builtLoader(), '../../..');
    for (const part of ['base', 'plugins']) {
      cpSync(path.join(built, part), path.join(library, 'dist', part), { recursive: true });
    }
    files.write({ 'library/package.json': '{ "type": "module" }' });
    mkdirSync(path.join(library, 'node_modules'));
    for (const name of ['jiti', 'es-module-lexer']) {
      symlinkSync(
        path.resolve(built, '../node_modules', name),
        path.join(library, 'node_modules', name),
      );
    }
    const loader = path.join(library, 'dist/plugins/load/load-plugin.js');
    const { stdout, stderr } = await loadElsewhere(files, 'a.ts', { loader });
    const { kind, plugin } = JSON.parse(stdout);
    expect({ kind, plugin, stderr }).toEqual({
      kind: 'loaded',
      plugin: { name: 'old', manifest: { capabilities: ['tools'] }, is: 'typed', tool: { a: 1 } },
      stderr: '',
    });
  });

  it('reports what is missing', async () => {
    const files = createPluginFiles({ 'a.js': `module.exports = require('nothing-of-the-kind');` });
    expect(await files.load('a.js', { entry: packaged(files, 'a.js') })).toEqual({
      kind: 'failed',
      message: `Cannot find package 'nothing-of-the-kind' imported from ${files.path('a.js')}; install it beside the plugin`,
    });
  });
});

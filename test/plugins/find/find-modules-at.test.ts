import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { findPluginModulesAt } from '../../../src/plugins/find/find-modules.ts';
import {
  listOutsideImports,
  canExportPlugin,
  listRelativeImports,
} from '../../../src/plugins/find/module-text.ts';
import { createDirectory } from '../../base/directory.ts';
import { at, packageJson, PLUGIN } from './plugin-sources.ts';

describe('a path that the user names', () => {
  it('is a file, also one that would be ignored in its directory', () => {
    const root = createDirectory({ 'one.test.ts': PLUGIN, 'node_modules/x/index.js': '' });
    const file = path.join(root, 'one.test.ts');
    expect(findPluginModulesAt(file)).toEqual({
      entries: [{ file, path: file, label: 'one.test', package: null, capabilities: null }],
      ignored: [],
      problems: [],
      apart: [path.join(root, 'node_modules')],
    });
  });

  it('is a link to a file', () => {
    const root = createDirectory({ 'real/one.ts': PLUGIN });
    symlinkSync('real/one.ts', path.join(root, 'link.ts'));
    expect(findPluginModulesAt(path.join(root, 'link.ts')).entries).toEqual([
      expect.objectContaining({ file: at(root, 'real/one.ts'), path: at(root, 'link.ts') }),
    ]);
  });

  it.each([
    ['package.json before index', { 'package.json': packageJson(['main.ts']) }, ['main.ts']],
    ['index.ts before index.js', { 'package.json': '{"name":"x"}' }, ['index.ts']],
  ])('is a package: %s', (_name, files, expected) => {
    const root = createDirectory({
      'main.ts': PLUGIN,
      'index.ts': PLUGIN,
      'index.js': PLUGIN,
      ...files,
    });
    expect(findPluginModulesAt(root).entries.map(({ file }) => path.basename(file))).toEqual(
      expected,
    );
  });

  it('is a directory with plugins', () => {
    const root = createDirectory({ 'a.ts': PLUGIN, 'b/c.mjs': PLUGIN });
    expect(findPluginModulesAt(root).entries.map(({ label }) => label)).toEqual(['a', 'c']);
  });

  it.each([
    ['none', 'PLACE not found'],
    ['notes.md', 'PLACE cannot be a plugin: it is not a module'],
    ['types.d.ts', 'PLACE cannot be a plugin: it declares types only'],
    ['empty', 'no plugin found in PLACE; expected a package.json'],
    ['broken', 'PLACE/package.json is not JSON'],
  ])('is reported when it is %s', (name, message) => {
    const root = createDirectory({
      'notes.md': '',
      'types.d.ts': PLUGIN,
      'empty/readme.md': '',
      'broken/package.json': '{',
      'broken/index.ts': PLUGIN,
    });
    const target = path.join(root, name);
    expect(findPluginModulesAt(target)).toMatchObject({
      entries: [],
      problems: [
        { path: target, message: expect.stringContaining(message.replace('PLACE', target)) },
      ],
    });
  });
});

describe('a module', () => {
  it.each([
    'export default plugin',
    'export   default{}',
    'export { plugin }',
    'export { a, b as default }',
    'export{e as plugin}',
    'export { default } from "./x"',
    'export * from "./x"',
    'export const plugin = {}',
    'export async function plugin() {}',
    'export class plugin {}',
    'export const { plugin } = made',
    'module.exports = {}',
    'exports.default = {}',
    'exports["plugin"] = {}',
    'export = plugin',
  ])('may export a plugin with: %s', (text) => {
    expect(canExportPlugin(`const x = 1\n${text}\n`)).toBe(true);
  });

  it.each([
    'export const plugins = []',
    'export { helper, other }',
    'export function pluginName() {}',
    'export type Plugin = {}',
    'export {}',
    'const plugin = {}',
  ])('cannot with: %s', (text) => {
    expect(canExportPlugin(`${text}\n`)).toBe(false);
  });

  it('imports by a path in several ways', () => {
    const text = [
      `import a from './a'`,
      `import "./b.js"`,
      `export * from '../c/index.ts'`,
      `await import(\`./d\`)`,
      `require("./e")`,
      `import x from 'zod'`,
      `import y from ".."`,
      `import z from ".hidden"`,
      `import '/abs/z.ts'`,
      `import 'file:///abs/f.ts'`,
      `import 'file://other.example/g.ts'`,
    ].join('\n');
    expect(listRelativeImports(text, '/r/s/main.ts')).toEqual([
      '/r/s/a',
      '/r/s/b.js',
      '/r/c/index.ts',
      '/r/s/d',
      '/r/s/e',
      '/r',
      '/abs/z.ts',
      '/abs/f.ts',
    ]);
  });
});

describe('imports from elsewhere', () => {
  it('are followed through bound files, and every file that one may stand for is named', () => {
    const root = createDirectory({
      'plugins/main.ts': `import './helper.ts'\nimport '../lib/near.js'`,
      'plugins/helper.ts': `export * from '../lib/far'`,
      'lib/near.ts': `import './nearer.mts'`,
      'lib/nearer.mts': '',
      'lib/far/index.ts': '',
    });
    const isBound = (file: string): boolean => file.startsWith(path.join(root, 'plugins'));
    const { files, isCut } = listOutsideImports(at(root, 'plugins/main.ts'), isBound);
    const names = files.map((file) => path.relative(root, file));
    expect(isCut).toBe(false);
    expect(names).toEqual(expect.arrayContaining(['lib/near.js', 'lib/near.ts', 'lib/near.tsx']));
    expect(names).not.toContain('lib/nearer.mts.ts');
    expect(names).toEqual(expect.arrayContaining(['lib/nearer.mts', 'lib/far/index.ts']));
    // Whichever of these came to be there would be loaded instead.
    expect(names).toEqual(expect.arrayContaining(['lib/far', 'lib/far.ts', 'lib/far.js']));
    expect(names.some((name) => name.startsWith('plugins'))).toBe(false);
  });

  it('are cut when there are too many', () => {
    const imports = Array.from({ length: 300 }, (_, index) => `import '../x/${index}.ts'`);
    const files = Array.from({ length: 300 }, (_, index) => [`x/${index}.ts`, ''] as const);
    const root = createDirectory({
      'plugins/main.ts': imports.join('\n'),
      ...Object.fromEntries(files),
    });
    const beyond = listOutsideImports(at(root, 'plugins/main.ts'), () => false);
    expect(beyond.isCut).toBe(true);
  });
});

import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createPluginFiles, packaged } from './plugin-files.ts';

const plugin = (facts: string): string =>
  `export default { name: 'a', manifest: { capabilities: ['tools'] }, facts: ${facts} };`;

const MODULE = '{ "type": "module", "exports": "./main.js" }';

describe('a package that a plugin imports', () => {
  it('is found from the plugin’s directory, nearest first', async () => {
    const files = createPluginFiles({
      'deep/er/a.ts': `import where from 'place'; import { up } from '../up'; ${plugin('[where, up]')}`,
      'deep/up.ts': `import where from 'place'; export const up: string = where;`,
      'deep/er/node_modules/place/package.json': MODULE,
      'deep/er/node_modules/place/main.js': 'export default "nearest";',
      'node_modules/place/package.json': MODULE,
      'node_modules/place/main.js': 'export default "farther";',
    });
    expect((await files.plugin('deep/er/a.ts'))['facts']).toEqual(['nearest', 'farther']);
  });

  it('may be CommonJS, or one of Node.js', async () => {
    const files = createPluginFiles({
      'a.ts': `
        import whole, { named } from 'old';
        import { hidden } from 'old';
        import fs from 'node:fs';
        import { sep } from 'path';
        ${plugin('[whole.named, named, hidden, typeof fs.readFileSync, sep]')}`,
      'b.ts': `import old, { named } from 'old'; ${plugin('[old.named, named]')}`,
      'node_modules/old/package.json': '{ "main": "lib/main" }',
      'node_modules/old/lib/main.js':
        'exports.named = 1; const key = "hidden"; Object.assign(exports, { [key]: 2 });',
    });
    expect((await files.plugin('b.ts'))['facts']).toEqual([1, 1]);
    // Node.js alone would not find `hidden` in it.
    for (let time = 0; time < 2; time++) {
      expect((await files.plugin('a.ts'))['facts']).toEqual([1, 1, 2, 'function', '/']);
    }
  });

  it('may be written in TypeScript and JSON', async () => {
    const files = createPluginFiles({
      'a.ts': `
        import { typed } from 'typed';
        import { inner } from 'typed/inner';
        import about from 'typed/package.json' with { type: 'json' };
        ${plugin('[typed, inner, about.version]')}`,
      'node_modules/typed/package.json':
        '{ "version": "7.0.0", "exports": { ".": "./index.ts", "./*": "./src/*.ts", "./package.json": "./package.json" } }',
      'node_modules/typed/index.ts':
        'import { inner } from "./src/inner.js"; export const typed: number = inner + 1;',
      'node_modules/typed/src/inner.ts':
        'export enum E { A = 5 } export const inner: number = E.A;',
    });
    expect((await files.plugin('a.ts'))['facts']).toEqual([6, 5, '7.0.0']);
  });

  it('is chosen by the conditions of `import`', async () => {
    const files = createPluginFiles({
      'a.ts': `import which from 'dual'; import sub from 'dual/sub'; ${plugin('[which, sub, require("dual")]')}`,
      'node_modules/dual/package.json':
        '{ "exports": { ".": { "browser": "./no.js", "import": "./main.mjs", "require": "./main.cjs" }, "./sub": [{ "deno": "./no.js" }, "./sub.mjs"] } }',
      'node_modules/dual/main.mjs': 'export default "import";',
      'node_modules/dual/sub.mjs': 'export default "sub";',
      'node_modules/dual/main.cjs': 'module.exports = "require";',
    });
    expect((await files.plugin('a.ts'))['facts']).toEqual(['import', 'sub', 'require']);
  });

  it('may be the plugin itself, by its name or by its `imports`', async () => {
    const files = createPluginFiles({
      'package.json':
        '{ "name": "my-package", "exports": { ".": "./a.ts", "./lib": "./lib.ts" }, "imports": { "#parts/*": "./parts/*.ts", "#dep": "dep" } }',
      'a.ts': `import { lib } from 'my-package/lib'; import { part } from '#parts/one'; import dep from '#dep'; ${plugin('[lib, part, dep]')}`,
      'lib.ts': 'export const lib: number = 1;',
      'parts/one.ts': 'export const part: number = 2;',
      'node_modules/dep/package.json': MODULE,
      'node_modules/dep/main.js': 'export default 3;',
    });
    const entry = packaged(files, 'a.ts');
    expect((await files.plugin('a.ts', { entry }))['facts']).toEqual([1, 2, 3]);
  });

  it('is found beside a plugin that was installed as a package itself', async () => {
    const files = createPluginFiles({
      'node_modules/@scope/my-package/src/a.ts': `import { dep } from 'dep'; import { part } from './part.js'; ${plugin('[dep, part]')}`,
      'node_modules/@scope/my-package/src/part.ts': 'export const part: string = "part";',
      'node_modules/dep/package.json': MODULE,
      'node_modules/dep/main.js': 'export const dep = "dep";',
    });
    const name = 'node_modules/@scope/my-package/src/a.ts';
    const entry = packaged(files, name, 'node_modules/@scope/my-package');
    expect((await files.plugin(name, { entry }))['facts']).toEqual(['dep', 'part']);
  });

  it('may come from Hookline for a single file, and not for a package', async () => {
    const files = createPluginFiles({
      'a.ts': `import { RE2JS } from 're2js'; ${plugin('RE2JS.matches("a+", "aa")')}`,
    });
    expect((await files.plugin('a.ts'))['facts']).toBe(true);
    expect(await files.load('a.ts', { entry: packaged(files, 'a.ts') })).toEqual({
      kind: 'failed',
      message: `Cannot find package 're2js' imported from ${files.path('a.ts')}:1; a plugin package brings its own: with it among the dependencies, npm install in ${files.directory}, or install the plugin again`,
    });
  });

  it('is reported with its new name when it is one of an early Cline', async () => {
    const files = createPluginFiles({
      'a.ts': `import { createTool } from '@clinebot/early';\n${plugin('createTool')}`,
    });
    expect(await files.load('a.ts')).toEqual({
      kind: 'failed',
      message: `Cannot find package '@clinebot/early' imported from ${files.path('a.ts')}:1; the plugin is written for an early Cline: its packages are called @cline/… now, and its hooks are in "hooks"`,
    });
  });

  it('is named when it is missing, with where and what to do', async () => {
    const files = createPluginFiles({
      'a.ts': `import one from './one';\n${plugin('one')}`,
      'one.ts': `// first line\nimport nothing from '@scope/nothing/deep';\nexport default nothing;`,
    });
    expect(await files.load('a.ts')).toEqual({
      kind: 'failed',
      message: `Cannot find package '@scope/nothing/deep' imported from ${files.path('one.ts')}:2; install it beside the plugin, with npm install in ${files.directory}`,
    });
  });

  it('may be missing when it is only tried', async () => {
    const files = createPluginFiles({
      'a.ts': plugin(
        `async () => { try { return await import('node-notifier') } catch (error: any) { return error.code } }`,
      ),
    });
    const { facts } = await files.plugin('a.ts');
    expect(await facts()).toBe('ERR_MODULE_NOT_FOUND');
  });

  it('is the same instance for all importers', async () => {
    const files = createPluginFiles({
      'a.ts': `import state from 'state'; ${plugin('state')}`,
      'node_modules/state/package.json': MODULE,
      'node_modules/state/main.js': 'export default {};',
    });
    const [one, other] = await Promise.all([files.plugin('a.ts'), files.plugin('a.ts')]);
    expect(one).not.toBe(other);
    expect(one['facts']).toBe(other['facts']);
  });

  it('is resolved again when it has moved, appeared or changed', async () => {
    const files = createPluginFiles({
      'deep/a.ts': `import version from 'dep'; ${plugin('version')}`,
      'node_modules/dep/package.json': MODULE,
      'node_modules/dep/main.js': 'export default 1;',
    });
    const version = async () => (await files.plugin('deep/a.ts'))['facts'];
    expect(await version()).toBe(1);
    files.write({
      'node_modules/dep/package.json': '{ "type": "module", "main": "./other" }',
      'node_modules/dep/other.js': 'export default 2;',
    });
    expect(await version()).toBe(2);
    files.write({
      'deep/node_modules/dep/package.json': MODULE,
      'deep/node_modules/dep/main.js': 'export default 3;',
    });
    expect(await version()).toBe(3);
    rmSync(files.path('deep/node_modules'), { recursive: true });
    expect(await version()).toBe(2);
    // Its package.json is unchanged.
    rmSync(files.path('node_modules/dep/other.js'));
    files.write({ 'node_modules/dep/other/index.js': 'export default 4;' });
    expect(await version()).toBe(4);
  });

  it('is resolved again by a plugin of several files, too', async () => {
    const files = createPluginFiles({
      'a.ts': `import { version } from './b'; ${plugin('version')}`,
      'b.ts': `export { default as version } from 'dep';`,
      'node_modules/dep/package.json': '{ "type": "module", "main": "./main" }',
      'node_modules/dep/main.js': 'export default 1;',
    });
    const versions = [await files.plugin('a.ts'), await files.plugin('a.ts')];
    rmSync(files.path('node_modules/dep/main.js'));
    files.write({ 'node_modules/dep/main/index.js': 'export default 2;' });
    versions.push(await files.plugin('a.ts'));
    expect(versions.map(({ facts }) => Number(facts))).toEqual([1, 1, 2]);
  });
});

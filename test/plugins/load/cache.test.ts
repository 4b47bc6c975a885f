import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadPlugin } from '../../../src/plugins/load/load-plugin.ts';
import { builtLoader, createPluginFiles, loadElsewhere, type PluginFiles } from './plugin-files.ts';

const PLUGIN = `
  import { createTool } from "@cline/core";
  import { helper } from './lib/helper';
  interface Unused { field: string }
  export default { name: helper('a'), manifest: { capabilities: ['tools'] }, tool: createTool({ name: 'x' }) };`;
const HELPER = 'export const helper = (text: string): string => `plugin ${text}`;';
const LOADED = { name: 'plugin a', manifest: { capabilities: ['tools'] } };

function createFiles(): PluginFiles {
  return createPluginFiles({ 'a.ts': PLUGIN, 'lib/helper.ts': HELPER });
}

/** Every file below the cache, without the names that are hashes. */
function cached({ cache }: PluginFiles): readonly string[] {
  return readdirSync(cache, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(cache, path.join(entry.parentPath, entry.name)))
    .map((name) =>
      name.replaceAll(/-[\da-f]{8}(?=\/)/g, '-ID').replaceAll(/[\da-f]{8}-\d+/g, 'DIGEST'),
    )
    .toSorted();
}

function find({ cache }: PluginFiles, name: string): string {
  const found = readdirSync(cache, { recursive: true, withFileTypes: true }).find(
    (entry) => entry.name === name,
  );
  return path.join(found?.parentPath ?? '', name);
}

describe('the cached translation', () => {
  it('has names that can be read, and source maps', async () => {
    const files = createFiles();
    await files.plugin('a.ts');
    expect(cached(files)).toEqual([
      'a-ID/DIGEST/a.mjs',
      'a-ID/DIGEST/a.mjs.map',
      'a-ID/DIGEST/lib.helper.mjs',
      'a-ID/DIGEST/lib.helper.mjs.map',
      'a-ID/translation.json',
    ]);
    expect(JSON.parse(readFileSync(find(files, 'lib.helper.mjs.map'), 'utf8'))).toMatchObject({
      version: 3,
      file: 'lib.helper.mjs',
      sources: [`file://${files.path('lib/helper.ts')}`],
      mappings: expect.stringMatching(/^A/),
    });
  });

  it('can be read by its owner only', async () => {
    const files = createFiles();
    await files.plugin('a.ts');
    const all = readdirSync(files.cache, { recursive: true, withFileTypes: true });
    const modes = all.map((entry) => [
      entry.isDirectory(),
      statSync(path.join(entry.parentPath, entry.name)).mode & 0o777,
    ]);
    expect(statSync(files.cache).mode & 0o777).toBe(0o700);
    expect(new Set(modes.map(String))).toEqual(new Set(['true,448', 'false,384']));
  });

  it('is used while nothing has changed, and otherwise made anew', async () => {
    const files = createFiles();
    await files.plugin('a.ts');
    const cacheStats = statSync(find(files, 'translation.json'));
    await files.plugin('a.ts');
    expect(statSync(find(files, 'translation.json')).ino).toBe(cacheStats.ino);
    files.write({ 'lib/helper.ts': HELPER.replace('plugin', 'changed') });
    expect(await files.plugin('a.ts')).toMatchObject({ name: 'changed a' });
    expect(statSync(find(files, 'translation.json')).ino).not.toBe(cacheStats.ino);
    files.write({ 'lib/helper.ts': HELPER });
    expect(await files.plugin('a.ts')).toMatchObject(LOADED);
  });

  it('is another one for the same text elsewhere', async () => {
    const text = `import where from 'where'; export default { name: where };`;
    const MODULE = '{ "type": "module", "exports": "./main.js" }';
    const files = createPluginFiles({
      'one/a.ts': text,
      'one/node_modules/where/package.json': MODULE,
      'one/node_modules/where/main.js': 'export default "one";',
      'two/a.ts': text,
      'two/node_modules/where/package.json': MODULE,
      'two/node_modules/where/main.js': 'export default "two";',
    });
    expect(await files.plugin('one/a.ts')).toEqual({ name: 'one' });
    expect(await files.plugin('two/a.ts')).toEqual({ name: 'two' });
    expect(await files.plugin('one/a.ts')).toEqual({ name: 'one' });
  });

  it('is cleaned up', async () => {
    const files = createFiles();
    for (let version = 0; version < 8; version++) {
      files.write({ 'a.ts': `export default { name: 'v${version}' };` });
      expect(await files.plugin('a.ts')).toEqual({ name: `v${version}` });
    }
    expect(cached(files).filter((name) => name.endsWith('a.mjs'))).toHaveLength(4);
  });

  it('may lie behind a link', async () => {
    const files = createFiles();
    mkdirSync(`${files.cache}-real`);
    symlinkSync(`${files.cache}-real`, files.cache);
    expect(await files.plugin('a.ts')).toMatchObject(LOADED);
    expect(await files.plugin('a.ts')).toMatchObject(LOADED);
  });

  it('is not stored without a cache directory', async () => {
    const files = createFiles();
    expect(await files.plugin('a.ts', { cacheDirectory: null })).toMatchObject(LOADED);
    expect(existsSync(files.cache)).toBe(false);
    writeFileSync(files.cache, 'a file');
    expect(await files.plugin('a.ts')).toMatchObject(LOADED);
    expect(await files.plugin('a.ts')).toMatchObject(LOADED);
    expect(readFileSync(files.cache, 'utf8')).toBe('a file');
  });
});

describe('a cache that is deleted', () => {
  it('is made again', async () => {
    const files = createFiles();
    for (let round = 0; round < 3; round++) {
      rmSync(files.cache, { recursive: true, force: true });
      expect(await files.plugin('a.ts')).toMatchObject(LOADED);
    }
  });

  it('may be deleted while plugins are loaded from it', async () => {
    const files = createFiles();
    const loads = Array.from({ length: 30 }, async (_, round) => {
      await new Promise((resolve) => setImmediate(resolve));
      if (round % 3 === 0) rmSync(files.cache, { recursive: true, force: true });
      return files.plugin('a.ts');
    });
    for (const plugin of await Promise.all(loads)) expect(plugin).toMatchObject(LOADED);
  });

  it('does not affect a plugin that is loaded', async () => {
    const files = createPluginFiles({
      'a.ts': `export default { name: 'a', late: (name: string) => import('./' + name) };`,
      'late.ts': 'export const late: number = 5;',
    });
    const plugin = await files.plugin('a.ts');
    rmSync(files.cache, { recursive: true });
    expect(await plugin['late']('late.ts')).toMatchObject({ late: 5 });
  });
});

describe('a cache that is broken', () => {
  const damages: readonly [string, (files: PluginFiles) => void][] = [
    ['a record that is no JSON', (files) => writeFileSync(find(files, 'translation.json'), '{')],
    ['a record of another shape', (files) => writeFileSync(find(files, 'translation.json'), '{}')],
    ['an empty record', (files) => writeFileSync(find(files, 'translation.json'), '')],
    [
      'a record that was cut off',
      (files) => {
        const file = find(files, 'translation.json');
        writeFileSync(file, readFileSync(file).subarray(0, 500));
      },
    ],
    ['a module that was cut off', (files) => writeFileSync(find(files, 'a.mjs'), 'const half')],
    ['an empty module', (files) => writeFileSync(find(files, 'lib.helper.mjs'), '')],
    ['a module that is gone', (files) => rmSync(find(files, 'lib.helper.mjs'))],
    [
      'a module that is a directory',
      (files) => {
        const file = find(files, 'a.mjs');
        rmSync(file);
        mkdirSync(file);
      },
    ],
    [
      'modules that are gone',
      (files) => rmSync(path.dirname(find(files, 'a.mjs')), { recursive: true }),
    ],
    [
      'a record that is a directory',
      (files) => {
        const file = find(files, 'translation.json');
        rmSync(file);
        mkdirSync(file);
      },
    ],
  ];

  it.each(damages)('is made again: %s', async (_what, damage) => {
    const files = createFiles();
    await files.plugin('a.ts');
    damage(files);
    expect(await files.plugin('a.ts')).toMatchObject(LOADED);
    expect(await files.plugin('a.ts')).toMatchObject(LOADED);
    expect(readFileSync(find(files, 'a.mjs'), 'utf8')).toContain('export default');
  });
});

describe('processes', () => {
  it('translate once: the second loads no translator, and little else', async () => {
    const files = createFiles();
    const loadedBy = async (): Promise<readonly string[]> => {
      const coverage = path.join(files.directory, 'coverage');
      const result = await loadElsewhere(files, 'a.ts', { env: { NODE_V8_COVERAGE: coverage } });
      expect(JSON.parse(result.stdout)).toMatchObject({ kind: 'loaded', plugin: LOADED });
      const [report = ''] = readdirSync(coverage);
      const text = readFileSync(path.join(coverage, report), 'utf8');
      rmSync(coverage, { recursive: true });
      const { result: scripts }: { result: readonly { url: string }[] } = JSON.parse(text);
      return scripts.map(({ url }) => url).filter((url) => /\/(?:dist|node_modules)\//.test(url));
    };
    const isTranslator = (url: string) =>
      /oxc-transform|es-module-lexer|load\/transpile|jiti/.test(url);
    const first = (await loadedBy()).filter(isTranslator).map((url) => path.basename(url));
    expect(first.toSorted()).toEqual([
      'index.js',
      'lexer.minimal.js',
      'packages.js',
      'transpile.js',
    ]);
    expect((await loadedBy()).map((url) => path.basename(url)).toSorted()).toEqual([
      'errors.js',
      'load-plugin.js',
      'loading.js',
      'module-scope.js',
      'plugin-ownership.js',
    ]);
  });

  it('may all translate the same plugin at once', async () => {
    const files = createFiles();
    const results = await Promise.all(
      Array.from({ length: 6 }, () => loadElsewhere(files, 'a.ts')),
    );
    for (const { stdout, stderr } of results) {
      expect(stderr).toBe('');
      expect(JSON.parse(stdout)).toMatchObject({ kind: 'loaded', plugin: LOADED });
    }
    expect(cached(files)).toHaveLength(5);
  });

  it('leave nothing else behind', async () => {
    const files = createFiles();
    const temporary = path.join(files.directory, 'temporary');
    mkdirSync(temporary);
    writeFileSync(files.cache, 'a file');
    const { stdout } = await loadElsewhere(files, 'a.ts', { env: { TMPDIR: temporary } });
    expect(JSON.parse(stdout)).toMatchObject({ kind: 'loaded', plugin: LOADED });
    expect(readdirSync(temporary)).toEqual([]);
  });

  it('may be allowed to read a cache and not to write it', async (context) => {
    const NOBODY = 65_534;
    const files = createFiles();
    for (const directory of [path.dirname(files.directory), files.directory, files.path('lib')]) {
      chmodSync(directory, 0o755);
    }
    mkdirSync(files.cache, { mode: 0o755 });
    const canLoad = canRead(NOBODY, [builtLoader(), files.path('a.ts')]);
    if (!canLoad) context.skip('nobody can be become who can read the loader');
    const load = async (): Promise<unknown> => {
      const { stdout } = await loadElsewhere(files, 'a.ts', { uid: NOBODY });
      return JSON.parse(stdout);
    };
    expect(await load()).toMatchObject({ kind: 'loaded', plugin: LOADED });
    expect(readdirSync(files.cache)).toEqual([]);
    await files.plugin('a.ts');
    // Ours can be read by its owner only.
    expect(await load()).toMatchObject({ kind: 'loaded', plugin: LOADED });
    const all = readdirSync(files.cache, { recursive: true, encoding: 'utf8' });
    for (const name of all) chmodSync(path.join(files.cache, name), 0o755);
    expect(await load()).toMatchObject({ kind: 'loaded', plugin: LOADED });
  });
});

function canRead(uid: number, files: readonly string[]): boolean {
  if (process.getuid?.() !== 0) return false;
  const readProgram = `for (const file of ${JSON.stringify(files)}) fs.readFileSync(file)`;
  return spawnSync(process.execPath, ['-e', readProgram], { uid, gid: uid, cwd: '/' }).status === 0;
}

it('a plugin on a disk that is full is loaded all the same', async (context) => {
  const files = createFiles();
  mkdirSync(files.cache);
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4k', 'tmpfs', files.cache]);
  if (mounted.status !== 0) context.skip('no small disk can be mounted here');
  try {
    const request = { copy: 'full', provided: () => null, timeoutMs: 20_000 };
    const loading = await loadPlugin({
      ...request,
      entry: files.entry('lib/helper.ts'),
      cacheDirectory: files.cache,
    });
    expect(loading).toEqual({ kind: 'helper' });
    expect(await files.plugin('a.ts')).toMatchObject(LOADED);
  } finally {
    spawnSync('umount', [files.cache]);
  }
});

it('what a killed process left behind is removed by the next', async () => {
  const files = createFiles();
  const temporary = path.join(files.directory, 'temporary');
  const { pid } = spawnSync(process.execPath, ['-e', '0']);
  mkdirSync(path.join(temporary, `hookline-plugins-${pid}-abc/modules`), { recursive: true });
  mkdirSync(path.join(temporary, `hookline-plugins-${process.pid}-abc`));
  mkdirSync(path.join(temporary, 'hookline-plugins-of-others'));
  writeFileSync(files.cache, 'a file');
  await loadElsewhere(files, 'a.ts', { env: { TMPDIR: temporary } });
  expect(readdirSync(temporary).toSorted()).toEqual([
    `hookline-plugins-${process.pid}-abc`,
    'hookline-plugins-of-others',
  ]);
});

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { PackageFinder } from '../../../../src/plugins/load/transpile/packages.ts';
import { createPluginFiles } from '../plugin-files.ts';

const PROJECT = path.resolve(import.meta.dirname, '../../../..');

/** What Node.js itself finds for each, from a file that lies there; null where it finds nothing. */
function findWithNode(file: string, specifiers: readonly string[]): readonly (string | null)[] {
  const text = `
    import { realpathSync } from 'node:fs';
    import { fileURLToPath } from 'node:url';
    const found = ${JSON.stringify(specifiers)}.map((each) => {
      try { return realpathSync(fileURLToPath(import.meta.resolve(each))) } catch { return null }
    });
    process.stdout.write(JSON.stringify(found));`;
  writeFileSync(file, text);
  const { stdout, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

function findWithOurs(file: string, specifiers: readonly string[]): readonly (string | null)[] {
  const finder = new PackageFinder();
  return specifiers.map((each) => finder.find(each, file)?.file ?? null);
}

describe('a package', () => {
  it('is found where Node.js finds it, for all that are installed here', () => {
    const modules = path.join(PROJECT, 'node_modules');
    const specifiers = packagesIn(modules).flatMap((name) => [name, ...subPathsOf(modules, name)]);
    const files = createPluginFiles({});
    const near = path.join(PROJECT, 'test', 'plugins', 'x.mjs');
    const resolved = resolvedFrom(near, specifiers);
    expect(specifiers.length).toBeGreaterThan(200);
    expect(files.directory).toBeTruthy();
    const different = specifiers.flatMap((each, at) => {
      const [node, us] = [resolved.byNode[at], resolved.byUs[at]];
      // Where the package names no existing file, Node.js returns a path all the same.
      return node === us || node === null ? [] : [{ each, node, us }];
    });
    expect(different).toEqual([]);
  });

  it('is found by every form of `exports`', () => {
    const cases = {
      text: './a.js',
      conditions: {
        browser: './no.js',
        node: { require: './no.js', import: './a.js' },
        default: './no.js',
      },
      order: { default: './a.js', import: './no.js' },
      nothing: { browser: './no.js' },
      forbidden: { '.': './a.js', './secret': null, './*': './deep/*.js' },
      list: ['./a.js', './no.js'],
      patterns: {
        './*': './no/*',
        './deep/*': './deep/*',
        './deep/*.js': './deep/*.js',
        './deep/x*.js': './deep/*.js',
      },
      nested: { '.': [{ browser: './no.js' }, { import: { node: './a.js' } }] },
      fallThrough: { node: { require: './no.js' }, default: './a.js' },
      specificity: { './deep/*': './deep/*', './*/b-longer.js': './no/*' },
      folders: { '.': './a.js', './features/*.js': './deep/*.js', './features/private/*': null },
    };
    const files = createPluginFiles({});
    const specifiers: string[] = [];
    for (const [name, exports] of Object.entries(cases)) {
      files.write({
        [`node_modules/${name}/package.json`]: JSON.stringify({ exports }),
        [`node_modules/${name}/a.js`]: '',
        [`node_modules/${name}/deep/b.js`]: '',
      });
      specifiers.push(
        ...[
          '',
          '/a.js',
          '/b',
          '/secret',
          '/deep/b.js',
          '/deep/xb.js',
          '/features/b.js',
          '/features/private/b.js',
        ].map((more) => `${name}${more}`),
      );
    }
    const importer = files.path('importer.mjs');
    const node = findWithNode(importer, specifiers);
    const us = findWithOurs(importer, specifiers);
    const toTable = (found: readonly (string | null)[]) =>
      Object.fromEntries(specifiers.map((each, at) => [each, found[at]]));
    expect(toTable(us)).toEqual(toTable(node));
    expect(node.filter((each) => each !== null).length).toBeGreaterThan(10);
  });

  it('has its own names for its parts', () => {
    const imports = {
      '#a': './a.js',
      '#dep': { node: 'dep', default: './no.js' },
      '#in/*': './deep/*.js',
    };
    const files = createPluginFiles({
      'package.json': JSON.stringify({ name: 'own', imports, exports: { './part': './a.js' } }),
      'a.js': '',
      'deep/b.js': '',
      'node_modules/dep/package.json': '{ "main": "lib" }',
      'node_modules/dep/lib/index.js': '',
    });
    const specifiers = ['#a', '#dep', '#in/b', '#none', 'own/part', 'own', 'own/none'];
    const importer = files.path('importer.mjs');
    expect(findWithOurs(importer, specifiers)).toEqual(findWithNode(importer, specifiers));
  });
});

interface Resolved {
  readonly byNode: readonly (string | null)[];
  readonly byUs: readonly (string | null)[];
}

/** From inside the project, without writing there. */
function resolvedFrom(importer: string, specifiers: readonly string[]): Resolved {
  const text = `
    const { fileURLToPath } = await import('node:url');
    const { realpathSync } = await import('node:fs');
    const specifiers = JSON.parse(process.argv[1]);
    const found = specifiers.map((each) => {
      try { return realpathSync(fileURLToPath(import.meta.resolve(each, ${JSON.stringify(`file://${importer}`)}))) } catch { return null }
    });
    process.stdout.write(JSON.stringify(found));`;
  const flags = ['--experimental-import-meta-resolve', '--input-type=module', '-e', text];
  const { stdout } = spawnSync(process.execPath, [...flags, JSON.stringify(specifiers)], {
    encoding: 'utf8',
    cwd: PROJECT,
  });
  return { byNode: JSON.parse(stdout), byUs: findWithOurs(importer, specifiers) };
}

function packagesIn(modules: string): readonly string[] {
  return readdirSync(modules)
    .filter((name) => !name.startsWith('.'))
    .flatMap((name) =>
      name.startsWith('@')
        ? readdirSync(path.join(modules, name)).map((part) => `${name}/${part}`)
        : [name],
    )
    .filter((name) => existsSync(path.join(modules, name, 'package.json')));
}

function subPathsOf(modules: string, name: string): readonly string[] {
  const { exports }: { exports?: unknown } = JSON.parse(
    readFileSync(path.join(modules, name, 'package.json'), 'utf8'),
  );
  if (typeof exports !== 'object' || exports === null) return [];
  return Object.keys(exports)
    .filter((key) => key.startsWith('./'))
    .map((key) => `${name}/${key.slice(2).replace('*', 'index')}`);
}

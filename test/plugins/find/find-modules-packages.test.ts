import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { findPluginModules } from '../../../src/plugins/find/find-modules.ts';
import { createDirectory } from '../../base/directory.ts';
import { at, packageJson, PLUGIN } from './plugin-sources.ts';

describe('a package', () => {
  it('is what its package.json lists, with what it declares, and is not searched further', () => {
    const root = createDirectory({
      'pkg/package.json': packageJson([
        { paths: ['./tools-plugin.ts'], capabilities: ['tools'] },
        { paths: ['./hooks-plugin.ts'], capabilities: ['hooks', 'rules'] },
        './src/third.mjs',
      ]),
      'pkg/tools-plugin.ts': PLUGIN,
      'pkg/hooks-plugin.ts': PLUGIN,
      'pkg/src/third.mjs': PLUGIN,
      'pkg/src/not-listed.ts': PLUGIN,
      'pkg/skills/greet/SKILL.md': '---\nname: greet\n---\n',
    });
    const of = {
      directory: at(root, 'pkg'),
      name: 'pkg',
      version: '1.2.3',
      skills: at(root, 'pkg/skills'),
    };
    expect(findPluginModules(root)).toEqual({
      entries: [
        entry(at(root, 'pkg/hooks-plugin.ts'), of, ['hooks', 'rules']),
        entry(at(root, 'pkg/src/third.mjs'), of, null),
        entry(at(root, 'pkg/tools-plugin.ts'), of, ['tools']),
      ],
      ignored: [],
      problems: [],
      apart: [at(root, 'pkg')],
    });
  });

  it('without "cline" is a directory like any other', () => {
    const root = createDirectory({
      'package.json': JSON.stringify({ type: 'module' }),
      'plain.ts': PLUGIN,
      'lib/package.json': JSON.stringify({ name: 'lib', cline: {} }),
      'lib/inside.ts': PLUGIN,
    });
    expect(findPluginModules(root).entries.map(({ label }) => label)).toEqual(['inside', 'plain']);
  });

  it('without a name is called like its directory', () => {
    const root = createDirectory({
      'mine/package.json': packageJson(['index.ts'], { name: ' ', version: 3 }),
      'mine/index.ts': PLUGIN,
    });
    expect(findPluginModules(root).entries[0]).toMatchObject({
      label: 'mine',
      package: { name: 'mine', version: null, skills: null },
    });
  });
});

describe('a broken package', () => {
  const outside = 'lies outside the package';
  it.each([
    ['an empty list', [], '"cline.plugins" in PKG/package.json is empty'],
    ['no list', { paths: ['./index.ts'] }, 'must be a list, found object'],
    ['an entry without paths', [{ capabilities: ['tools'] }], '"cline.plugins[0]" in PKG'],
    ['an entry of another kind', [7], 'must be a path or an object, found number'],
    ['a file that is not there', ['./none.ts'], '"./none.ts" in PKG/package.json: file not found'],
    ['a file above it', ['../above.ts'], `"../above.ts" in PKG/package.json: it ${outside}`],
    ['an absolute path', ['/etc/passwd.ts'], outside],
    ['a link out of it', ['./link.ts'], 'it is a link out of the package, to ROOT/above.ts'],
    ['a link through a directory', ['./linked/above.ts'], 'it is a link out of the package'],
    ['a directory', ['./dir.ts'], 'it is not a regular file'],
    ['another ending', ['./view.tsx'], '.tsx files are not loaded as plugins'],
    ['no ending', ['./index'], 'it is not a module; expected a .ts, .mts, .js, .mjs file'],
    ['declarations', ['./types.d.ts'], 'declares types only'],
    [
      'a capability that is none',
      [{ paths: ['./index.ts'], capabilities: ['tool'] }],
      'capability "tool" not found; did you mean "tools"?',
    ],
    ['no capability', [{ paths: ['./index.ts'], capabilities: [] }], 'with at least one of hooks'],
  ])('with %s is reported, and loads nothing', (_name, plugins, message) => {
    const root = createDirectory({
      'pkg/package.json': packageJson(plugins),
      'pkg/index.ts': PLUGIN,
      'pkg/index': PLUGIN,
      'pkg/view.tsx': PLUGIN,
      'pkg/types.d.ts': PLUGIN,
      'above.ts': PLUGIN,
      'good.ts': PLUGIN,
    });
    mkdirSync(at(root, 'pkg/dir.ts'));
    symlinkSync('../above.ts', at(root, 'pkg/link.ts'));
    symlinkSync('..', at(root, 'pkg/linked'));
    const { entries, problems } = findPluginModules(root);
    expect(entries.map(({ label }) => label)).toEqual(['above', 'good']);
    expect(problems).toEqual([
      {
        path: at(root, 'pkg/package.json'),
        label: expect.any(String),
        message: expect.stringContaining(
          message.replace('PKG', at(root, 'pkg')).replace('ROOT', root),
        ),
      },
    ]);
  });

  it.each([
    ['no JSON', '{', 'is not JSON'],
    ['no object', '[]', 'must hold an object, found array'],
    ['too much', `"${'x'.repeat(1024 * 1024)}"`, 'it is larger than 1 MiB'],
  ])('of %s does not affect its neighbours', (_name, text, message) => {
    const root = createDirectory({
      'pkg/package.json': text,
      'pkg/index.ts': PLUGIN,
      'good.ts': PLUGIN,
    });
    const { entries, problems } = findPluginModules(root);
    expect(entries.map(({ label }) => label)).toEqual(['good']);
    expect(problems).toEqual([
      {
        path: at(root, 'pkg/package.json'),
        label: 'pkg',
        message: expect.stringContaining(message),
      },
    ]);
  });

  it('that is the plugin directory itself leaves the plugins in it alone', () => {
    const root = createDirectory({ 'package.json': '{', 'good.ts': PLUGIN });
    const { entries, problems } = findPluginModules(root);
    expect(entries.map(({ label }) => label)).toEqual(['good']);
    expect(problems).toHaveLength(1);
  });

  it('keeps the entries that are right', () => {
    const root = createDirectory({
      'pkg/package.json': packageJson([{ paths: ['./none.ts', './a.ts'] }, 7, './b.ts']),
      'pkg/a.ts': PLUGIN,
      'pkg/b.ts': PLUGIN,
    });
    const { entries, problems } = findPluginModules(root);
    expect(entries.map(({ file }) => path.basename(file))).toEqual(['a.ts', 'b.ts']);
    expect(problems).toHaveLength(2);
  });
});

describe('installed plugins', () => {
  const HASH = '0123456789ab';

  it('are packages whose files lie in their install directory', () => {
    const home = `_installed/git/github.com/tools-${HASH}`;
    const root = createDirectory({
      [`${home}/package.json`]: packageJson([{ paths: ['package/index.ts'] }], {
        name: 'tools',
        version: undefined,
      }),
      [`${home}/package/package.json`]: packageJson(
        [{ paths: ['./index.ts'], capabilities: ['tools'] }],
        { name: '@owner/tools', version: '2.0.0' },
      ),
      [`${home}/package/index.ts`]: PLUGIN,
      [`${home}/package/skills/one/SKILL.md`]: '',
      [`${home}/package/helper.ts`]: PLUGIN,
    });
    const { entries, apart } = findPluginModules(root);
    expect(entries).toEqual([
      {
        ...entry(
          at(root, `${home}/package/index.ts`),
          {
            directory: at(root, home),
            name: '@owner/tools',
            version: '2.0.0',
            skills: at(root, `${home}/package/skills`),
          },
          ['tools'],
        ),
        label: '@owner/tools',
      },
    ]);
    expect(apart).toEqual([at(root, '_installed'), at(root, home)]);
  });

  it('from npm lie one level deeper, and those without "cline" have their skills', () => {
    const npm = `_installed/npm/tools-${HASH}`;
    const local = `_installed/local/plain-${HASH}`;
    const root = createDirectory({
      [`${npm}/package.json`]: packageJson(['package/node_modules/@s/tools/dist/main.js']),
      [`${npm}/package/node_modules/@s/tools/package.json`]: packageJson(
        [{ paths: ['dist/main.js'] }],
        { name: '@s/tools' },
      ),
      [`${npm}/package/node_modules/@s/tools/dist/main.js`]: PLUGIN,
      [`${npm}/package/node_modules/@s/tools/skills/x/SKILL.md`]: '',
      [`${local}/package.json`]: packageJson(['package/index.ts'], {
        name: '',
        version: undefined,
      }),
      [`${local}/package/package.json`]: JSON.stringify({ name: 'inner', version: '0.1.0' }),
      [`${local}/package/index.ts`]: PLUGIN,
      [`${local}/package/skills/y/SKILL.md`]: '',
      [`_installed/remote/single-${HASH}/single.ts`]: PLUGIN,
    });
    expect(findPluginModules(root).entries.map(({ label, package: of }) => [label, of])).toEqual([
      [
        'plain',
        {
          directory: at(root, local),
          name: 'plain',
          version: '0.1.0',
          skills: at(root, `${local}/package/skills`),
        },
      ],
      [
        '@s/tools',
        {
          directory: at(root, npm),
          name: '@s/tools',
          version: '1.2.3',
          skills: at(root, `${npm}/package/node_modules/@s/tools/skills`),
        },
      ],
      ['single', null],
    ]);
  });
});

describe('a file by itself that a package above it lists', () => {
  const files = {
    'package.json': packageJson([
      { paths: ['./.cline/plugins/superpowers.ts'], capabilities: ['messageBuilders'] },
    ]),
    '.cline/plugins/superpowers.ts': PLUGIN,
    '.cline/plugins/beside.ts': PLUGIN,
    'skills/one/SKILL.md': '',
  };

  it('belongs to it, with its skills', () => {
    const root = createDirectory(files);
    const of = {
      directory: root,
      name: 'pkg',
      version: '1.2.3',
      skills: path.join(root, 'skills'),
    };
    const plugins = at(root, '.cline/plugins');
    expect(findPluginModules(plugins).entries).toEqual([
      {
        file: at(plugins, 'beside.ts'),
        path: at(plugins, 'beside.ts'),
        label: 'beside',
        package: null,
        capabilities: null,
      },
      entry(at(plugins, 'superpowers.ts'), of, ['messageBuilders']),
    ]);
  });

  it('is broken if that package declares it broken', () => {
    const bad = packageJson([
      { paths: ['./.cline/plugins/superpowers.ts'], capabilities: ['magic'] },
    ]);
    const root = createDirectory({ ...files, 'package.json': bad });
    const { entries, problems } = findPluginModules(at(root, '.cline/plugins'));
    expect(entries.map(({ label }) => label)).toEqual(['beside']);
    expect(problems).toEqual([
      {
        path: path.join(root, 'package.json'),
        label: 'pkg',
        message: expect.stringContaining('capability "magic" not found'),
      },
    ]);
  });

  it('has no skills that a link leads to elsewhere', () => {
    const { 'skills/one/SKILL.md': _skill, ...rest } = files;
    const base = createDirectory({ 'other/one/SKILL.md': '' });
    const root = createDirectory(rest);
    symlinkSync(path.join(base, 'other'), path.join(root, 'skills'));
    const [, entryOfPackage] = findPluginModules(at(root, '.cline/plugins')).entries;
    expect(entryOfPackage?.package).toMatchObject({ name: 'pkg', skills: null });
  });
});

function entry(file: string, of: object, capabilities: readonly string[] | null) {
  return { file, path: file, label: 'pkg', package: of, capabilities };
}

import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { findPluginModules } from '../../../src/plugins/find/find-modules.ts';
import { createDirectory, write } from '../../base/directory.ts';
import { hasProgram, isRoot, NOBODY } from '../../cli/temp-workspace.ts';
import { at, PLUGIN } from './plugin-sources.ts';

describe('a directory of plugins', () => {
  it('holds every module that may be one, sorted by path', () => {
    const root = createDirectory({
      'zeta.ts': PLUGIN,
      'alpha.mjs': PLUGIN,
      'mid.js': PLUGIN,
      'deep/down/mts.mts': PLUGIN,
      'lsp/index.ts': PLUGIN,
    });
    expect(findPluginModules(root)).toEqual({
      entries: [
        single(root, 'alpha.mjs', 'alpha'),
        single(root, 'deep/down/mts.mts', 'mts'),
        single(root, 'lsp/index.ts', 'lsp'),
        single(root, 'mid.js', 'mid'),
        single(root, 'zeta.ts', 'zeta'),
      ],
      ignored: [],
      problems: [],
      apart: [],
    });
  });

  it('is found to be empty where there is none, or only a file of its name', () => {
    const root = createDirectory({ file: '' });
    const nothing = { entries: [], ignored: [], problems: [], apart: [] };
    expect(findPluginModules(path.join(root, 'none'))).toEqual(nothing);
    expect(findPluginModules(path.join(root, 'file', 'below'))).toEqual(nothing);
    expect(findPluginModules(path.join(root, 'file'))).toEqual({
      ...nothing,
      ignored: [
        { path: path.join(root, 'file'), why: 'is not a directory, so it holds no plugins' },
      ],
    });
  });

  it('leaves out, with the reason, what looks like a plugin and is not loaded', () => {
    const root = createDirectory({
      'view.tsx': PLUGIN,
      'view.jsx': PLUGIN,
      'old.cjs': PLUGIN,
      'old.cts': PLUGIN,
      'SHOUT.TS': PLUGIN,
    });
    const { entries, ignored } = findPluginModules(root);
    expect(entries).toEqual([]);
    expect(whyOf(root, ignored)).toEqual({
      'SHOUT.TS': 'its ending should be .ts, in small letters',
      'old.cjs': '.cjs files are not loaded as plugins; use one of .ts, .mts, .js, .mjs',
      'old.cts': '.cts files are not loaded as plugins; use one of .ts, .mts, .js, .mjs',
      'view.jsx': '.jsx files are not loaded as plugins; use one of .ts, .mts, .js, .mjs',
      'view.tsx': '.tsx files are not loaded as plugins; use one of .ts, .mts, .js, .mjs',
    });
    expect(ignored.every(({ isQuiet }) => isQuiet === undefined)).toBe(true);
  });

  it('ignores tests, declarations and helpers without a note', () => {
    const root = createDirectory({
      'plugin.ts': `import { greet } from './greet'\nimport say from './say.js'\n${PLUGIN}`,
      'greet.ts': 'export const greet = () => "hello"\n',
      'say.ts': 'export default (text: string) => text\n',
      'types.d.ts': PLUGIN,
      'types.d.mts': PLUGIN,
      'plugin.test.ts': PLUGIN,
      'plugin.spec.mjs': PLUGIN,
    });
    const { entries, ignored } = findPluginModules(root);
    expect(entries.map(({ label }) => label)).toEqual(['plugin']);
    expect(whyOf(root, ignored)).toEqual({
      'greet.ts': 'no plugin in it',
      'say.ts': 'no plugin in it',
      'types.d.ts': 'declares types only',
      'types.d.mts': 'declares types only',
      'plugin.test.ts': 'is a test',
      'plugin.spec.mjs': 'is a test',
    });
    expect(ignored.every(({ isQuiet }) => isQuiet === true)).toBe(true);
  });

  it('keeps a plugin that another file imports, so that no file can remove a guard', () => {
    const root = createDirectory({
      'guard.ts': PLUGIN,
      'other.ts': `import guard from './guard.ts'\n${PLUGIN}`,
    });
    expect(findPluginModules(root).entries.map(({ label }) => label)).toEqual(['guard', 'other']);
  });

  it('does not list files that cannot be plugins', () => {
    const root = createDirectory({
      'README.md': '# notes',
      'data.json': '{}',
      '.hidden.ts': PLUGIN,
      '.git/hook.ts': PLUGIN,
      '_installed/.tmp/half/index.ts': PLUGIN,
      'node_modules/zod/index.js': PLUGIN,
    });
    expect(findPluginModules(root)).toEqual({
      entries: [],
      ignored: [],
      problems: [],
      apart: [at(root, '_installed'), at(root, 'node_modules')],
    });
  });

  it('ignores Agent Plugins, which are another format', () => {
    const schema = 'https://agent-plugins.org/schemas/1.0.0/plugin.schema.json';
    const root = createDirectory({
      'agent/plugin.json': JSON.stringify({ $schema: schema, name: 'agent' }),
      'agent/tool.ts': PLUGIN,
      'mine/plugin.json': JSON.stringify({ name: 'mine' }),
      'mine/tool.ts': PLUGIN,
    });
    const { entries, ignored } = findPluginModules(root);
    expect(entries.map(({ label }) => label)).toEqual(['tool']);
    expect(ignored).toEqual([
      { path: at(root, 'agent'), why: expect.stringContaining('is an Agent Plugin') },
    ]);
  });
});

describe('links', () => {
  it('are followed, and a file that several lead to is found once', () => {
    const base = createDirectory({ 'elsewhere/real.ts': PLUGIN, 'root/.keep': '' });
    const root = path.join(base, 'root');
    symlinkSync('../elsewhere/real.ts', path.join(root, 'a.ts'));
    symlinkSync('../elsewhere/real.ts', path.join(root, 'b.ts'));
    symlinkSync('../elsewhere', path.join(root, 'dir'));
    expect(findPluginModules(root).entries).toEqual([
      {
        ...single(root, 'a.ts', 'a'),
        file: path.join(base, 'elsewhere/real.ts'),
      },
    ]);
  });

  it('in a circle end, and those to nothing are reported', () => {
    const root = createDirectory({ 'sub/plugin.ts': PLUGIN });
    symlinkSync('..', path.join(root, 'sub', 'up'));
    symlinkSync('self.ts', path.join(root, 'self.ts'));
    symlinkSync('gone.md', path.join(root, 'notes.md'));
    const { entries, ignored } = findPluginModules(root);
    expect(entries.map(({ label }) => label)).toEqual(['plugin']);
    expect(ignored).toEqual([
      { path: at(root, 'self.ts'), why: 'is a broken link', mayHidePlugin: true },
    ]);
  });
});

describe('directories that are too large', () => {
  it.skipIf(!hasProgram('mkfifo'))('a pipe with the name of a plugin is not waited for', () => {
    const root = createDirectory({ 'good.ts': PLUGIN });
    spawnSync('mkfifo', [path.join(root, 'x.ts')]);
    mkdirSync(path.join(root, 'piped'));
    spawnSync('mkfifo', [path.join(root, 'piped', 'package.json')]);
    symlinkSync('/dev/zero', path.join(root, 'endless.ts'));
    const { entries, ignored, problems } = findPluginModules(root);
    expect(entries.map(({ label }) => label)).toEqual(['good']);
    expect(ignored).toEqual([
      { path: at(root, 'endless.ts'), why: 'is not a regular file' },
      { path: at(root, 'x.ts'), why: 'is not a regular file' },
    ]);
    expect(problems).toEqual([
      {
        path: at(root, 'piped/package.json'),
        label: 'piped',
        message: expect.stringContaining('it is not a regular file'),
      },
    ]);
  });

  it('are left out from some depth on, with a warning', () => {
    const root = createDirectory({ 'a/b/c/deep.ts': PLUGIN, 'a/near.ts': PLUGIN });
    const found = findPluginModules(root, { depth: 2, directories: 100, files: 100 });
    expect(found.entries.map(({ label }) => label)).toEqual(['near']);
    expect(found.ignored).toEqual([
      { path: at(root, 'a/b/c'), why: 'lies more than 2 directories deep', mayHidePlugin: true },
    ]);
  });

  it.each(['files', 'directories'] as const)('are cut after so many %s, with a warning', (what) => {
    const names = Array.from({ length: 8 }, (_, index) =>
      what === 'files' ? `${index}.ts` : `${index}/x.ts`,
    );
    const root = createDirectory(Object.fromEntries(names.map((name) => [name, PLUGIN])));
    const limits = { depth: 9, directories: 100, files: 100, [what]: 4 };
    const { entries, ignored } = findPluginModules(root, limits);
    expect(entries.length).toBeLessThanOrEqual(4);
    expect(ignored).toEqual([
      {
        path: root,
        why: `holds more than 4 ${what} to look at: the rest is left out`,
        mayHidePlugin: true,
      },
    ]);
  });

  it('of thousands of files cost little', () => {
    const root = createDirectory({ 'plugin.ts': PLUGIN });
    for (let number = 0; number < 5000; number++) write(path.join(root, `${number}.txt`), '');
    expect(cpuTimeOf(() => expect(findPluginModules(root).entries).toHaveLength(1))).toBeLessThan(
      1000,
    );
  });

  it('a text that would keep a regular expression busy is scanned quickly', () => {
    const root = createDirectory({
      'braces.ts': 'export {'.repeat(120_000),
      'spaces.ts': `export${' '.repeat(900_000)}`,
      'imports.ts': 'from "./'.repeat(120_000),
    });
    // What an expression that looks back would need grows with the square of this: hours.
    expect(cpuTimeOf(() => expect(findPluginModules(root).entries).toEqual([]))).toBeLessThan(
      20_000,
    );
  });

  it('a file that is too large to scan may be a plugin', () => {
    const root = createDirectory({ 'bundle.js': `${'/* */\n'.repeat(200_000)}${PLUGIN}` });
    expect(findPluginModules(root).entries.map(({ label }) => label)).toEqual(['bundle']);
  });

  // As root nothing is unreadable, so another user runs the search.
  it.skipIf(process.platform === 'win32')('a directory that cannot be read is reported', () => {
    const root = createDirectory({ 'shut/plugin.ts': PLUGIN, 'open.ts': PLUGIN });
    chmodSync(root, 0o755);
    chmodSync(path.join(root, 'shut'), 0);
    const { entries, ignored } = isRoot ? findAsOtherUser(root) : findPluginModules(root);
    expect(entries.map(({ label }) => label)).toEqual(['open']);
    expect(ignored).toEqual([
      {
        path: at(root, 'shut'),
        why: expect.stringContaining('cannot be read'),
        mayHidePlugin: true,
      },
    ]);
    chmodSync(path.join(root, 'shut'), 0o755);
  });
});

function findAsOtherUser(root: string): ReturnType<typeof findPluginModules> {
  const { seteuid } = process;
  seteuid?.(NOBODY);
  try {
    return findPluginModules(root);
  } finally {
    seteuid?.(0);
  }
}

function single(root: string, name: string, label: string) {
  const file = at(root, name);
  return { file, path: file, label, package: null, capabilities: null };
}

function whyOf(
  root: string,
  ignored: ReturnType<typeof findPluginModules>['ignored'],
): Record<string, string> {
  return Object.fromEntries(ignored.map(({ path: file, why }) => [path.relative(root, file), why]));
}

/** In milliseconds; what other programs do meanwhile does not count. */
function cpuTimeOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

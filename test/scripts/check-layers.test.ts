import { spawnSync } from 'node:child_process';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTree, removeTree } from './tree.ts';

let root: string;
beforeEach(() => {
  root = createTree({ 'package.json': '{"dependencies":{"re2js":"1","chokidar":"1"}}' });
});
afterEach(() => removeTree(root));

test('a tree that keeps every rule passes', () => {
  createTree(
    {
      'src/base/json.ts': 'export const json = 1;',
      'src/hooks/merge.ts': `import path from 'node:path';
        import { RE2JS } from 're2js';
        import { json } from '../base/json.ts';
        export const merge = [path, RE2JS, json];`,
      'src/dialects/index.ts': `export { discover } from './cline-files/discover.ts';`,
      'src/dialects/cline-files/discover.ts': `import { names } from './names.ts';
        export const discover = names;`,
      'src/dialects/cline-files/names.ts': 'export const names = [];',
      'src/host/surroundings.ts': 'export const environment = process.env;',
      'src/index.ts': `export { environment } from './host/surroundings.ts';`,
    },
    root,
  );
  expect(checkLayers()).toEqual({ exitCode: 0, lines: ['layers: 7 files, 0 violations'] });
});

test('an import that the table does not allow is named with what is allowed', () => {
  createTree(
    {
      'src/base/json.ts': `export type { Run } from '../process/run.ts';`,
      'src/hooks/merge.ts': `import { run } from '../process/run.ts'; export { run };`,
      'src/hooks/lazy.ts': `export const run = () => import('../process/run.ts');`,
      'src/hooks/typed.ts': `export type Run = import('../process/run.ts').Run;`,
      'src/process/run.ts': `export type Run = string; export const run = '';`,
      'src/host/create-host.ts': `import '../cli/main.ts';`,
      'src/cli/main.ts': `import '../index.ts';`,
      'src/index.ts': 'export const name = 1;',
      'src/drawer/thing.ts': `import '../base/json.ts';`,
    },
    root,
  );
  expect(checkLayers()).toEqual({
    exitCode: 1,
    lines: [
      'src/base/json.ts imports src/process/run.ts: base may import nothing',
      expect.stringMatching(
        /^src\/cli\/main.ts imports src\/index.ts: cli may import base, hooks,/,
      ),
      'src/drawer/thing.ts imports src/base/json.ts: the folder drawer has no row in scripts/layer-table.ts',
      'src/hooks/lazy.ts imports src/process/run.ts: hooks may import base, tool-vocabularies',
      'src/hooks/merge.ts imports src/process/run.ts: hooks may import base, tool-vocabularies',
      'src/hooks/typed.ts imports src/process/run.ts: hooks may import base, tool-vocabularies',
      expect.stringMatching(
        /^src\/host\/create-host.ts imports src\/cli\/main.ts: host may import/,
      ),
      'layers: 9 files, 7 violations',
    ],
  });
});

test('modules of Node and packages are refused where the table says so', () => {
  createTree(
    {
      'src/hooks/merge.ts': `import { readFile } from 'node:fs/promises';
        import { spawn } from 'child_process';
        import chokidar from 'chokidar';
        export { readFile, spawn, chokidar };`,
      'src/host/watch-hook-files.ts': `export { watch } from 'chokidar'; export { z } from 'zod/mini';`,
    },
    root,
  );
  expect(checkLayers()).toEqual({
    exitCode: 1,
    lines: [
      'src/hooks/merge.ts imports node:fs/promises: hooks never imports node:child_process, node:fs, node:http, node:https, node:net',
      'src/hooks/merge.ts imports child_process: hooks never imports node:child_process, node:fs, node:http, node:https, node:net',
      expect.stringMatching(/^src\/hooks\/merge.ts imports chokidar: hooks may import re2js/),
      'src/host/watch-hook-files.ts imports zod/mini: it is not among the dependencies of package.json',
      'layers: 2 files, 4 violations',
    ],
  });
});

test('dialects never import each other, and only their list knows them', () => {
  createTree(
    {
      'src/dialects/cline-files/codec.ts': `import '../claude/codec.ts';`,
      'src/dialects/claude/codec.ts': `import '../dialect.ts';`,
      'src/dialects/dialect.ts': 'export interface Dialect {}',
      'src/dialects/command-handler.ts': `import './cline-files/codec.ts';`,
      'src/host/open-hooks.ts': `import '../dialects/cline-files/codec.ts';`,
    },
    root,
  );
  expect(checkLayers()).toEqual({
    exitCode: 1,
    lines: [
      'src/dialects/cline-files/codec.ts imports src/dialects/claude/codec.ts: only src/dialects/index.ts and the folder itself may import from claude',
      'src/dialects/command-handler.ts imports src/dialects/cline-files/codec.ts: only src/dialects/index.ts and the folder itself may import from cline-files',
      'src/host/open-hooks.ts imports src/dialects/cline-files/codec.ts: only src/dialects/index.ts and the folder itself may import from cline-files',
      'layers: 5 files, 3 violations',
    ],
  });
});

test('scripts and the bench stay outside of the dialects, but are in no layer', () => {
  createTree(
    {
      'src/dialects/claude/codec.ts': 'export const codec = 1;',
      'src/dialects/index.ts': `export { codec } from './claude/codec.ts';`,
      'bench/rows/a.ts': `import type { codec } from '../../src/dialects/claude/codec.ts';`,
      'scripts/a.ts': `export const load = () => import('../src/dialects/claude/codec.ts');`,
      'scripts/b.ts': `import zod from 'zod'; export { codec } from '../src/dialects/index.ts'; export { zod };`,
      'test/a.test.ts': `export { codec } from '../src/dialects/claude/codec.ts';`,
    },
    root,
  );
  const border = 'only src/dialects/index.ts and the folder itself may import from claude';
  expect(checkLayers()).toEqual({
    exitCode: 1,
    lines: [
      `scripts/a.ts imports src/dialects/claude/codec.ts: ${border}`,
      `bench/rows/a.ts imports src/dialects/claude/codec.ts: ${border}`,
      'layers: 5 files, 2 violations',
    ],
  });
});

test('an exception for types or for one file goes no further', () => {
  createTree(
    {
      'src/hooks/handler.ts': 'export interface Handler {}; export const handler = 1;',
      'src/process/run.ts': 'export const run = 1;',
      'src/plugins/api.ts': `import type { Handler } from '../hooks/handler.ts'; export type { Handler };`,
      'src/plugins/install/npm.ts': `export { run } from '../../process/run.ts';`,
      'src/plugins/load.ts': `export { handler } from '../hooks/handler.ts'; export { run } from '../process/run.ts';`,
    },
    root,
  );
  expect(checkLayers()).toEqual({
    exitCode: 1,
    lines: [
      'src/plugins/load.ts imports src/hooks/handler.ts: plugins may import base, hooks (types only), process from plugins/install, process from plugins/isolation, tool-vocabularies from plugins/messages, sessions from plugins/messages',
      'src/plugins/load.ts imports src/process/run.ts: plugins may import base, hooks (types only), process from plugins/install, process from plugins/isolation, tool-vocabularies from plugins/messages, sessions from plugins/messages',
      'layers: 5 files, 2 violations',
    ],
  });
});

test('a cycle is found although one of its imports is of types only', () => {
  createTree(
    {
      'src/hooks/a.ts': `import { b } from './b.ts'; export const a = b; export type A = string;`,
      'src/hooks/b.ts': `import type { A } from './a.ts'; export const b: A = '';`,
    },
    root,
  );
  expect(checkLayers()).toEqual({
    exitCode: 1,
    lines: [
      'src/hooks/a.ts → src/hooks/b.ts → src/hooks/a.ts: a cycle',
      'layers: 2 files, 1 violations',
    ],
  });
});

test('the environment, the working directory, the time and exit are read in few files only', () => {
  createTree(
    {
      'src/base/clock.ts': 'export const now = () => Date.now();',
      'src/hooks/engine.ts': `
        import { cwd } from 'node:process';
        // process.env in a comment and 'process.env' in a string are no reading of it
        export const quoted = 'Date.now()';
        export const all = [process.env, globalThis.process.cwd(), Date.now(), new Date(), cwd];
        export const { exit } = process;
        export const parsed = new Date(0);`,
    },
    root,
  );
  const allowed =
    'only src/host/surroundings.ts, src/base/clock.ts, src/cli/main.ts, src/cli/forward.ts, src/plugin-child.ts, src/host/plugins/process-ports.ts may';
  expect(checkLayers()).toEqual({
    exitCode: 1,
    lines: [
      `src/hooks/engine.ts:2 uses process.cwd: ${allowed}`,
      `src/hooks/engine.ts:5 uses process.env: ${allowed}`,
      `src/hooks/engine.ts:5 uses process.cwd: ${allowed}`,
      `src/hooks/engine.ts:5 uses Date.now: ${allowed}`,
      `src/hooks/engine.ts:5 uses new Date(): ${allowed}`,
      `src/hooks/engine.ts:6 uses process.exit: ${allowed}`,
      'layers: 2 files, 6 violations',
    ],
  });
});

function checkLayers(): { exitCode: number | null; lines: string[] } {
  const script = ['--import', 'jiti/register', 'scripts/check-layers.ts', root];
  const { status, stdout, stderr } = spawnSync(process.execPath, script, { encoding: 'utf8' });
  expect(stderr).toBe('');
  return { exitCode: status, lines: stdout.trimEnd().split('\n') };
}

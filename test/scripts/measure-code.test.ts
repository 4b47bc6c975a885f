import { expect, test } from 'vitest';
import {
  countFile,
  findBorderCrossings,
  findDialectPlaces,
  findSetupPlaces,
} from '../../scripts/measure/count-tree.ts';
import { instrument } from '../../scripts/measure/instrument.ts';
import { readSourceFiles, type SourceFile } from '../../scripts/source-files.ts';
import { createTree, removeTree } from './tree.ts';

test('interfaces, object types, exports and functions are counted, re-exports are not', () => {
  const [source] = read({
    'src/base/a.ts': `
      export { other } from './b.ts';
      export interface One { readonly a: string }
      export type Two = { readonly a: string };
      type Three = One & { readonly b: string };
      export type Four = 'a' | 'b';
      export const readIt = (one: One): string => one.a;
      export const nameOf = ({ a }: Two): string => a;
      export function given(): Three | null { return null; }
      export const LIMIT = 1;`,
  });
  expect(source && countFile(source)).toEqual({
    path: 'src/base/a.ts',
    lines: 10,
    interfaces: 3,
    exports: 7,
    functions: ['readIt', 'nameOf', 'given'],
    unplain: ['nameOf', 'given'],
  });
});

test('an import of a dialect’s inside from elsewhere is found', () => {
  const sources = read({
    'src/dialects/claude/names.ts': 'export const NAMES = [];',
    'src/dialects/index.ts': `export { NAMES } from './claude/names.ts';`,
    'src/host/a.ts': `import type { NAMES } from '../dialects/claude/names.ts';`,
    'src/host/b.ts': `import { NAMES } from '../dialects/index.ts';`,
    'src/host/c.ts': `export const load = () => import('../dialects/claude/names.ts');`,
  });
  expect(findBorderCrossings(sources)).toEqual(['src/host/a.ts', 'src/host/c.ts']);
});

test('places that a new dialect has to touch are those that name or list dialects', () => {
  const sources = read({
    'src/dialects/claude/a.ts': 'export {};',
    'src/dialects/cline-files/a.ts': 'export {};',
    'src/dialects/index.ts': `export type Name = 'claude' | 'cline-files';`,
    'src/agent/toolsets.ts': `export const TOOLSETS = { claude: 1, cline: 2 };`,
    'src/cli/commands.ts': `export const FLAG = { flag: '--as', choices: ['cline', 'claude'] };`,
    'src/cli/doctor.ts': `export const isIt = (hook: { dialect: string }) => hook.dialect === 'claude';`,
    'src/cli/list.ts': `export const words = ['claude', 'other'];`,
    'src/cli/new.ts': `export const pick = (dialect?: string) => dialect ?? 'cline';`,
    'src/templates/claude/bash.ts': 'export {};',
    'src/templates/claude/python.ts': 'export {};',
  });
  expect(findDialectPlaces(sources)).toEqual([
    'src/cli/commands.ts',
    'src/cli/doctor.ts',
    'src/cli/new.ts',
    'src/dialects/index.ts',
    'src/templates/claude',
  ]);
});

test('comparisons with a dialect’s name are found in all of src, but not in compat/cline', () => {
  const sources = read({
    'src/dialects/cline-plugins/dialect.ts': `export const it = { name: 'plugin', events: {}, vocabulary: 'sdk' };`,
    'src/dialects/claude/found-hook.ts': `export const unit = { dialect: 'claude' };`,
    'src/agent/a.ts': `export const isIt = ({ dialect }: X) => dialect === 'plugin';`,
    'src/agent/b.ts': `export const isIt = ({ kind }: X) => kind === 'plugin';`,
    'src/agent/c.ts': `export const isIt = (vocabulary: string) => vocabulary === 'claude';`,
    'src/agent/plugin-hooks.ts': 'export {};',
    'src/compat/cline/a.ts': `export const isIt = ({ dialect }: X) => dialect === 'plugin';`,
    'src/hooks/a.ts': `export const isIt = (dialects: string[]) => dialects.includes('claude');`,
    'src/hooks/b.ts': `export const isIt = (one: X, other: X) => one.dialect === other.dialect;`,
    'src/permissions/a.ts': `export function f(dialect: string) { switch (dialect) { case 'claude': return 1; } }`,
    'src/trust/a.ts': `export const isIt = (unit: X) => 'claude' !== unit.dialect;`,
  });
  expect(findDialectPlaces(sources)).toEqual([
    'src/agent/a.ts',
    'src/hooks/a.ts',
    'src/permissions/a.ts',
    'src/trust/a.ts',
  ]);
});

test('the set-up of plugins is assembled where an api or a registry is made', () => {
  const sources = read({
    'src/plugins/api.ts': 'export function createApi() { return {}; }',
    'src/plugins/registry.ts': `import { createApi } from './api.ts';
      export const openRegistry = () => createApi();`,
    'src/host/a.ts': `import { openRegistry } from '../plugins/registry.ts'; openRegistry();`,
    'src/host/b.ts': `import type { openRegistry } from '../plugins/registry.ts';`,
  });
  expect(findSetupPlaces(sources)).toEqual(['src/host/a.ts']);
});

test('named functions are traced with their parameters, callbacks and generators are not', () => {
  const [source] = read({
    'src/base/a.ts': `export async function run({ a, b: [c] }: X, ...d: Y[]) { return a; }
const twice = (n = 1) => ({ n: n * 2 });
class Box { #open() { return [1].map((each) => each); } *list() { yield 1; } }`,
  });
  expect(source && instrument(source)).toBe(
    `export async function run({ a, b: [c] }: X, ...d: Y[]) {return __trace("src/base/a.ts#run:1", async () => { return a; \n}, [[a, c], [d]]);}
const twice = (n = 1) => __trace("src/base/a.ts#twice:2", () => (({ n: n * 2 })), [[n]]);
class Box { #open() {return __trace("src/base/a.ts##open:3", () => { return [1].map((each) => each); \n}, []);} *list() { yield 1; } }`,
  );
});

function read(files: Readonly<Record<string, string>>): SourceFile[] {
  const root = createTree(files);
  try {
    return readSourceFiles(root, ['src']);
  } finally {
    removeTree(root);
  }
}

import { spawnSync } from 'node:child_process';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTree, removeTree } from './tree.ts';

let root: string;
beforeEach(() => {
  root = createTree({ 'package.json': '{}' });
});
afterEach(() => removeTree(root));

test('a tree within its budgets passes', () => {
  createTree(
    {
      'src/index.ts': `export { b as renamed } from './base/b.ts';`,
      'src/base/b.ts': `// Words such as any, "as string" and enum count in code only.
        export const b = ['throw new Error()'] as const;`,
      'src/base/types-of-things.ts': 'export type Thing = string;',
    },
    root,
  );
  expect(checkBudgets()).toEqual({ exitCode: 0, violations: [] });
});

test('long functions are named with their limit', () => {
  createTree(
    {
      'scripts/long-function.ts': `const one = 1;\nexport function long() {\n${lines(59)}\n}`,
      'scripts/long-method.ts': `export class Thing {\n  method() {\n${lines(59)}\n}\n}`,
      'scripts/full-function.ts': `export const full = () => {\n${lines(58)}\n}`,
    },
    root,
  );
  expect(checkBudgets()).toEqual({
    exitCode: 1,
    violations: [
      'scripts/long-function.ts:2: a function of 61 lines, at most 60',
      'scripts/long-method.ts:2: a function of 61 lines, at most 60',
    ],
  });
});

test('folders stay shallow', () => {
  createTree(
    {
      'src/cli/commands/plugin/list.ts': 'export {};',
      'src/cli/commands/deep/further/down.ts': 'export {};',
    },
    root,
  );
  expect(checkBudgets()).toEqual({
    exitCode: 1,
    violations: ['src/cli/commands/deep/further/down.ts: 4 folders below src, at most 3'],
  });
});

test('neither files, folders nor the usual function have a size limit', () => {
  const long = `export function long() {\n${lines(58)}\n}\n${lines(1000)}`;
  const files = Array.from({ length: 40 }, (_, index) => [`src/hooks/f${index}.ts`, long]);
  createTree(Object.fromEntries(files), root);
  expect(checkBudgets()).toEqual({ exitCode: 0, violations: [] });
});

test('what the style forbids is found in code and not in comments', () => {
  createTree(
    {
      'src/base/style.ts': `
        export const a = (value: any) => value;
        export enum Colour { red }
        export function b() { try { a(1); } catch { /* nothing */ } }
        export function c() { throw new TypeError('x'); }`,
      'scripts/style.ts': `export function c() { throw new Error('fine in scripts'); }`,
    },
    root,
  );
  expect(checkBudgets()).toEqual({
    exitCode: 1,
    violations: [
      'src/base/style.ts:2: any; say unknown and narrow it',
      'src/base/style.ts:3: an enum; say a union of literals',
      'src/base/style.ts:4: an empty catch; a failure must go somewhere',
      'src/base/style.ts:5: throws a bare Error; throw a HooklineError or use invariant',
    ],
  });
});

test('casts are counted against one budget', () => {
  const casts = Array.from({ length: 11 }, (_, index) => `export const c${index} = 1 as number;`);
  createTree({ 'src/base/casts.ts': casts.join('\n') }, root);
  const locations = casts.map((_, index) => `src/base/casts.ts:${index + 1}`).join(', ');
  expect(checkBudgets()).toEqual({
    exitCode: 1,
    violations: [`src: 11 casts, at most 10: ${locations}`],
  });
});

test('folders named utils and barrel files are refused', () => {
  createTree(
    {
      'src/base/utils.ts': 'export const a = 1;',
      'src/core/thing.ts': 'export const a = 1;',
      'src/hooks/types.ts': 'export const a = 1;',
      'src/hooks/index.ts': `export * from './types.ts';`,
      'src/dialects/index.ts': `export { a } from '../core/thing.ts';`,
    },
    root,
  );
  expect(checkBudgets()).toEqual({
    exitCode: 1,
    violations: [
      'src/base/utils.ts: a drawer; name it after the thing it holds',
      'src/core/thing.ts: a drawer; name it after the thing it holds',
      'src/hooks/types.ts: a drawer; name it after the thing it holds',
      'src/hooks/index.ts: only re-exports; import from the file that has the thing',
    ],
  });
});

test('suppressions and unfinished work are refused everywhere, tests included', () => {
  const unfinished = ['TO', 'DO'].join('');
  createTree(
    {
      'src/base/a.ts': `// ${unfinished}: later\nexport const a = '${unfinished}';`,
      'test/base/a.test.ts': '// oxlint-disable-next-line no-console\nexport {};',
      'examples/story/check.ts': '/* @ts-ignore */ export {};',
    },
    root,
  );
  expect(checkBudgets()).toEqual({
    exitCode: 1,
    violations: [
      'src/base/a.ts:1: unfinished; finish it or drop it',
      'test/base/a.test.ts:1: a suppression; fix the code',
      'examples/story/check.ts:1: a suppression; fix the code',
    ],
  });
});

function lines(count: number): string {
  return Array.from({ length: count }, () => ';').join('\n');
}

function checkBudgets(): { exitCode: number | null; violations: string[] } {
  const script = ['--import', 'jiti/register', 'scripts/check-budgets.ts', root];
  const { status, stdout, stderr } = spawnSync(process.execPath, script, { encoding: 'utf8' });
  expect(stderr).toBe('');
  const output = stdout.trimEnd().split('\n');
  expect(output.at(-1)).toMatch(/^budgets: /);
  return { exitCode: status, violations: output.slice(0, -1) };
}

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createDirectory, write } from '../../base/directory.ts';

const PAGES = ['README.md', 'docs/guide/embedding.md'];

test('the code blocks of the embedding pages are TypeScript that compiles', () => {
  const blocks = PAGES.flatMap((page) =>
    blocksOf(page).map((block, index) => ({ name: `${path.parse(page).name}-${index}.ts`, block })),
  );
  expect(blocks.length).toBeGreaterThanOrEqual(4);
  const directory = createDirectory({ 'package.json': '{"type": "module"}' });
  for (const { name, block } of blocks) write(path.join(directory, name), inFunction(block));
  expect(problemsIn(directory)).toBe('');
});

function blocksOf(page: string): string[] {
  return [...readFileSync(page, 'utf8').matchAll(/```ts\n(.*?)```/gsu)].map(
    ([, text]) => text ?? '',
  );
}

/** A reader has these at hand in an agent of their own. */
const AT_HAND =
  'workspace: string, callId: string, name: string, input: unknown, run: (input: unknown) => void';

function inFunction(block: string): string {
  const lines = block.split('\n');
  const imports = lines.filter((line) => line.startsWith('import '));
  const rest = lines.filter((line) => !line.startsWith('import '));
  return [...imports, `export async function shown(${AT_HAND}) {`, ...rest, '}'].join('\n');
}

function problemsIn(directory: string): string {
  const own = path.resolve('.');
  const compilerOptions = {
    paths: {
      hookline: [path.join(own, 'src/index.ts')],
      'hookline/hooks': [path.join(own, 'src/hooks.ts')],
      'hookline/testing': [path.join(own, 'src/testing.ts')],
    },
    typeRoots: [path.join(own, 'node_modules/@types')],
    noImplicitReturns: false,
  };
  const project = write(
    path.join(directory, 'tsconfig.json'),
    JSON.stringify({
      extends: path.join(own, 'tsconfig.json'),
      compilerOptions,
      include: ['*.ts'],
    }),
  );
  const compiler = path.join(own, 'node_modules/typescript/bin/tsc');
  try {
    return execFileSync(process.execPath, [compiler, '-p', project], { encoding: 'utf8' });
  } catch (error) {
    const problems = String(Object(error).stdout).split('\n');
    return problems.filter((line) => line.includes(path.basename(directory))).join('\n');
  }
}

import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { expect } from 'vitest';
import { directoryWith } from '../plugins/author/documented-plugins.ts';

const PROJECT = path.resolve(import.meta.dirname, '../..');

const CONFIG = {
  compilerOptions: {
    target: 'es2023',
    lib: ['es2023'],
    module: 'esnext',
    moduleResolution: 'bundler',
    allowImportingTsExtensions: true,
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: ['node'],
    typeRoots: [path.join(PROJECT, 'node_modules/@types')],
    paths: { '@cline/core': [path.join(PROJECT, 'src/index.ts')] },
  },
  include: ['**/*.ts'],
};

/** What the compiler has against modules for which `@cline/core` is this library. */
export function problemsIn(modules: Readonly<Record<string, string>>): readonly string[] {
  const directory = directoryWith({
    ...modules,
    // Bun and newer versions of Node have it; the declarations of the oldest do not.
    'import-meta.d.ts': 'interface ImportMeta { main?: boolean }\n',
    'package.json': '{"type":"module"}',
    'tsconfig.json': JSON.stringify(CONFIG),
  });
  const tsc = path.join(PROJECT, 'node_modules/typescript/bin/tsc');
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [tsc, '-p', directory, '--pretty', 'false'],
    {
      cwd: directory,
      encoding: 'utf8',
    },
  );
  expect(stderr).toBe('');
  // Those of our own files are the business of `npm run types`.
  return stdout.split('\n').filter((line) => /^[^.\s]/u.test(line));
}

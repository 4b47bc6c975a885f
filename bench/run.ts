import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { build } from 'rolldown';

// Measured in a process of its own without a TypeScript loader: starting a program costs the more
// the larger the process that starts it is, and a heavy one would hide what the engine adds.
const here = import.meta.dirname;
const directory = path.join(here, 'node_modules', '.cache');

await build({
  input: { bench: path.join(here, 'main.ts') },
  platform: 'node',
  external: /^[@a-z]/,
  transform: { target: 'node20.19' },
  output: { dir: directory, format: 'esm', entryFileNames: '[name].mjs', cleanDir: true },
});
const program = path.join(directory, 'bench.mjs');
const { status } = spawnSync(
  process.execPath,
  ['--expose-gc', program, '--project', path.dirname(here), ...process.argv.slice(2)],
  { stdio: 'inherit' },
);
process.exitCode = status ?? 1;

import { execFile, spawnSync } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

const PROJECT = path.resolve(import.meta.dirname, '../..');

export const hasMkfifo = spawnSync('mkfifo', ['--version']).error === undefined;
export const isRoot = process.getuid?.() === 0;

/** Runs a program of `fixtures/` in a node process of its own and gives what it printed. */
export async function runFixture(name: string, args: readonly string[]): Promise<string> {
  const program = path.join(import.meta.dirname, 'fixtures', name);
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', 'jiti/register', program, ...args],
    { cwd: PROJECT },
  );
  return stdout;
}

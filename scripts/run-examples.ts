import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';

const LIMIT_MS = 120_000;

const checks = existsSync('examples')
  ? readdirSync('examples')
      .map((story) => path.join('examples', story, 'check.ts'))
      .filter((file) => existsSync(file))
      .toSorted()
  : [];
const failed = checks.filter((file) => !passes(file));
if (checks.length === 0) process.stdout.write('There is no examples/*/check.ts to run.\n');
process.stdout.write(`${checks.length - failed.length} passed, ${failed.length} failed\n`);
process.exitCode = checks.length === 0 || failed.length > 0 ? 1 : 0;

function passes(file: string): boolean {
  const startedAt = performance.now();
  const run = spawnSync(process.execPath, ['--import', 'jiti/register', file], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LIMIT_MS,
  });
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const isFine = run.status === 0;
  process.stdout.write(`${isFine ? 'ok  ' : 'FAIL'} ${path.dirname(file)} (${seconds} s)\n`);
  if (!isFine) process.stdout.write(`${run.stdout}${run.stderr}${run.error?.message ?? ''}\n`);
  return isFine;
}

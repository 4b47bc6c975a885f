import { equal } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';

equal(agent('rm -rf build'), 'refused: no rm -rf here\n');
equal(agent('npm install'), 'runs: npm ci\n');
equal(agent('ls'), 'runs: ls\n');

function agent(command: string): string {
  const file = path.join(import.meta.dirname, 'agent.mjs');
  const workspace = path.join(import.meta.dirname, 'workspace');
  const run = spawnSync(process.execPath, [file, workspace, command], { encoding: 'utf8' });
  return run.stdout + run.stderr;
}

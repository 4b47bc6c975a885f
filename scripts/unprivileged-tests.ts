import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { readTestReport, type TestReport } from './test-report.ts';

/** What touches processes, files and locks: there root may do what other users may not. */
const FOLDERS = ['base', 'process', 'sessions', 'trust', 'faults', 'trace'];
const NOBODY = 65_534;
const REPORT = 'tests.json';
const LIMIT_MS = 20 * 60_000;

/**
 * Runs some folders of tests as `nobody`, in a copy of the tree that belongs to it, because the tree itself may be in
 * a directory that only root may enter. Null when they did not run to their end.
 */
export function runTestsAsNobody(): TestReport | null {
  const base = mkdtempSync(path.join(os.tmpdir(), 'hookline-nobody-'));
  try {
    const tree = path.join(base, 'tree');
    for (const name of ['tree', 'home', 'tmp']) mkdirSync(path.join(base, name));
    const entries = readdirSync('.').filter((name) => name !== '.git' && name !== 'coverage');
    execFileSync('cp', ['-a', ...entries, tree]);
    execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, base]);
    runVitest(base, tree);
    return readTestReport(path.join(tree, REPORT));
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

function runVitest(base: string, tree: string): void {
  const user = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'];
  const vitest = [path.join('node_modules', 'vitest', 'vitest.mjs'), 'run'];
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${REPORT}`];
  const folders = FOLDERS.map((name) => `test/${name}/`);
  spawnSync('setpriv', [...user, process.execPath, ...vitest, ...reporters, ...folders], {
    cwd: tree,
    env: { ...process.env, HOME: path.join(base, 'home'), TMPDIR: path.join(base, 'tmp') },
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL',
  });
}

import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export interface Place {
  readonly workspace: string;
  readonly home: string;
}

/** Copies an example's workspace beside an empty home, both gone when the check ends. */
export function copyWorkspace(example: string): Place {
  const place = mkdtempSync(path.join(tmpdir(), 'hookline-example-'));
  process.on('exit', () => rmSync(place, { recursive: true, force: true }));
  const workspace = path.join(place, 'workspace');
  const home = path.join(place, 'home');
  cpSync(path.join(example, 'workspace'), workspace, { recursive: true });
  mkdirSync(home);
  return { workspace, home };
}

/** Runs the built command in the copied workspace, as its user would. */
export function hookline(
  { workspace, home }: Place,
  args: readonly string[],
): { status: number; stdout: string; stderr: string } {
  const bin = path.resolve(import.meta.dirname, '../dist/bin/hookline.js');
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...args], {
    cwd: workspace,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: home },
  });
  return { status: status ?? -1, stdout, stderr };
}

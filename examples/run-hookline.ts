import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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

export const PROGRAM = path.resolve(import.meta.dirname, '../dist/bin/hookline.js');

/** Makes `hookline` a command in the home directory, for hooks that call it; returns its directory. */
export function installCommand({ home }: Place): string {
  const directory = path.join(home, 'bin');
  mkdirSync(directory);
  const text = `#!/bin/sh\nexec "${process.execPath}" "${PROGRAM}" "$@"\n`;
  writeFileSync(path.join(directory, 'hookline'), text, { mode: 0o755 });
  return directory;
}

/** Runs the built command in the copied workspace, as its user would. */
export function hookline(
  { workspace, home }: Place,
  args: readonly string[],
  { searchPath = process.env['PATH'] } = {},
): { status: number; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], {
    cwd: workspace,
    encoding: 'utf8',
    env: { PATH: searchPath, HOME: home },
  });
  return { status: status ?? -1, stdout, stderr };
}

/** Runs a script of an example in a copy of its workspace, and returns all that it prints. */
export function runScript(example: string, script: string, args: readonly string[] = []): string {
  const { workspace, home } = copyWorkspace(example);
  const file = path.join(example, script);
  const { stdout, stderr } = spawnSync(process.execPath, [file, workspace, ...args], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: home },
  });
  return stdout + stderr;
}

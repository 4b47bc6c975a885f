import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type crossSpawn from 'cross-spawn';
import { getErrorCode, getErrorMessage } from '../base/errors.ts';
import type { Environment } from './environment.ts';

export interface SpawnRequest {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Environment>;
}

export interface SpawnFailure {
  readonly code: string | null;
  readonly message: string;
}

/** Starts a program without a shell, as the leader of its own group; `stdin` is a descriptor, or a pipe. */
export function spawnChild(
  { file, args, cwd, env }: SpawnRequest,
  stdin: number | 'pipe' = 'pipe',
  platform: NodeJS.Platform = process.platform,
): ChildProcess {
  const stdio: StdioOptions = [stdin, 'pipe', 'pipe'];
  if (platform !== 'win32') return spawn(file, args, { cwd, env, detached: true, stdio });
  // Not detached: there that opens a console window, and taskkill needs no group.
  return windowsSpawn()(file, args, { cwd, env, windowsHide: true, stdio });
}

/** Starts a module of Node.js with a channel for data of any kind, as the leader of its own group. */
export function spawnModule(
  { file, args, cwd, env }: SpawnRequest,
  platform: NodeJS.Platform = process.platform,
): ChildProcess {
  return spawn(process.execPath, [...args, file], {
    cwd,
    env,
    detached: platform !== 'win32',
    windowsHide: true,
    serialization: 'advanced',
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
}

// Synchronous, so that starting has no asynchronous step; and never loaded where it is not needed.
function windowsSpawn(): typeof crossSpawn {
  const load: (name: string) => typeof crossSpawn = createRequire(import.meta.url);
  return load('cross-spawn');
}

/** Says what the system meant: its `ENOENT` names the program although the cwd may be missing. */
export function describeSpawnFailure(error: unknown, request: SpawnRequest): SpawnFailure {
  const code = getErrorCode(error);
  const reason = findCwdProblem(request.cwd) ?? reasonFor(code, request) ?? getErrorMessage(error);
  return { code, message: `Could not start ${request.file}: ${reason}` };
}

function findCwdProblem(cwd: string): string | null {
  const kind = kindOf(cwd);
  if (kind === 'absent') return `its working directory ${cwd} does not exist.`;
  if (kind !== 'directory') return `its working directory ${cwd} is not a directory.`;
  return canEnter(cwd) ? null : `its working directory ${cwd} may not be entered.`;
}

function reasonFor(code: string | null, { file, cwd }: SpawnRequest): string | null {
  const isPath = file.includes('/') || file.includes('\\');
  const kind = isPath ? kindOf(path.resolve(cwd, file)) : 'absent';
  if (kind === 'directory') return 'it is a directory.';
  switch (code) {
    case 'ENOENT':
      if (kind === 'file') return 'the interpreter that its first line names does not exist.';
      return isPath ? 'there is no such file.' : 'no program of this name is on the PATH.';
    case 'EACCES':
      return 'it may not be executed; is its executable bit set?';
    case 'ENOEXEC':
      return 'it is neither a program of this machine nor a script with a #! line.';
    case 'E2BIG':
      return 'its arguments and environment are larger than the system accepts.';
    default:
      return null;
  }
}

function kindOf(file: string): 'file' | 'directory' | 'absent' {
  const stat = statIfPresent(file);
  if (stat === null) return 'absent';
  return stat.isDirectory() ? 'directory' : 'file';
}

function statIfPresent(file: string) {
  try {
    return statSync(file);
  } catch {
    return null;
  }
}

function canEnter(directory: string): boolean {
  try {
    accessSync(directory, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { accessSync, closeSync, constants, openSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type crossSpawn from 'cross-spawn';
import { getErrorCode, getErrorMessage } from '../base/errors.ts';
import type { Environment } from './environment.ts';
import { blockInheritedDescriptors } from './inherited-descriptors.ts';
import { listSearchDirectories } from './program-finder.ts';

export interface SpawnRequest {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Environment>;
  /** What the program gets as its descriptors from 3 on; a text names a file that it reads. */
  readonly descriptors?: readonly (number | string)[];
}

export interface SpawnFailure {
  readonly code: string | null;
  readonly message: string;
}

/** Starts a program without a shell, as the leader of its own group; `stdin` is a descriptor, or a pipe. */
export function spawnChild(
  request: SpawnRequest,
  stdin: number | 'pipe' = 'pipe',
  platform: NodeJS.Platform = process.platform,
): ChildProcess {
  if (platform !== 'win32') return spawnLeader(request, stdin);
  const { file, args, cwd, env } = request;
  const stdio: StdioOptions = [stdin, 'pipe', 'pipe'];
  // Not detached: there that opens a console window, and taskkill needs no group.
  return loadCrossSpawn()(file, args, { cwd, env, windowsHide: true, stdio });
}

function spawnLeader(
  { file, args, cwd, env, descriptors = [] }: SpawnRequest,
  stdin: number | 'pipe',
): ChildProcess {
  const opened = descriptors.map((each) => (typeof each === 'number' ? each : openSync(each, 'r')));
  try {
    const stdio = blockInheritedDescriptors([stdin, 'pipe', 'pipe', ...opened]);
    return spawn(file, args, { cwd, env, detached: true, stdio });
  } finally {
    for (const each of opened.filter((one) => !descriptors.includes(one))) closeSync(each);
  }
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
    stdio: blockInheritedDescriptors(['ignore', 'pipe', 'pipe', 'ipc']),
  });
}

// Synchronous, so that starting has no asynchronous step; and never loaded where it is not needed.
function loadCrossSpawn(): typeof crossSpawn {
  const load: (name: string) => typeof crossSpawn = createRequire(import.meta.url);
  return load('cross-spawn');
}

/** Says what the system meant: its `ENOENT` names the program although the cwd may be missing. */
export function describeSpawnFailure(error: unknown, request: SpawnRequest): SpawnFailure {
  const code = isMissingBehindLockedDirectory(error, request) ? 'ENOENT' : getErrorCode(error);
  const reason =
    findCwdProblem(request.cwd) ?? explainErrno(code, request) ?? getErrorMessage(error);
  return { code, message: `Could not start ${request.file}: ${reason}` };
}

/** A directory of the PATH that may not be entered makes the system answer EACCES for a program that is nowhere. */
function isMissingBehindLockedDirectory(error: unknown, { file, cwd, env }: SpawnRequest): boolean {
  if (getErrorCode(error) !== 'EACCES' || file.includes('/')) return false;
  const directories = listSearchDirectories(env['PATH'], cwd);
  return directories.every((directory) => statIfPresent(path.join(directory, file)) === null);
}

function findCwdProblem(cwd: string): string | null {
  const kind = getFileKind(cwd);
  if (kind === 'absent') return `its working directory ${cwd} does not exist.`;
  if (kind !== 'directory') return `its working directory ${cwd} is not a directory.`;
  return canEnter(cwd) ? null : `its working directory ${cwd} may not be entered.`;
}

function explainErrno(code: string | null, { file, cwd }: SpawnRequest): string | null {
  const isPath = file.includes('/') || file.includes('\\');
  const kind = isPath ? getFileKind(path.resolve(cwd, file)) : 'absent';
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

function getFileKind(file: string): 'file' | 'directory' | 'absent' {
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

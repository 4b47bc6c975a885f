import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { getErrorCode } from '../base/errors.ts';

/** A process; with its start time, because process ids are reused. */
export interface ProcessIdentity {
  readonly pid: number;
  /** In the system's own unit, as digits; empty where it is not known. */
  readonly startedAt: string;
}

export interface ProcessInfo extends ProcessIdentity {
  /** Zero for the first process, and for one whose parent is in another process namespace. */
  readonly parent: number;
  /** The leader of its terminal session; zero when that is in another process namespace. */
  readonly session: number;
}

/** The process as the system knows it; null when it has ended or cannot be read. */
export function readProcess(pid: number | 'self'): ProcessInfo | null {
  return process.platform === 'linux' ? readProcEntry(pid) : readFromPs(pid);
}

/** The start time of a process; a zombie has ended. Empty where it is not known. */
function readProcessStart(pid: number): string {
  return readProcess(pid)?.startedAt ?? '';
}

/** Whether the process still runs, and is not another one with the same id. */
export function isProcessAlive({ pid, startedAt }: ProcessIdentity): boolean {
  // First as /proc shows it, whose ids may be those of a namespace around the one in which signals are sent.
  if (startedAt !== '' && readProcEntry(pid)?.startedAt === startedAt) return true;
  const access = probeProcess(pid);
  if (access === 'ended') return false;
  if (startedAt === '') return true;
  const found = readProcessStart(pid);
  // A system that hides other users' processes shows no start time; then rather alive than taken over.
  return found === startedAt || (found === '' && access === 'foreign');
}

/** `foreign`: it runs as another user, who may have got the id of one that has ended. */
function probeProcess(pid: number): 'own' | 'foreign' | 'ended' {
  try {
    process.kill(pid, 0);
    return 'own';
  } catch (error) {
    return getErrorCode(error) === 'EPERM' ? 'foreign' : 'ended';
  }
}

const MAX_ANCESTORS = 1024;

/**
 * The parent, its parent and so on. `isComplete` is false when there are more than are looked at, or when one of them
 * cannot be read.
 */
export function listAncestors(start: ProcessInfo): {
  readonly ancestors: readonly ProcessInfo[];
  readonly isComplete: boolean;
} {
  const ancestors: ProcessInfo[] = [];
  for (let { parent } = start; parent > 0; { parent } = ancestors.at(-1) ?? start) {
    const found = ancestors.length < MAX_ANCESTORS ? readProcess(parent) : null;
    if (found === null) return { ancestors, isComplete: false };
    ancestors.push(found);
  }
  return { ancestors, isComplete: true };
}

// Counted from the state, which follows the program's name.
const PARENT_FIELD = 1;
const SESSION_FIELD = 3;
const START_FIELD = 19;

/** Reads `self` as the kernel resolves it, which also holds in a process namespace that shows the outer /proc. */
function readProcEntry(pid: number | 'self'): ProcessInfo | null {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The program's name may contain spaces and parentheses.
    const fields = status.slice(status.lastIndexOf(')') + 2).split(' ');
    return {
      pid: Number.parseInt(status, 10),
      parent: Number(fields[PARENT_FIELD]),
      session: Number(fields[SESSION_FIELD]),
      startedAt: fields[0] === 'Z' ? 'ended' : (fields[START_FIELD] ?? ''),
    };
  } catch {
    return null;
  }
}

function readFromPs(pid: number | 'self'): ProcessInfo | null {
  const text = runPs(pid, 'pid=,ppid=,sess=,lstart=');
  return text === null ? null : parsePsLine(text);
}

/** A line of `ps -o pid=,ppid=,sess=,lstart=` in the C locale; null when it is something else. */
export function parsePsLine(line: string): ProcessInfo | null {
  const [, pid, parent, session, start] =
    /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(\w.*?)\s*$/u.exec(line) ?? [];
  const startedAt = Date.parse(`${start} UTC`);
  if (pid === undefined || Number.isNaN(startedAt)) return null;
  return {
    pid: Number(pid),
    parent: Number(parent),
    // macOS prints an address where others print a process id.
    session: /^[1-9]\d*$/u.test(session ?? '') ? Number(session) : Number(pid),
    startedAt: String(startedAt / 1000),
  };
}

/** By its absolute path, because whoever starts this process may have chosen PATH. */
function runPs(pid: number | 'self', columns: string): string | null {
  if (process.platform === 'win32') return null;
  const id = pid === 'self' ? process.pid : pid;
  try {
    return execFileSync('/bin/ps', ['-o', columns, '-p', String(id)], {
      encoding: 'utf8',
      env: { LC_ALL: 'C', TZ: 'UTC' },
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 5000,
    });
  } catch {
    return null;
  }
}

const MAX_COMMAND_LINE = 300;

/** The command line of a process, cut after some hundred characters; null when it cannot be read. */
export function readCommandLine(pid: number): string | null {
  const text = process.platform === 'linux' ? readProcCommandLine(pid) : runPs(pid, 'args=');
  const line = text?.replaceAll('\0', ' ').trim() ?? '';
  if (line === '') return null;
  return line.length <= MAX_COMMAND_LINE ? line : `${line.slice(0, MAX_COMMAND_LINE)}…`;
}

function readProcCommandLine(pid: number): string | null {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return null;
  }
}

import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, constants, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs';
import path from 'node:path';
import { HooklineError } from '../../base/errors.ts';
import type { LaunchStatus } from './launch-status.ts';

/**
 * Holds a sandbox back until its mounts were compared with their plan from outside. Inside, the comparison could be
 * deceived: a mount that a link led to `/proc` or to the libraries of the shell decides what a shell there sees.
 */
export class MountGate {
  /** A FIFO from which bubblewrap reads before it starts anything. */
  readonly descriptor: number;
  readonly #expected: readonly string[];
  readonly #status: LaunchStatus;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  #isDifferent = false;

  /** Throws when no FIFO can be made in the directory. */
  constructor(directory: string, expected: readonly string[], status: LaunchStatus) {
    this.descriptor = openFifo(directory);
    this.#expected = expected;
    this.#status = status;
  }

  /** Whether the mounts were not those of the plan, so that nothing was started. */
  get isDifferent(): boolean {
    return this.#isDifferent;
  }

  /** Waits for the mounts; lets the sandbox go on when they are as planned, and else ends it. */
  watch(leader: number): void {
    if (this.#isClosed) return;
    const pid = this.#status.readChild();
    if (pid === null || !hasMounts(pid)) {
      this.#timer = setTimeout(() => this.watch(leader), POLL_MS);
      return;
    }
    const listed = readText(`/proc/${pid}/mountinfo`);
    if (this.#expected.every((line) => listed.includes(line))) return this.#open();
    this.#isDifferent = true;
    endGroup(leader);
  }

  #open(): void {
    writeSync(this.descriptor, 'x');
  }

  /** Must be called when the sandbox has ended, or was not started. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#timer);
    closeSync(this.descriptor);
  }
}

const POLL_MS = 1;

/** Bubblewrap gives its capabilities up when it has made all mounts, and can make no other from then on. */
function hasMounts(pid: number): boolean {
  return /^CapEff:\s*0+$/m.test(readText(`/proc/${pid}/status`));
}

/** Empty when the process has ended. */
function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

const SYSTEM_PATH = '/usr/bin:/bin:/run/current-system/sw/bin';

/** A FIFO and no pipe of Node.js: bubblewrap takes the end of one, when this process is killed, for a yes. */
function openFifo(directory: string): number {
  const file = path.join(directory, `gate-${randomUUID()}`);
  const { status, stderr } = spawnSync('mkfifo', ['-m', '600', file], {
    env: { PATH: SYSTEM_PATH },
    encoding: 'utf8',
  });
  if (status !== 0) {
    throw new HooklineError('SANDBOX_UNAVAILABLE', {
      message: `expected mkfifo to make ${file}, and it failed: ${stderr ?? ''}`,
      hint: 'Install coreutils, or wait until other commands in sandboxes have ended.',
    });
  }
  const descriptor = openSync(file, constants.O_RDWR);
  unlinkSync(file);
  return descriptor;
}

function endGroup(leader: number): boolean {
  try {
    return process.kill(-leader, 'SIGKILL');
  } catch {
    return false;
  }
}

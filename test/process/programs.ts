import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import type { Program, ProgramResult } from '../../src/process/run.ts';

export { until } from '../base/directory.ts';

const ENVIRONMENT = { PATH: process.env['PATH'] ?? '/usr/bin:/bin' };

/** `file` and whatever matters to the test; the rest is harmless. */
export function program(wanted: Partial<Program> & { file: string }): Program {
  return { args: [], cwd: os.tmpdir(), env: ENVIRONMENT, stdin: '', timeoutMs: 300_000, ...wanted };
}

/** One of the tiny programs in test/fixtures/programs, run by this Node.js. */
export function fixture(name: string, args: readonly string[] = []): Program {
  const file = fileURLToPath(new URL(`../fixtures/programs/${name}`, import.meta.url));
  return program({ file: process.execPath, args: [file, ...args] });
}

export function shell(script: string): Program {
  return program({ file: '/bin/sh', args: ['-c', script] });
}

export function temporaryDirectory(): string {
  const directory = mkdtempSync(path.join(realpathSync(os.tmpdir()), 'hookline-process-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** A zombie counts as ended: whether and when it is reaped is up to the machine. */
export function isAlive(pid: number): boolean {
  return exists(pid) && !isZombie(pid);
}

/** Whether the pid is in use, be it by a zombie. */
export function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function isZombie(pid: number): boolean {
  if (process.platform !== 'linux') return false;
  try {
    return / [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^.*\)/s, ''));
  } catch {
    return true;
  }
}

export function pidsIn(text: string): number[] {
  return [...text.matchAll(/^\d+$/gm)].map(([digits]) => Number(digits));
}

const silent = { text: '', totalBytes: 0, truncated: false, tail: '' };

export function whole(text: string) {
  return { text, totalBytes: Buffer.byteLength(text), truncated: false, tail: '' };
}

/** The result of a program that ended silently and well, but for what is given. */
export function ended(result: Partial<ProgramResult>): ProgramResult {
  return {
    ending: 'exit',
    exitCode: 0,
    signal: null,
    stdout: silent,
    stderr: silent,
    durationMs: expect.any(Number),
    isTreeEnded: expect.any(Boolean),
    spawnError: null,
    late: null,
    ...result,
  };
}

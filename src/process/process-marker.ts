import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { memoize } from '../base/memoize.ts';
import type { Environment } from './environment.ts';

/**
 * A variable in the environment of each program that is started. Children inherit it, so that one that
 * left its group, its session and its parent (`setsid`, a double fork) is still found by it.
 */
const VARIABLE = 'HOOKLINE_PROCESS';
/** As many programs within programs are told apart. */
const MAX_NESTED = 16;

// On first use, because loading the module of random numbers takes as long as listing hooks.
const getOwnId = memoize(() => randomBytes(6).toString('hex'));
let count = 0;

export interface MarkedEnvironment {
  readonly env: Readonly<Environment>;
  /** Occurs in the environment of the program and its children, and in no other. */
  readonly marker: string;
}

/** Adds a marker to an environment, after those of the programs that this one runs in. */
export function markEnvironment(env: Readonly<Environment>): MarkedEnvironment {
  count += 1;
  const marker = `${getOwnId()}-${count.toString(36)}.`;
  const outer = (env[VARIABLE] ?? '').split(/(?<=\.)/).slice(1 - MAX_NESTED);
  return { env: { ...env, [VARIABLE]: [...outer, marker].join('') }, marker };
}

const MAX_ENVIRONMENT_BYTES = 256 * 1024;

/** The environment that a process of this user was started with; null when it cannot be read. */
export function readProcessEnvironment(pid: number): string | null {
  try {
    if (statSync(`/proc/${pid}`).uid !== process.getuid?.()) return null;
    const descriptor = openSync(`/proc/${pid}/environ`, 'r');
    try {
      const bytes = Buffer.allocUnsafe(MAX_ENVIRONMENT_BYTES);
      return bytes.toString('latin1', 0, readAll(descriptor, bytes));
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // It has ended, or it changed its rights.
    return null;
  }
}

function readAll(descriptor: number, bytes: Buffer): number {
  let at = 0;
  for (let read = 1; read > 0 && at < bytes.length; at += read) {
    read = readSync(descriptor, bytes, at, bytes.length - at, null);
  }
  return at;
}

/**
 * Whether a process may have been started by a program that gave it another environment: such a one has
 * neither a marker nor the variables of a login.
 */
export function hasClearedEnvironment(environment: string): boolean {
  return !environment.includes(`${VARIABLE}=`) && !/(?:^|\0)HOME=/.test(environment);
}

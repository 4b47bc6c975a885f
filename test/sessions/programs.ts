import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { createDirectory } from '../base/directory.ts';

const JITI = import.meta.resolve('jiti/register');

export interface Program {
  readonly child: ChildProcess;
  /** Whole lines that it has printed until now. */
  readonly lines: () => readonly string[];
  readonly ended: Promise<unknown>;
}

/**
 * Starts a program of `fixtures`; whatever is left of it ends with the test. It prints into a file,
 * so that it never waits for a reader.
 */
export function startProgram(name: string, args: readonly string[]): Program {
  const file = path.join(import.meta.dirname, 'fixtures', `${name}.ts`);
  const printed = path.join(createDirectory(), 'printed');
  const handle = openSync(printed, 'w');
  const child = spawn(process.execPath, ['--import', JITI, file, ...args], {
    stdio: ['pipe', handle, 'inherit'],
  });
  closeSync(handle);
  const exited = new Promise((resolve) => {
    child.on('close', resolve);
  });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  return {
    child,
    lines: () => readFileSync(printed, 'latin1').split('\n').slice(0, -1),
    ended: exited,
  };
}

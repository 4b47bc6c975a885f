import { spawn, spawnSync } from 'node:child_process';
import path from 'node:path';
import {
  environmentOf,
  hooklineProgram,
  type HooklineOptions,
  type HooklineResult,
  resultOf,
} from './hookline.ts';

const TERMINAL = path.join(import.meta.dirname, 'fixtures', 'terminal.py');

export const hasTerminal = spawnSync('python3', ['-c', 'import pty']).status === 0;

export interface Watcher {
  /** What is typed once a text was printed. */
  readonly dialogue?: readonly (readonly [shown: string, typed: string])[];
  /** Gets all that was printed until now. */
  readonly onShown?: (shown: string) => void;
}

/** Runs the built program in a terminal; both its streams are in `stdout`. */
export function runInTerminal(
  args: readonly string[],
  { cwd, program = hooklineProgram(), ...options }: HooklineOptions,
  { dialogue = [], onShown }: Watcher = {},
): Promise<HooklineResult> {
  const command = [process.execPath, program, ...args];
  const child = spawn('python3', [TERMINAL, JSON.stringify(dialogue), ...command], {
    cwd,
    env: { TERM: 'xterm-256color', ...environmentOf(options) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => onShown?.((output += chunk.toString('utf8'))));
  return resultOf(child);
}

import { constants } from 'node:os';
import type { ProgramResult } from '../../../process/run.ts';

/** As a shell says it: 128 and more for a signal. Never 0 unless the program exited with it. */
export function sayExitCode({ exitCode, signal }: ProgramResult): number {
  if (exitCode !== null) return exitCode;
  const number = Object.entries(constants.signals).find(([name]) => name === signal)?.[1];
  return number === undefined ? 1 : 128 + number;
}

import { type Program, type ProgramResult, runProgram, type RunOptions } from '../run.ts';
import type { SandboxedProgram } from './create-sandbox.ts';

/** Runs a program in its sandbox to its end, and ends whatever it left there. Never rejects. */
export async function runInSandbox(
  program: Program,
  sandboxed: SandboxedProgram,
  options: RunOptions = {},
): Promise<ProgramResult> {
  let leader: number | null = null;
  const finish = (result: ProgramResult): ProgramResult => {
    if (leader !== null) endGroup(leader);
    sandboxed.release();
    return result;
  };
  const result = await runProgram(
    { ...program, ...sandboxed.program },
    {
      ...options,
      onStart(pid) {
        leader = pid;
        sandboxed.track(pid);
        options.onStart?.(pid);
      },
    },
  );
  return result.late === null ? finish(result) : { ...result, late: result.late.then(finish) };
}

/** The first process of a sandbox is in the group of its launcher, and all others end with it. */
function endGroup(leader: number): boolean {
  try {
    return process.kill(-leader, 'SIGKILL');
  } catch {
    return false;
  }
}

/** The result of a program that was not started, because it would have run without its sandbox. */
export function createRefusal(message: string): ProgramResult {
  const silent = { text: '', totalBytes: 0, truncated: false, tail: '' };
  return {
    ending: 'spawn',
    exitCode: null,
    signal: null,
    stdout: silent,
    stderr: silent,
    durationMs: 0,
    isTreeEnded: false,
    spawnError: { code: null, message },
    late: null,
  };
}

import { isDeepStrictEqual } from 'node:util';
import { type Program, type ProgramResult, runProgram, type RunOptions } from '../run.ts';
import type { SandboxedProgram } from './create-sandbox.ts';
import { DIFFERENT_MOUNTS } from './verify-mounts.ts';

/** How a program ended, and its sandbox, in which others that it started may still run. */
export interface SandboxedRun {
  readonly result: ProgramResult;
  /** Must be released when nothing runs in it any more. */
  readonly sandboxed: SandboxedProgram;
  /** The leader of its process group; null when nothing was started. */
  readonly leader: number | null;
  /** Whether the sandbox could not be made, so that the program was not started. */
  readonly isUnmade: boolean;
}

/** How often a sandbox is made again; of sockets that come and go, most are gone after a few times. */
const MAX_ATTEMPTS = 100;
/** How often with the same mounts: a socket may be there again each time that somebody looks. */
const MAX_SAME_ATTEMPTS = 10;

/**
 * Runs a program in its sandbox. Something that has to be hidden may go away while the sandbox is made,
 * which then cannot be made: so it is made again for what is left. Sockets that were bound since are
 * not added, as they would not be to a sandbox that exists, so that there are fewer each time. Never rejects.
 */
export async function runSandboxed(
  program: Omit<Program, keyof SandboxedProgram['program']>,
  first: SandboxedProgram,
  options: RunOptions = {},
): Promise<SandboxedRun> {
  let sandboxed = first;
  let sameAttempts = 1;
  for (let attempt = 1; ; attempt += 1) {
    const run = await runOnce(program, sandboxed, options);
    if (!run.isUnmade || attempt === MAX_ATTEMPTS || sandboxed.hasStarted() === null) return run;
    const next = sandboxed.prepareAgain();
    if (typeof next === 'string') return { ...run, result: createRefusal(next) };
    sameAttempts = isDeepStrictEqual(next.program.args, sandboxed.program.args)
      ? sameAttempts + 1
      : 1;
    sandboxed.release();
    sandboxed = next;
    if (sameAttempts > MAX_SAME_ATTEMPTS) return { ...run, sandboxed };
  }
}

async function runOnce(
  program: Omit<Program, keyof SandboxedProgram['program']>,
  sandboxed: SandboxedProgram,
  options: RunOptions,
): Promise<SandboxedRun> {
  let leader: number | null = null;
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
  return { result, sandboxed, leader, isUnmade: isUnmade(result, sandboxed) };
}

// A program that cannot be executed is no matter of its sandbox.
const UNMADE = /^bwrap: (?!execvp )/;

/**
 * Whether the sandbox could not be made, or was not made as planned, so that the program was not
 * started. One that was started may print the same as bubblewrap, so that only its status is sure.
 */
function isUnmade(
  { ending, exitCode, stdout, stderr }: ProgramResult,
  sandboxed: SandboxedProgram,
): boolean {
  if (ending === 'signal' && sandboxed.hasOtherMounts()) return true;
  if (ending !== 'exit' || exitCode === 0 || stdout.totalBytes > 0) return false;
  if (stderr.text === DIFFERENT_MOUNTS) return true;
  return UNMADE.test(stderr.text) && sandboxed.hasStarted() !== true;
}

/** Runs a program in its sandbox to its end, and ends whatever it left there. Never rejects. */
export async function runInSandbox(
  program: Omit<Program, keyof SandboxedProgram['program']>,
  first: SandboxedProgram,
  options: RunOptions = {},
): Promise<ProgramResult> {
  const { result, sandboxed, leader } = await runSandboxed(program, first, options);
  const finish = (last: ProgramResult): ProgramResult => {
    if (leader !== null) endGroup(leader);
    sandboxed.release();
    return last;
  };
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

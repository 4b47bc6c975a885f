import type { Environment } from '../../../process/environment.ts';
import type { FindProgram } from '../../../process/program-finder.ts';
import { type Program, type ProgramResult, runProgram } from '../../../process/run.ts';
import { createInstallError } from '../source.ts';

/** The functions and data of this machine that installing uses. */
export interface InstallTools {
  readonly findProgram: FindProgram;
  readonly env: Readonly<Environment>;
  /** Aborts the install, which then leaves nothing behind. */
  readonly signal: AbortSignal;
  /** Gets the current step; null when it is over. */
  readonly onProgress: (doing: string | null) => void;
  readonly now: () => number;
}

/** Cloning or installing over a slow line takes minutes, not hours. */
const TIME_LIMIT_MS = 10 * 60_000;

/** Runs a program; throws when it could not be started, took too long or was aborted. */
export async function runTool(
  call: Pick<Program, 'file' | 'args' | 'cwd' | 'env'>,
  { signal }: InstallTools,
): Promise<ProgramResult> {
  signal.throwIfAborted();
  const program = { ...call, stdin: '', timeoutMs: TIME_LIMIT_MS };
  const result = await runProgram(program, { signal });
  signal.throwIfAborted();
  if (result.spawnError !== null) throw createInstallError(result.spawnError.message);
  if (result.ending === 'timeout') {
    throw createInstallError(`${call.file} did not end within ${TIME_LIMIT_MS / 60_000} minutes`);
  }
  return result;
}

/** A fetched source in the staging directory. */
export interface Fetched {
  /** The package's directory, or the single file; relative to the staging directory. */
  readonly path: string;
  readonly isFile: boolean;
  /** The name that the source has, where no package.json has one. */
  readonly name: string;
  readonly version: string | null;
  readonly commit: string | null;
  readonly integrity: string | null;
  /** Whether npm has already installed its dependencies. */
  readonly hasPackages: boolean;
}

/** For a source without a version, a commit or a hash. */
export const UNMARKED = { version: null, commit: null, integrity: null } as const;

/** The directory of packages, below a package.json that lists their entries. */
export const PACKAGE = 'package';

import type { Environment } from '../../../process/environment.ts';
import type { FindProgram } from '../../../process/program-finder.ts';
import { type Program, type ProgramResult, runProgram } from '../../../process/run.ts';
import { createInstallError } from '../source.ts';

/** What installing may use of this machine. */
export interface InstallTools {
  readonly findProgram: FindProgram;
  readonly env: Readonly<Environment>;
  /** Gives up, and leaves nothing behind. */
  readonly signal: AbortSignal;
  /** Told what is going on; null when it is over. */
  readonly onProgress: (doing: string | null) => void;
  readonly now: () => number;
}

/** Cloning or installing over a slow line takes minutes, not hours. */
const TIME_LIMIT_MS = 10 * 60_000;

/** Runs a program to its end; throws when it could not be started, took too long or was given up. */
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

/** What a source gave, lying in the staging directory. */
export interface Fetched {
  /** The package's directory, or the one file; from the staging directory. */
  readonly path: string;
  readonly isFile: boolean;
  /** What the source itself calls it, where no package.json does. */
  readonly name: string;
  readonly version: string | null;
  readonly commit: string | null;
  readonly integrity: string | null;
  /** Whether npm has installed what it needs already. */
  readonly hasPackages: boolean;
}

/** What came is not known by a number or a hash of its own. */
export const UNMARKED = { version: null, commit: null, integrity: null } as const;

/** Packages lie here, below a package.json that says where their entries are. */
export const PACKAGE = 'package';

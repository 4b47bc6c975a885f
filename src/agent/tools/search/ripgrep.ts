import { getErrorMessage } from '../../../base/errors.ts';
import { runProgram, type ProgramResult } from '../../../process/run.ts';

export interface Search {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** `isComplete` is false when there was more than is kept. */
export type Found =
  | { readonly kind: 'found'; readonly text: string; readonly isComplete: boolean }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'interrupted' };

const TIMEOUT_MS = 30_000;
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

export async function runRipgrep(search: Search, signal: AbortSignal): Promise<Found> {
  const program = await findRipgrep();
  if (typeof program !== 'string') return program;
  const result = await runProgram(
    {
      ...search,
      file: program,
      stdin: '',
      timeoutMs: TIMEOUT_MS,
      maxStdoutBytes: MAX_OUTPUT_BYTES,
      killGraceMs: 200,
    },
    { signal },
  );
  return foundIn(result);
}

/** Its binary comes in a package for each platform, which may not have been installed. */
async function findRipgrep(): Promise<string | Found> {
  try {
    const { rgPath } = await import('@vscode/ripgrep');
    return rgPath;
  } catch (error) {
    return failure(`ripgrep could not be found for this platform: ${getErrorMessage(error)}`);
  }
}

function foundIn(result: ProgramResult): Found {
  const { ending, exitCode, stdout, spawnError } = result;
  if (ending === 'abort') return { kind: 'interrupted' };
  if (spawnError !== null) return failure(`ripgrep cannot be run: ${spawnError.message}`);
  if (ending === 'timeout') {
    return failure(
      `The search was ended after ${TIMEOUT_MS / 1000} s; narrow it with path, glob or type.`,
    );
  }
  const complaint = result.stderr.text.trim();
  // It also ends with 2 when some file could not be read, and says nothing of that.
  if (exitCode !== 0 && exitCode !== 1 && stdout.totalBytes === 0 && complaint !== '') {
    return failure(complaint);
  }
  return { kind: 'found', text: stdout.text, isComplete: !stdout.truncated };
}

function failure(message: string): Found {
  return { kind: 'failed', message };
}

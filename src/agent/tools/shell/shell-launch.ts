import { mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { getErrorMessage } from '../../../base/errors.ts';
import { quoteShellWord } from '../../../base/shell-word.ts';
import { createProgramFinder } from '../../../process/program-finder.ts';
import { findBash } from '../../../process/shell.ts';
import type { SpawnRequest } from '../../../process/spawn.ts';

export interface ShellOrder {
  readonly command: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Shell text that comes first; what is wrong with it does not keep the command from running. */
  readonly prelude: string;
}

/** A command that is ready to run, its stderr going where its stdout goes. */
export interface ShellLaunch {
  readonly program: SpawnRequest;
  /** Where the shell stood when it ended; null when it did not say. */
  findFinalDirectory(): string | null;
  /** Must be called when the program has ended. Never throws: what cannot be removed stays. */
  dispose(): void;
}

/** A string says why the command cannot be started. */
export function prepareLaunch(order: ShellOrder): ShellLaunch | string {
  const shell = findShell(order.env);
  if (shell === null) {
    return 'Expected bash or sh on the PATH to run commands in, found neither; install Git for Windows, or add bash to the PATH.';
  }
  try {
    const directory = mkdtempSync(path.join(tmpdir(), 'hookline-shell-'));
    return launchFrom(directory, order, shell);
  } catch (error) {
    return `The command could not be prepared in ${tmpdir()}: ${getErrorMessage(error)}`;
  }
}

interface Shell {
  readonly file: string;
  readonly isBash: boolean;
}

function findShell(env: ShellOrder['env']): Shell | null {
  const findProgram = createProgramFinder(variable(env, 'PATH'), process.platform);
  const bash = findBash({ platform: process.platform, findProgram });
  if (bash !== null) return { file: bash, isBash: true };
  const sh = findProgram('sh') ?? (process.platform === 'win32' ? null : '/bin/sh');
  return sh === null ? null : { file: sh, isBash: false };
}

// Windows spells it `Path`.
function variable(env: ShellOrder['env'], name: string): string | undefined {
  const key = Object.keys(env).find((each) => each.toUpperCase() === name);
  return key === undefined ? undefined : env[key];
}

function launchFrom(directory: string, order: ShellOrder, shell: Shell): ShellLaunch {
  const finalDirectory = path.join(directory, 'cwd');
  const script = path.join(directory, 'script');
  // In a file and not an argument: arguments are short, and everybody on the machine can read them.
  writeFileSync(script, scriptOf(order, finalDirectory), { mode: 0o600 });
  return {
    program: { file: shell.file, args: shellArgs(shell, script), cwd: order.cwd, env: order.env },
    findFinalDirectory: () => readDirectoryName(finalDirectory),
    dispose() {
      // One by one: what removes whole trees takes longer to load than the command to run.
      const isGone =
        attempt(() => [finalDirectory, script].forEach((file) => rmSync(file, { force: true }))) &&
        attempt(() => rmdirSync(directory));
      // What goes on in the background may have written there once more.
      if (!isGone) attempt(() => rmSync(directory, { recursive: true, force: true }));
    },
  };
}

function attempt(work: () => void): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}

/**
 * `eval` keeps what is wrong in one part from touching the other. The trap leaves the exit code, and
 * says nothing under `set -e`, `set -x` or in a directory that is gone.
 */
function scriptOf({ command, prelude }: ShellOrder, finalDirectory: string): string {
  const onExit = [
    '{ __hookline_code=$?; set +x; } 2>/dev/null',
    `pwd -P 2>/dev/null >| ${quoteShellWord(finalDirectory)} || :`,
    'exit "$__hookline_code"',
  ].join('; ');
  const first = prelude.trim() === '' ? [] : [`eval ${quoteShellWord(`${prelude}\n`)}`, ':'];
  return [`trap ${quoteShellWord(onExit)} EXIT`, ...first, `eval ${quoteShellWord(command)}`].join(
    '\n',
  );
}

const RUN_SCRIPT = 'eval "set --; $(cat "$1")"';
// Bash reads a file without a program.
const RUN_SCRIPT_IN_BASH = 'eval "set --; $(<"$1")"';

// Node.js gives programs a socket for their output, which `> /dev/stderr` cannot open; so it goes
// through a real pipe. A shell that is `exec`uted later does not know about it and never waits for it.
const RUN_THROUGH_PIPE = `exec "$1" -c "$2" bash "$3" > >(trap '' TERM; exec cat) 2>&1`;

function shellArgs({ file, isBash }: Shell, script: string): readonly string[] {
  if (isBash && process.platform !== 'win32') {
    return ['-c', RUN_THROUGH_PIPE, 'bash', file, RUN_SCRIPT_IN_BASH, script];
  }
  return ['-c', `exec 2>&1; ${RUN_SCRIPT}`, isBash ? 'bash' : 'sh', script];
}

function readDirectoryName(file: string): string | null {
  try {
    // Only the newline that `pwd` wrote: a directory's name may end in one.
    return readFileSync(file, 'utf8').replace(/\n$/, '') || null;
  } catch {
    return null;
  }
}

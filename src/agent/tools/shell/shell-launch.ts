import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants as fileFlags,
  fstatSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir, constants } from 'node:os';
import path from 'node:path';
import { getErrorMessage } from '../../../base/errors.ts';
import { quoteShellWord } from '../../../base/text.ts';
import { createProgramFinder } from '../../../process/program-finder.ts';
import { findBash } from '../../../process/shell.ts';
import type { SandboxedProgram } from '../../../process/sandbox/create-sandbox.ts';
import type { SpawnRequest } from '../../../process/spawn.ts';
import type { ProgramResult } from '../../../process/run.ts';

export interface BashCommand {
  readonly command: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Shell text that runs first; errors in it do not prevent the command. */
  readonly prelude: string;
  /** Functions that replace programs; the command does not run when they cannot be defined. */
  readonly functions?: string;
}

/** Puts the commands of a session into a sandbox. */
export interface CommandSandbox {
  /** Null where commands run without one; a string says why nothing may be started. */
  open(): Promise<OpenedSandbox | string | null>;
}

export interface OpenedSandbox {
  /** The directory for temporary files; the only one that is always writable inside. */
  readonly temporaryDirectory: string;
  /** What the sandbox hides, for messages. */
  readonly hidden: readonly string[];
  /** `readOnly` must not be changed from inside. A string says why nothing may be started. */
  enter(program: SpawnRequest, readOnly: readonly string[]): SandboxedProgram | string;
}

/** A prepared command whose stderr is merged into stdout. */
export interface ShellLaunch {
  readonly program: SpawnRequest & { readonly ownsPidNamespace?: boolean };
  /** Null when it runs outside of a sandbox. */
  readonly sandboxed: SandboxedProgram | null;
  /** The shell's last directory; null when unknown. */
  findFinalDirectory(): string | null;
  /** Must be called when the program has ended. Never throws; files that cannot be removed stay. */
  dispose(): void;
}

/** Without a sandbox the command has the user's rights. A string says why it cannot be started. */
export function prepareLaunch(
  order: BashCommand,
  sandbox: OpenedSandbox | null,
): ShellLaunch | string {
  const shell = findShell(order.env);
  if (shell === null) {
    return 'Expected bash or sh on the PATH to run commands in, found neither; install Git for Windows, or add bash to the PATH.';
  }
  try {
    const directory = mkdtempSync(path.join(tmpdir(), 'hookline-shell-'));
    const launch = createLaunch(directory, order, shell, sandbox);
    if (typeof launch === 'string') removeFiles(directory, []);
    return launch;
  } catch (error) {
    return `The command could not be prepared in ${tmpdir()}: ${getErrorMessage(error)}`;
  }
}

interface Shell {
  readonly file: string;
  readonly isBash: boolean;
}

function findShell(env: BashCommand['env']): Shell | null {
  const findProgram = createProgramFinder(getVariable(env, 'PATH'), process.platform);
  const bash = findBash({ platform: process.platform, findProgram });
  if (bash !== null) return { file: bash, isBash: true };
  const sh = findProgram('sh') ?? (process.platform === 'win32' ? null : '/bin/sh');
  return sh === null ? null : { file: sh, isBash: false };
}

// The variable is named `Path` on Windows.
function getVariable(env: BashCommand['env'], name: string): string | undefined {
  const key = Object.keys(env).find((each) => each.toUpperCase() === name);
  return key === undefined ? undefined : env[key];
}

function createLaunch(
  directory: string,
  order: BashCommand,
  shell: Shell,
  sandbox: OpenedSandbox | null,
): ShellLaunch | string {
  // The only file of a launch that the command itself writes.
  const finalDirectory = path.join(
    sandbox?.temporaryDirectory ?? directory,
    sandbox === null ? 'cwd' : `hookline-cwd-${randomUUID()}`,
  );
  const script = path.join(directory, 'script');
  // A file instead of an argument: arguments are limited in length and visible to other users.
  writeFileSync(script, buildScript(order, finalDirectory), { mode: 0o600 });
  const program = {
    file: shell.file,
    args: buildShellArgs(shell, script),
    cwd: order.cwd,
    env: order.env,
  };
  const sandboxed = sandbox?.enter(program, [directory]) ?? null;
  if (typeof sandboxed === 'string') {
    removeFiles(directory, [script]);
    return sandboxed;
  }
  return {
    program: sandboxed?.program ?? program,
    sandboxed,
    findFinalDirectory: () => readDirectoryName(finalDirectory),
    dispose: () => removeFiles(directory, [finalDirectory, script]),
  };
}

function removeFiles(directory: string, files: readonly string[]): void {
  // Removed one by one, because loading recursive removal takes longer than most commands.
  const isGone =
    tryRun(() => files.forEach((file) => rmSync(file, { force: true }))) &&
    tryRun(() => rmdirSync(directory));
  // A background process may have written there again.
  if (!isGone) tryRun(() => rmSync(directory, { recursive: true, force: true }));
}

function tryRun(work: () => void): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}

/**
 * `eval` isolates syntax errors of the two parts. The trap keeps the exit code and prints nothing under
 * `set -e`, `set -x` or in a deleted directory.
 */
function buildScript(
  { command, prelude, functions = '' }: BashCommand,
  finalDirectory: string,
): string {
  const onExit = [
    '{ __hookline_code=$?; set +x; } 2>/dev/null',
    `pwd -P 2>/dev/null >| ${quoteShellWord(finalDirectory)} || :`,
    'exit "$__hookline_code"',
  ].join('; ');
  const first = prelude.trim() === '' ? [] : [`eval ${quoteShellWord(`${prelude}\n`)}`, ':'];
  return [
    `trap ${quoteShellWord(onExit)} EXIT`,
    ...first,
    ...(functions === '' ? [] : [functions]),
    `eval ${quoteShellWord(command)}`,
  ].join('\n');
}

const RUN_SCRIPT = 'eval "set --; $(cat "$1")"';
// Bash reads a file without starting a program.
const RUN_SCRIPT_IN_BASH = 'eval "set --; $(<"$1")"';

// Node.js gives programs a socket as stdout, which `> /dev/stderr` cannot open; a real pipe can. A shell
// that is `exec`uted later does not know this pipe and never waits for it.
const RUN_THROUGH_PIPE = `exec "$1" -c "$2" bash "$3" > >(trap '' TERM; exec cat) 2>&1`;

function buildShellArgs({ file, isBash }: Shell, script: string): readonly string[] {
  if (isBash && process.platform !== 'win32') {
    return ['-c', RUN_THROUGH_PIPE, 'bash', file, RUN_SCRIPT_IN_BASH, script];
  }
  return ['-c', `exec 2>&1; ${RUN_SCRIPT}`, isBash ? 'bash' : 'sh', script];
}

const MAX_NAME_BYTES = 64 * 1024;

/** The command may have put anything there: only a plain file is read, and no link is followed. */
function readDirectoryName(file: string): string | null {
  try {
    const descriptor = openSync(
      file,
      fileFlags.O_RDONLY | (fileFlags.O_NOFOLLOW ?? 0) | (fileFlags.O_NONBLOCK ?? 0),
    );
    try {
      const stats = fstatSync(descriptor);
      if (!stats.isFile() || stats.size > MAX_NAME_BYTES) return null;
      // Removes only the newline that `pwd` wrote: a directory name may end in one.
      return readFileSync(descriptor, 'utf8').replace(/\n$/, '') || null;
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return null;
  }
}

/**
 * The exit code as a shell reports it: 128 plus the number for a signal. 0 only when the program exited
 * with 0.
 */
export function toShellExitCode({ exitCode, signal }: ProgramResult): number {
  if (exitCode !== null) return exitCode;
  const number = Object.entries(constants.signals).find(([name]) => name === signal)?.[1];
  return number === undefined ? 1 : 128 + number;
}

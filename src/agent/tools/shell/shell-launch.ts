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
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir, constants } from 'node:os';
import path from 'node:path';
import { getErrorMessage } from '../../../base/errors.ts';
import { quoteShellWord } from '../../../base/text.ts';
import type { SandboxAccess, SandboxQuestion } from '../../../permissions/permissions.ts';
import { createProgramFinder } from '../../../process/program-finder.ts';
import { cleanSearchPath } from '../../../process/search-path.ts';
import { findBash } from '../../../process/shell.ts';
import type { SandboxedProgram, SandboxRequest } from '../../../process/sandbox/create-sandbox.ts';
import { runSandboxed, type SandboxedRun } from '../../../process/sandbox/run-in-sandbox.ts';
import type { SpawnRequest } from '../../../process/spawn.ts';
import { type ProgramResult, runProgram, type RunOptions } from '../../../process/run.ts';

export interface BashCommand {
  readonly command: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Shell text that runs first; errors in it do not prevent the command. */
  readonly prelude: string;
  /** Functions that replace programs; the command does not run when they cannot be defined. */
  readonly functions?: string;
  /** Directories in which the shell itself is not looked for. */
  readonly untrusted?: readonly string[];
  /** What the sandbox is opened for. */
  readonly sandboxAccess?: SandboxAccess | undefined;
}

/** Puts the commands of a session into a sandbox. */
export interface CommandSandbox {
  /** Null where commands run without one; a string says why nothing may be started. */
  open(): Promise<OpenedSandbox | string | null>;
}

export interface OpenedSandbox {
  /** The directory for temporary files; the only one that is always writable inside. */
  readonly temporaryDirectory: string;
  /** The path of a file that commands can read and not write, and that no other command uses. */
  takeScript(): ScriptFile;
  /** What the sandbox hides, for messages. */
  readonly hidden: readonly string[];
  /** What the user must be asked before this command line runs in this directory; null for most. */
  findQuestion(command: string, cwd: string): SandboxQuestion | null;
  /** A string says why nothing may be started. */
  enter(program: SandboxRequest, access?: SandboxAccess): SandboxedProgram | string;
}

export interface ScriptFile {
  readonly file: string;
  /** Must be called when it is not needed any more. */
  giveBack(): void;
}

/** A prepared command whose stderr is merged into stdout. */
export interface ShellLaunch {
  readonly program: SpawnRequest;
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
  const shell = findShell(order);
  if (shell === null) {
    return 'Expected bash or sh on the PATH to run commands in, found neither; install Git for Windows, or add bash to the PATH.';
  }
  try {
    return sandbox === null
      ? createLaunch(order, shell)
      : createSandboxedLaunch(order, shell, sandbox);
  } catch (error) {
    return `The command could not be prepared in ${tmpdir()}: ${getErrorMessage(error)}`;
  }
}

/** How a shell ended; its sandbox is null when it ran outside of one. */
export type ShellRun = Omit<SandboxedRun, 'sandboxed'> & {
  readonly sandboxed: SandboxedProgram | null;
};

/** Runs a prepared command, without input, to its end. What it started in the background goes on. */
export async function runLaunch(
  { program, sandboxed }: ShellLaunch,
  limits: { readonly timeoutMs: number; readonly maxStdoutBytes: number },
  options: RunOptions,
): Promise<ShellRun> {
  const shell = { stdin: '', opensStdin: true, ...limits };
  if (sandboxed !== null) return await runSandboxed(shell, sandboxed, options);
  let leader: number | null = null;
  const onStart = (pid: number): void => void (leader = pid);
  const result = await runProgram({ ...program, ...shell }, { ...options, onStart });
  return { result, leader, sandboxed: null, isUnmade: false };
}

interface Shell {
  readonly file: string;
  /** The program `cat`, which must not be looked for on the PATH of the command. */
  readonly cat: string;
  readonly isBash: boolean;
}

function findShell({ env, untrusted = [] }: BashCommand): Shell | null {
  const { platform } = process;
  const searchPath = cleanSearchPath(getVariable(env, 'PATH'), untrusted, platform);
  const findProgram = createProgramFinder(searchPath, platform);
  const cat = findProgram('cat') ?? 'cat';
  const bash = findBash({ platform, findProgram });
  if (bash !== null) return { file: bash, cat, isBash: true };
  const sh = findProgram('sh') ?? (platform === 'win32' ? null : '/bin/sh');
  return sh === null ? null : { file: sh, cat, isBash: false };
}

// The variable is named `Path` on Windows.
function getVariable(env: BashCommand['env'], name: string): string | undefined {
  const key = Object.keys(env).find((each) => each.toUpperCase() === name);
  return key === undefined ? undefined : env[key];
}

function createLaunch(order: BashCommand, shell: Shell): ShellLaunch {
  const directory = mkdtempSync(path.join(tmpdir(), 'hookline-shell-'));
  const files = { script: path.join(directory, 'script'), cwd: path.join(directory, 'cwd') };
  return {
    program: writeScript(order, shell, files),
    sandboxed: null,
    findFinalDirectory: () => readDirectoryName(files.cwd),
    dispose() {
      Object.values(files).forEach(removeFile);
      // A background process may have written there again.
      if (!tryRun(() => rmdirSync(directory))) {
        tryRun(() => rmSync(directory, { recursive: true, force: true }));
      }
    },
  };
}

/** The command can change none of its files but the one in which it leaves its directory. */
function createSandboxedLaunch(
  order: BashCommand,
  shell: Shell,
  sandbox: OpenedSandbox,
): ShellLaunch | string {
  const cwd = path.join(sandbox.temporaryDirectory, `hookline-cwd-${randomUUID()}`);
  const script = sandbox.takeScript();
  const program = writeScript(order, shell, { script: script.file, cwd });
  const sandboxed = sandbox.enter({ ...program, isBashScript: shell.isBash }, order.sandboxAccess);
  if (typeof sandboxed === 'string') {
    script.giveBack();
    return sandboxed;
  }
  return {
    program: sandboxed.program,
    sandboxed,
    findFinalDirectory: () => readDirectoryName(cwd),
    dispose() {
      script.giveBack();
      removeFile(cwd);
    },
  };
}

interface LaunchFiles {
  readonly script: string;
  /** Where the shell writes its last directory. */
  readonly cwd: string;
}

function writeScript(order: BashCommand, shell: Shell, files: LaunchFiles): SpawnRequest {
  // A file instead of an argument: arguments are limited in length and visible to other users.
  writeFileSync(files.script, buildScript(order, files.cwd), { mode: 0o600 });
  return {
    file: shell.file,
    args: buildShellArgs(shell, files.script),
    cwd: order.cwd,
    env: order.env,
  };
}

// Not rmSync, because loading recursive removal takes longer than most commands.
function removeFile(file: string): void {
  tryRun(() => unlinkSync(file));
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

const RUN_SCRIPT = 'eval "set --; $("$2" "$1")"';
// Bash reads a file without starting a program.
const RUN_SCRIPT_IN_BASH = 'eval "set --; $(<"$1")"';

// Node.js gives programs a socket as stdout, which `> /dev/stderr` cannot open; a real pipe can. A shell
// that is `exec`uted later does not know this pipe and never waits for it.
const RUN_THROUGH_PIPE = `exec "$1" -c "$2" bash "$3" > >(trap '' TERM; exec "$4") 2>&1`;

function buildShellArgs({ file, cat, isBash }: Shell, script: string): readonly string[] {
  if (isBash && process.platform !== 'win32') {
    return ['-c', RUN_THROUGH_PIPE, 'bash', file, RUN_SCRIPT_IN_BASH, script, cat];
  }
  return ['-c', `exec 2>&1; ${RUN_SCRIPT}`, isBash ? 'bash' : 'sh', script, cat];
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

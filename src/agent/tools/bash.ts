import { formatGitFunction } from '../../process/git/git-profile.ts';
import type { ProgramResult } from '../../process/run.ts';
import {
  changeVariables,
  findMentionedVariables,
  findUntrustedVariables,
  formatExports,
  formatProgramFunctions,
  type VariableChanges,
} from '../../process/search-path.ts';
import { defineTool } from './define-tool.ts';
import {
  captureOutput,
  MAX_KEPT_BYTES,
  MAX_SHOWN_CHARACTERS,
  formatFailedOutput,
  formatOutput,
  type CommandOutput,
  createProgress,
  SpillFile,
} from './shell/command-output.ts';
import {
  toShellExitCode,
  prepareLaunch,
  type BashCommand,
  type OpenedSandbox,
  runLaunch,
  type ShellLaunch,
  type ShellRun,
} from './shell/shell-launch.ts';
import { MAX_UNREAD_BYTES } from './shell/shells.ts';
import { createFailedOutput, type RunningCall, type ToolOutput } from './tool.ts';
import {
  followDirectory,
  listUntrusted,
  resolveDirectory,
  type ToolContext,
} from './tool-context.ts';

interface BashInput {
  readonly command: string;
  readonly timeoutMs: number;
  readonly isBackground: boolean;
  /** The model's request to run outside of the sandbox; permissions ask about it. */
  readonly isOutside: boolean;
}

const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_TIMEOUT_MS = 600_000;

export const bashTool = defineTool<BashInput>({
  name: 'Bash',
  description: [
    'Runs a command in bash and returns what it printed, stderr merged into stdout.',
    'The working directory is kept between calls; variables and functions are not. There is no input and no terminal, so avoid commands that ask or page.',
    'Quote paths that contain spaces. Use Read, Edit, Write, Grep and Glob rather than cat, sed, echo, grep and find.',
    `A command is ended after ${DEFAULT_TIMEOUT_MS / 1000} s unless timeout (ms, at most ${MAX_TIMEOUT_MS}) says otherwise. Set run_in_background, rather than ending it with &, for a server or a watcher; BashOutput then reads what it prints, KillShell ends it. Whatever still runs ends with the session, unless nohup or setsid detached it.`,
    `Output over ${MAX_SHOWN_CHARACTERS} characters is saved to a file and shown in part.`,
  ].join('\n'),
  schema: {
    type: 'object',
    properties: {
      command: { type: 'string', description: 'The command to run' },
      description: {
        type: 'string',
        description: 'What the command does, in five to ten words, for the user',
      },
      timeout: {
        type: 'number',
        description: `Time limit in milliseconds, at most ${MAX_TIMEOUT_MS}`,
      },
      run_in_background: {
        type: 'boolean',
        description: 'Return at once and let the command go on',
      },
      dangerouslyDisableSandbox: {
        type: 'boolean',
        description:
          'Run outside of the sandbox; the user is always asked. Only for a command that failed in it',
      },
    },
    required: ['command'],
  },
  kind: 'execute',
  parse(fields) {
    const command = fields.requiredText('command');
    if (command.includes('\0')) fields.reject('command', 'text without NUL characters');
    fields.optionalText('description');
    const timeoutMs = fields.optionalPositiveInteger('timeout') ?? DEFAULT_TIMEOUT_MS;
    return {
      command,
      timeoutMs: Math.min(timeoutMs, MAX_TIMEOUT_MS),
      isBackground: fields.flag('run_in_background'),
      isOutside: fields.flag('dangerouslyDisableSandbox'),
    };
  },
  run: (input, context, call) =>
    input.isBackground
      ? startInBackground(input, context, call)
      : runInForeground(input, context, call),
});

async function runInForeground(
  input: BashInput,
  context: ToolContext,
  call: RunningCall,
): Promise<ToolOutput> {
  const sandbox = input.isOutside ? null : ((await context.sandbox?.open()) ?? null);
  if (typeof sandbox === 'string') return createFailedOutput(sandbox);
  const { command, timeoutMs } = input;
  const before = resolveDirectory(context);
  const shellCommand = createShellCommand(command, before.directory, context, call);
  const launch = prepareLaunch(shellCommand, sandbox);
  if (typeof launch === 'string') return createFailedOutput(launch);
  const spill = new SpillFile(context.spillDirectory, MAX_SHOWN_CHARACTERS, context.maxOutputBytes);
  const showProgress = createProgress(call.onProgress);
  try {
    const limits = { timeoutMs, maxStdoutBytes: MAX_KEPT_BYTES };
    const run = await runLaunch(launch, limits, {
      signal: call.signal,
      onOutput(chunk) {
        spill.push(chunk);
        showProgress(chunk);
      },
    });
    context.shells.orphans.track(run, command);
    const { result } = run;
    const output = captureOutput(result.stdout, spill);
    const after = followDirectory(launch.findFinalDirectory(), context);
    const notes = [before.note, after.note, explainSandbox(run, output, sandbox)];
    const note = [...new Set(notes)].filter((text) => text !== '').join('\n');
    return { ...createBashOutput(result, output, note, timeoutMs), ...describeSandbox(launch) };
  } finally {
    launch.dispose();
  }
}

function createShellCommand(
  command: string,
  cwd: string,
  context: ToolContext,
  { gitProfile, programFiles = {}, sandboxAccess }: RunningCall,
): BashCommand {
  const env = context.environment();
  const untrusted = listUntrusted(context);
  const changes = findUntrustedVariables(env, untrusted, process.platform);
  const prelude = context.shellPrelude();
  const unasked = { ...findMentionedVariables(prelude), ...changes };
  return {
    command,
    cwd,
    // The shell itself, and what starts it, must not load anything of the workspace before the command.
    env: changeVariables(env, changes),
    prelude: formatExports(pickChanged(env, changes)) + prelude,
    functions: [
      formatProgramFunctions(programFiles, unasked),
      gitProfile === undefined ? '' : formatGitFunction(gitProfile, unasked),
    ]
      .filter((text) => text !== '')
      .join('\n'),
    untrusted,
    sandboxAccess,
  };
}

/** The variables that the command gets back; a file that every shell reads first stays out. */
function pickChanged(
  env: Readonly<Record<string, string>>,
  changes: VariableChanges,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(env).filter(
      ([name]) => Object.hasOwn(changes, name) && !/^(?:BASH_)?ENV$/.test(name),
    ),
  );
}

/** Names the profile in which a command ran; nothing for one that ran outside of a sandbox. */
function describeSandbox({ sandboxed }: ShellLaunch): Pick<ToolOutput, 'sandbox'> {
  return sandboxed === null ? {} : { sandbox: sandboxed.profile };
}

// What ssh, git and others print when they may not read a key or write a file.
const REFUSALS =
  /Permission denied|Read-only file system|Operation not permitted|EACCES|EROFS|EPERM|Device or resource busy|Could not read from remote repository|could not read Username|Host key verification failed/;

/** Explains to the model that the sandbox may be why a command failed, and what it hides. */
function explainSandbox(
  { result, isUnmade }: ShellRun,
  output: CommandOutput,
  sandbox: OpenedSandbox | null,
): string {
  if (sandbox === null || result.exitCode === 0) return '';
  if (isUnmade) {
    return 'The sandbox could not be set up, so the command did not run. `hookline doctor` says what is missing.';
  }
  const printed = `${output.stdout}\n${output.cut?.end ?? ''}`;
  if (!REFUSALS.test(printed)) return '';
  const hidden = sandbox.hidden.length === 0 ? '' : ` It hides ${sandbox.hidden.join(', ')}.`;
  return `The command ran in a sandbox: only the workspace and $TMPDIR are writable.${hidden} If it needs more, call Bash again with dangerouslyDisableSandbox: true; the user is asked.`;
}

/** `note` is for the model, about the working directory and the sandbox. */
function createBashOutput(
  result: ProgramResult,
  output: CommandOutput,
  note: string,
  timeoutMs: number,
): ToolOutput {
  if (result.ending === 'abort') return createAbortedOutput(output, note);
  if (result.ending === 'spawn') return createFailedOutput(result.spawnError?.message ?? '');
  const exitCode = toShellExitCode(result);
  const isTimeout = result.ending === 'timeout';
  if (exitCode === 0 && !isTimeout) {
    const response = createBashResponse(output, { stderr: note, interrupted: false });
    return { response, text: joinLines(formatOutput(output), note), success: true, exitCode };
  }
  const why = isTimeout ? formatTimeout(timeoutMs, result.isTreeEnded) : `Exit code ${exitCode}`;
  // Errors that the shell printed before stderr was merged into stdout.
  const shellErrors = output.stdout === '' ? result.stderr.text.trim() : '';
  const error = joinLines(why, shellErrors, formatFailedOutput(output), note);
  return { ...createFailedOutput(error), exitCode };
}

function createAbortedOutput(output: CommandOutput, note: string): ToolOutput {
  const aborted = '<error>Command was aborted before completion</error>';
  return {
    ...createFailedOutput(joinLines(formatFailedOutput(output), aborted, note)),
    response: createBashResponse(output, { stderr: note, interrupted: true }),
    interrupted: true,
  };
}

function formatTimeout(timeoutMs: number, isTreeEnded: boolean): string {
  const seconds = Math.floor(timeoutMs / 1000);
  const duration =
    seconds < 60 ? `${timeoutMs / 1000}s` : `${Math.floor(seconds / 60)}m ${seconds % 60}s`;
  const rest = isTreeEnded
    ? ', with all that it started.'
    : '; processes that it detached may still run.';
  return `Command timed out after ${duration} and was ended${rest} A longer timeout (at most ${MAX_TIMEOUT_MS} ms) or run_in_background lets it go on.`;
}

function joinLines(...texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n');
}

function createBashResponse(
  { stdout, cut }: CommandOutput,
  details: { readonly stderr: string; readonly interrupted: boolean },
): Readonly<Record<string, unknown>> {
  const spilled = cut?.spilled ?? null;
  const persisted =
    spilled === null
      ? {}
      : { persistedOutputPath: spilled.path, persistedOutputSize: spilled.bytes };
  return { stdout, ...details, isImage: false, noOutputExpected: false, ...persisted };
}

async function startInBackground(
  { command, isOutside }: BashInput,
  context: ToolContext,
  call: RunningCall,
): Promise<ToolOutput> {
  const { directory, note } = resolveDirectory(context);
  const sandbox = isOutside ? null : ((await context.sandbox?.open()) ?? null);
  if (typeof sandbox === 'string') return createFailedOutput(sandbox);
  const launch = prepareLaunch(createShellCommand(command, directory, context, call), sandbox);
  if (typeof launch === 'string') return createFailedOutput(launch);
  const spill = new SpillFile(context.spillDirectory, MAX_UNREAD_BYTES, context.maxOutputBytes);
  const shell = context.shells.start(command, launch, spill);
  if (typeof shell === 'string') return createFailedOutput(shell);
  const emptyResponse = createBashResponse(
    { stdout: '', cut: null },
    { stderr: note, interrupted: false },
  );
  const started = `Command running in background with ID: ${shell.id}. BashOutput reads what it prints, KillShell ends it.`;
  return {
    response: { ...emptyResponse, backgroundTaskId: shell.id },
    text: joinLines(started, note),
    success: true,
    ...describeSandbox(launch),
  };
}

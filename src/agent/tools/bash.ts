import { runProgram, type ProgramResult } from '../../process/run.ts';
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
import { MAX_UNREAD_BYTES } from './shell/shells.ts';
import { toShellExitCode, prepareLaunch, type BashCommand } from './shell/shell-launch.ts';
import { createFailedOutput, type RunningCall, type ToolOutput } from './tool.ts';
import { followDirectory, resolveDirectory, type ToolContext } from './tool-context.ts';

interface BashInput {
  readonly command: string;
  readonly timeoutMs: number;
  readonly isBackground: boolean;
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
    };
  },
  run: (input, context, call) =>
    input.isBackground ? startInBackground(input, context) : runInForeground(input, context, call),
});

async function runInForeground(
  { command, timeoutMs }: BashInput,
  context: ToolContext,
  call: RunningCall,
): Promise<ToolOutput> {
  const before = resolveDirectory(context);
  const launch = prepareLaunch(createShellCommand(command, before.directory, context));
  if (typeof launch === 'string') return createFailedOutput(launch);
  const spill = new SpillFile(context.spillDirectory, MAX_SHOWN_CHARACTERS, context.maxOutputBytes);
  const showProgress = createProgress(call.onProgress);
  let leader: number | null = null;
  try {
    const result = await runProgram(
      {
        ...launch.program,
        stdin: '',
        opensStdin: true,
        timeoutMs,
        maxStdoutBytes: MAX_KEPT_BYTES,
      },
      {
        signal: call.signal,
        onStart: (pid) => void (leader = pid),
        onOutput(chunk) {
          spill.push(chunk);
          showProgress(chunk);
        },
      },
    );
    context.shells.orphans.track(leader, command);
    const output = captureOutput(result.stdout, spill);
    const after = followDirectory(launch.findFinalDirectory(), context);
    const notes = [before.note, after.note].filter((note) => note !== '');
    return createBashOutput(result, output, [...new Set(notes)].join('\n'), timeoutMs);
  } finally {
    launch.dispose();
  }
}

function createShellCommand(command: string, cwd: string, context: ToolContext): BashCommand {
  return { command, cwd, env: context.environment(), prelude: context.shellPrelude() };
}

/** `note` is for the model, about the working directory. */
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
  { command }: BashInput,
  context: ToolContext,
): Promise<ToolOutput> {
  const { directory, note } = resolveDirectory(context);
  const spill = new SpillFile(context.spillDirectory, MAX_UNREAD_BYTES, context.maxOutputBytes);
  const shell = context.shells.start(createShellCommand(command, directory, context), spill);
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
  };
}

import { readFileSync } from 'node:fs';
import { addAbortSignal } from 'node:stream';
import { isatty } from 'node:tty';
import { parseScript } from '../../agent/models/script-file.ts';
import type { RunResult } from '../../agent/runtime-event.ts';
import { HooklineError, messageOf } from '../../base/errors.ts';
import { isDirectory } from '../../base/files.ts';
import type { AgentOptions, ModelWish } from '../../host/agent/agent-options.ts';
import type { StartRequest } from '../../host/agent/sessions.ts';
import type { Host } from '../../host/create-host.ts';
import { type Command, type CommandContext, withHost } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { createRunReport, type RunForm, type RunReport } from '../words/run-report.ts';

export interface RunOptions {
  readonly prompt?: string;
  readonly provider?: string;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly key?: string;
  readonly script?: string;
  readonly permissionMode?: NonNullable<AgentOptions['permissionMode']>;
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly resume?: string;
  readonly continue?: boolean;
  readonly fork?: boolean;
  readonly maxTurns?: string;
  readonly toolset?: NonNullable<AgentOptions['toolset']>;
  readonly addDir?: readonly string[];
  readonly init?: boolean;
  readonly maintenance?: boolean;
  readonly output?: RunForm;
}

/** `hookline run PROMPT`: one task, headless. */
export const runTask: Command<RunOptions> = async (context, options) => {
  const report = createRunReport(context, formOf(context, options));
  const agent = agentOptions(options);
  const request = await startRequest(options, context.signal);
  try {
    return await withHost(context, (host) => runIn(host, { context, request, report }), {
      ...agent,
      watch: 'soon',
      onNotice: report.notice,
    });
  } finally {
    // Also what was to be told before something failed.
    await report.end(null);
  }
};

function formOf({ flags }: CommandContext, { output }: RunOptions): RunForm {
  return output ?? (flags.json === true ? 'json' : 'text');
}

interface Running {
  readonly context: CommandContext;
  readonly request: StartRequest;
  readonly report: RunReport;
}

async function runIn(host: Host, { context, request, report }: Running): Promise<ExitCode> {
  const unsubscribe = host.subscribe(report.observe);
  try {
    const { result } = await host.start({ ...request, signal: context.signal });
    // Hooks of SessionEnd belong to the run; whoever reads the result must find them done.
    await host.dispose();
    await report.end(result);
    return result === null ? EXIT.fine : exitCodeOf(result, report, context);
  } finally {
    unsubscribe();
  }
}

function exitCodeOf(result: RunResult, report: RunReport, { flags }: CommandContext): ExitCode {
  if (result.status === 'aborted') return EXIT.interrupted;
  const isFine = result.ending === 'done' || result.ending === 'tool_deferred';
  if (!isFine) return EXIT.refused;
  return flags.strict === true && report.hasUnsoundHooks() ? EXIT.hookFailed : EXIT.fine;
}

async function startRequest(options: RunOptions, signal: AbortSignal): Promise<StartRequest> {
  refuseContradictions(options);
  const resume = options.continue === true ? 'latest' : options.resume;
  const prompt = filledText(options.prompt ?? '') ?? (await readStdin(signal));
  if (prompt === null && resume === undefined) {
    throw usage('`hookline run` needs a prompt', 'Write it after `run`, or pipe it in.');
  }
  if (options.fork === true && resume === undefined) {
    throw usage('--fork needs a session to copy', 'Name it with --resume ID, or use --continue.');
  }
  return {
    prompt,
    ...(resume === undefined ? {} : { resume }),
    ...(options.fork === true ? { fork: true } : {}),
  };
}

/** Flags of which only one can be meant. */
function refuseContradictions(options: RunOptions): void {
  const { resume, init, maintenance, script, provider } = options;
  if (resume !== undefined && options.continue === true) {
    throw usage('--resume and --continue name two sessions', 'Leave one of them out.');
  }
  if (init === true && maintenance === true) {
    throw usage('--init and --maintenance name two reasons for Setup', 'Leave one of them out.');
  }
  if (script !== undefined && provider !== undefined && provider !== 'scripted') {
    throw usage(
      `--script is a model of its own, found --provider ${provider} beside it`,
      'Leave one of them out.',
    );
  }
}

/** What was piped in, or null when nothing was. */
async function readStdin(signal: AbortSignal): Promise<string | null> {
  // Opening stdin takes a while, which only whoever reads it should wait.
  if (isatty(0)) return null;
  try {
    const { text } = await import('node:stream/consumers');
    return filledText(await text(addAbortSignal(signal, process.stdin)));
  } catch {
    signal.throwIfAborted();
    // Closed, or not to be read: the same as nothing.
    return null;
  }
}

function filledText(given: string): string | null {
  const trimmed = given.trim();
  return trimmed === '' ? null : trimmed;
}

function agentOptions(options: RunOptions): AgentOptions {
  const { permissionMode, allow, deny, toolset, addDir, init, maintenance } = options;
  return {
    model: modelWish(options),
    ...(permissionMode === undefined ? {} : { permissionMode }),
    ...(allow === undefined ? {} : { allow }),
    ...(deny === undefined ? {} : { deny }),
    ...(toolset === undefined ? {} : { toolset }),
    ...(addDir === undefined ? {} : { addDirectories: addDir.map(checkedDirectory) }),
    ...(options.maxTurns === undefined ? {} : { maxTurns: readCount(options.maxTurns) }),
    ...(maintenance === true ? { setup: 'maintenance' } : {}),
    ...(init === true ? { setup: 'init' } : {}),
  };
}

function checkedDirectory(given: string): string {
  if (isDirectory(given)) return given;
  throw usage(
    `--add-dir should name a directory: ${JSON.stringify(given)} is none`,
    'Name one that exists.',
  );
}

function modelWish({ provider, model, baseUrl, key, script }: RunOptions): ModelWish {
  return {
    ...(provider === undefined ? {} : { provider }),
    ...(model === undefined ? {} : { model }),
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(key === undefined ? {} : { key }),
    ...(script === undefined ? {} : { script: parseScript(readScript(script), script) }),
  };
}

function readScript(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw usage(
      `--script should name a file with turns of a scripted model: ${messageOf(error)}`,
      'Name one that exists.',
    );
  }
}

function readCount(written: string): number {
  const count = Number(written);
  if (Number.isInteger(count) && count > 0) return count;
  throw usage(
    `--max-turns should be a whole number above 0, found ${JSON.stringify(written)}`,
    'Write it as 20, for example.',
  );
}

function usage(message: string, hint: string): HooklineError {
  return new HooklineError('USAGE_INVALID', { message, hint });
}

import { addAbortSignal } from 'node:stream';
import { isatty } from 'node:tty';
import type { RunResult } from '../../agent/runtime-event.ts';
import type { AgentOptions } from '../../host/agent/agent-options.ts';
import type { StartRequest } from '../../host/agent/sessions.ts';
import type { Host } from '../../host/create-host.ts';
import {
  type AgentFlags,
  toAgentOptions,
  trimToNull,
  checkFlagConflicts,
  toSessionRequest,
  createUsageError,
} from '../agent-flags.ts';
import {
  type Command,
  type CommandContext,
  withHost,
  createSilentPluginOptions,
} from '../context.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { type OutputFormat, RunReport } from '../output/run-report.ts';

interface RunOptions extends AgentFlags {
  readonly fork?: boolean;
  readonly init?: boolean;
  readonly maintenance?: boolean;
  readonly output?: OutputFormat;
}

/** `hookline run PROMPT`: runs one prompt non-interactively. */
export const runTask: Command<RunOptions> = async (context, options) => {
  const report = new RunReport(context, selectFormat(context, options));
  const agent = { ...toAgentOptions(options), ...toSetup(options) };
  const request = await buildStartRequest(options, context.signal);
  try {
    return await withHost(context, (host) => runOnHost(host, context, request, report), {
      ...agent,
      plugins: {
        ...createSilentPluginOptions(context.flags),
        onIssue: (issue) => report.addIssue(issue),
        onConsole: (text) => report.printPluginOutput(text),
      },
      watch: 'soon',
      onNotice: (text) => report.printNotice(text),
    });
  } finally {
    // Flushes pending output also after a failure.
    await report.end(null);
  }
};

function selectFormat({ flags }: CommandContext, { output }: RunOptions): OutputFormat {
  return output ?? (flags.json === true ? 'json' : 'text');
}

async function runOnHost(
  host: Host,
  context: CommandContext,
  request: StartRequest,
  report: RunReport,
): Promise<ExitCode> {
  const unsubscribe = host.subscribe((event) => report.observe(event));
  try {
    const { result } = await host.start({ ...request, signal: context.signal });
    // Disposed first, because SessionEnd hooks must be done when the result is printed.
    await host.dispose();
    await report.end(result);
    return result === null ? EXIT.fine : toExitCode(result, report, context);
  } finally {
    unsubscribe();
  }
}

function toExitCode(result: RunResult, report: RunReport, { flags }: CommandContext): ExitCode {
  if (result.status === 'aborted') return EXIT.interrupted;
  const isFine = result.ending === 'done' || result.ending === 'tool_deferred';
  if (!isFine) return EXIT.refused;
  return flags.strict === true && report.hasHookFailures() ? EXIT.hookFailed : EXIT.fine;
}

async function buildStartRequest(options: RunOptions, signal: AbortSignal): Promise<StartRequest> {
  checkFlagConflicts(options);
  const session = toSessionRequest(options);
  const prompt = trimToNull(options.prompt ?? '') ?? (await readStdin(signal));
  if (prompt === null && session.resume === undefined) {
    throw createUsageError(
      '`hookline run` requires a prompt',
      'Pass it as an argument or on stdin.',
    );
  }
  if (options.fork === true && session.resume === undefined) {
    throw createUsageError('--fork requires a session', 'Pass --resume ID or --continue.');
  }
  return { prompt, ...session, ...(options.fork === true ? { fork: true } : {}) };
}

function toSetup({ init, maintenance }: RunOptions): Pick<AgentOptions, 'setup'> {
  if (init === true && maintenance === true) {
    throw createUsageError('--init and --maintenance cannot be combined', 'Use one of them.');
  }
  if (init === true) return { setup: 'init' };
  return maintenance === true ? { setup: 'maintenance' } : {};
}

/** The piped input; null when there is none. */
async function readStdin(signal: AbortSignal): Promise<string | null> {
  // Opening stdin is slow, so it is only opened when it is piped.
  if (isatty(0)) return null;
  try {
    const { text } = await import('node:stream/consumers');
    return trimToNull(await text(addAbortSignal(signal, process.stdin)));
  } catch {
    signal.throwIfAborted();
    // A closed or unreadable stdin counts as empty.
    return null;
  }
}

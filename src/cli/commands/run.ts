import { addAbortSignal } from 'node:stream';
import { isatty } from 'node:tty';
import type { RunResult } from '../../agent/runtime-event.ts';
import type { AgentOptions } from '../../host/agent/agent-options.ts';
import type { StartRequest } from '../../host/agent/sessions.ts';
import type { Host } from '../../host/create-host.ts';
import {
  type AgentFlags,
  agentOptions,
  filledText,
  refuseContradictions,
  sessionWish,
  usage,
} from '../agent-flags.ts';
import { type Command, type CommandContext, withHost } from '../context.ts';
import { silentPluginOptions } from '../plugin-options.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { createRunReport, type RunForm, type RunReport } from '../words/run-report.ts';

export interface RunOptions extends AgentFlags {
  readonly fork?: boolean;
  readonly init?: boolean;
  readonly maintenance?: boolean;
  readonly output?: RunForm;
}

/** `hookline run PROMPT`: one task, headless. */
export const runTask: Command<RunOptions> = async (context, options) => {
  const report = createRunReport(context, formOf(context, options));
  const agent = { ...agentOptions(options), ...setupOf(options) };
  const request = await startRequest(options, context.signal);
  try {
    return await withHost(context, (host) => runIn(host, { context, request, report }), {
      ...agent,
      plugins: {
        ...silentPluginOptions(context.flags),
        onIssue: report.issue,
        onConsole: report.say,
      },
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
  const wish = sessionWish(options);
  const prompt = filledText(options.prompt ?? '') ?? (await readStdin(signal));
  if (prompt === null && wish.resume === undefined) {
    throw usage('`hookline run` needs a prompt', 'Write it after `run`, or pipe it in.');
  }
  if (options.fork === true && wish.resume === undefined) {
    throw usage('--fork needs a session to copy', 'Name it with --resume ID, or use --continue.');
  }
  return { prompt, ...wish, ...(options.fork === true ? { fork: true } : {}) };
}

function setupOf({ init, maintenance }: RunOptions): Pick<AgentOptions, 'setup'> {
  if (init === true && maintenance === true) {
    throw usage('--init and --maintenance name two reasons for Setup', 'Leave one of them out.');
  }
  if (init === true) return { setup: 'init' };
  return maintenance === true ? { setup: 'maintenance' } : {};
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

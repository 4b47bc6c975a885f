import { once } from 'node:events';
import { addAbortSignal, type Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { isatty } from 'node:tty';
import { HooklineError } from '../../base/errors.ts';
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
import { createHookProgress } from '../output/hook-progress.ts';
import { type OutputFormat, RunReport } from '../output/run-report.ts';

interface RunOptions extends AgentFlags {
  readonly fork?: boolean;
  readonly init?: boolean;
  readonly maintenance?: boolean;
  readonly output?: OutputFormat;
  readonly outputFormat?: OutputFormat;
}

/** `hookline run PROMPT`: runs one prompt non-interactively. */
export const runTask: Command<RunOptions> = async (context, options) => {
  const report = new RunReport(context, selectFormat(context, options));
  const agent = { ...toAgentOptions(options), ...toSetup(options) };
  const request = await buildStartRequest(options, context);
  const progress = createHookProgress(context.print, (text) => report.printNotice(text));
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
      onProgress: (each) => progress.observe(each),
    });
  } finally {
    progress.end();
    // Flushes pending output also after a failure.
    await report.end(null);
  }
};

function selectFormat(
  { flags }: CommandContext,
  { output, outputFormat }: RunOptions,
): OutputFormat {
  return output ?? outputFormat ?? (flags.json === true ? 'json' : 'text');
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
    if (result === null) return EXIT.fine;
    rejectFailedRun(result, context);
    return toExitCode(result, report, context);
  } finally {
    unsubscribe();
  }
}

/** Programs read errors of all commands in one form; its text for users is part of the report. */
function rejectFailedRun({ ending, reason }: RunResult, { flags }: CommandContext): void {
  if (flags.json !== true || (ending !== 'model_failed' && ending !== 'failed')) return;
  throw new HooklineError('RUN_FAILED', { message: reason ?? 'the run failed' });
}

function toExitCode(result: RunResult, report: RunReport, { flags }: CommandContext): ExitCode {
  if (result.status === 'aborted') return EXIT.interrupted;
  const isFine = result.ending === 'done' || result.ending === 'tool_deferred';
  if (!isFine) return EXIT.refused;
  return flags.strict === true && report.hasHookFailures() ? EXIT.hookFailed : EXIT.fine;
}

async function buildStartRequest(
  options: RunOptions,
  context: CommandContext,
): Promise<StartRequest> {
  checkFlagConflicts(options);
  const session = toSessionRequest(options);
  const written = trimToNull(options.prompt ?? '');
  const piped = await readStdin(context, written !== null || session.resume !== undefined);
  const prompt = trimToNull([written, piped].filter(Boolean).join('\n\n'));
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

// A program that starts this one may leave a pipe open and never write to it.
const FIRST_INPUT_WAIT_MS = 3000;

/** The piped input; null when there is none. Waits for it without end only if nothing else is the prompt. */
async function readStdin(
  { signal, print, stdin }: CommandContext,
  isAddition: boolean,
): Promise<string | null> {
  // Opening stdin is slow, so it is only opened when it is piped.
  if (stdin === undefined && isatty(0)) return null;
  try {
    const input = addAbortSignal(signal, stdin ?? process.stdin);
    if (isAddition && !(await waitForInput(input))) {
      print.note('note: nothing came on stdin within 3 s, so only the prompt is used');
      input.destroy();
      return null;
    }
    const { text } = await import('node:stream/consumers');
    return trimToNull(await text(input));
  } catch {
    signal.throwIfAborted();
    // A closed or unreadable stdin counts as empty.
    return null;
  }
}

/** Waits for the first input or its end. */
async function waitForInput(input: Readable): Promise<boolean> {
  const settled = new AbortController();
  const arrived = Promise.race(
    ['readable', 'end', 'error', 'close'].map((name) =>
      once(input, name, { signal: settled.signal }).then(
        () => true,
        () => true,
      ),
    ),
  );
  const tooLate = setTimeout(FIRST_INPUT_WAIT_MS, false, { signal: settled.signal }).catch(
    () => false,
  );
  try {
    return await Promise.race([arrived, tooLate]);
  } finally {
    settled.abort();
  }
}

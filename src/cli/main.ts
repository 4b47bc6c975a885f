import {
  type HooklineError,
  getErrorCode,
  isHooklineError,
  getErrorMessage,
} from '../base/errors.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { createJsonPrinter, type ErrorObject, type JsonPrinter } from './output/json-errors.ts';
import { createPrinter, toPrintable } from './output/print.ts';
import { runCommandLine } from './command-line.ts';

const EXIT_DELAY_MS = 1000;
/** Commands whose notes are read while they run. */
const LIVE_COMMANDS = ['acp', 'chat'];

let hasWriteFailed = false;
const plainPrint = createPrinter(process.env, handleWriteError);
const jsonPrint = openJsonPrinter(process.argv.slice(2));
const print = jsonPrint ?? plainPrint;
process.on('exit', () => jsonPrint?.flush());
const interrupt = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, handleSignal);
// An early exit must not look like success.
process.exitCode = EXIT.bug;
// Not a top-level await, which needs an ES module: CommonJS starts faster.
void runMain().then((exitCode) => {
  process.exitCode = hasWriteFailed ? EXIT.refused : exitCode;
  if (isIdle()) process.exit();
  exitWhenFlushed();
});

/** Whether nothing is left that could still happen: then waiting for it only takes time. */
function isIdle(): boolean {
  return process.getActiveResourcesInfo().length === 0 && process.listenerCount('beforeExit') === 0;
}

/** Exits although a plugin may have left a timer or connection open, once all output is flushed. */
function exitWhenFlushed(): void {
  const timer = setTimeout(() => {
    const isWriting = process.stdout.writableLength + process.stderr.writableLength > 0;
    if (isWriting) exitWhenFlushed();
    else process.exit();
  }, EXIT_DELAY_MS);
  // Unreferenced, so that a process without work exits at once.
  timer.unref();
}

/** A reader that closed the pipe, such as `| head`, is not an error. */
function handleWriteError(error: unknown): void {
  if (getErrorCode(error) === 'EPIPE' || hasWriteFailed) return;
  hasWriteFailed = true;
  const message = `cannot write output: ${getErrorMessage(error)}`;
  reportError({ code: 'OUTPUT_UNWRITABLE', message, hint: null });
  process.exitCode = EXIT.refused;
}

/** The first signal ends hooks gracefully; the second exits at once. */
function handleSignal(): void {
  if (interrupt.signal.aborted) process.exit(EXIT.interrupted);
  interrupt.abort();
}

async function runMain(): Promise<ExitCode> {
  try {
    const context = { print, env: process.env, signal: interrupt.signal };
    return await runCommandLine(process.argv, context);
  } catch (error) {
    if (interrupt.signal.aborted) return EXIT.interrupted;
    return printError(error);
  }
}

async function printError(error: unknown): Promise<ExitCode> {
  // Messages name files, commands and URLs as they were found.
  const { redactText } = await import('../host/redact-object.ts');
  const isOurs = isHooklineError(error);
  const message = redactText(getErrorMessage(error));
  const hint = redactText((isOurs ? error.hint : getStack(error)) ?? '');
  const code = isOurs ? error.code : 'INTERNAL_ERROR';
  reportError({ code, message, hint: hint === '' ? null : hint });
  return isOurs ? toExitCode(error) : EXIT.bug;
}

/** Prints an error: a line and its hint, or one object for programs. */
function reportError(error: ErrorObject): void {
  if (jsonPrint !== null) {
    jsonPrint.error(error);
    return;
  }
  const { code, message, hint } = error;
  const isBug = code === 'INTERNAL_ERROR';
  print.note(`hookline: ${isBug ? `internal error: ${message}` : toPrintable(message)}`);
  if (hint !== null) print.note(isBug ? hint : `  ${hint}`);
}

function getStack(error: unknown): string | undefined {
  return error instanceof Error ? error.stack : undefined;
}

/** The printer for `--json`; null without the flag. */
function openJsonPrinter(args: readonly string[]): JsonPrinter | null {
  const end = args.indexOf('--');
  const own = args.slice(0, end === -1 ? args.length : end);
  const isLive = LIVE_COMMANDS.includes(own.find((word) => !word.startsWith('-')) ?? '');
  return own.includes('--json') ? createJsonPrinter(plainPrint, isLive) : null;
}

/** Errors that mean a refusal, not wrong usage. */
const REFUSAL_CODES: readonly HooklineError['code'][] = [
  'AGENT_MISSING',
  'AGENT_OCCUPIED',
  'BRIDGE_PORT_TAKEN',
  'BRIDGE_RUNNING',
  'BRIDGE_UNREACHABLE',
  'TRUST_INSIDE_AGENT',
  'TRUST_NEEDS_TERMINAL',
  'PLUGIN_INSTALL_FAILED',
  'RUN_FAILED',
];

function toExitCode({ code }: HooklineError): ExitCode {
  if (code === 'GUARD_MISSING') return EXIT.hookFailed;
  return REFUSAL_CODES.includes(code) ? EXIT.refused : EXIT.usage;
}

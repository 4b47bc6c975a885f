import type { HooklineError } from '../base/errors.ts';
import { getErrorCode, isHooklineError, getErrorMessage } from '../base/errors.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { createPrinter, printable } from './words/print.ts';
import { runCommandLine } from './command-line.ts';

const LINGER_MS = 1000;

let hasLostAnswer = false;
const print = createPrinter(process.env, loseAnswer);
const interrupt = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
// Whatever keeps the work from its end must not look like success.
process.exitCode = EXIT.bug;
// Not awaited at the top level, which only an ES module could do: as CommonJS it starts faster.
void run().then((exitCode) => {
  process.exitCode = hasLostAnswer ? EXIT.refused : exitCode;
  leaveSoon();
});

/** A plugin may leave a timer or a connection that nobody ends; what was written is awaited all the same. */
function leaveSoon(): void {
  const timer = setTimeout(() => {
    const isWriting = process.stdout.writableLength + process.stderr.writableLength > 0;
    if (isWriting) leaveSoon();
    else process.exit();
  }, LINGER_MS);
  // Whoever has nothing left to do ends at once.
  timer.unref();
}

/** A reader that went away, such as `| head`, has all that it wanted. */
function loseAnswer(error: unknown): void {
  if (getErrorCode(error) === 'EPIPE' || hasLostAnswer) return;
  hasLostAnswer = true;
  print.note(`hookline: the answer cannot be written: ${getErrorMessage(error)}`);
  process.exitCode = EXIT.refused;
}

/** The first signal ends hooks politely and waits for them; whoever repeats it does not want to wait. */
function onSignal(): void {
  if (interrupt.signal.aborted) process.exit(EXIT.interrupted);
  interrupt.abort();
}

async function run(): Promise<ExitCode> {
  try {
    const surroundings = { print, env: process.env, signal: interrupt.signal };
    return await runCommandLine(process.argv, surroundings);
  } catch (error) {
    if (interrupt.signal.aborted) return EXIT.interrupted;
    return explain(error);
  }
}

function explain(error: unknown): ExitCode {
  if (isHooklineError(error)) {
    print.note(`hookline: ${printable(error.message)}`);
    if (error.hint !== undefined) print.note(`  ${error.hint}`);
    return exitCodeFor(error);
  }
  print.note(`hookline: this is a bug: ${getErrorMessage(error)}`);
  print.note(error instanceof Error ? (error.stack ?? '') : '');
  return EXIT.bug;
}

/** What was asked for was understood, and was not done. */
const REFUSALS: readonly HooklineError['code'][] = [
  'TRUST_INSIDE_AGENT',
  'TRUST_NEEDS_TERMINAL',
  'PLUGIN_INSTALL_FAILED',
];

function exitCodeFor({ code }: HooklineError): ExitCode {
  return REFUSALS.includes(code) ? EXIT.refused : EXIT.usage;
}

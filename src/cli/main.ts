import {
  type HooklineError,
  getErrorCode,
  isHooklineError,
  getErrorMessage,
} from '../base/errors.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { createPrinter, toPrintable } from './output/print.ts';
import { COMMANDS, type CommandRow } from './commands.ts';
import type { CommandContext } from './context.ts';

const EXIT_DELAY_MS = 1000;

let hasWriteFailed = false;
const print = createPrinter(process.env, handleWriteError);
const interrupt = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
// Whatever keeps the work from its end must not look like success.
process.exitCode = EXIT.bug;
// Not awaited at the top level, which only an ES module could do: as CommonJS it starts faster.
void runMain().then((exitCode) => {
  process.exitCode = hasWriteFailed ? EXIT.refused : exitCode;
  exitWhenFlushed();
});

/** A plugin may leave a timer or a connection that nobody ends; what was written is awaited all the same. */
function exitWhenFlushed(): void {
  const timer = setTimeout(() => {
    const isWriting = process.stdout.writableLength + process.stderr.writableLength > 0;
    if (isWriting) exitWhenFlushed();
    else process.exit();
  }, EXIT_DELAY_MS);
  // Whoever has nothing left to do ends at once.
  timer.unref();
}

/** A reader that went away, such as `| head`, has all that it wanted. */
function handleWriteError(error: unknown): void {
  if (getErrorCode(error) === 'EPIPE' || hasWriteFailed) return;
  hasWriteFailed = true;
  print.note(`hookline: the answer cannot be written: ${getErrorMessage(error)}`);
  process.exitCode = EXIT.refused;
}

/** The first signal ends hooks politely and waits for them; whoever repeats it does not want to wait. */
function onSignal(): void {
  if (interrupt.signal.aborted) process.exit(EXIT.interrupted);
  interrupt.abort();
}

async function runMain(): Promise<ExitCode> {
  try {
    const surroundings = { print, env: process.env, signal: interrupt.signal };
    return await runCommandLine(process.argv, surroundings);
  } catch (error) {
    if (interrupt.signal.aborted) return EXIT.interrupted;
    return printError(error);
  }
}

function printError(error: unknown): ExitCode {
  if (isHooklineError(error)) {
    print.note(`hookline: ${toPrintable(error.message)}`);
    if (error.hint !== undefined) print.note(`  ${error.hint}`);
    return toExitCode(error);
  }
  print.note(`hookline: this is a bug: ${getErrorMessage(error)}`);
  print.note(error instanceof Error ? (error.stack ?? '') : '');
  return EXIT.bug;
}

/** What was asked for was understood, and was not done. */
const REFUSAL_CODES: readonly HooklineError['code'][] = [
  'TRUST_INSIDE_AGENT',
  'TRUST_NEEDS_TERMINAL',
  'PLUGIN_INSTALL_FAILED',
];

function toExitCode({ code }: HooklineError): ExitCode {
  return REFUSAL_CODES.includes(code) ? EXIT.refused : EXIT.usage;
}

/** Runs what the command line asks for. */
async function runCommandLine(
  argv: readonly string[],
  surroundings: Omit<CommandContext, 'flags'>,
): Promise<ExitCode> {
  const words = argv.slice(2);
  const row = findBareCommand(words);
  if (row === null) {
    const { runProgram } = await import('./program.ts');
    return runProgram(argv, surroundings);
  }
  const command = await row.load();
  return command({ ...surroundings, flags: words.includes('--json') ? { json: true } : {} }, {});
}

/**
 * The command, when its own words are all there is: `hooks list`, with or without `--json`. There is
 * nothing to take apart then, and loading what could would be a quarter of the time it takes.
 */
function findBareCommand(words: readonly string[]): CommandRow | null {
  const usage = words.filter((word) => word !== '--json').join(' ');
  return COMMANDS.find((row) => row.usage === usage) ?? null;
}

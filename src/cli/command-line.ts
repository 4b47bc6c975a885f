import { COMMANDS } from './commands.ts';
import type { CommandContext } from './context.ts';
import type { ExitCode } from './exit-codes.ts';
import type { CommandRow } from './table/command-row.ts';

/** Runs what the command line asks for. */
export async function runCommandLine(
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

import { COMMANDS, type CommandRow } from './commands.ts';
import type { CommandContext } from './context.ts';
import type { ExitCode } from './exit-codes.ts';

/** Runs the command line. */
export async function runCommandLine(
  argv: readonly string[],
  context: Omit<CommandContext, 'flags'>,
): Promise<ExitCode> {
  const args = argv.slice(2);
  const row = findBareCommand(args);
  if (row === null) {
    const { parseAndRunCommand } = await import('./program.ts');
    return parseAndRunCommand(args, context);
  }
  const command = await row.load();
  return command({ ...context, flags: args.includes('--json') ? { json: true } : {} }, {});
}

/**
 * Finds a command without arguments, such as `hooks list --json`. Parsing is skipped then, because loading
 * commander would take a quarter of the time.
 */
function findBareCommand(args: readonly string[]): CommandRow | null {
  const usage = args.filter((word) => word !== '--json').join(' ');
  return COMMANDS.find((row) => row.usage === usage) ?? null;
}

import { isatty } from 'node:tty';
import { Command as Program, CommanderError, Option } from 'commander';
import { dropUndefined } from '../base/defined.ts';
import { HooklineError, getErrorCode } from '../base/errors.ts';
import { explainFileError } from '../base/files.ts';
import { VERSION } from '../base/version.ts';
import { PATH_OPTIONS } from '../dialects/index.ts';
import { listNamedPaths, type NamedPaths } from '../dialects/options.ts';
import { COMMANDS, type CommandRow, type CommandFlag, GLOBAL_FLAGS } from './commands.ts';
import type { CommandContext, GlobalFlags } from './context.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { expandShorthand } from './shorthand.ts';
import { checkHelpWords, createUsageError } from './usage-error.ts';

/** Parses the command line and runs the command, whose code is loaded on demand. */
export async function parseAndRunCommand(
  written: readonly string[],
  context: Omit<CommandContext, 'flags'>,
): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.fine;
  if (written[0] === 'help') checkHelpWords(written.slice(1));
  const args = expandShorthand(written, isatty(0) && isatty(1));
  const program = createProgram(args, async (row, options, { cwd, ...flags }) => {
    if (cwd !== undefined) changeDirectory(cwd);
    await checkPaths(flags.paths ?? {});
    const command = await row.load();
    const isDirectoryNamed = cwd !== undefined;
    exitCode = await command({ ...context, flags, isDirectoryNamed }, options);
  });
  try {
    await program.parseAsync([...args], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Commander has already printed the help.
    if (error.exitCode === 0) return EXIT.fine;
    if (error.code === 'commander.help' && !args.includes('--json')) return EXIT.usage;
    throw createUsageError(error, args);
  }
  return exitCode;
}

/** Collects the paths that flags name, by the names of the options. */
function collectPaths(flags: Readonly<Record<string, NamedPaths[string] | undefined>>): NamedPaths {
  const paths = PATH_OPTIONS.map(({ name, flag }) => [
    name,
    flag === undefined ? undefined : flags[new Option(flag.usage).attributeName()],
  ]);
  return dropUndefined(Object.fromEntries(paths));
}

async function checkPaths(paths: NamedPaths): Promise<void> {
  for (const option of PATH_OPTIONS) {
    for (const path of listNamedPaths(paths, option)) await option.flag?.check(path);
  }
}

/** Changes the directory, so that all other paths are relative to it. */
function changeDirectory(directory: string): void {
  try {
    process.chdir(directory);
  } catch (error) {
    throw new HooklineError('USAGE_INVALID', {
      message: `--cwd must be a directory, found ${JSON.stringify(directory)}: ${explainDirectoryError(error)}`,
      hint: 'Pass an existing, accessible directory.',
      cause: error,
    });
  }
}

function explainDirectoryError(error: unknown): string {
  const code = getErrorCode(error);
  if (code === 'ENOTDIR') return 'it is a file';
  return code === 'ENOENT' ? 'directory not found' : explainFileError(error);
}

const GROUPS = {
  agents: 'Record the events of other agents',
  bridge: 'Receive events of other agents (`hookline <agent>-hook` sends one)',
  hooks: 'Manage and test hooks',
  mcp: 'Manage MCP servers',
  plugin: 'Manage Cline plugins',
  session: 'Call back from a hook into its session',
  sessions: 'Manage stored sessions',
  trace: 'Search stored events',
};

const SHORTHAND = `
Without a command:
  hookline "fix the test"    chat on a terminal, run otherwise
  -p, -i                     run, chat
  -c, -r [id]                run or chat on with the last session, or with this one`;

type Run = (row: CommandRow, options: object, flags: GlobalFlags) => Promise<void>;

function createProgram(argv: readonly string[], run: Run): Program {
  const program = new Program('hookline')
    .description('Runs the agent hooks you already have: one runtime, one verdict.')
    .version(VERSION)
    .addHelpText('after', SHORTHAND)
    .configureHelp({ showGlobalOptions: true })
    .exitOverride()
    // An error is printed like any other, and with --json instead of the help.
    .configureOutput({
      outputError: () => undefined,
      ...(argv.includes('--json') ? { writeErr: () => undefined } : {}),
    });
  addFlags(program, GLOBAL_FLAGS);
  const groups = Object.entries(GROUPS).map(([name, about]) =>
    program.command(name).description(about),
  );
  for (const row of selectRows(argv)) addCommand(program, row, run);
  // The help of a group lists its commands, not the global options.
  for (const group of groups) group.configureHelp({ showGlobalOptions: false });
  return program;
}

/** Only the commands whose first word is used, because defining all of them is slow. */
function selectRows(argv: readonly string[]): readonly CommandRow[] {
  const namedCommands = COMMANDS.filter(({ usage }) => argv.includes(usage.split(' ')[0] ?? ''));
  return namedCommands.length === 0 || argv.includes('help') ? COMMANDS : namedCommands;
}

function addCommand(program: Program, row: CommandRow, run: Run): void {
  const [word = '', ...rest] = row.usage.split(' ');
  const group = program.commands.find((command) => command.name() === word);
  const command = group === undefined ? program.command(row.usage) : group.command(rest.join(' '));
  command.aliases(row.aliases ?? []);
  command.description(row.about).action(async () => {
    const flags = command.optsWithGlobals();
    const options = { ...command.opts(), ...collectArguments(command) };
    await run(row, options, { ...flags, paths: collectPaths(flags) });
  });
  addFlags(command, row.flags);
}

function collectArguments(command: Program): Record<string, unknown> {
  const values: readonly unknown[] = command.processedArgs;
  const namedArguments = command.registeredArguments.map((argument, index): [string, unknown] => [
    argument.name(),
    values[index],
  ]);
  return Object.fromEntries(namedArguments.filter(([, value]) => value !== undefined));
}

function addFlags(command: Program, flags: readonly CommandFlag[]): void {
  for (const { flag, about, choices, isRepeatable } of flags) {
    const option = new Option(flag, about);
    if (choices !== undefined) option.choices([...choices]);
    if (isRepeatable === true) option.argParser(appendValue);
    command.addOption(option);
  }
}

function appendValue(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}

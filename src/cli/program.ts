import { Command as Program, CommanderError, Option } from 'commander';
import { dropUndefined } from '../base/defined.ts';
import { HooklineError, getErrorMessage } from '../base/errors.ts';
import { VERSION } from '../base/version.ts';
import { PATH_OPTIONS } from '../dialects/index.ts';
import { listNamedPaths, type NamedPaths, type PathOption } from '../dialects/options.ts';
import { COMMANDS, type CommandRow, type CommandFlag } from './commands.ts';
import type { CommandContext, GlobalFlags } from './context.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';

const GLOBAL_FLAGS: readonly CommandFlag[] = [
  { flag: '--json', about: 'print JSON' },
  { flag: '--cwd <dir>', about: 'run in this directory' },
  {
    flag: '--root <dir>',
    about: 'a workspace root; repeatable (default: the git root)',
    isRepeatable: true,
  },
  ...PATH_OPTIONS.flatMap(toCommandFlag),
  { flag: '--no-hooks', about: 'do not run hooks' },
  { flag: '--debug', about: 'print the input and output of each hook' },
  { flag: '--raw', about: 'do not redact secrets' },
  { flag: '--strict', about: 'exit 3 when a hook fails, is not trusted, or is misspelt' },
  { flag: '--lock <file>', about: 'trust the hooks in this lock file' },
  { flag: '--lock-sha256 <hash>', about: 'expected SHA-256 of the lock file' },
];

/** Parses the command line and runs the command, whose code is loaded on demand. */
export async function parseAndRunCommand(
  argv: readonly string[],
  context: Omit<CommandContext, 'flags'>,
): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.fine;
  const program = createProgram(argv.slice(2), async (row, options, { cwd, ...flags }) => {
    if (cwd !== undefined) changeDirectory(cwd);
    await checkPaths(flags.paths ?? {});
    const command = await row.load();
    const isDirectoryNamed = cwd !== undefined;
    exitCode = await command({ ...context, flags, isDirectoryNamed }, options);
  });
  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    // Commander has already printed the error or the help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.fine : EXIT.usage;
    throw error;
  }
  return exitCode;
}

function toCommandFlag({ flag, isRepeatable = false }: PathOption): CommandFlag[] {
  return flag === undefined ? [] : [{ flag: flag.usage, about: flag.about, isRepeatable }];
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
      message: `--cwd must be a directory, found ${JSON.stringify(directory)}: ${getErrorMessage(error)}`,
      hint: 'Pass an existing, accessible directory.',
      cause: error,
    });
  }
}

const GROUPS = {
  hooks: 'Manage and test hooks',
  mcp: 'Manage MCP servers',
  plugin: 'Manage Cline plugins',
  sessions: 'Manage stored sessions',
};

type Run = (row: CommandRow, options: object, flags: GlobalFlags) => Promise<void>;

function createProgram(argv: readonly string[], run: Run): Program {
  const program = new Program('hookline')
    .description('Runs the agent hooks you already have: one runtime, one verdict.')
    .version(VERSION)
    .configureHelp({ showGlobalOptions: true })
    .exitOverride()
    .showHelpAfterError('See `hookline --help`.');
  addFlags(program, GLOBAL_FLAGS);
  const groups = Object.entries(GROUPS).map(([name, about]) =>
    program.command(name).description(about),
  );
  for (const row of selectRows(argv)) addCommand(program, row, run);
  // The help of a group lists its commands, not the global options.
  for (const group of groups) {
    group.configureHelp({ showGlobalOptions: false });
    group.showHelpAfterError(`See \`hookline ${group.name()} --help\`.`);
  }
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
  const words = row.usage.split(' ').filter((each) => /^\w/.test(each));
  command.showHelpAfterError(`See \`hookline ${words.join(' ')} --help\`.`);
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

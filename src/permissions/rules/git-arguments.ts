import type { CommandWords } from './visit-script.ts';

/** The arguments of git, as git itself splits them. */
export interface GitArguments {
  /** What `-c` and `--config-env` set for one command, as `key=value`. */
  readonly settings: readonly string[];
  /** The directories that `-C` enters, each relative to the one before it. */
  readonly directories: readonly string[];
  readonly subcommand: string | undefined;
  /** What follows the subcommand. */
  readonly rest: CommandWords;
}

const OPTIONS_WITH_VALUE: ReadonlySet<string> = new Set([
  '-C',
  '-c',
  '--attr-source',
  '--config-env',
  '--git-dir',
  '--namespace',
  '--super-prefix',
  '--work-tree',
]);

/** `args` are the words after `git`. */
export function splitGitArguments(args: CommandWords): GitArguments {
  const settings: string[] = [];
  const directories: string[] = [];
  let at = 0;
  for (let option = args[0]; option?.startsWith('-') === true; option = args[at]) {
    const value = args[at + 1] ?? '';
    if (option === '-c' || option === '--config-env') settings.push(value);
    if (option === '-C') directories.push(value);
    const [, joined] = /^--config-env=(.*)$/s.exec(option) ?? [];
    if (joined !== undefined) settings.push(joined);
    at += OPTIONS_WITH_VALUE.has(option) ? 2 : 1;
  }
  const [subcommand, ...rest] = args.slice(at);
  return { settings, directories, subcommand, rest };
}

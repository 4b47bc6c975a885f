import { quoteShellWord } from '../../../base/text.ts';
import { planShellCommand } from '../../../process/shell.ts';
import type { CommandEntry } from '../entry.ts';
import type { ClaudeSession } from '../session.ts';
import { buildPlaceVariables } from './environment.ts';

export interface CommandLine {
  readonly file: string;
  readonly args: readonly string[];
}

/** The program to start, or why there is none. */
export type PlannedCommand = CommandLine | { readonly problem: string };

export function planCommand(entry: CommandEntry, session: ClaudeSession): PlannedCommand {
  const problem = findPlaceholderProblem(entry);
  if (problem !== null) return { problem };
  return entry.args === null
    ? planShellForm(entry, session)
    : planProgram(entry, entry.args, session);
}

function planShellForm({ command, shell }: CommandEntry, session: ClaudeSession): CommandLine {
  const { machine, env } = session;
  const wish = shell === null ? machine : { ...machine, shell };
  const text = shell === 'powershell' ? toPowershell(command) : command;
  const prefix = env['CLAUDE_CODE_SHELL_PREFIX'] ?? '';
  return planShellCommand(prefix === '' ? text : `${prefix} ${quoteShellWord(text)}`, wish);
}

function toPowershell(command: string): string {
  return command.replaceAll(PLACE, (_all, name: string) => `\${env:${name}}`);
}

function planProgram(
  entry: CommandEntry,
  args: readonly string[],
  session: ClaudeSession,
): CommandLine {
  const values = buildPlaceVariables(entry, session);
  const options = entry.source.plugin?.options ?? {};
  const fill = (text: string): string =>
    text
      .replaceAll(PLACE, (all, name: string) => values[name] ?? all)
      .replaceAll(OPTION, (_all, key: string) => options[key] ?? '');
  return { file: fill(entry.command), args: args.map(fill) };
}

const PLACE = /\$\{(CLAUDE_PROJECT_DIR|CLAUDE_PLUGIN_ROOT|CLAUDE_PLUGIN_DATA)\}/g;
const OPTION = /\$\{user_config\.([\w.-]+)\}/g;

/** A placeholder without a value would change the command, so the command does not run. */
function findPlaceholderProblem(entry: CommandEntry): string | null {
  const text = [entry.command, ...(entry.args ?? [])].join('\n');
  const { plugin } = entry.source;
  const variable = /\$\{(CLAUDE_PLUGIN_ROOT|CLAUDE_PLUGIN_DATA)\}/.exec(text)?.[1];
  if (variable !== undefined && plugin === null) {
    return `its command names \${${variable}}, which only hooks of a plugin have: write the path, or \${CLAUDE_PROJECT_DIR}`;
  }
  const options = [...text.matchAll(OPTION)].map(([, key = '']) => key);
  if (options.length === 0) return null;
  if (plugin === null) {
    return 'its command names ${user_config…}, which only hooks of a plugin have';
  }
  if (entry.args === null) {
    return 'its command names ${user_config…}, which is filled in only where "args" are given; a shell finds it as $CLAUDE_PLUGIN_OPTION_<KEY>';
  }
  const unset = options.find((key) => plugin.options[key] === undefined);
  return unset === undefined ? null : `the plugin's option "${unset}" is not set`;
}

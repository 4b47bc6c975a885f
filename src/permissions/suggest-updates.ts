import path from 'node:path';
import { isRecord } from '../base/json.ts';
import type { PermissionCall, PermissionRuleText, PermissionUpdate } from './permissions.ts';
import { getCallCommand, getCallPaths } from './rules/call-arguments.ts';
import { isUncertain, parseShellCommands } from './rules/shell-commands.ts';
import type { ShellCommand } from './rules/shell-reading.ts';

const DESTINATION = 'session';

export interface SuggestionContext {
  /** Whether the call would have been allowed with a mode that lets files be edited. */
  readonly isInside: boolean;
  /** Whether a command of the line needs no rule. */
  readonly isCovered: (command: ShellCommand) => boolean;
}

/** What a person could answer so that calls like this one are not asked about again. */
export function suggestUpdates(
  call: PermissionCall,
  context: SuggestionContext,
): readonly PermissionUpdate[] {
  const command = getCallCommand(call);
  if (command !== null) return allowing(commandRules(command, context));
  if (call.kind === 'edit') return context.isInside ? [acceptEdits()] : addDirectories(call);
  if (call.kind === 'read') return allowing(readRules(call));
  if (call.kind === 'fetch') return allowing(domainRules(call));
  const [toolName] = call.names;
  return call.kind === 'foreign' && toolName !== undefined ? allowing([{ toolName }]) : [];
}

function allowing(rules: readonly PermissionRuleText[]): readonly PermissionUpdate[] {
  if (rules.length === 0) return [];
  return [{ type: 'addRules', rules, behavior: 'allow', destination: DESTINATION }];
}

function acceptEdits(): PermissionUpdate {
  return { type: 'setMode', mode: 'acceptEdits', destination: DESTINATION };
}

/** No rule but one for every command allows a line that cannot be read for sure. */
function commandRules(line: string, { isCovered }: SuggestionContext): PermissionRuleText[] {
  const reading = parseShellCommands(line);
  const isRuleless = isUncertain(reading) || reading.commands.some((each) => each.hasAssignment);
  if (isRuleless) return [];
  const contents = reading.commands.filter((each) => !isCovered(each)).map(ruleContent);
  if (contents.some((content) => content === null)) return [];
  return [...new Set(contents)].flatMap((content) =>
    content === null ? [] : [{ toolName: 'Bash', ruleContent: content }],
  );
}

/** Programs whose first argument says what they do. */
const WITH_SUBCOMMANDS = /^(?:bun|cargo|docker|gh|git|go|kubectl|npm|pip|pnpm|poetry|uv|yarn)$/;

/** `git push:*` for what has subcommands, `npm run build:*` for a script, else the command itself. */
function ruleContent({ text }: ShellCommand): string | null {
  if (/[*()\n]|:$/.test(text)) return null;
  const [name = '', subcommand = '', script = ''] = text.split(' ');
  if (!WITH_SUBCOMMANDS.test(name) || !/^[a-z][\w-]*$/.test(subcommand)) return text;
  const isRun = subcommand === 'run' && /^[\w:-]+$/.test(script);
  return `${[name, subcommand, ...(isRun ? [script] : [])].join(' ')}:*`;
}

function addDirectories(call: PermissionCall): readonly PermissionUpdate[] {
  const directories = directoriesOf(call);
  if (directories.length === 0) return [];
  return [{ type: 'addDirectories', directories, destination: DESTINATION }, acceptEdits()];
}

function directoriesOf(call: PermissionCall): readonly string[] {
  const found = (getCallPaths(call) ?? []).map(({ file, isSearched }) =>
    isSearched ? file : path.dirname(file),
  );
  return [...new Set(found)].filter((directory) => path.isAbsolute(directory));
}

function readRules(call: PermissionCall): PermissionRuleText[] {
  return directoriesOf(call)
    .filter((directory) => !/[*?[\]()!\\]/.test(directory))
    .map((directory) => ({
      toolName: 'Read',
      ruleContent: `/${directory.replaceAll(path.sep, '/').replace(/\/$/, '')}/**`,
    }));
}

function domainRules({ input, names }: PermissionCall): PermissionRuleText[] {
  const url = isRecord(input) ? input['url'] : undefined;
  if (typeof url !== 'string' || !URL.canParse(url) || !names.includes('WebFetch')) return [];
  return [{ toolName: 'WebFetch', ruleContent: `domain:${new URL(url).hostname}` }];
}

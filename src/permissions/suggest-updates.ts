import path from 'node:path';
import { isRecord } from '../base/json.ts';
import type { PermissionCall, PermissionRuleText, PermissionUpdate } from './permissions.ts';
import { getCallCommand, getCallPaths } from './rules/call-arguments.ts';
import { isUncertain, parseShellCommands, type ShellCommand } from './rules/shell-commands.ts';

const DESTINATION = 'session';

/**
 * Updates that the user could choose so that calls like this one need no approval again. `isInside`:
 * createAcceptEdits would allow the call. `isCovered`: a command of its line needs no rule.
 */
export function suggestUpdates(
  call: PermissionCall,
  isInside: boolean,
  isCovered: (command: ShellCommand) => boolean,
): readonly PermissionUpdate[] {
  const command = getCallCommand(call);
  if (command !== null) return createAllowRules(suggestCommandRules(command, isCovered));
  if (call.kind === 'edit') return isInside ? [createAcceptEdits()] : suggestDirectories(call);
  if (call.kind === 'read') return createAllowRules(suggestReadRules(call));
  if (call.kind === 'fetch') return createAllowRules(suggestDomainRules(call));
  const [toolName] = call.names;
  return call.kind === 'foreign' && toolName !== undefined ? createAllowRules([{ toolName }]) : [];
}

function createAllowRules(rules: readonly PermissionRuleText[]): readonly PermissionUpdate[] {
  if (rules.length === 0) return [];
  return [{ type: 'addRules', rules, behavior: 'allow', destination: DESTINATION }];
}

function createAcceptEdits(): PermissionUpdate {
  return { type: 'setMode', mode: 'acceptEdits', destination: DESTINATION };
}

/** A line that cannot be parsed for certain gets none: only a rule for all of Bash would allow it. */
function suggestCommandRules(
  line: string,
  isCovered: (command: ShellCommand) => boolean,
): PermissionRuleText[] {
  const parsed = parseShellCommands(line);
  const hasNoRule = isUncertain(parsed) || parsed.commands.some((each) => each.hasAssignment);
  if (hasNoRule) return [];
  const contents = parsed.commands.filter((each) => !isCovered(each)).map(formatRuleContent);
  if (contents.some((content) => content === null)) return [];
  return [...new Set(contents)].flatMap((content) =>
    content === null ? [] : [{ toolName: 'Bash', ruleContent: content }],
  );
}

/** Programs whose first argument is a subcommand. */
const WITH_SUBCOMMANDS = /^(?:bun|cargo|docker|gh|git|go|kubectl|npm|pip|pnpm|poetry|uv|yarn)$/;

/** `git push:*` for what has subcommands, `npm run build:*` for a script, else the command itself. */
function formatRuleContent({ text }: ShellCommand): string | null {
  if (/[*()\n]|:$/.test(text)) return null;
  const [name = '', subcommand = '', script = ''] = text.split(' ');
  if (!WITH_SUBCOMMANDS.test(name) || !/^[a-z][\w-]*$/.test(subcommand)) return text;
  const isRun = subcommand === 'run' && /^[\w:-]+$/.test(script);
  return `${[name, subcommand, ...(isRun ? [script] : [])].join(' ')}:*`;
}

function suggestDirectories(call: PermissionCall): readonly PermissionUpdate[] {
  const directories = listDirectories(call);
  if (directories.length === 0) return [];
  return [{ type: 'addDirectories', directories, destination: DESTINATION }, createAcceptEdits()];
}

function listDirectories(call: PermissionCall): readonly string[] {
  const found = (getCallPaths(call) ?? []).map(({ file, isSearched }) =>
    isSearched ? file : path.dirname(file),
  );
  return [...new Set(found)].filter((directory) => path.isAbsolute(directory));
}

function suggestReadRules(call: PermissionCall): PermissionRuleText[] {
  return listDirectories(call)
    .filter((directory) => !/[*?[\]()!\\]/.test(directory))
    .map((directory) => ({
      toolName: 'Read',
      ruleContent: `/${directory.replaceAll(path.sep, '/').replace(/\/$/, '')}/**`,
    }));
}

function suggestDomainRules({ input, names }: PermissionCall): PermissionRuleText[] {
  const url = isRecord(input) ? input['url'] : undefined;
  if (typeof url !== 'string' || !URL.canParse(url) || !names.includes('WebFetch')) return [];
  return [{ toolName: 'WebFetch', ruleContent: `domain:${new URL(url).hostname}` }];
}

import { isRecord, getTypeName } from '../base/json.ts';
import {
  isPermissionMode,
  PERMISSION_MODES,
  type PermissionBehavior,
  type PermissionRuleText,
  type PermissionUpdate,
  type PermissionCall,
} from './permissions.ts';
import path from 'node:path';
import { getCallCommand, getCallPaths } from './rules/call-arguments.ts';
import { isUncertain, parseShellCommands, type ShellCommand } from './rules/shell-commands.ts';

/** Parses an update of a hook or the user; the notes say what of it is ignored. Never throws. */
export function parseUpdate(value: unknown): {
  readonly update: PermissionUpdate | null;
  readonly notes: readonly string[];
} {
  if (!isRecord(value)) return createRefusal(`expected an object, found ${getTypeName(value)}`);
  const { type } = value;
  const update = isUpdateType(type) ? PARSERS[type](value, type) : describeUnknownType(type);
  if (typeof update === 'string') return createRefusal(update);
  return { update, notes: describeDestination(value['destination']) };
}

function createRefusal(problem: string) {
  return { update: null, notes: [`a permission update was ignored: ${problem}`] };
}

type UpdateType = PermissionUpdate['type'];
type Fields = Readonly<Record<string, unknown>>;
type Parser = (value: Fields, type: UpdateType) => PermissionUpdate | string;

const PARSERS: Readonly<Record<UpdateType, Parser>> = {
  addRules: (value) => parseRules(value, 'addRules'),
  replaceRules: (value) => parseRules(value, 'replaceRules'),
  removeRules: (value) => parseRules(value, 'removeRules'),
  setMode: parseMode,
  addDirectories: (value) => parseDirectories(value, 'addDirectories'),
  removeDirectories: (value) => parseDirectories(value, 'removeDirectories'),
};

function isUpdateType(type: unknown): type is UpdateType {
  return typeof type === 'string' && Object.hasOwn(PARSERS, type);
}

function describeUnknownType(type: unknown): string {
  const found = typeof type === 'string' ? JSON.stringify(type) : getTypeName(type);
  return `"type" should be ${Object.keys(PARSERS).join(', ')}, found ${found}`;
}

const BEHAVIORS: readonly PermissionBehavior[] = ['allow', 'ask', 'deny'];

function parseRules(
  value: Fields,
  type: 'addRules' | 'replaceRules' | 'removeRules',
): PermissionUpdate | string {
  const behavior = BEHAVIORS.find((each) => each === value['behavior']);
  if (behavior === undefined) return `"behavior" of ${type} should be allow, ask or deny`;
  const { rules: listed } = value;
  const rules = Array.isArray(listed) ? listed.flatMap(parseRuleText) : [];
  if (!Array.isArray(listed) || rules.length !== listed.length) {
    return `"rules" of ${type} should be a list of objects with "toolName" and perhaps "ruleContent"`;
  }
  return { type, rules, behavior, destination: SESSION };
}

function parseRuleText(value: unknown): PermissionRuleText[] {
  if (!isRecord(value) || typeof value['toolName'] !== 'string') return [];
  const { toolName, ruleContent = null } = value;
  if (ruleContent === null) return [{ toolName }];
  return typeof ruleContent === 'string' ? [{ toolName, ruleContent }] : [];
}

function parseMode({ mode }: Fields): PermissionUpdate | string {
  if (isPermissionMode(mode)) return { type: 'setMode', mode, destination: SESSION };
  return `"mode" of setMode should be one of ${PERMISSION_MODES.join(', ')}`;
}

function parseDirectories(
  { directories: listed }: Fields,
  type: 'addDirectories' | 'removeDirectories',
): PermissionUpdate | string {
  const directories = Array.isArray(listed) ? listed.filter(isPath) : [];
  if (!Array.isArray(listed) || directories.length !== listed.length) {
    return `"directories" of ${type} should be a list of paths`;
  }
  return { type, directories, destination: SESSION };
}

function isPath(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && !value.includes('\0');
}

const SESSION = 'session';

function describeDestination(destination: unknown): readonly string[] {
  if (destination === SESSION || destination === undefined) return [];
  const name = typeof destination === 'string' ? destination : getTypeName(destination);
  return [
    `a permission update for ${JSON.stringify(name)} applies to this session only: no file is changed`,
  ];
}

/**
 * Updates that the user could choose so that calls like this one need no approval again. `isInside`:
 * the mode acceptEdits would allow the call. `isCovered`: a command of its line needs no rule.
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
  return [{ type: 'addRules', rules, behavior: 'allow', destination: SESSION }];
}

function createAcceptEdits(): PermissionUpdate {
  return { type: 'setMode', mode: 'acceptEdits', destination: SESSION };
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
  return [{ type: 'addDirectories', directories, destination: SESSION }, createAcceptEdits()];
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

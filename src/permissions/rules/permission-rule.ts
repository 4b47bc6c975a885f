import path from 'node:path';
import { isRecord } from '../../base/json.ts';
import type { PermissionBehavior, PermissionCall } from '../permissions.ts';
import {
  isCommandMatch,
  type CommandPattern,
  isMatchAll,
  canRunCommand,
} from './command-pattern.ts';
import { getCallCommand, type CallPath, getCallPaths } from './call-arguments.ts';
import {
  expandHome,
  resolveTargetPath,
  canMatchPath,
  canMatchWrittenPath,
  isExactPathMatch,
  type PathContext,
  type PathPattern,
  resolveRealContext,
} from './path-pattern.ts';
import { parseRule, type Rule, isRuleMatch } from './rule.ts';
import {
  canReadFiles,
  canWriteFiles,
  resolveShellFiles,
  type CommandWords,
} from './shell-files.ts';
import { UNKNOWN } from './shell-words.ts';
import { parseShellCommands } from './shell-commands.ts';

/** A rule as somebody wrote it, and who that was. */
export interface PermissionRuleSetting {
  readonly behavior: PermissionBehavior;
  /** `Bash(git push:*)`, `Read(./secrets/**)`, `mcp__server` … */
  readonly text: string;
  /** Where it comes from, as a person would say it: a file, `--allow`, `this session`. */
  readonly source: string;
  /** What `/x` in it is relative to; the first workspace root when absent. */
  readonly root?: string;
  /** Whether it counts now; asked each time. Always when absent. */
  readonly counts?: () => boolean;
}

export interface PermissionRule extends PermissionRuleSetting {
  readonly parsed: Rule;
}

/** Where a session takes place. */
export interface RuleLocations {
  /** Where the session began. */
  readonly cwd: string;
  readonly roots: readonly string[];
  readonly home: string | null;
}

const TOOL_PATTERN = /^[\w*-]*\*[\w*-]*$/;
const ALLOWED_PATTERN = /^mcp__[\w-]*[^_*]__[\w-]*\*$/;

/** The rule, or a sentence about why it is none. */
export function parsePermissionRule(setting: PermissionRuleSetting): PermissionRule | string {
  const text = setting.text.trim();
  if (TOOL_PATTERN.test(text)) return parseToolPattern({ ...setting, text });
  const parsed = parseRule(text);
  if (parsed !== null) return { ...setting, text, parsed };
  return `${JSON.stringify(setting.text)} is no permission rule: expected one such as "Bash(git push:*)", "Read(./secrets/**)" or "mcp__server"`;
}

/** What allows must name the server whose tools it means. */
function parseToolPattern(setting: PermissionRuleSetting): PermissionRule | string {
  if (setting.behavior === 'allow' && !ALLOWED_PATTERN.test(setting.text)) {
    return `${JSON.stringify(setting.text)} is no rule that allows: expected the name of a tool, or "mcp__server__*"`;
  }
  const parsed: Rule = { text: setting.text, tool: setting.text, content: { kind: 'any' } };
  return { ...setting, parsed };
}

/** Whether a rule that denies or asks is about this call. Errs towards it, and never throws. */
export function matchGuardRule(
  rule: PermissionRule,
  call: PermissionCall,
  places: RuleLocations,
): GuardMatch {
  try {
    const isOfTool = isRuleForTool(rule, call);
    if (isOfTool && rule.parsed.content.kind === 'any') return 'yes';
    const contexts = listGuardContexts(rule, call, places);
    if (isOfTool) return guardsContent(rule, call, contexts);
    return guardsNamed(rule, call, contexts);
  } catch {
    // A glob that its library cannot compile, or a path that it does not take.
    return 'yes';
  }
}

/** The agent may have gone elsewhere; what was forbidden before is so from there, too. */
export function listGuardContexts(
  { root }: PermissionRule,
  { cwd }: Pick<PermissionCall, 'cwd'>,
  places: RuleLocations,
): readonly PathContext[] {
  const roots = root === undefined ? places.roots : [root];
  const bases = [...new Set([cwd, places.cwd])];
  return (roots.length === 0 ? [places.cwd] : roots).flatMap((each) =>
    bases.map((base) => ({ cwd: base, root: each, home: places.home })),
  );
}

function guardsContent(
  { parsed }: PermissionRule,
  call: PermissionCall,
  contexts: readonly PathContext[],
): GuardMatch {
  const { content } = parsed;
  const command = getCallCommand(call);
  if (content.kind === 'command') {
    if (command === null) return 'yes';
    const [place] = contexts;
    return place === undefined ? 'yes' : matchGuardedCommand(content.pattern, command, place);
  }
  if (content.kind === 'path') return mayMeanAny(content.pattern, getCallPaths(call), contexts);
  const [context] = contexts;
  if (context === undefined) return 'yes';
  const asked = { names: [parsed.tool], input: withPlainHost(call.input) };
  return isRuleMatch(parsed, asked, { ...context, mode: 'guard' }) ? 'yes' : 'no';
}

function mayMeanAny(
  pattern: PathPattern,
  called: readonly CallPath[] | null,
  contexts: readonly PathContext[],
): GuardMatch {
  if (called === null) return 'yes';
  const files = called.flatMap(({ file, isSearched }) =>
    isSearched ? [file, path.join(file, ANY_NAME)] : [file],
  );
  return files.some((file) => meansForSome(pattern, file, contexts)) ? 'yes' : 'no';
}

/** Stands for whatever lies in a directory that is searched. */
const ANY_NAME = '\u0001any';

function meansForSome(
  pattern: PathPattern,
  file: string,
  contexts: readonly PathContext[],
): boolean {
  return contexts.some((context) => canMatchPath(pattern, file, context));
}

/** A dot at its end leads to the same host. */
function withPlainHost(input: unknown): unknown {
  if (!isRecord(input) || typeof input['url'] !== 'string') return input;
  return { ...input, url: input['url'].replace(/^(\w+:\/\/[^/?#]*?)\.+(?=[:/?#]|$)/, '$1') };
}

/** Whether a shell command names a file that a rule about reading or editing is about. */
function guardsNamed(
  { parsed }: PermissionRule,
  call: PermissionCall,
  contexts: readonly PathContext[],
): GuardMatch {
  const command = getCallCommand(call);
  const { content } = parsed;
  if (command === null || content.kind !== 'path') return 'no';
  const touches = READ_TOOLS.includes(parsed.tool) ? canReadFiles : canWriteFiles;
  const readings = contexts.map((context) => resolveShellFiles(command, context));
  const commands = readings.flatMap((reading) => reading.commands);
  const files = commands.filter(({ words }) => touches(words)).flatMap((each) => each.files);
  const places = [...contexts, ...contexts.map(resolveRealContext)];
  const isNamed = files.some((file) =>
    places.some((place) => canMatchWrittenPath(content.pattern, file, place)),
  );
  if (isNamed) return 'yes';
  return readings.every(({ isComplete }) => isComplete) ? 'no' : 'maybe';
}

/** Whether a rule that allows is about this call, and about all of it. Never throws. */
export function isAllowedByRule(
  rule: PermissionRule,
  call: PermissionCall,
  places: RuleLocations,
): boolean {
  const { content } = rule.parsed;
  if (!isRuleForTool(rule, call)) return false;
  if (content.kind === 'any') return true;
  const root = rule.root ?? places.roots[0] ?? places.cwd;
  const context = { cwd: places.cwd, root, home: places.home };
  try {
    if (content.kind === 'path') return meansAll(content.pattern, getCallPaths(call), context);
    const asked = { names: [rule.parsed.tool], input: call.input };
    return isRuleMatch(rule.parsed, asked, { ...context, mode: 'exact' });
  } catch {
    return false;
  }
}

/** By where the paths really lead. */
function meansAll(
  pattern: PathPattern,
  called: readonly CallPath[] | null,
  context: PathContext,
): boolean {
  if (called === null || called.length === 0) return false;
  const real = resolveRealContext(context);
  return called.every(({ file, isSearched }) => {
    const target = resolveTargetPath(expandHome(file, context.home));
    return isExactPathMatch(pattern, isSearched ? path.join(target, ANY_NAME) : target, real);
  });
}

export const READ_TOOLS: readonly string[] = ['Read', 'Grep', 'Glob', 'read_file', 'read_files'];
const EDIT_TOOLS: readonly string[] = ['Write', 'Edit', 'MultiEdit', 'NotebookEdit'];

/** `Edit` means every tool that changes files, `Read` every one that reads them, a server all its tools. */
export function isRuleForTool(
  { parsed: { tool }, behavior }: PermissionRule,
  { names, server }: Pick<PermissionCall, 'names' | 'server'>,
): boolean {
  if (names.includes(tool)) return true;
  if (tool === 'Edit') return names.some((name) => EDIT_TOOLS.includes(name));
  if (tool === 'Read') return names.some((name) => READ_TOOLS.includes(name));
  if (behavior === 'allow') return allowsServerTool(tool, names, server);
  return tool.includes('*') ? names.some((name) => fitsName(tool, name)) : isToolOf(tool, names);
}

/** `mcp__d` allows the tools of the server `d`, and none of a server `d__other`. */
function allowsServerTool(
  tool: string,
  names: readonly string[],
  server: string | undefined,
): boolean {
  if (!tool.startsWith(MCP)) return false;
  const isPattern = tool.includes('*');
  if (server === undefined && tool.slice(MCP.length).includes('__') && !isPattern) return false;
  // Other signs become `_` in the names of its tools.
  const own = server === undefined ? null : `${MCP}${server.replaceAll(/[^\w-]/g, '_')}`;
  if (!isPattern) return own === null ? isToolOf(tool, names) : tool === own;
  const isOfServer = own === null || tool.startsWith(`${own}__`);
  return isOfServer && names.some((name) => fitsName(tool, name));
}

const MCP = 'mcp__';

function isToolOf(server: string, names: readonly string[]): boolean {
  return server.startsWith(MCP) && names.some((name) => name.startsWith(`${server}__`));
}

function fitsName(pattern: string, name: string): boolean {
  const pieces = pattern.split('*');
  return isCommandMatch({ pieces, bare: null, isDetailed: true }, name);
}

/** Whether something is what a rule means: for sure, possibly, or not at all. */
export type GuardMatch = 'yes' | 'maybe' | 'no';

/** Whether a command line runs such a command, in whatever words; `maybe` when it cannot be told. */
function matchGuardedCommand(
  pattern: CommandPattern,
  line: string,
  place: PathContext,
): GuardMatch {
  if (isMatchAll(pattern)) return 'yes';
  const { commands, inner } = parseShellCommands(line);
  const written = [...commands, ...inner].flatMap(({ text, unquoted }) => [text, unquoted]);
  const spelled = resolveShellFiles(line, place).commands.flatMap(({ words }) => spellings(words));
  const known = [...written, ...spelled.map((words) => words.join(' '))];
  if (known.some((command) => isCommandMatch(pattern, command))) return 'yes';
  return canRunCommand(pattern, line) || spelled.some(isAnyCommand) ? 'maybe' : 'no';
}

/** Programs that run the command that follows them, somewhere among their arguments. */
const CARRIERS: ReadonlySet<string> = new Set([
  'builtin',
  'busybox',
  'chroot',
  'command',
  'doas',
  'env',
  'exec',
  'find',
  'flock',
  'ionice',
  'nice',
  'nohup',
  'npx',
  'parallel',
  'setsid',
  'stdbuf',
  'strace',
  'sudo',
  'time',
  'timeout',
  'unbuffer',
  'watch',
  'xargs',
]);

const MAX_CARRIED = 50;

/** A command as it stands, without the path of its program, and as what a carrier would run. */
function spellings(words: CommandWords): readonly CommandWords[] {
  const [name = ''] = words;
  const own = [words, ...plainSpellings(words)];
  if (!CARRIERS.has(path.basename(name))) return own;
  const carried = words
    .slice(1, MAX_CARRIED)
    .flatMap((_word, index) => plainSpellings(words.slice(index + 1)));
  return [...own, ...carried];
}

function plainSpellings([name = '', ...args]: CommandWords): readonly CommandWords[] {
  const plain = [path.basename(name), ...args];
  return plain[0] === 'git' ? [plain, withoutGlobalOptions(plain)] : [plain];
}

const GIT_OPTIONS_WITH_VALUE = ['-C', '-c', '--git-dir', '--work-tree', '--namespace'];

/** `git -C x push` is a `git push`. */
function withoutGlobalOptions([name = '', ...args]: CommandWords): CommandWords {
  let start = 0;
  while (args[start]?.startsWith('-') === true) {
    start += GIT_OPTIONS_WITH_VALUE.includes(args[start] ?? '') ? 2 : 1;
  }
  return [name, ...args.slice(start)];
}

const SHELL = /^(?:ba|z|da|k)?sh$/;

/** Whether nothing says which command it is: a name out of a variable, or a shell that reads its input. */
function isAnyCommand([name = '', ...args]: CommandWords): boolean {
  if (name.includes(UNKNOWN)) return true;
  return SHELL.test(path.basename(name)) && args.every((arg) => arg.startsWith('-'));
}

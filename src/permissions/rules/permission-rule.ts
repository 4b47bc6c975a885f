import path from 'node:path';
import { isRecord } from '../../base/json.ts';
import type { PermissionBehavior, PermissionCall } from '../permissions.ts';
import { isWildcardMatch } from './command-pattern.ts';
import { getCallCommand, type CallPath, getCallPaths } from './call-arguments.ts';
import {
  matchPath,
  type GuardMatch,
  isCertainPathMatch,
  type PathContext,
  type PathPattern,
  resolveRealContext,
} from './path-pattern.ts';
import { resolveTarget } from '../../base/paths.ts';
import { expandHome } from './home-path.ts';
import { parseRule, type Rule, isRuleMatch } from './rule.ts';
import { matchGuardedCommand } from './guarded-command.ts';
import { matchGuardedFiles } from './guarded-files.ts';

/** A rule as written, and where it comes from. */
export interface PermissionRuleSetting {
  readonly behavior: PermissionBehavior;
  /** `Bash(git push:*)`, `Read(./secrets/**)`, `mcp__server` … */
  readonly text: string;
  /** Where it comes from, for messages: a file, `--allow`, `this session`. */
  readonly source: string;
  /** The directory that `/x` in it is relative to; the first workspace root when absent. */
  readonly root?: string;
  /** Whether it applies now; called for each match. Always when absent. */
  readonly counts?: () => boolean;
}

export interface PermissionRule extends PermissionRuleSetting {
  readonly parsed: Rule;
}

/** The directories that rules of a session are relative to. */
export interface RuleLocations {
  /** The directory that the session started in. */
  readonly cwd: string;
  readonly roots: readonly string[];
  readonly home: string | null;
}

const TOOL_PATTERN = /^[\w*-]*\*[\w*-]*$/;
const ALLOWED_PATTERN = /^mcp__[\w-]*[^_*]__[\w-]*\*$/;

/** The rule, or a message about why it is invalid. */
export function parsePermissionRule(setting: PermissionRuleSetting): PermissionRule | string {
  const text = setting.text.trim();
  if (TOOL_PATTERN.test(text)) return parseToolPattern({ ...setting, text });
  const parsed = parseRule(text);
  if (parsed !== null) return { ...setting, text, parsed };
  return `${JSON.stringify(setting.text)} is not a permission rule: expected for example "Bash(git push:*)", "Read(./secrets/**)" or "mcp__server"`;
}

/** An allow pattern must name the server of the tools. */
function parseToolPattern(setting: PermissionRuleSetting): PermissionRule | string {
  if (setting.behavior === 'allow' && !ALLOWED_PATTERN.test(setting.text)) {
    return `${JSON.stringify(setting.text)} is not an allow rule: expected a tool name, or "mcp__server__*"`;
  }
  const parsed: Rule = { text: setting.text, tool: setting.text, content: { kind: 'any' } };
  return { ...setting, parsed };
}

/** Whether a deny or ask rule matches this call. Errs towards matching, and never throws. */
export function matchGuardRule(
  rule: PermissionRule,
  call: PermissionCall,
  locations: RuleLocations,
): GuardMatch {
  try {
    const isForTool = isRuleForTool(rule, call);
    if (isForTool && rule.parsed.content.kind === 'any') return 'yes';
    const contexts = listGuardContexts(rule, call, locations);
    if (isForTool) return matchGuardContent(rule, call, contexts);
    return matchShellFiles(rule, call, contexts);
  } catch {
    // The glob library rejects some globs and paths.
    return 'yes';
  }
}

/** The agent may have changed its directory: a rule holds relative to the first one, too. */
export function listGuardContexts(
  { root }: PermissionRule,
  { cwd }: Pick<PermissionCall, 'cwd'>,
  locations: RuleLocations,
): readonly PathContext[] {
  const roots = root === undefined ? locations.roots : [root];
  const bases = [...new Set([cwd, locations.cwd])];
  return (roots.length === 0 ? [locations.cwd] : roots).flatMap((each) =>
    bases.map((base) => ({ cwd: base, root: each, home: locations.home })),
  );
}

function matchGuardContent(
  { parsed }: PermissionRule,
  call: PermissionCall,
  contexts: readonly PathContext[],
): GuardMatch {
  const { content } = parsed;
  const command = getCallCommand(call);
  if (content.kind === 'command') {
    if (command === null) return 'yes';
    const [context] = contexts;
    return context === undefined ? 'yes' : matchGuardedCommand(content.pattern, command, context);
  }
  if (content.kind === 'path') return matchAnyPath(content.pattern, getCallPaths(call), contexts);
  const [context] = contexts;
  if (context === undefined) return 'yes';
  const ruleCall = { names: [parsed.tool], input: normalizeHost(call.input) };
  return isRuleMatch(parsed, ruleCall, { ...context, mode: 'guard' }) ? 'yes' : 'no';
}

function matchAnyPath(
  pattern: PathPattern,
  callPaths: readonly CallPath[] | null,
  contexts: readonly PathContext[],
): GuardMatch {
  if (callPaths === null) return 'yes';
  const files = callPaths.flatMap(({ file, isSearched }) =>
    isSearched ? [file, path.join(file, ANY_NAME)] : [file],
  );
  const matches = files.flatMap((file) =>
    contexts.map((context) => matchPath(pattern, file, context)),
  );
  return GUARD_MATCHES.find((match) => matches.includes(match)) ?? 'no';
}

/** Stands for any file in a directory that is searched. */
const ANY_NAME = '\u0001any';

const GUARD_MATCHES: readonly GuardMatch[] = ['yes', 'maybe'];

/** A host name with a trailing dot is the same host. */
function normalizeHost(input: unknown): unknown {
  if (!isRecord(input) || typeof input['url'] !== 'string') return input;
  return { ...input, url: input['url'].replace(/^(\w+:\/\/[^/?#]*?)\.+(?=[:/?#]|$)/, '$1') };
}

/** Whether a shell command reads or writes a file that a Read or Edit rule matches. */
function matchShellFiles(
  { parsed }: PermissionRule,
  call: PermissionCall,
  contexts: readonly PathContext[],
): GuardMatch {
  const command = getCallCommand(call);
  const { content } = parsed;
  if (command === null || content.kind !== 'path') return 'no';
  const access = READ_TOOLS.includes(parsed.tool) ? 'read' : 'write';
  return matchGuardedFiles(content.pattern, access, command, contexts);
}

/** Whether an allow rule matches all of this call. Never throws. */
export function isAllowedByRule(
  rule: PermissionRule,
  call: PermissionCall,
  locations: RuleLocations,
): boolean {
  const { content } = rule.parsed;
  if (!isRuleForTool(rule, call)) return false;
  if (content.kind === 'any') return true;
  const root = rule.root ?? locations.roots[0] ?? locations.cwd;
  const context = { cwd: locations.cwd, root, home: locations.home };
  try {
    if (content.kind === 'path') {
      return isEveryPathMatch(content.pattern, getCallPaths(call), context);
    }
    const ruleCall = { names: [rule.parsed.tool], input: call.input };
    return isRuleMatch(rule.parsed, ruleCall, { ...context, mode: 'exact' });
  } catch {
    return false;
  }
}

/** Matches the real paths. */
function isEveryPathMatch(
  pattern: PathPattern,
  callPaths: readonly CallPath[] | null,
  context: PathContext,
): boolean {
  if (callPaths === null || callPaths.length === 0) return false;
  const real = resolveRealContext(context);
  return callPaths.every(({ file, isSearched }) => {
    const target = resolveTarget(expandHome(file, context.home));
    if (!target.isCertain) return false;
    const covered = isSearched ? path.join(target.path, ANY_NAME) : target.path;
    return isCertainPathMatch(pattern, covered, real);
  });
}

const READ_TOOLS: readonly string[] = ['Read', 'Grep', 'Glob', 'read_file', 'read_files'];
const EDIT_TOOLS: readonly string[] = ['Write', 'Edit', 'MultiEdit', 'NotebookEdit'];

/** `Edit` covers every tool that changes files, `Read` every one that reads them, a server all its tools. */
function isRuleForTool(
  { parsed: { tool }, behavior }: PermissionRule,
  { names, server }: Pick<PermissionCall, 'names' | 'server'>,
): boolean {
  if (names.includes(tool)) return true;
  if (tool === 'Edit') return names.some((name) => EDIT_TOOLS.includes(name));
  if (tool === 'Read') return names.some((name) => READ_TOOLS.includes(name));
  if (behavior === 'allow') return isServerToolAllowed(tool, names, server);
  return tool.includes('*')
    ? names.some((name) => isNameMatch(tool, name))
    : isServerTool(tool, names);
}

const READ_NAMES = { names: ['Read', 'read_file', 'read_files'] };

/** Whether a rule denies reading: some files, or the tools that read them. */
export function isReadDenial(rule: PermissionRule): boolean {
  const { tool, content } = rule.parsed;
  if (rule.behavior !== 'deny') return false;
  return content.kind === 'path' ? READ_TOOLS.includes(tool) : isRuleForTool(rule, READ_NAMES);
}

/** Whether a rule denies to read, or to change, files that it names by a path. */
export function isPathDenial({ behavior, parsed }: PermissionRule, kind: 'read' | 'edit'): boolean {
  if (behavior !== 'deny' || parsed.content.kind !== 'path') return false;
  return READ_TOOLS.includes(parsed.tool) === (kind === 'read');
}

/** `mcp__d` allows the tools of the server `d`, and none of a server `d__other`. */
function isServerToolAllowed(
  tool: string,
  names: readonly string[],
  server: string | undefined,
): boolean {
  if (!tool.startsWith(MCP)) return false;
  const isPattern = tool.includes('*');
  if (server === undefined && tool.slice(MCP.length).includes('__') && !isPattern) return false;
  // Other characters become `_` in tool names.
  const ownPrefix = server === undefined ? null : `${MCP}${server.replaceAll(/[^\w-]/g, '_')}`;
  if (!isPattern) return ownPrefix === null ? isServerTool(tool, names) : tool === ownPrefix;
  const isOfServer = ownPrefix === null || tool.startsWith(`${ownPrefix}__`);
  return isOfServer && names.some((name) => isNameMatch(tool, name));
}

const MCP = 'mcp__';

function isServerTool(server: string, names: readonly string[]): boolean {
  return server.startsWith(MCP) && names.some((name) => name.startsWith(`${server}__`));
}

function isNameMatch(pattern: string, name: string): boolean {
  return isWildcardMatch(pattern.split('*'), name);
}

import { getOwnValue, isRecord } from '../../base/json.ts';
import type { PermissionCall } from '../permissions.ts';
import {
  type CommandPattern,
  canRunCommand,
  parseCommandPattern,
  hasOnlyMatchingCommands,
} from './command-pattern.ts';
import {
  matchPath,
  isCertainPathMatch,
  parsePathPattern,
  type PathContext,
  type PathPattern,
} from './path-pattern.ts';

/** A permission rule: `Tool`, or `Tool(content)` for some of its calls. */
export interface Rule {
  readonly text: string;
  readonly tool: string;
  readonly content: RuleContent;
}

type RuleContent =
  | { readonly kind: 'any' }
  | { readonly kind: 'command'; readonly pattern: CommandPattern }
  | { readonly kind: 'path'; readonly key: string; readonly pattern: PathPattern }
  | { readonly kind: 'domain'; readonly domain: string }
  | { readonly kind: 'value'; readonly key: string; readonly value: string }
  | { readonly kind: 'unknown' };

export interface RuleContext extends PathContext {
  /** `guard` errs towards matching, for deny and ask rules; `exact` towards not matching, for allow rules. */
  readonly mode: 'guard' | 'exact';
}

const RULE = /^([\w-]+)(?:\(([\s\S]*)\))?$/;

/** The rule, or null when the text is not one. */
export function parseRule(text: string): Rule | null {
  const [, tool, content] = RULE.exec(text.trim()) ?? [];
  if (tool === undefined) return null;
  return { text, tool, content: parseContent(tool, content) };
}

const COMMAND_TOOLS = ['Bash', 'execute_command', 'run_commands'];

const PATH_KEYS: Readonly<Record<string, string>> = {
  Read: 'file_path',
  read_file: 'file_path',
  read_files: 'file_path',
  Write: 'file_path',
  write_to_file: 'file_path',
  Edit: 'file_path',
  MultiEdit: 'file_path',
  replace_in_file: 'file_path',
  editor: 'file_path',
  apply_patch: 'file_path',
  NotebookEdit: 'notebook_path',
  Grep: 'path',
  Glob: 'path',
};

const VALUE_KEYS: Readonly<Record<string, string>> = {
  Agent: 'subagent_type',
  Task: 'subagent_type',
  Skill: 'skill',
};

function parseContent(tool: string, content: string | undefined): RuleContent {
  if (content === undefined || content.trim() === '' || content.trim() === '*') {
    return { kind: 'any' };
  }
  if (COMMAND_TOOLS.includes(tool)) {
    return { kind: 'command', pattern: parseCommandPattern(content) };
  }
  const pathKey = getOwnValue(PATH_KEYS, tool);
  if (pathKey !== undefined) {
    return { kind: 'path', key: pathKey, pattern: parsePathPattern(content) };
  }
  if (tool === 'WebFetch' && content.startsWith('domain:')) {
    return { kind: 'domain', domain: content.slice('domain:'.length).trim().toLowerCase() };
  }
  const valueKey = getOwnValue(VALUE_KEYS, tool);
  if (valueKey !== undefined) return { kind: 'value', key: valueKey, value: content.trim() };
  return { kind: 'unknown' };
}

/** Whether the rule matches this call. Never throws. */
export function isRuleMatch(
  rule: Rule,
  call: Pick<PermissionCall, 'names' | 'input'>,
  context: RuleContext,
): boolean {
  if (!call.names.includes(rule.tool)) return false;
  if (rule.content.kind === 'any') return true;
  const isGuard = context.mode === 'guard';
  if (rule.content.kind === 'unknown' || !isRecord(call.input)) return isGuard;
  try {
    return isContentMatch(rule.content, call.input, context);
  } catch {
    // The glob library rejects some globs and paths.
    return isGuard;
  }
}

type KnownContent = Exclude<RuleContent, { readonly kind: 'any' | 'unknown' }>;

function isContentMatch(
  content: KnownContent,
  input: Readonly<Record<string, unknown>>,
  context: RuleContext,
): boolean {
  const isGuard = context.mode === 'guard';
  const value = input[SUBJECT_KEYS[content.kind] ?? ('key' in content ? content.key : '')];
  if (typeof value !== 'string') return isGuard;
  switch (content.kind) {
    case 'command':
      return (isGuard ? canRunCommand : hasOnlyMatchingCommands)(content.pattern, value);
    case 'path':
      return isGuard
        ? matchPath(content.pattern, value, context) !== 'no'
        : isCertainPathMatch(content.pattern, value, context);
    case 'domain':
      return URL.canParse(value) ? isOnDomain(new URL(value), content.domain) : isGuard;
    case 'value':
      return value === content.value;
  }
}

const SUBJECT_KEYS: Readonly<Partial<Record<KnownContent['kind'], string>>> = {
  command: 'command',
  domain: 'url',
};

function isOnDomain({ hostname }: URL, domain: string): boolean {
  return domain.startsWith('*.') ? hostname.endsWith(domain.slice(1)) : hostname === domain;
}

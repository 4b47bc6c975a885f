import { existsSync, readFileSync } from 'node:fs';
import { parseScript } from '../agent/models/scripted.ts';
import { dropUndefined } from '../base/defined.ts';
import { HooklineError } from '../base/errors.ts';
import { explainFileError, isDirectory } from '../base/files.ts';
import { parseLocatedJson } from '../base/located-json.ts';
import type { AgentOptions, ModelWish } from '../host/agent/agent-options.ts';
import type { StartRequest } from '../host/agent/sessions.ts';

/** The command-line flags of every command that runs an agent. */
export interface AgentFlags {
  readonly prompt?: string;
  readonly provider?: string;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly key?: string;
  readonly script?: string;
  readonly permissionMode?: NonNullable<AgentOptions['permissionMode']>;
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly sandbox?: NonNullable<AgentOptions['sandbox']>;
  /** True without an id. */
  readonly resume?: string | true;
  readonly continue?: boolean;
  readonly maxTurns?: string;
  readonly effort?: NonNullable<AgentOptions['effort']>;
  readonly toolset?: NonNullable<AgentOptions['toolset']>;
  readonly addDir?: readonly string[];
  readonly mcpConfig?: readonly string[];
  readonly worktree?: string;
}

/** Rejects flags that exclude each other. */
export function checkFlagConflicts(flags: AgentFlags): void {
  const { resume, script, provider } = flags;
  if (resume !== undefined && flags.continue === true) {
    throw createUsageError('--resume and --continue cannot be combined', 'Use one of them.');
  }
  if (script !== undefined && provider !== undefined && provider !== 'scripted') {
    throw createUsageError(
      `--script cannot be combined with --provider ${provider}`,
      'Use one of them.',
    );
  }
}

/** The session that a command opens. */
export function toSessionRequest(flags: AgentFlags): Pick<StartRequest, 'resume' | 'worktree'> {
  const isLatest = flags.continue === true || flags.resume === true;
  const resume = isLatest ? 'latest' : flags.resume;
  return dropUndefined({ resume, worktree: flags.worktree });
}

/** The trimmed text; null when it is empty. */
export function trimToNull(text: string): string | null {
  const trimmed = text.trim();
  return trimmed === '' ? null : trimmed;
}

export function toAgentOptions(flags: AgentFlags): AgentOptions {
  const { permissionMode, allow, deny, sandbox, toolset, addDir, mcpConfig, maxTurns } = flags;
  const { effort } = flags;
  return dropUndefined({
    model: toModelOptions(flags),
    permissionMode,
    allow,
    deny,
    sandbox,
    toolset,
    effort,
    addDirectories: addDir?.map(checkDirectory),
    mcpConfig: mcpConfig?.map(checkServers),
    maxTurns: maxTurns === undefined ? undefined : parseCount(maxTurns),
  });
}

function checkDirectory(value: string): string {
  if (isDirectory(value)) return value;
  throw createUsageError(
    `--add-dir: ${JSON.stringify(value)} is not a directory`,
    'Pass one that exists.',
  );
}

function checkServers(value: string): string {
  const isText = value.trimStart().startsWith('{');
  if (!isText && !existsSync(value)) {
    throw createUsageError(
      `--mcp-config must be a file of MCP servers or JSON that starts with {: ${JSON.stringify(value)} does not exist`,
      'Pass an existing file, or quote the JSON for the shell.',
    );
  }
  const root = parseLocatedJson(isText ? value : readConfigFile(value));
  if (!('why' in root)) return value;
  const where = isText ? 'the argument' : JSON.stringify(value);
  throw createUsageError(
    `--mcp-config must be valid JSON: ${where}, line ${root.line}: ${root.why}`,
    'Fix it, or pass another file.',
  );
}

function readConfigFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw createUsageError(
      `--mcp-config ${file} cannot be read: ${explainFileError(error)}`,
      'Pass a file of MCP servers.',
    );
  }
}

function toModelOptions({ provider, model, baseUrl, key, script }: AgentFlags): ModelWish {
  return dropUndefined({
    provider,
    model,
    baseUrl,
    key,
    script: script === undefined ? undefined : parseScript(readScript(script), script),
  });
}

function readScript(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw createUsageError(
      `--script ${file} cannot be read: ${explainFileError(error)}`,
      'Pass a file with the turns of a scripted model, such as [{"text": "Hello."}].',
    );
  }
}

function parseCount(written: string): number {
  const count = Number(written);
  if (Number.isInteger(count) && count > 0) return count;
  throw createUsageError(
    `--max-turns must be a positive integer, found ${JSON.stringify(written)}`,
    'For example: --max-turns 20',
  );
}

export function createUsageError(message: string, hint: string): HooklineError {
  return new HooklineError('USAGE_INVALID', { message, hint });
}

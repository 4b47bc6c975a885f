import type { FileHookName, Profile } from './names.ts';

// VS Code never had these moments, so whoever hooks them knows the SDK.
const SDK_MOMENTS: ReadonlySet<FileHookName> = new Set(['TaskError', 'SessionShutdown']);

/** Guesses from its name and text for which generation a hook was written. */
export function profileOf(name: FileHookName, text: string): Profile {
  if (SDK_MOMENTS.has(name)) return 'sdk';
  if (!ANY_SIGN.test(text)) return 'classic';
  return profileIn(withoutComments(text)) ?? profileIn(text) ?? 'classic';
}

// Every word that is looked for below holds one of these, and most small hooks hold none.
const ANY_SIGN = /_|editor|rootSessionId/;

// The header that Cline gives new hooks names tools as examples, whatever the code below it tests.
const COMMENT_LINE = /^[ \t]*(?:#|\/\/|\/\*|\*(?:[ \t/]|$)).*$/gmu;

function withoutComments(text: string): string {
  return text.replace(COMMENT_LINE, '');
}

const SDK_WORDS =
  /\b(?:tool_call|tool_result|apply_patch|agent_(?:start|resume|end|error|abort)|prompt_submit|session_shutdown|rootSessionId|parent_agent_id)\b/u;

/**
 * A hook that knows tools of both generations was written for the one of which it knows more. Where
 * it looks first at the keys that always speak SDK, its tool names say nothing. Null for no sign.
 */
function profileIn(text: string): Profile | null {
  if (looksAtSdkKeysFirst(text)) return 'sdk';
  const classic = countNames(text, CLASSIC_TOOLS);
  const sdk = countNames(text, SDK_TOOLS);
  if (classic !== sdk) return classic > sdk ? 'classic' : 'sdk';
  if (SDK_WORDS.test(text)) return 'sdk';
  return classic > 0 ? 'classic' : null;
}

function looksAtSdkKeysFirst(text: string): boolean {
  const sdkAt = text.search(/[.'"]tool_(?:call|result)\b/u);
  const sharedAt = text.search(/\b(?:pre|post)ToolUse\b/u);
  return sdkAt !== -1 && (sharedAt === -1 || sdkAt < sharedAt);
}

// `apply_patch` is in neither list: both generations have it. `editor` is also a plain word, so only
// one in quotes or between bars counts.
const CLASSIC_TOOLS =
  /\b(?:execute_command|read_file|write_to_file|replace_in_file|list_files|list_code_definition_names|search_files|browser_action|use_mcp_tool|access_mcp_resource|ask_followup_question|attempt_completion|(?:plan|act)_mode_respond)\b/gu;
const SDK_TOOLS =
  /\b(?:run_commands|read_files|search_codebase|fetch_web_content|ask_question|spawn_agent|(?<=["'|])editor(?=["'|)]))\b/gu;

function countNames(text: string, names: RegExp): number {
  return new Set(text.match(names)).size;
}

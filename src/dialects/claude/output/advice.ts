import type { Failure, FailureKind } from '../../../hooks/decision.ts';
import type { ClaudeEvent, HandlerType } from '../events.ts';
import { canBlock } from './rulings.ts';
import { READ_FIELDS } from './schema.ts';

/** The shortest answer that does something at an event: a refusal where there is one. */
export function formatExampleAnswer(event: ClaudeEvent): string {
  switch (event) {
    case 'PreToolUse':
    case 'PreModelSwitch':
      return formatSpecific(
        event,
        '"permissionDecision": "deny", "permissionDecisionReason": "why"',
      );
    case 'PermissionRequest':
      return formatSpecific(event, '"decision": {"behavior": "deny", "message": "why"}');
    case 'WorktreeCreate':
      return formatSpecific(event, '"worktreePath": "/path"');
    default:
      if (canBlock(event)) return '{"decision": "block", "reason": "why"}';
      return READ_FIELDS[event].includes('additionalContext')
        ? formatSpecific(event, '"additionalContext": "text for the model"')
        : '{"systemMessage": "text for the user"}';
  }
}

function formatSpecific(event: ClaudeEvent, fields: string): string {
  return `{"hookSpecificOutput": {"hookEventName": "${event}", ${fields}}}`;
}

const SLOW = 'Let it answer sooner, or set "timeout" (seconds) in its entry.';

/** How the author of a hook makes it answer, after this failure. */
export function adviseOnFailure(
  type: HandlerType,
  event: ClaudeEvent,
  { kind, message }: Failure,
): string | null {
  if (kind === 'timeout') return SLOW;
  if (kind === 'killed') return null;
  switch (type) {
    case 'command':
      return kind === 'spawn' ? null : adviseCommand(event, kind);
    case 'http':
      if (message.includes('HTTP hook blocked')) return null;
      return kind === 'spawn'
        ? 'Start the server, or correct "url" in its entry.'
        : `Answer with status 200 and an empty body, or with one JSON object such as ${formatExampleAnswer(event)}.`;
    case 'mcp_tool':
      return kind === 'spawn'
        ? 'See `hookline mcp list`.'
        : `The tool answers with nothing, or with one JSON object such as ${formatExampleAnswer(event)}.`;
    case 'prompt':
    case 'agent':
      return kind === 'spawn'
        ? 'Only sessions have a model: `hookline run`, `chat` and `acp`.'
        : 'Ask in the prompt for one JSON object: {"ok": true} to agree, {"ok": false, "reason": "why"} to refuse.';
  }
}

function adviseCommand(event: ClaudeEvent, kind: FailureKind): string {
  const answer = `print nothing, or one JSON object and nothing else: ${formatExampleAnswer(event)}`;
  if (kind !== 'exit') return `Exit with 0 and ${answer}.`;
  return canBlock(event)
    ? 'Exit with 0 to agree, or with 2 and a reason on stderr to refuse; any other exit code is a failure.'
    : `Exit with 0 and ${answer}.`;
}

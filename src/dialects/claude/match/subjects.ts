import { EVENTS } from '../../../hooks/events.ts';
import { CLAUDE_EVENTS, type ClaudeEvent } from '../events.ts';

const TOOL_EVENTS: readonly ClaudeEvent[] = [
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'PermissionRequest',
  'PermissionDenied',
];

/** Whether an event is about a tool call: its matcher is tried on tool names, and it may have an `if`. */
export function isToolEvent(event: ClaudeEvent): boolean {
  return TOOL_EVENTS.includes(event);
}

/** Whether the event has a value that matchers are tried on. */
export function hasSubject(event: ClaudeEvent): boolean {
  return isToolEvent(event) || EVENTS[CLAUDE_EVENTS[event].event].subject !== null;
}

const COMPACTION = ['manual', 'auto'];

/** The possible values of an event's subject, for events with a fixed set. */
export const SUBJECT_VALUES: Readonly<Partial<Record<ClaudeEvent, readonly string[]>>> = {
  SessionStart: ['startup', 'resume', 'clear', 'compact', 'fork'],
  Setup: ['init', 'maintenance'],
  SessionEnd: ['clear', 'resume', 'logout', 'prompt_input_exit', 'other'],
  PreCompact: COMPACTION,
  PostCompact: COMPACTION,
  ConfigChange: [
    'user_settings',
    'project_settings',
    'local_settings',
    'policy_settings',
    'skills',
  ],
  InstructionsLoaded: [
    'session_start',
    'nested_traversal',
    'path_glob_match',
    'include',
    'compact',
  ],
  DirectoryAdded: ['slash_command', 'register_repo_root'],
  StopFailure: [
    'rate_limit',
    'overloaded',
    'authentication_failed',
    'oauth_org_not_allowed',
    'account_on_hold',
    'verification_required',
    'billing_error',
    'invalid_request',
    'model_not_found',
    'server_error',
    'max_output_tokens',
    'cloud_credential_error',
    'unknown',
  ],
  Notification: [
    'permission_prompt',
    'idle_prompt',
    'auth_success',
    'elicitation_dialog',
    'elicitation_url_dialog',
    'elicitation_complete',
    'elicitation_response',
    'agent_needs_input',
    'agent_completed',
  ],
};

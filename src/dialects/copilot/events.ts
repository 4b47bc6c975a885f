import { createEventTable } from '../event-table.ts';

/**
 * The events of Copilot CLI that mean one of ours, in both spellings: camelCase, and Claude's, which has
 * payloads with Claude's keys. None of ours is its userPromptTransformed.
 */
export const COPILOT_EVENTS = createEventTable({
  sessionStart: 'SessionStart',
  SessionStart: 'SessionStart',
  sessionEnd: 'SessionEnd',
  SessionEnd: 'SessionEnd',
  userPromptSubmitted: 'UserPromptSubmit',
  UserPromptSubmit: 'UserPromptSubmit',
  preToolUse: 'PreToolUse',
  PreToolUse: 'PreToolUse',
  postToolUse: 'PostToolUse',
  PostToolUse: 'PostToolUse',
  postToolUseFailure: 'PostToolUseFailure',
  PostToolUseFailure: 'PostToolUseFailure',
  agentStop: 'Stop',
  Stop: 'Stop',
  subagentStart: 'SubagentStart',
  SubagentStart: 'SubagentStart',
  subagentStop: 'SubagentStop',
  SubagentStop: 'SubagentStop',
  errorOccurred: { event: 'RunEnd', facts: { status: 'failed' } },
  ErrorOccurred: { event: 'RunEnd', facts: { status: 'failed' } },
  preCompact: 'PreCompact',
  PreCompact: 'PreCompact',
  permissionRequest: 'PermissionRequest',
  PermissionRequest: 'PermissionRequest',
  notification: 'Notification',
  Notification: 'Notification',
});

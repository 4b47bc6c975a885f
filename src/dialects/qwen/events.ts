import { createEventTable } from '../event-table.ts';

/** The events of Qwen Code that mean one of ours. None of ours is its SessionDelete. */
export const QWEN_EVENTS = createEventTable({
  PreToolUse: 'PreToolUse',
  PostToolUse: 'PostToolUse',
  PostToolUseFailure: 'PostToolUseFailure',
  PostToolBatch: 'PostToolBatch',
  Notification: 'Notification',
  UserPromptSubmit: 'UserPromptSubmit',
  UserPromptExpansion: 'UserPromptExpansion',
  SessionStart: 'SessionStart',
  SessionEnd: 'SessionEnd',
  Stop: 'Stop',
  StopFailure: { event: 'RunEnd', facts: { status: 'failed' } },
  SubagentStart: 'SubagentStart',
  SubagentStop: 'SubagentStop',
  PreCompact: 'PreCompact',
  PostCompact: 'PostCompact',
  PermissionRequest: 'PermissionRequest',
  PermissionDenied: 'PermissionDenied',
  MessageDisplay: 'MessageDisplay',
  TodoCreated: 'TaskCreated',
  TodoCompleted: 'TaskCompleted',
  InstructionsLoaded: 'InstructionsLoaded',
});

import { createEventTable } from '../event-table.ts';

/** Every event of Droid. */
export const DROID_EVENTS = createEventTable({
  PreToolUse: 'PreToolUse',
  PostToolUse: 'PostToolUse',
  Notification: 'Notification',
  UserPromptSubmit: 'UserPromptSubmit',
  Stop: 'Stop',
  SubagentStop: 'SubagentStop',
  PreCompact: 'PreCompact',
  SessionStart: 'SessionStart',
  SessionEnd: 'SessionEnd',
});

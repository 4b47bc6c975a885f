import { createEventTable } from '../event-table.ts';

/** Every event of Codex CLI, in the order in which it documents them. */
export const CODEX_EVENTS = createEventTable({
  PreToolUse: 'PreToolUse',
  PermissionRequest: 'PermissionRequest',
  PostToolUse: 'PostToolUse',
  PreCompact: 'PreCompact',
  PostCompact: 'PostCompact',
  SessionStart: 'SessionStart',
  SessionEnd: 'SessionEnd',
  UserPromptSubmit: 'UserPromptSubmit',
  SubagentStart: 'SubagentStart',
  SubagentStop: 'SubagentStop',
  Stop: 'Stop',
  Interrupt: { event: 'RunEnd', facts: { status: 'aborted' } },
});

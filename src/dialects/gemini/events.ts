import { createEventTable } from '../event-table.ts';

/**
 * The events of Gemini CLI that mean one of ours, in the order in which it documents them. None of ours is
 * its BeforeToolSelection.
 */
export const GEMINI_EVENTS = createEventTable({
  BeforeTool: 'PreToolUse',
  AfterTool: 'PostToolUse',
  BeforeAgent: 'UserPromptSubmit',
  AfterAgent: 'Stop',
  BeforeModel: 'ModelRequest',
  AfterModel: 'ModelResponse',
  SessionStart: 'SessionStart',
  SessionEnd: 'SessionEnd',
  PreCompress: 'PreCompact',
  Notification: 'Notification',
});

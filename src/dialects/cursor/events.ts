import { createEventTable } from '../event-table.ts';

/**
 * The events of Cursor that mean one of ours. One call fires several of them: a shell command preToolUse and
 * beforeShellExecution, an MCP call preToolUse and beforeMCPExecution. None of ours are afterAgentThought
 * and workspaceOpen.
 */
export const CURSOR_EVENTS = createEventTable({
  preToolUse: 'PreToolUse',
  beforeShellExecution: 'PreToolUse',
  beforeMCPExecution: 'PreToolUse',
  beforeReadFile: 'PreToolUse',
  beforeTabFileRead: 'PreToolUse',
  postToolUse: 'PostToolUse',
  afterShellExecution: 'PostToolUse',
  afterMCPExecution: 'PostToolUse',
  afterFileEdit: 'PostToolUse',
  afterTabFileEdit: 'PostToolUse',
  postToolUseFailure: 'PostToolUseFailure',
  beforeSubmitPrompt: 'UserPromptSubmit',
  subagentStart: 'SubagentStart',
  subagentStop: 'SubagentStop',
  stop: 'Stop',
  sessionStart: 'SessionStart',
  sessionEnd: 'SessionEnd',
  preCompact: 'PreCompact',
  afterAgentResponse: 'MessageDisplay',
});

import { z } from 'zod';
import { anything, count, flag, text, texts } from './fields.ts';

/** What a Claude hook of this event reads on stdin. */
export function claudePayloadSchema(event: string): z.ZodObject {
  return z.looseObject({ ...CLAUDE_COMMON_FIELDS, ...getClaudePayloadFields(event) });
}

/** What its payload holds beyond the fields that all have. */
export function getClaudePayloadFields(event: string): z.ZodRawShape {
  const data = CLAUDE_PAYLOADS[event];
  if (data === undefined) throw new Error(`no fields are listed for the payload of ${event}`);
  return { hook_event_name: z.literal(event).describe('The event.'), ...data };
}

export const CLAUDE_COMMON_FIELDS: z.ZodRawShape = {
  session_id: text('Id of the session.'),
  transcript_path: text('Path of the conversation, as JSON lines.'),
  cwd: text('Current directory of the session.'),
  prompt_id: text('Id of the prompt that is worked on.').optional(),
  permission_mode: z
    .enum(['default', 'acceptEdits', 'plan', 'dontAsk', 'auto', 'bypassPermissions'])
    .describe('The permission mode; only at events that depend on it.')
    .optional(),
  agent_id: text('Id of the sub-agent; absent for the session’s own agent.').optional(),
  agent_type: text('Kind of the agent, when it has one.').optional(),
  effort: z
    .looseObject({ level: text('low, medium, high …') })
    .describe('How hard the model is asked to think.')
    .optional(),
};

const TOOL: z.ZodRawShape = {
  tool_name: text('The tool, as Claude Code names it.'),
  tool_input: z.record(z.string(), z.unknown()).describe('Input of the tool, with absolute paths.'),
  mcp_server: anything('The MCP server of the tool, when it is one of MCP.').optional(),
};

const CALL: z.ZodRawShape = { ...TOOL, tool_use_id: text('Id of the call.') };

const STOP: z.ZodRawShape = {
  stop_hook_active: flag('Whether a Stop hook already made the agent go on.'),
  last_assistant_message: text('The agent’s last text.').optional(),
  background_tasks: z.array(z.unknown()).describe('Commands and agents in the background.'),
  session_crons: z.array(z.unknown()).describe('Scheduled prompts.'),
};

const TASK_ITEM: z.ZodRawShape = {
  task_id: text('Id of the item.'),
  task_subject: text('Its title.'),
  task_description: text('What is to be done.').optional(),
  teammate_name: text('Who works on it.').optional(),
  team_name: text('In which team.').optional(),
};

const MODEL_SWITCH: z.ZodRawShape = {
  from_model: z.string().nullable().describe('The model so far, or null.'),
  to_model: z.string().nullable().describe('The next model, or null.'),
  requested_model: z.string().nullable().describe('What was asked for.').optional(),
  source: text('Who asked for it.').optional(),
  context_tokens: count('Tokens of the conversation.').optional(),
  prompt_cache_warm: flag('Whether the cache of the model so far still holds it.').optional(),
  cache_ttl: anything('How long it does.').optional(),
  estimated_cache_write_usd: z.number().describe('What filling the next cache costs.').optional(),
  pricing: anything('Prices of both models.').optional(),
};

const ELICITATION: z.ZodRawShape = {
  mcp_server_name: text('The server that asks.'),
  elicitation_id: text('Id of the question.').optional(),
  mode: z.enum(['form', 'url']).describe('How it asks.').optional(),
};

const CLAUDE_PAYLOADS: Readonly<Record<string, z.ZodRawShape>> = {
  PreToolUse: CALL,
  PostToolUse: {
    ...CALL,
    tool_response: anything('What the tool answered, in the shape of Claude’s tool.'),
    tool_result: anything('The same as `tool_response`.').optional(),
    duration_ms: count('How long the call took.'),
  },
  PostToolUseFailure: {
    ...CALL,
    error: text('Why it failed.'),
    is_interrupt: flag('Whether the user interrupted it.'),
    duration_ms: count('How long the call took.'),
  },
  PostToolBatch: {
    tool_calls: z
      .array(
        z.looseObject({
          ...CALL,
          tool_response: anything('What the model reads of it.').optional(),
        }),
      )
      .describe('All calls of the turn.'),
  },
  PermissionDenied: { ...CALL, reason: text('Why it was denied.') },
  PermissionRequest: {
    ...TOOL,
    permission_suggestions: z.array(z.unknown()).describe('Rules that would allow it.').optional(),
  },
  Notification: {
    message: text('What the user reads.'),
    title: text('Its title.').optional(),
    notification_type: text('idle_prompt, permission_prompt …'),
  },
  UserPromptSubmit: {
    prompt: text('The prompt.'),
    user_prompt: text('The same as `prompt`.').optional(),
    source: text('Where it comes from.').optional(),
    session_title: text('Title of the session.').optional(),
  },
  UserPromptExpansion: {
    expansion_type: text('What is expanded: slash_command …'),
    command_name: text('The command.'),
    command_args: text('What stands after it.').optional(),
    command_source: text('Where the command comes from.').optional(),
    prompt: text('The prompt as it was typed.'),
  },
  SessionStart: {
    source: text('startup, resume, clear, compact or fork.'),
    session_trigger: text('The same as `source`.').optional(),
    model: text('Id of the model.').optional(),
    session_title: text('Title of the session.').optional(),
    seconds_since_last_response: count('Of a resumed session.').optional(),
    context_tokens: count('Tokens of a resumed conversation.').optional(),
    prompt_cache_likely_expired: flag('Whether the model must read all of it again.').optional(),
    estimated_cache_write_usd: z.number().describe('What that costs.').optional(),
  },
  Stop: STOP,
  StopFailure: {
    error: text('Class of the failure.'),
    error_details: anything('More about it.').optional(),
    last_assistant_message: text('The agent’s last text, or the failure.').optional(),
  },
  SubagentStart: {},
  SubagentStop: { ...STOP, agent_transcript_path: text('Transcript of the sub-agent.') },
  PreCompact: {
    trigger: z.enum(['manual', 'auto']).describe('Who asked for it.'),
    custom_instructions: z.string().nullable().describe('Instructions for the summary, or null.'),
  },
  PostCompact: {
    trigger: z.enum(['manual', 'auto']).describe('Who asked for it.'),
    compact_summary: text('The summary.'),
  },
  PreModelSwitch: MODEL_SWITCH,
  PostModelSwitch: MODEL_SWITCH,
  SessionEnd: { reason: text('Why it ends: clear, logout, prompt_input_exit, other …') },
  Setup: { trigger: z.enum(['init', 'maintenance']).describe('Why it runs.') },
  TeammateIdle: {
    teammate_name: text('Who is idle.').optional(),
    team_name: text('In which team.').optional(),
  },
  TaskCreated: TASK_ITEM,
  TaskCompleted: TASK_ITEM,
  Elicitation: {
    ...ELICITATION,
    message: text('What it asks.'),
    url: text('Where to answer.').optional(),
    requested_schema: anything('JSON Schema of the answer.').optional(),
  },
  ElicitationResult: {
    ...ELICITATION,
    action: z.enum(['accept', 'decline', 'cancel']).describe('What the user did.'),
    content: anything('The answer.').optional(),
  },
  ConfigChange: {
    source: text('user_settings, project_settings …'),
    file_path: text('The file that changed.').optional(),
  },
  InstructionsLoaded: {
    file_path: text('The file that was read.'),
    memory_type: text('User, Project, Local or Managed.'),
    load_reason: text('Why it was read.').optional(),
    globs: texts('Its `paths`.').optional(),
    trigger_file_path: text('The file that made it load.').optional(),
    parent_file_path: text('The file that includes it.').optional(),
  },
  WorktreeCreate: { name: text('Name of the worktree.') },
  WorktreeRemove: { worktree_path: text('Its directory.') },
  CwdChanged: { old_cwd: text('The directory so far.'), new_cwd: text('The next directory.') },
  FileChanged: { file_path: text('The file.'), event: text('add, change or unlink.') },
  DirectoryAdded: { directory: text('The directory.'), source: text('Who added it.').optional() },
  MessageDisplay: {
    turn_id: text('Id of the turn.'),
    message_id: text('Id of the message.'),
    index: count('Number of this piece of text.'),
    final: flag('Whether it is the last.'),
    delta: text('The text.'),
  },
};

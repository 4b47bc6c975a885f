import { renderHeader, type Row } from '../../templates.ts';
import {
  type ClaudeExample,
  AS_IT_IS,
  createWatchExample,
  describeContextAnswer,
  FAILS,
  PASSES,
  SEE_LOG,
  formatSpecificOutput,
} from './example.ts';

const PLAIN_CONTEXT: Row = ['plain text on stdout', 'text for the model'];
const MODELS: readonly Row[] = [
  ['from_model', 'the model before'],
  ['to_model', 'the model after'],
  ['source', 'who asked for it: command, picker …'],
];

/** Examples for events of turns and sessions. */
const SESSION_EXAMPLES = {
  UserPromptSubmit: {
    runs: 'for every prompt',
    does: 'refuses a prompt that is empty or contains a private key',
    reads: [['prompt', 'what the user wrote']],
    answers: [
      ['exit code 0', 'the prompt goes to the model'],
      PLAIN_CONTEXT,
      ['exit code 2', 'the prompt is refused; stderr tells the user why'],
      FAILS,
      ['{"decision": "block", "reason": "..."}', 'the same as JSON'],
      describeContextAnswer('UserPromptSubmit'),
    ],
    trial: { ...AS_IT_IS, flags: { prompt: 'my key: -----BEGIN PRIVATE KEY-----' } },
    action: { kind: 'own' },
  },
  UserPromptExpansion: createWatchExample({
    runs: 'when a typed /command becomes a prompt',
    reads: [
      ['command_name', 'the command; also command_args and command_source'],
      ['prompt', 'what it becomes'],
    ],
    field: 'command_name',
    answers: [PLAIN_CONTEXT, ['exit code 2', 'it is refused; stderr says why']],
  }),
  SessionStart: {
    runs: 'when a session opens',
    does: 'tells the model the date and the git branch',
    reads: [['source', 'startup, resume, clear, compact or fork']],
    answers: [PASSES, PLAIN_CONTEXT, FAILS, describeContextAnswer('SessionStart')],
    trial: AS_IT_IS,
    action: { kind: 'own' },
  },
  Stop: {
    runs: 'when the agent is about to finish',
    does: 'sends it back once when its last message mentions a TODO',
    reads: [
      ['last_assistant_message', 'its last message'],
      ['stop_hook_active', 'true when a Stop hook has already made it continue'],
    ],
    answers: [
      ['exit code 0', 'it finishes'],
      ['exit code 2', 'it continues; stderr tells it what to do'],
      FAILS,
      ['{"decision": "block", "reason": "..."}', 'it continues; the reason tells it what to do'],
    ],
    trial: { ...AS_IT_IS, facts: { lastText: 'All done but for one TODO.' } },
    action: { kind: 'own' },
  },
  StopFailure: createWatchExample({
    runs: 'when the model’s service ended a turn with an error',
    reads: [['error', 'such as rate_limit or server_error; also error_details']],
    field: 'error',
  }),
  SubagentStart: {
    runs: 'when a sub-agent starts',
    does: 'asks it to name every file that it changes',
    reads: [['agent_type', 'which kind of agent; also agent_id']],
    answers: [PASSES, FAILS, describeContextAnswer('SubagentStart')],
    trial: AS_IT_IS,
    action: { kind: 'context', text: 'Name every file that you change in your report.' },
  },
  SubagentStop: createWatchExample({
    runs: 'when a sub-agent is about to finish',
    reads: [
      ['agent_type', 'which kind of agent; also agent_id and agent_transcript_path'],
      ['last_assistant_message', 'its last message'],
      ['stop_hook_active', 'true when a Stop hook has already made it continue'],
    ],
    field: 'last_assistant_message',
    answers: [['exit code 2', 'it continues; stderr tells it what to do']],
  }),
  PreCompact: {
    runs: 'before a long conversation is compacted',
    does: 'asks for the open questions and the changed files to be kept',
    reads: [['trigger', 'manual or auto; also custom_instructions']],
    answers: [
      ['exit code 0', 'the conversation is compacted'],
      ['plain text on stdout', 'instructions for the summary'],
      ['exit code 2', 'it stays as it is; stderr says why'],
      FAILS,
    ],
    trial: AS_IT_IS,
    action: { kind: 'print', text: 'Keep the open questions, and every file that was changed.' },
  },
  PostCompact: createWatchExample({
    runs: 'after a conversation was compacted',
    reads: [['compact_summary', 'what is left; also trigger']],
    field: 'compact_summary',
  }),
  PreModelSwitch: createWatchExample({
    runs: 'when somebody asks for another model',
    reads: [...MODELS, ['estimated_cache_write_usd', 'what the switch may cost']],
    field: 'to_model',
    answers: [
      ['exit code 2', 'the model stays; stderr says why'],
      [
        formatSpecificOutput('PreModelSwitch', '"permissionDecision": "deny"'),
        'the same; also "ask"',
      ],
    ],
  }),
  PostModelSwitch: createWatchExample({
    runs: 'after the model was switched',
    reads: MODELS,
    field: 'to_model',
    answers: [describeContextAnswer('PostModelSwitch')],
  }),
  SessionEnd: {
    ...createWatchExample({
      runs: 'when a session ends',
      reads: [['reason', 'why it ends']],
      field: 'reason',
    }),
    timeout: 10,
  },
  Setup: createWatchExample({
    runs: 'before a session, for one-time preparation',
    reads: [['trigger', 'init or maintenance']],
    field: 'trigger',
  }),
  Notification: createWatchExample({
    runs: 'when the agent waits for the user, or is done',
    reads: [
      ['message', 'what the user sees'],
      ['notification_type', 'such as permission_prompt or idle_prompt'],
    ],
    field: 'message',
  }),
  MessageDisplay: createWatchExample({
    runs: 'when text of the model is shown',
    reads: [['delta', 'the text; also message_id, turn_id, index and final']],
    field: 'delta',
    answers: [
      [formatSpecificOutput('MessageDisplay', '"displayContent": "..."'), 'is shown in its place'],
    ],
  }),
  TeammateIdle: createWatchExample({
    runs: 'when a teammate is about to idle',
    reads: [['teammate_name', 'who']],
    field: 'teammate_name',
    answers: [['exit code 2', 'it continues; stderr tells it what to do']],
  }),
} as const satisfies Record<string, ClaudeExample>;

const TOOL: readonly Row[] = [
  ['tool_name', 'such as Bash, Write or mcp__server__tool'],
  ['tool_input', 'the input of the tool'],
];
const CALL: Row = ['tool_use_id', 'the id of the call'];
const TOOK: Row = ['duration_ms', 'how long it took'];

/** Examples for the events around tool calls. */
const TOOL_EXAMPLES = {
  PreToolUse: {
    runs: 'before a tool call',
    does: 'denies commands that would delete the whole disk or home directory',
    reads: [...TOOL, CALL],
    answers: [
      PASSES,
      ['exit code 2', 'the call is denied; stderr tells the model why'],
      FAILS,
      [
        formatSpecificOutput(
          'PreToolUse',
          '"permissionDecision": "deny", "permissionDecisionReason": "..."',
        ),
        'the same as JSON; also "allow" and "ask", "updatedInput" and "additionalContext"',
      ],
    ],
    trial: { ...AS_IT_IS, flags: { tool: 'Bash', input: '{"command":"rm -rf /"}' } },
    action: { kind: 'own' },
    matcher: 'Bash',
  },
  PermissionRequest: {
    runs: 'before the user is asked for a permission',
    does: 'answers yes for reading files below the current directory',
    reads: [...TOOL, ['permission_suggestions', 'rules that the user could add']],
    answers: [
      ['exit code 0', 'the user is asked'],
      FAILS,
      [
        formatSpecificOutput('PermissionRequest', '"decision": {"behavior": "allow"}'),
        'answers for the user; or {"behavior": "deny", "message": "..."}',
      ],
    ],
    trial: { ...AS_IT_IS, flags: { tool: 'Read', input: '{"file_path":"README.md"}' } },
    action: { kind: 'own' },
    matcher: 'Read',
  },
  PermissionDenied: createWatchExample({
    runs: 'when a classifier denied a call',
    reads: [...TOOL, CALL, ['reason', 'why']],
    field: 'reason',
    answers: [
      [formatSpecificOutput('PermissionDenied', '"retry": true'), 'the model may try again'],
    ],
  }),
  PostToolUse: {
    runs: 'after a tool call that succeeded',
    does: 'tells the model when a tool took more than 5 seconds',
    reads: [...TOOL, ['tool_response', 'the output of the tool'], CALL, TOOK],
    answers: [
      PASSES,
      ['exit code 2', 'the model gets stderr as feedback on the call'],
      FAILS,
      describeContextAnswer('PostToolUse'),
    ],
    trial: { ...AS_IT_IS, facts: { durationMs: 6000 } },
    action: { kind: 'own' },
  },
  PostToolUseFailure: {
    runs: 'after a tool call that failed',
    does: 'asks the model to look for the cause before it tries again',
    reads: [...TOOL, ['error', 'what went wrong'], ['is_interrupt', 'true or false'], CALL, TOOK],
    answers: [
      PASSES,
      ['exit code 2', 'the model gets stderr as feedback on the call'],
      FAILS,
      describeContextAnswer('PostToolUseFailure'),
    ],
    trial: AS_IT_IS,
    action: {
      kind: 'context',
      text: 'Find the cause of this failure before you try the same again.',
    },
  },
  PostToolBatch: {
    runs: 'when all calls of one turn are done',
    does: 'appends a line to ~/.claude/hook-logs/events.log',
    reads: [['tool_calls', 'tool_name, tool_input, tool_use_id and tool_response of each']],
    answers: [
      PASSES,
      ['exit code 2', 'the run stops; stderr says why'],
      FAILS,
      describeContextAnswer('PostToolBatch'),
    ],
    trial: SEE_LOG,
    action: { kind: 'own' },
  },
  TaskCreated: createWatchExample({
    runs: 'when an item is put on the task list',
    reads: [
      ['task_id', 'the item'],
      ['task_subject', 'what is to be done; also task_description'],
    ],
    field: 'task_subject',
    answers: [['exit code 2', 'it is not created; stderr tells the model why']],
  }),
  TaskCompleted: createWatchExample({
    runs: 'when an item of the task list is marked as done',
    reads: [
      ['task_id', 'the item'],
      ['task_subject', 'what was to be done; also task_description'],
    ],
    field: 'task_subject',
    answers: [['exit code 2', 'it stays open; stderr tells the model why']],
  }),
  Elicitation: createWatchExample({
    runs: 'when an MCP server asks the user something',
    reads: [
      ['mcp_server_name', 'who asks'],
      ['message', 'the question; also mode, url and requested_schema'],
    ],
    field: 'message',
    answers: [
      ['exit code 2', 'the question is declined'],
      [
        formatSpecificOutput('Elicitation', '"action": "accept", "content": {...}'),
        'answers for the user; or "decline" and "cancel"',
      ],
    ],
  }),
  ElicitationResult: createWatchExample({
    runs: 'when the user has answered an MCP server',
    reads: [
      ['mcp_server_name', 'who asked'],
      ['action', 'accept, decline or cancel'],
      ['content', 'the answer'],
    ],
    field: 'action',
    answers: [['exit code 2', 'the answer becomes a decline']],
  }),
} as const satisfies Record<string, ClaudeExample>;

/** Examples for events about files, settings and directories. */
const PLACE_EXAMPLES = {
  ConfigChange: createWatchExample({
    runs: 'when a settings file changed during the session',
    reads: [['source', 'such as user_settings or project_settings; also file_path']],
    field: 'source',
    answers: [['exit code 2', 'the change is not applied']],
  }),
  InstructionsLoaded: createWatchExample({
    runs: 'when a file of instructions was loaded',
    reads: [['file_path', 'which; also memory_type and load_reason']],
    field: 'file_path',
  }),
  WorktreeCreate: {
    runs: 'when a worktree is needed, and makes it',
    does: 'adds a git worktree below .claude/worktrees',
    reads: [['name', 'what it should be called']],
    answers: [
      ['plain text on stdout', 'its last line is the path of the new worktree'],
      ['another exit code than 0', 'there is no worktree; stderr says why'],
    ],
    trial: { ...AS_IT_IS, look: 'git worktree list' },
    action: { kind: 'own' },
  },
  WorktreeRemove: createWatchExample({
    runs: 'when a worktree is removed',
    reads: [['worktree_path', 'which']],
    field: 'worktree_path',
  }),
  CwdChanged: createWatchExample({
    runs: 'when the current directory changed',
    reads: [['new_cwd', 'where it is now; also old_cwd']],
    field: 'new_cwd',
  }),
  FileChanged: createWatchExample({
    runs: 'when a file changed on disk that its matcher names',
    reads: [['file_path', 'which; also event: change, add or unlink']],
    field: 'file_path',
    matcher: 'package.json',
    facts: { file: '/example/package.json' },
  }),
  DirectoryAdded: createWatchExample({
    runs: 'when a directory was added to the workspace',
    reads: [['directory', 'which; also source']],
    field: 'directory',
  }),
} as const satisfies Record<string, ClaudeExample>;

const EXAMPLES = { ...TOOL_EXAMPLES, ...SESSION_EXAMPLES, ...PLACE_EXAMPLES };

export type ClaudeExampleEvent = keyof typeof EXAMPLES;

/** An example for every event of Claude's format. */
export const CLAUDE_EXAMPLES: Readonly<Record<ClaudeExampleEvent, ClaudeExample>> = EXAMPLES;

const WORDS = {
  gets: [
    'It gets one JSON object on stdin. With every event come session_id,',
    'transcript_path, cwd and hook_event_name; with this one also:',
  ],
  answers: 'It answers with its exit code, or with one JSON object on stdout:',
  end: [],
};

/** Renders the head comment of an example in Claude's format. */
export function renderClaudeHeader(event: ClaudeExampleEvent, mark: '#' | '//'): string {
  return renderHeader({ event, example: CLAUDE_EXAMPLES[event], words: WORDS }, mark);
}

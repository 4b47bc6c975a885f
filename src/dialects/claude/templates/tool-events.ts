import type { Row } from '../../templates.ts';
import {
  AS_IT_IS,
  type ClaudeExample,
  describeContextAnswer,
  FAILS,
  PASSES,
  SEE_LOG,
  formatSpecificOutput,
  createWatchExample,
} from './example.ts';

const TOOL: readonly Row[] = [
  ['tool_name', 'such as Bash, Write or mcp__server__tool'],
  ['tool_input', 'the input of the tool'],
];
const CALL: Row = ['tool_use_id', 'the id of the call'];
const TOOK: Row = ['duration_ms', 'how long it took'];

/** Examples for the events around tool calls. */
export const TOOL_EXAMPLES = {
  PreToolUse: {
    runs: 'before a tool call',
    does: 'denies commands that would delete the whole disk or home directory',
    reads: [...TOOL, CALL],
    answers: [
      PASSES,
      ['exit code 2', 'the call is denied; what is on stderr tells the model why'],
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
    runs: 'before the person is asked for a permission',
    does: 'answers yes for reading files below the current directory',
    reads: [...TOOL, ['permission_suggestions', 'rules that the person could add']],
    answers: [
      ['exit code 0', 'the person is asked'],
      FAILS,
      [
        formatSpecificOutput('PermissionRequest', '"decision": {"behavior": "allow"}'),
        'answers for the person; or {"behavior": "deny", "message": "..."}',
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
    reads: [...TOOL, ['tool_response', 'what the tool answered'], CALL, TOOK],
    answers: [
      PASSES,
      ['exit code 2', 'the model gets what is on stderr as feedback on the call'],
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
      ['exit code 2', 'the model gets what is on stderr as feedback on the call'],
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
      ['exit code 2', 'the run stops; what is on stderr says why'],
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
    answers: [['exit code 2', 'it is not created; what is on stderr tells the model why']],
  }),
  TaskCompleted: createWatchExample({
    runs: 'when an item of the task list is marked as done',
    reads: [
      ['task_id', 'the item'],
      ['task_subject', 'what was to be done; also task_description'],
    ],
    field: 'task_subject',
    answers: [['exit code 2', 'it stays open; what is on stderr tells the model why']],
  }),
  Elicitation: createWatchExample({
    runs: 'when an MCP server asks the person something',
    reads: [
      ['mcp_server_name', 'who asks'],
      ['message', 'the question; also mode, url and requested_schema'],
    ],
    field: 'message',
    answers: [
      ['exit code 2', 'the question is declined'],
      [
        formatSpecificOutput('Elicitation', '"action": "accept", "content": {...}'),
        'answers for the person; or "decline" and "cancel"',
      ],
    ],
  }),
  ElicitationResult: createWatchExample({
    runs: 'when the person has answered an MCP server',
    reads: [
      ['mcp_server_name', 'who asked'],
      ['action', 'accept, decline or cancel'],
      ['content', 'the answer'],
    ],
    field: 'action',
    answers: [['exit code 2', 'the answer becomes a decline']],
  }),
} as const satisfies Record<string, ClaudeExample>;

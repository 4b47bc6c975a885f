import type { Row } from '../../templates.ts';
import {
  AS_IT_IS,
  type ClaudeExample,
  describeContextAnswer,
  FAILS,
  PASSES,
  formatSpecificOutput,
  createWatchExample,
} from './example.ts';

const PLAIN_CONTEXT: Row = ['plain text on stdout', 'text for the model'];
const MODELS: readonly Row[] = [
  ['from_model', 'the model before'],
  ['to_model', 'the model after'],
  ['source', 'who asked for it: command, picker …'],
];

/** Examples for events of turns and sessions. */
export const SESSION_EXAMPLES = {
  UserPromptSubmit: {
    runs: 'for every prompt',
    does: 'refuses a prompt that is empty or holds a private key',
    reads: [['prompt', 'what the person wrote']],
    answers: [
      ['exit code 0', 'the prompt goes to the model'],
      PLAIN_CONTEXT,
      ['exit code 2', 'the prompt is refused; what is on stderr tells the person why'],
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
    answers: [PLAIN_CONTEXT, ['exit code 2', 'it is refused; what is on stderr says why']],
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
    does: 'sends it back once when its last message speaks of a TODO',
    reads: [
      ['last_assistant_message', 'its last words'],
      ['stop_hook_active', 'true when it goes on because of a hook like this one already'],
    ],
    answers: [
      ['exit code 0', 'it finishes'],
      ['exit code 2', 'it goes on; what is on stderr tells it with what'],
      FAILS,
      ['{"decision": "block", "reason": "..."}', 'it goes on; the reason tells it with what'],
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
      ['last_assistant_message', 'its last words'],
      ['stop_hook_active', 'true when it goes on because of a hook like this one already'],
    ],
    field: 'last_assistant_message',
    answers: [['exit code 2', 'it goes on; what is on stderr tells it with what']],
  }),
  PreCompact: {
    runs: 'before a long conversation is compacted',
    does: 'asks for the open questions and the changed files to be kept',
    reads: [['trigger', 'manual or auto; also custom_instructions']],
    answers: [
      ['exit code 0', 'the conversation is compacted'],
      ['plain text on stdout', 'what the summary should heed'],
      ['exit code 2', 'it stays as it is; what is on stderr says why'],
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
      ['exit code 2', 'the model stays; what is on stderr says why'],
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
    runs: 'when the agent waits for a person, or is done',
    reads: [
      ['message', 'what the person is told'],
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
    answers: [['exit code 2', 'it goes on; what is on stderr tells it with what']],
  }),
} as const satisfies Record<string, ClaudeExample>;

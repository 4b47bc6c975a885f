import { type HookExample, type Row, type Trial, renderHeader } from '../../templates.ts';

const GOES_ON = '{"cancel": false}';
const REFUSES = '{"cancel": true, "errorMessage": "..."}';
const ADDS = '{"contextModification": "..."}';

const CONTEXT: Row = [ADDS, 'text that the model gets with its next request'];
const ONLY_WATCHES: readonly Row[] = [[GOES_ON, 'the only answer: this event cannot be refused']];

const AS_IT_IS: Trial = { flags: {}, facts: {}, look: null };
const SEE_LOG: Trial = { ...AS_IT_IS, look: 'tail -n 1 ~/.cline/hook-logs/events.log' };
const LOGS = 'appends a line to ~/.cline/hook-logs/events.log';

export const HOOK_EXAMPLES = {
  TaskStart: {
    runs: 'when a new task begins',
    does: 'tells the model the date and the git branch',
    reads: [['taskStart.taskMetadata', 'taskId, ulid, and initialTask: the first prompt']],
    answers: [
      [GOES_ON, 'the task begins'],
      [REFUSES, 'the task does not begin; the message says why'],
      CONTEXT,
    ],
    trial: AS_IT_IS,
  },
  TaskResume: {
    runs: 'when a task is resumed',
    does: 'tells the model when the task has been idle for more than a day',
    reads: [
      ['taskResume.taskMetadata', 'taskId and ulid'],
      ['taskResume.previousState', 'lastMessageTs in milliseconds and messageCount, both as text'],
    ],
    answers: [
      [GOES_ON, 'the task goes on'],
      [REFUSES, 'the task is not resumed; the message says why'],
      CONTEXT,
    ],
    trial: AS_IT_IS,
  },
  TaskCancel: {
    runs: 'after a task was cancelled',
    does: LOGS,
    reads: [['taskCancel.taskMetadata', 'taskId, ulid, and completionStatus: how it ended']],
    answers: ONLY_WATCHES,
    trial: SEE_LOG,
  },
  TaskComplete: {
    runs: 'when a task is done',
    does: LOGS,
    reads: [['taskComplete.taskMetadata', 'taskId, ulid, and result: its final message']],
    answers: [
      [GOES_ON, 'the task ends'],
      [REFUSES, 'the agent continues; the message tells it what to do'],
    ],
    trial: SEE_LOG,
  },
  TaskError: {
    runs: 'after a task failed',
    does: LOGS,
    reads: [['error', 'name, message and stack']],
    answers: ONLY_WATCHES,
    trial: SEE_LOG,
  },
  PreToolUse: {
    runs: 'before every tool call',
    does: 'denies commands that would delete the whole disk or home directory',
    reads: [
      ['preToolUse.toolName', 'such as execute_command or write_to_file'],
      ['preToolUse.parameters', 'the input of the tool; every value is text'],
    ],
    answers: [
      [GOES_ON, 'the call goes on'],
      [REFUSES, 'the call is denied; the model is told why'],
      ['{"review": true}', 'the user is asked first'],
      ['{"overrideInput": {...}}', 'the call goes on with this input'],
      CONTEXT,
    ],
    trial: {
      ...AS_IT_IS,
      flags: { tool: 'execute_command', input: '{"command":"rm -rf /"}' },
    },
  },
  PostToolUse: {
    runs: 'after every tool call',
    does: 'tells the model when a tool took more than 5 seconds',
    reads: [
      ['postToolUse.toolName', 'such as execute_command or write_to_file'],
      ['postToolUse.parameters', 'the input of the tool; every value is text'],
      ['postToolUse.result', 'the output of the tool, as text'],
      ['postToolUse.success', 'true or false'],
      ['postToolUse.executionTimeMs', 'how long it took, in milliseconds'],
    ],
    answers: [
      [GOES_ON, 'no decision'],
      [REFUSES, 'the model gets the message as feedback on the call'],
      CONTEXT,
    ],
    trial: { ...AS_IT_IS, facts: { durationMs: 6000 } },
  },
  UserPromptSubmit: {
    runs: 'for every prompt',
    does: 'refuses a prompt that is empty or contains a private key',
    reads: [
      ['userPromptSubmit.prompt', 'what the user wrote'],
      ['userPromptSubmit.attachments', 'paths of files that go with it'],
    ],
    answers: [
      [GOES_ON, 'the prompt goes to the model'],
      [REFUSES, 'the prompt is refused; the message says why'],
      CONTEXT,
    ],
    trial: { ...AS_IT_IS, flags: { prompt: 'my key: -----BEGIN PRIVATE KEY-----' } },
  },
  Notification: {
    runs: 'when the agent waits for the user, or is done',
    does: LOGS,
    reads: [
      ['notification.event', 'user_attention or task_complete'],
      ['notification.message', 'what the user sees'],
      ['notification.waitingForUserInput', 'true or false'],
    ],
    answers: ONLY_WATCHES,
    trial: SEE_LOG,
  },
  PreCompact: {
    runs: 'before a long conversation is compacted',
    does: 'asks for the open questions and the changed files to be kept',
    reads: [
      ['preCompact.contextSize', 'the number of messages'],
      ['preCompact.compactionStrategy', 'how it will be done'],
      ['preCompact.tokensIn', 'also tokensOut, tokensInCache, tokensOutCache'],
      ['preCompact.contextRawPath', 'a file with the conversation, if there is one'],
    ],
    answers: [
      [GOES_ON, 'the conversation is compacted'],
      [REFUSES, 'it stays as it is; the message says why'],
      [ADDS, 'text that goes with the summary'],
    ],
    trial: AS_IT_IS,
  },
  SessionShutdown: {
    runs: 'when a session ends',
    does: LOGS,
    reads: [['reason', 'why it ends']],
    answers: ONLY_WATCHES,
    trial: SEE_LOG,
  },
} as const satisfies Record<string, HookExample>;

export type ExampleEvent = keyof typeof HOOK_EXAMPLES;

/** Renders the head comment of an example for Cline. */
export function renderClineHeader(event: ExampleEvent, mark: '#' | '//'): string {
  const example = HOOK_EXAMPLES[event];
  const words = {
    gets: [
      'It gets one JSON object on stdin. With every event come taskId, timestamp,',
      'workspaceRoots, userId and model; with this one also:',
    ],
    answers: `It prints one JSON object on stdout${example.answers.length > 1 ? '; fields may be combined' : ''}:`,
    end: ['Messages for the user go to stderr.'],
  };
  return renderHeader({ event, example, words }, mark);
}

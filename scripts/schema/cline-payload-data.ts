import { z } from 'zod';
import type { FileHookName } from '../../src/dialects/index.ts';
import { anything, count, flag, text, textMap, texts } from './fields.ts';

const TASK = { taskId: text('Id of the task.'), ulid: text('Sortable id of the task.') };

const CLASSIC_TOOL = {
  toolName: text('The tool, as the generation of this hook names it.'),
  tool: text('The same as `toolName`.'),
  parameters: textMap('Input of the tool: text as it is, every other value as JSON.'),
};

const SDK_TOOL = {
  id: text('Id of the call.'),
  name: text('The tool, as the SDK names it.'),
  input: anything('Input of the tool, as the SDK shapes it.'),
};

/** Names that hooks look for and that no generation of Cline sends. */
const TOOL_ALIASES = {
  tool_name: text('The same as `toolName` of the call.'),
  tool_input: anything('Input of the tool, with all its values as they are.'),
  toolName: text('The same.'),
  tool: text('The same.'),
};

const TIME = z.iso.datetime({ precision: 3 });

/** What each hook's payload holds beyond the fields that all have. */
export const PAYLOAD_DATA: Readonly<Record<FileHookName, z.ZodRawShape>> = {
  TaskStart: {
    taskStart: z
      .strictObject({
        taskMetadata: z
          .strictObject({ ...TASK, initialTask: text('The first prompt.') })
          .describe('The task.'),
      })
      .describe('The task that starts.'),
  },
  TaskResume: {
    taskResume: z
      .strictObject({
        taskMetadata: z
          .strictObject({ ...TASK, initialTask: text('The prompt with which it goes on.') })
          .describe('The task.'),
        previousState: z
          .strictObject({
            lastMessageTs: text(
              'Time of the last message in milliseconds since 1970; empty when unknown.',
            ),
            messageCount: text('How many messages there are, in decimal.'),
            conversationHistoryDeleted: z
              .enum(['true', 'false'])
              .describe('Whether a part of the conversation is gone.'),
          })
          .describe('How the task was left; every value is a string.'),
      })
      .describe('The task that is resumed.'),
  },
  TaskCancel: {
    taskCancel: z
      .strictObject({
        taskMetadata: z
          .strictObject({ ...TASK, completionStatus: text('How it ended: "cancelled".') })
          .describe('The task.'),
      })
      .describe('The task that was cancelled.'),
    reason: text('Why; empty when nobody said.'),
  },
  TaskComplete: {
    taskComplete: z
      .strictObject({
        taskMetadata: z
          .strictObject({
            ...TASK,
            result: text('The final text of the agent.'),
            command: text('A command that shows the result; empty when there is none.'),
          })
          .describe('The task.'),
      })
      .describe('The task that is complete.'),
    turn: z
      .strictObject({
        outputText: text('The final text of the agent.'),
        status: z.literal('completed').describe('How the turn ended.'),
      })
      .describe('The last turn, as the SDK tells it.'),
  },
  TaskError: {
    error: z
      .strictObject({
        name: text('Kind of the error.'),
        message: text('What went wrong.'),
        stack: text('Where it went wrong.').optional(),
      })
      .nullable()
      .describe('What made the run fail; null when nobody said.'),
  },
  PreToolUse: {
    ...TOOL_ALIASES,
    preToolUse: z
      .strictObject(CLASSIC_TOOL)
      .describe('The call, or the part of it that this run of the hook is about.'),
    tool_call: z.strictObject(SDK_TOOL).describe('The whole call, as the SDK tells it.'),
  },
  PostToolUse: {
    ...TOOL_ALIASES,
    postToolUse: z
      .strictObject({
        ...CLASSIC_TOOL,
        result: text('What the tool answered; for a hook of the SDK its output as JSON.'),
        success: flag('Whether the tool did what it was asked.'),
        executionTimeMs: count('How long it ran, in milliseconds.'),
      })
      .describe('The call and its result, or the part that this run of the hook is about.'),
    tool_result: z
      .strictObject({
        ...SDK_TOOL,
        output: anything('What the tool answered, as the SDK shapes it.'),
        error: text('What went wrong; absent when the tool succeeded.').optional(),
        durationMs: count('How long it ran, in milliseconds.'),
        startedAt: TIME.describe('When it started: ISO 8601 in UTC.'),
        endedAt: TIME.describe('When it ended: ISO 8601 in UTC.'),
      })
      .describe('The whole call and its result, as the SDK tells it.'),
  },
  UserPromptSubmit: {
    userPromptSubmit: z
      .strictObject({
        prompt: text('What the user wrote.'),
        attachments: texts('Paths of attached files.'),
      })
      .describe('The prompt.'),
  },
  Notification: {
    notification: z
      .strictObject({
        event: z
          .enum(['user_attention', 'task_complete'])
          .describe('Whether the agent waits for the user, or is done.'),
        source: text('What the agent waits for, or what ended the task.'),
        message: text('The message to the user, at most 8000 characters of it.'),
        messageTruncated: flag('Whether the message was cut.'),
        waitingForUserInput: flag('Whether the agent goes on only after an answer.'),
        requiresUserAction: flag('The same as `waitingForUserInput`.'),
        eventVersion: z.literal('1').describe('Version of this object.'),
        eventId: text('Unique among notifications.'),
        sourceType: z.enum(['ask', 'tool']).describe('What kind of thing `source` is.'),
        sourceId: text('The same as `source`.'),
        severity: z.literal('info').describe('How urgent it is.'),
      })
      .describe('The notification.'),
  },
  PreCompact: {
    preCompact: z
      .strictObject({
        ...TASK,
        contextSize: count('How many messages the conversation has.'),
        messagesToCompact: count('The same as `contextSize`.'),
        compactionStrategy: text('How it is compacted, such as "auto-condense".'),
        previousApiReqIndex: count('Index of the last model request.'),
        tokensIn: count('Tokens that the last model request sent.'),
        tokensOut: count('Tokens that it received.'),
        tokensInCache: count('Tokens that it wrote to the cache.'),
        tokensOutCache: count('Tokens that it read from the cache.'),
        deletedRangeStart: count('First message that is dropped.'),
        deletedRangeEnd: count('Last message that is dropped.'),
        contextJsonPath: text('A file with the conversation as JSON; empty when there is none.'),
        contextRawPath: text('A file with the conversation as text; empty when there is none.'),
      })
      .describe('The compaction that is about to happen.'),
  },
  SessionShutdown: { reason: text('Why the session closes.') },
};

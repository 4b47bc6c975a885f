/** The data of each event as callers give it, in the shape of the hook's payload. */
export interface FileHookData {
  TaskStart: { taskMetadata: { taskId?: string; ulid?: string; initialTask: string } };
  TaskResume: {
    taskMetadata: { taskId?: string; ulid?: string; initialTask?: string };
    previousState: {
      lastMessageTs: string;
      messageCount: string;
      conversationHistoryDeleted: string;
    };
  };
  TaskCancel: { taskMetadata: { completionStatus: string }; reason?: string };
  TaskComplete: { taskMetadata: { result: string; command?: string } };
  TaskError: { error: { name: string; message: string; stack?: string } };
  PreToolUse: { toolName: string; parameters: Record<string, unknown> };
  PostToolUse: {
    toolName: string;
    parameters: Record<string, unknown>;
    result: string;
    success: boolean;
    executionTimeMs: number;
  };
  UserPromptSubmit: { prompt: string; attachments?: string[] };
  Notification: { event: string; message: string; source?: string; waitingForUserInput?: boolean };
  PreCompact: { contextSize: number; compactionStrategy: string };
  SessionShutdown: { reason: string };
}

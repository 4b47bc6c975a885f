import type * as acp from '@agentclientprotocol/sdk';
import type {
  AssistantBlock,
  ToolResultBlock,
  ToolUseBlock,
  UserBlock,
} from '../../sessions/messages.ts';
import type { StoredLine, StoredMessage } from '../../sessions/transcript/stored-line.ts';
import { describeCall, toCodeBlock } from './tool-call.ts';

/** Converts a stored conversation to updates, in order. */
export function* replay(lines: Iterable<StoredLine>, cwd: string): Generator<acp.SessionUpdate> {
  const changes = new Set<string>();
  for (const line of lines) {
    if (line.type !== 'message' || line.isSidechain) continue;
    for (const update of toMessageUpdates(line, cwd)) {
      if (update.sessionUpdate === 'tool_call' && hasDiff(update)) {
        changes.add(update.toolCallId);
      }
      yield removeAnswerToDiff(update, changes);
    }
  }
}

function hasDiff({ content = [] }: acp.ToolCall): boolean {
  return content.some(({ type }) => type === 'diff');
}

/** The answer of an editing tool has less information than its diff. */
function removeAnswerToDiff(
  update: acp.SessionUpdate,
  changes: ReadonlySet<string>,
): acp.SessionUpdate {
  if (update.sessionUpdate !== 'tool_call_update' || update.status === 'failed') return update;
  if (!changes.has(update.toolCallId)) return update;
  const { content: _, ...rest } = update;
  return rest;
}

function toMessageUpdates(line: StoredMessage, cwd: string): readonly acp.SessionUpdate[] {
  const { message, isMeta, isSummary } = line;
  if (isSummary) return [];
  if (message.role === 'assistant') {
    return message.content.flatMap((block) => toAssistantUpdates(block, cwd));
  }
  // Text beside a tool result comes from hooks, never from the user.
  const isTyped = !isMeta && message.content.every(({ type }) => type !== 'tool_result');
  return message.content.filter(({ type }) => isTyped || type === 'tool_result').map(toUserUpdate);
}

function toAssistantUpdates(block: AssistantBlock, cwd: string): readonly acp.SessionUpdate[] {
  switch (block.type) {
    case 'text':
      return [
        { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: block.text } },
      ];
    case 'thinking':
      return [
        { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: block.thinking } },
      ];
    case 'tool_use':
      return [toCallUpdate(block, cwd)];
    case 'media':
      return [];
  }
}

function toCallUpdate({ id, name, input }: ToolUseBlock, cwd: string): acp.SessionUpdate {
  const call = removeCurrentText(describeCall({ tool: name, input, cwd }));
  return { sessionUpdate: 'tool_call', toolCallId: id, status: 'in_progress', ...call };
}

/** The transcript does not hold what a written file contained before. */
function removeCurrentText(call: ReturnType<typeof describeCall>): ReturnType<typeof describeCall> {
  if (call.name !== 'Write') return call;
  const content = call.content.map((each) =>
    each.type === 'diff' ? { ...each, oldText: null } : each,
  );
  return { ...call, content };
}

function toUserUpdate(block: UserBlock): acp.SessionUpdate {
  if (block.type === 'tool_result') return toResultUpdate(block);
  if (block.type === 'text') {
    return { sessionUpdate: 'user_message_chunk', content: { type: 'text', text: block.text } };
  }
  const { data, media_type: mimeType } = block.source;
  return { sessionUpdate: 'user_message_chunk', content: { type: 'image', data, mimeType } };
}

function toResultUpdate(result: ToolResultBlock): acp.SessionUpdate {
  const text = readResultText(result);
  const isFailed = result.is_error === true;
  return {
    sessionUpdate: 'tool_call_update',
    toolCallId: result.tool_use_id,
    status: isFailed ? 'failed' : 'completed',
    ...(text === '' ? {} : { content: [toCodeBlock(text)] }),
  };
}

function readResultText({ content }: ToolResultBlock): string {
  if (typeof content === 'string') return content;
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}

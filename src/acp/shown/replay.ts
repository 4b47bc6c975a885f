import type * as acp from '@agentclientprotocol/sdk';
import type {
  AssistantBlock,
  ToolResultBlock,
  ToolUseBlock,
  UserBlock,
} from '../../sessions/messages.ts';
import type { StoredLine, StoredMessage } from '../../sessions/transcript/stored-line.ts';
import { showCall } from './tool-call.ts';
import { verbatim } from './content.ts';

/** A stored conversation as updates, in its order. */
export function* replay(lines: Iterable<StoredLine>, cwd: string): Generator<acp.SessionUpdate> {
  const changes = new Set<string>();
  for (const line of lines) {
    if (line.type !== 'message' || line.isSidechain) continue;
    for (const update of messageUpdates(line, cwd)) {
      if (update.sessionUpdate === 'tool_call' && showsChange(update)) {
        changes.add(update.toolCallId);
      }
      yield keepingChange(update, changes);
    }
  }
}

function showsChange({ content = [] }: acp.ToolCall): boolean {
  return content.some(({ type }) => type === 'diff');
}

/** What a changing tool answered says less than the change itself. */
function keepingChange(update: acp.SessionUpdate, changes: ReadonlySet<string>): acp.SessionUpdate {
  if (update.sessionUpdate !== 'tool_call_update' || update.status === 'failed') return update;
  if (!changes.has(update.toolCallId)) return update;
  const { content: _, ...rest } = update;
  return rest;
}

function messageUpdates(line: StoredMessage, cwd: string): readonly acp.SessionUpdate[] {
  const { message, isMeta, isSummary } = line;
  if (isSummary) return [];
  if (message.role === 'assistant') {
    return message.content.flatMap((block) => assistantUpdate(block, cwd));
  }
  // Beside a tool's answer stands what hooks said about it, never a person's words.
  const isTyped = !isMeta && message.content.every(({ type }) => type !== 'tool_result');
  return message.content.filter(({ type }) => isTyped || type === 'tool_result').map(userUpdate);
}

function assistantUpdate(block: AssistantBlock, cwd: string): readonly acp.SessionUpdate[] {
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
      return [callUpdate(block, cwd)];
  }
}

function callUpdate({ id, name, input }: ToolUseBlock, cwd: string): acp.SessionUpdate {
  const call = withoutTodaysText(showCall({ tool: name, input, cwd }));
  return { sessionUpdate: 'tool_call', toolCallId: id, status: 'in_progress', ...call };
}

/** What a written file held before is not known any more. */
function withoutTodaysText(call: ReturnType<typeof showCall>): ReturnType<typeof showCall> {
  if (call.name !== 'Write') return call;
  const content = call.content.map((each) =>
    each.type === 'diff' ? { ...each, oldText: null } : each,
  );
  return { ...call, content };
}

function userUpdate(block: UserBlock): acp.SessionUpdate {
  if (block.type === 'tool_result') return resultUpdate(block);
  if (block.type === 'text') {
    return { sessionUpdate: 'user_message_chunk', content: { type: 'text', text: block.text } };
  }
  const { data, media_type: mimeType } = block.source;
  return { sessionUpdate: 'user_message_chunk', content: { type: 'image', data, mimeType } };
}

function resultUpdate(result: ToolResultBlock): acp.SessionUpdate {
  const text = textOf(result);
  const isFailed = result.is_error === true;
  return {
    sessionUpdate: 'tool_call_update',
    toolCallId: result.tool_use_id,
    status: isFailed ? 'failed' : 'completed',
    ...(text === '' ? {} : { content: [verbatim(text)] }),
  };
}

function textOf({ content }: ToolResultBlock): string {
  if (typeof content === 'string') return content;
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}

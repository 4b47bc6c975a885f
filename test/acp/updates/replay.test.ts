import { expect, test } from 'vitest';
import { replay } from '../../../src/acp/updates/replay.ts';
import type { Message } from '../../../src/sessions/messages.ts';
import type { StoredLine } from '../../../src/sessions/transcript/stored-line.ts';

function line(message: Message, more: { isMeta?: true; isSummary?: true } = {}): StoredLine {
  return {
    uuid: null,
    at: null,
    cwd: null,
    isSidechain: false,
    type: 'message',
    message,
    isMeta: false,
    isSummary: false,
    messageId: null,
    model: null,
    tokens: null,
    unknownBlocks: [],
    ...more,
  };
}

test('replay sends the conversation again, without the texts that were only for the model', () => {
  const input = { file_path: '/work/a.ts', old_string: 'a', new_string: 'b' };
  const text = (words: string) => ({ type: 'text' as const, text: words });
  const lines = [
    line({ role: 'user', content: [text('a hook’s context')] }, { isMeta: true }),
    line({ role: 'user', content: [text('a summary')] }, { isSummary: true }),
    line({ role: 'user', content: [text('change a')] }),
    line({
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Easy.' },
        { type: 'tool_use', id: 'call_1', name: 'Edit', input },
      ],
    }),
    line({
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'call_1', content: 'Done' },
        text('what a hook said of it'),
      ],
    }),
    line({ role: 'assistant', content: [text('It is b now.')] }),
  ];
  expect([...replay(lines, '/work')]).toStrictEqual([
    { sessionUpdate: 'user_message_chunk', content: text('change a') },
    { sessionUpdate: 'agent_thought_chunk', content: text('Easy.') },
    {
      sessionUpdate: 'tool_call',
      toolCallId: 'call_1',
      title: 'Edit a.ts',
      name: 'Edit',
      kind: 'edit',
      status: 'in_progress',
      locations: [{ path: '/work/a.ts' }],
      content: [{ type: 'diff', path: '/work/a.ts', oldText: 'a', newText: 'b' }],
      rawInput: input,
    },
    { sessionUpdate: 'tool_call_update', toolCallId: 'call_1', status: 'completed' },
    { sessionUpdate: 'agent_message_chunk', content: text('It is b now.') },
  ]);
});

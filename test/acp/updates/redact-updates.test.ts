import type { SessionUpdate } from '@agentclientprotocol/sdk';
import { expect, it } from 'vitest';
import { redactUpdates } from '../../../src/acp/updates/redact-updates.ts';
import { redactObject } from '../../../src/host/redact-object.ts';

const TOKEN = `ghp_${'a1B2'.repeat(9)}`;

/** Every kind of update with this text in every text field, and the token in fields that may not change. */
function updatesWith(word: string): readonly SessionUpdate[] {
  const text = `it is ${word} now`;
  return [
    { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } },
    { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text } },
    { sessionUpdate: 'user_message_chunk', content: { type: 'text', text } },
    {
      sessionUpdate: 'user_message_chunk',
      content: { type: 'image', data: TOKEN, mimeType: 'image/png' },
    },
    {
      sessionUpdate: 'tool_call',
      toolCallId: TOKEN,
      title: text,
      locations: [{ path: `/${TOKEN}` }],
      content: [
        { type: 'content', content: { type: 'text', text } },
        { type: 'diff', path: `/${TOKEN}`, oldText: null, newText: TOKEN },
      ],
      rawInput: { edits: [{ text }], count: 1, none: null },
    },
    { sessionUpdate: 'tool_call_update', toolCallId: TOKEN, title: text, rawOutput: text },
    { sessionUpdate: 'tool_call_update', toolCallId: TOKEN, status: 'failed' },
    {
      sessionUpdate: 'plan',
      entries: [{ content: text, priority: 'medium', status: 'pending' }],
    },
    { sessionUpdate: 'notice', severity: 'info', title: text },
    { sessionUpdate: 'session_info_update', title: text },
    { sessionUpdate: 'current_mode_update', currentModeId: 'plan' },
  ];
}

it('takes secrets out of texts, and leaves ids, paths, pictures and file changes alone', async () => {
  const outputs = await redactUpdates(updatesWith(TOKEN), (value) => redactObject(value, {}));
  expect(outputs).toStrictEqual(updatesWith('[redacted]'));
});

it('leaves everything as it is with --raw', async () => {
  const all = { raw: true };
  const outputs = await redactUpdates(updatesWith(TOKEN), (value) => redactObject(value, all));
  expect(outputs).toStrictEqual(updatesWith(TOKEN));
});

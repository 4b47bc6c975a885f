import { expect, test } from 'vitest';
import { formatReminder } from '../../../src/agent/conversation/hook-messages.ts';
import {
  createImageBlock,
  toPluginMessages,
} from '../../../src/plugins/messages/agent-messages.ts';
import type { AgentMessage } from '../../../src/plugins/contract/message.ts';
import { createUserMessage, SUMMARY_START } from '../../../src/sessions/messages.ts';
import {
  call,
  createSdkFixture,
  DONE,
  hooksOf,
  toolPlugin,
} from '../../compat/cline/sdk-fixture.ts';

/** The way in which plugins look for the user's messages. */
function listUserMessages(messages: readonly AgentMessage[]): readonly unknown[] {
  return messages
    .filter(({ role, metadata }) => role === 'user' && metadata?.['displayRole'] !== 'system')
    .map(({ content }) => content);
}

test('messages of hooks are distinguished from those of the user', async () => {
  const fixture = await createSdkFixture([call('work'), DONE]);
  const events: AgentMessage[] = [];
  const steeringPlugin = hooksOf({
    beforeRun: () => ({ appendContext: 'from the start' }),
    beforeTool: () => ({ appendContext: 'before' }),
    afterTool: () => ({ appendContext: 'after' }),
    afterRun: ({ result }) => void events.push(...result.messages),
  });
  const extensions = [toolPlugin('work', () => 'done'), steeringPlugin];
  const { sessionId, result } = await fixture.start({ extensions });
  expect(listUserMessages(events)).toEqual([[{ type: 'text', text: 'go' }]]);
  const others = events.filter(({ role, metadata }) => role === 'user' && metadata !== undefined);
  expect(others.length).toBeGreaterThan(0);
  for (const { metadata } of others) {
    expect(metadata).toEqual({ displayRole: 'system', userRunSpan: 0 });
  }
  const systemMessages = result?.messages.filter(
    ({ metadata }) => metadata?.['displayRole'] === 'system',
  );
  expect(systemMessages?.length).toBeGreaterThan(0);
  expect(await fixture.core.readMessages(sessionId)).toEqual(result?.messages);
  const ids = result?.messages.map(({ id }) => id) ?? [];
  expect(ids).toEqual(ids.map((_, index) => `message-${index}`));
});

test('a user’s text beside a reminder counts as the user’s', () => {
  const note = () => ({ id: '', createdAt: 0 });
  const reminding = { type: 'text', text: formatReminder('Mind the time.') } as const;
  const textBlock = { type: 'text', text: 'go on' } as const;
  const picture = createImageBlock('aGk=');
  for (const prompt of [textBlock, picture]) {
    for (const content of [
      [reminding, prompt],
      [prompt, reminding],
    ]) {
      const [message] = toPluginMessages([{ role: 'user', content }], note);
      expect(message).not.toHaveProperty('metadata');
      expect(listUserMessages(message === undefined ? [] : [message])).toHaveLength(1);
    }
  }
  const [alone] = toPluginMessages([{ role: 'user', content: [reminding, reminding] }], note);
  expect(alone?.metadata).toEqual({ displayRole: 'system', userRunSpan: 0 });
});

test('a compacted conversation begins with the summary', () => {
  const summary = createUserMessage(`${SUMMARY_START}\n\nAll is well.`);
  const [first, second] = toPluginMessages([summary, createUserMessage('go on')], () => ({
    id: '',
    createdAt: 0,
  }));
  expect(first?.metadata).toEqual({ kind: 'compaction_summary', displayRole: 'system' });
  expect(second).not.toHaveProperty('metadata');
});

import { expect, it } from 'vitest';
import { hooksText, openActive } from './isolated.ts';

const USAGE = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0 };
const SNAPSHOT = {
  agentId: 'main',
  parentAgentId: null,
  status: 'running',
  iteration: 1,
  pendingToolCalls: [],
  usage: USAGE,
  messages: [],
};

function answer(...texts: readonly string[]) {
  const content = texts.map((text) => ({ type: 'text', text }));
  return { id: 'assistant-1', role: 'assistant', content, createdAt: 0 };
}

it('a hook in a process of its own may change the answer of the model in place, beside what it returns', async () => {
  const { hook } = await openActive(
    hooksText(`afterModel({ assistantMessage: { content } }) {
      if (content[0].text === 'a') content.push({ type: 'text', text: 'more' });
      return { reason: 'why' };
    }`),
  );
  const ask = (assistantMessage: unknown) =>
    hook('afterModel', { snapshot: SNAPSHOT, assistantMessage, finishReason: 'stop' });
  expect(await ask(answer('a'))).toEqual({ reason: 'why', message: answer('a', 'more') });
  expect(await ask(answer('b'))).toEqual({ reason: 'why' });
});

import { expect, it } from 'vitest';
import type { ImageBlock } from '../../../src/sessions/messages.ts';
import { createAgentFixture, type Reaction } from '../agent-fixture.ts';
import { on, createModelRecorder } from '../scripted-session.ts';

const PICTURE: ImageBlock = {
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: 'AAAA' },
};

async function show(react: Reaction) {
  const { model, requests } = createModelRecorder([{ text: 'One.' }, { text: 'Two.' }]);
  const host = await createAgentFixture(react).open({ model });
  const { sessionId } = await host.start({});
  host.session(sessionId).show([PICTURE]);
  return { host, sessionId, requests };
}

it('a picture is sent with the next prompt, and with that one only', async () => {
  const { host, sessionId, requests } = await show(() => undefined);
  await host.send(sessionId, 'what is this?');
  await host.send(sessionId, 'and this?');
  const userMessages = requests.at(-1)?.messages.filter(({ role }) => role === 'user');
  expect(userMessages?.map(({ content }) => content)).toStrictEqual([
    [{ type: 'text', text: 'what is this?' }, PICTURE],
    [{ type: 'text', text: 'and this?' }],
  ]);
});

it('a picture is forgotten with the prompt that hooks refuse', async () => {
  const { host, sessionId, requests } = await show(
    on('UserPromptSubmit', ({ prompt }) =>
      prompt === 'look' ? { effect: 'deny', reason: 'no pictures' } : undefined,
    ),
  );
  await host.send(sessionId, 'look');
  await host.send(sessionId, 'hello');
  expect(requests.map(({ messages }) => messages)).toStrictEqual([
    [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }],
  ]);
});

import { expect, test } from 'vitest';
import type { AgentPlugin } from '../../../../src/plugins/contract/plugin.ts';
import { createSdkFixture, DONE, noticesIn, registering, sentIn } from '../sdk-fixture.ts';

function builder(name: string, build: (messages: readonly object[]) => unknown): AgentPlugin {
  return registering(name, ['messageBuilders'], (api) =>
    api.registerMessageBuilder({ name, build: build as never }),
  );
}

test('D1 two builders are called once each for one request; what they append reaches the model, not the transcript', async () => {
  const order: string[] = [];
  const appending = (name: string): AgentPlugin =>
    builder(name, (messages) => {
      order.push(`${name} ${messages.length}`);
      return [...messages, { role: 'user', content: [{ type: 'text', text: `from ${name}` }] }];
    });
  const fixture = await createSdkFixture([DONE]);
  const { sessionId } = await fixture.start({ extensions: [appending('b1'), appending('b2')] });
  expect(order).toEqual(['b1 1', 'b2 2']);
  expect(sentIn(fixture, 0)).toBe('go\nfrom b1\nfrom b2');
  expect(JSON.stringify(await fixture.core.readMessages(sessionId))).not.toContain('from b');
});

test.each([
  [
    'throws',
    () => {
      throw new TypeError('broken');
    },
    'broken',
  ],
  ['gives undefined', () => undefined, 'it did not give a list of messages'],
  ['gives an empty list', () => [], 'it gave no message at all'],
])('D2 a builder that %s is passed over, and reported', async (_what, build, why) => {
  const fixture = await createSdkFixture([DONE]);
  const { result } = await fixture.start({ extensions: [builder('odd', build)] });
  expect([result?.text, sentIn(fixture, 0), noticesIn(fixture)]).toEqual([
    'Done.',
    'go',
    [`plugin odd: the message builder odd is passed over: ${why}`],
  ]);
});

test('D2 a message that is only a text is fine', async () => {
  const fixture = await createSdkFixture([DONE]);
  await fixture.start({
    extensions: [builder('plain', () => [{ role: 'user', content: 'only' }])],
  });
  expect([sentIn(fixture, 0), noticesIn(fixture)]).toEqual(['only', []]);
});

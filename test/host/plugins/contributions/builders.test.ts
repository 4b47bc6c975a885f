import { describe, expect, it } from 'vitest';
import type { AgentPlugin } from '../../../../src/plugins/contract/plugin.ts';
import {
  noticesIn,
  recordingFetch,
  registering,
  sentIn,
  call,
  createSdkFixture,
  DONE,
  toolPlugin,
} from '../../../compat/cline/sdk-fixture.ts';

type Build = (messages: readonly Record<string, unknown>[]) => unknown;

function builder(build: Build, name: string | undefined = 'odd'): AgentPlugin {
  return registering('builders', ['messageBuilders'], (api) =>
    api.registerMessageBuilder({ name, build } as never),
  );
}

const circle: Record<string, unknown> = {};
circle['self'] = circle;

const trap = Object.defineProperty({ role: 'user' }, 'content', {
  get() {
    throw new TypeError('no');
  },
});

describe('a message builder', () => {
  it.each([
    ['a message that throws', [trap], 'no'],
    ['an endless stream', asyncForever(), 'it did not give a list of messages'],
    [
      'a call whose input contains itself',
      [
        { role: 'user', content: 'go' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'one', input: circle }] },
      ],
      'message 2 of what it gave calls a tool with input that is not JSON',
    ],
    [
      'a call whose input is a big integer',
      [{ role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'one', input: 5n }] }],
      'message 1 of what it gave calls a tool with input that is not JSON',
    ],
  ])('that gives %s is passed over, and reported', async (_what, made, why) => {
    const fixture = await createSdkFixture([DONE]);
    const { result } = await fixture.start({ extensions: [builder(() => made)] });
    expect([result?.text, sentIn(fixture, 0), noticesIn(fixture)]).toEqual([
      'Done.',
      'go',
      [`plugin builders: the message builder odd is passed over: ${why}`],
    ]);
  });

  async function* asyncForever(): AsyncGenerator<string> {
    for (;;) yield 'again';
  }

  it('that gives a hundred megabytes reaches the model only in part', async () => {
    const text = 'x'.repeat(100 * 1024 * 1024);
    const { fetch, texts } = recordingFetch();
    const fixture = await createSdkFixture([DONE]);
    const extensions = [builder(() => [{ role: 'user', content: text }])];
    const { result } = await fixture.start({ fetch, extensions });
    const lengths = texts('user').map(({ length }) => length > 100_000 && length < 500_000);
    expect([result?.text, lengths]).toEqual(['Done.', [true]]);
  });

  it('may change what it is given in place, and the session keeps the original messages', async () => {
    const fixture = await createSdkFixture([call('one', { token: 'secret' }), DONE]);
    const redacting = builder((messages) => {
      for (const { content } of messages) {
        for (const block of Array.isArray(content) ? content : []) {
          if (block.type === 'tool_use') block.input.token = '***';
          if (block.type === 'tool_result') block.content = '***';
        }
      }
      return messages;
    });
    const { sessionId } = await fixture.start({
      extensions: [toolPlugin('one', () => 'the answer'), redacting],
    });
    const sentBody = JSON.stringify(fixture.service.mock.getRequests()[1]?.body);
    const rest = JSON.stringify(await fixture.core.readMessages(sessionId));
    expect([sentBody.includes('secret'), sentBody.includes('the answer')]).toEqual([false, false]);
    expect([rest.includes('secret'), rest.includes('the answer')]).toEqual([true, true]);
  });

  it('that has no name is reported, too', async () => {
    const fixture = await createSdkFixture([DONE]);
    const nameless = registering('builders', ['messageBuilders'], (api) =>
      api.registerMessageBuilder({ build: () => undefined } as never),
    );
    await fixture.start({ extensions: [nameless] });
    expect(noticesIn(fixture)).toEqual([
      'plugin builders: the message builder without a name is passed over: it did not give a list of messages',
    ]);
  });
});

describe('a rule', () => {
  it.each([
    ['is no text', () => 5 as never, 'expected its content to be a text, found number'],
    ['is a list', (() => ['a']) as never, 'expected its content to be a text, found array'],
  ])('that %s is left out, and reported', async (_what, content, why) => {
    const fixture = await createSdkFixture([DONE]);
    const rules = registering('rules', ['rules'], (api) => {
      api.registerRule({ id: 'odd', content });
      api.registerRule({ id: 'fine', content: 'R' });
    });
    await fixture.start({ extensions: [rules] });
    expect([fixture.service.requests()[0]?.system, noticesIn(fixture)]).toEqual([
      'SYS\n\nR',
      [`plugin rules: the rule odd is left out: ${why}`],
    ]);
  });

  it('whose parts throw does not affect the others', async () => {
    const fixture = await createSdkFixture([DONE]);
    const bad = Object.defineProperty({ content: 'R0' }, 'whenToolAvailable', {
      get() {
        throw new TypeError('no');
      },
    });
    const rules = registering('rules', ['rules'], (api) => {
      api.registerRule(bad as never);
      api.registerRule({ id: 'fine', content: 'R' });
    });
    await fixture.start({ extensions: [rules] });
    expect([fixture.service.requests()[0]?.system, noticesIn(fixture)]).toEqual([
      'SYS\n\nR',
      ['plugin rules: the rule without an id is left out: no'],
    ]);
  });

  it('of a hundred megabytes is sent only in part', async () => {
    const fixture = await createSdkFixture([DONE]);
    const text = 'x'.repeat(100 * 1024 * 1024);
    const rules = registering('rules', ['rules'], (api) =>
      api.registerRule({ id: 'long', content: text }),
    );
    const { fetch, texts } = recordingFetch();
    await fixture.start({ fetch, extensions: [rules] });
    expect(texts('system').join().slice(-50)).toMatch(/x\n\[cut: 104857600 characters in all\]$/);
  });
});

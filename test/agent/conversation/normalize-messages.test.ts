import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createMessageNormalizer,
  normalizeMessages,
} from '../../../src/agent/conversation/normalize-messages.ts';
import {
  type AssistantBlock,
  getToolCalls,
  type Message,
  type UserBlock,
  createUserMessage,
} from '../../../src/sessions/messages.ts';

const id = fc.constantFrom('a', 'b', 'c', 'd');
const textArbitrary = fc.oneof(
  fc.constantFrom('', ' \n', 'x'.repeat(400_001), 'y'.repeat(900_000)),
  fc.string(),
);
const text = textArbitrary.map((each) => ({ type: 'text', text: each }) as const);
const image = fc.constant({
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: 'AA==' },
} as const);
const result = fc
  .record({ tool_use_id: id, content: fc.oneof(textArbitrary, fc.array(fc.oneof(text, image))) })
  .map((each) => ({ type: 'tool_result', ...each }) as const);
const call = id.map(
  (each) => ({ type: 'tool_use', id: each, name: 'Read', input: { file_path: each } }) as const,
);
const thinking = fc.string().map((each) => ({ type: 'thinking', thinking: each }) as const);
const user = fc
  .array(fc.oneof(text, image, result), { maxLength: 5 })
  .map((content): Message => ({ role: 'user', content }));
const assistant = fc
  .array(fc.oneof(text, thinking, call), { maxLength: 5 })
  .map((content): Message => ({ role: 'assistant', content }));
const conversation = fc.array(fc.oneof(user, assistant), { maxLength: 12 });

function check(property: (messages: readonly Message[], safe: readonly Message[]) => void): void {
  fc.assert(
    fc.property(conversation, (messages) => {
      property(messages, normalizeMessages(messages));
    }),
    { numRuns: 500 },
  );
}

function resultIds(message: Message | undefined): readonly string[] {
  return (message?.content ?? []).flatMap((block: UserBlock | AssistantBlock) =>
    block.type === 'tool_result' ? [block.tool_use_id] : [],
  );
}

function textsIn(messages: readonly Message[]): readonly string[] {
  return messages.flatMap(({ content }) =>
    content.flatMap((block: UserBlock | AssistantBlock) =>
      block.type === 'text' && block.text.trim() !== '' ? [block.text] : [],
    ),
  );
}

function longestIn(messages: readonly Message[]): number {
  const lengths = messages.flatMap(({ content }) =>
    content.flatMap((block: UserBlock | AssistantBlock): readonly number[] => {
      if (block.type === 'text') return [block.text.length];
      if (block.type !== 'tool_result') return [];
      if (typeof block.content === 'string') return [block.content.length];
      return block.content.map((each) => (each.type === 'text' ? each.text.length : 0));
    }),
  );
  return Math.max(0, ...lengths);
}

describe('whatever a conversation looks like, the model is sent one in which', () => {
  it('every call has exactly one result, right after it, and there is no other result', () => {
    check((_, safe) => {
      safe.forEach((message, index) => {
        if (message.role !== 'assistant') return;
        const callIds = getToolCalls(message).map((each) => each.id);
        expect(new Set(callIds).size).toBe(callIds.length);
        expect([...resultIds(safe[index + 1])].toSorted()).toEqual(callIds.toSorted());
      });
      const all = safe.flatMap(resultIds).length;
      expect(all).toBe(safe.flatMap((message) => getToolCalls(message)).length);
    });
  });

  it('results stand before any other content of the same message', () => {
    check((_, safe) => {
      for (const { content } of safe) {
        const kinds = content.map((block) => block.type === 'tool_result');
        expect(kinds).toEqual(kinds.toSorted((one, other) => Number(other) - Number(one)));
      }
    });
  });

  it('roles alternate, and the first and the last message are the user’s', () => {
    check((_, safe) => {
      const expected = safe.map((_each, index) => (index % 2 === 0 ? 'user' : 'assistant'));
      expect(safe.map(({ role }) => role)).toEqual(expected);
      expect(safe.at(-1)?.role).toBe('user');
      expect(safe.every(({ content }) => content.length > 0)).toBe(true);
    });
  });

  it('no text is longer than the limit for one message', () => {
    check((_, safe) => expect(longestIn(safe)).toBeLessThanOrEqual(400_000));
  });

  it('the texts stand in their order, and none is lost', () => {
    check((messages, safe) => {
      const short = (each: string): string => each.slice(0, 100);
      const rest = textsIn(safe)
        .map(short)
        .filter((each) => !['(The conversation goes on.)', 'Go on.'].includes(each));
      expect(rest).toEqual(textsIn(messages).map(short));
    });
  });

  it('a growing list is converted step by step as it would be in one step', () => {
    fc.assert(
      fc.property(conversation, (messages) => {
        const growing: Message[] = [];
        const safe = createMessageNormalizer();
        for (const message of messages) {
          growing.push(message);
          expect(safe(growing)).toEqual(normalizeMessages(growing));
        }
        expect(safe([...growing])).toEqual(normalizeMessages(growing));
      }),
      { numRuns: 200 },
    );
  });

  it('a second conversion changes nothing', () => {
    check((_, safe) => expect(normalizeMessages(safe)).toEqual(safe));
  });
});

describe('a conversation that was interrupted', () => {
  const callingMessage: Message = {
    role: 'assistant',
    content: [
      { type: 'tool_use', id: 'a', name: 'Read', input: {} },
      { type: 'tool_use', id: 'b', name: 'Read', input: {} },
    ],
  };
  const half: Message = {
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: 'a', content: 'hello' }],
  };

  it('gets a result for the call that never ended, also when it went on long ago', () => {
    const later: Message = { role: 'assistant', content: [{ type: 'text', text: 'Well.' }] };
    expect(
      normalizeMessages([
        createUserMessage('go'),
        callingMessage,
        half,
        createUserMessage('and now?'),
        later,
        createUserMessage('on'),
      ]),
    ).toEqual([
      createUserMessage('go'),
      callingMessage,
      {
        role: 'user',
        content: [
          ...half.content,
          {
            type: 'tool_result',
            tool_use_id: 'b',
            content: 'No result: the call was interrupted before it was done.',
            is_error: true,
          },
          { type: 'text', text: 'and now?' },
        ],
      },
      later,
      createUserMessage('on'),
    ]);
  });

  it('keeps a reminder with the result that it is about, and no user text with it', () => {
    const reminder = (text: string) =>
      ({ type: 'text', text: `<system-reminder>\n${text}\n</system-reminder>` }) as const;
    const resultOf = (callId: string, content: string) =>
      ({ type: 'tool_result', tool_use_id: callId, content }) as const;
    const typed = { type: 'text', text: 'and now?' } as const;
    expect(
      normalizeMessages([
        createUserMessage('go'),
        callingMessage,
        { role: 'user', content: [resultOf('a', 'hello'), reminder('about a'), typed] },
        { role: 'user', content: [resultOf('b', 'you'), reminder('about b')] },
      ]).at(-1)?.content,
    ).toEqual([
      resultOf('a', `hello\n\n${reminder('about a').text}`),
      resultOf('b', 'you'),
      typed,
      reminder('about b'),
    ]);
  });

  it('keeps the objects of messages that stay as they are', () => {
    const first = createUserMessage('go');
    expect(normalizeMessages([first])[0]).toBe(first);
  });
});

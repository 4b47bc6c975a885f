import fc from 'fast-check';
import type { ModelMessage } from 'ai';
import { expect, test } from 'vitest';
import { toSdkMessages } from '../../../src/agent/models/sdk-prompt.ts';
import type { WireFormat } from '../../../src/agent/models/reasoning.ts';
import type {
  AssistantBlock,
  Message,
  ToolResultBlock,
  UserBlock,
} from '../../../src/sessions/messages.ts';

const WIRES: readonly WireFormat[] = ['anthropic', 'openai', 'google', 'chat'];
const IMAGE = {
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0K' },
} as const;

const texts = fc.string({ maxLength: 20 });
const text = texts.map((words) => ({ type: 'text', text: words }) as const);
const thinking = fc.record(
  {
    type: fc.constant('thinking' as const),
    thinking: texts,
    signature: fc.constantFrom(
      'c2ln',
      'redacted:x',
      'openai:{"itemId":"r"}',
      'openai:{',
      'google:s',
    ),
  },
  { requiredKeys: ['type', 'thinking'] },
);
const input = fc.oneof(fc.dictionary(texts, fc.jsonValue()), texts, fc.constant(null));
const resultContent = fc.oneof(
  texts,
  fc.array(fc.oneof(text, fc.constant(IMAGE)), { maxLength: 3 }),
);

/** One turn: the assistant's text and calls, then a result of each call and the user's text. */
const turn = fc.record({
  spoken: fc.array(fc.oneof(text, thinking), { maxLength: 3 }),
  calls: fc.array(
    fc.record({ input, content: resultContent, isError: fc.boolean(), before: fc.boolean() }),
    { maxLength: 3 },
  ),
  added: fc.array(fc.oneof(text, fc.constant(IMAGE)), { maxLength: 2 }),
});
type Turn = typeof turn extends fc.Arbitrary<infer Value> ? Value : never;

test('no call and no result is ever lost, in any wire format', () => {
  fc.assert(
    fc.property(fc.array(turn, { maxLength: 4 }), fc.constantFrom(...WIRES), (turns, wire) => {
      const messages = turns.flatMap(messagesOf);
      const converted = toSdkMessages(messages, wire);
      expect(pairsIn(converted)).toEqual(pairsOf(messages));
      expect(resultsFollowCalls(converted)).toBe(true);
    }),
  );
});

function messagesOf(each: Turn, index: number): Message[] {
  const id = (call: number): string => `call_${index}_${call}`;
  const calls = each.calls.map((call, at): AssistantBlock => ({
    type: 'tool_use',
    id: id(at),
    name: `Tool${at}`,
    input: call.input,
  }));
  const results = each.calls.map(({ content, isError }, at): ToolResultBlock => ({
    type: 'tool_result',
    tool_use_id: id(at),
    content,
    is_error: isError,
  }));
  const user: UserBlock[] = [...each.added.slice(0, 1), ...results, ...each.added.slice(1)];
  return [
    { role: 'assistant', content: [...each.spoken, ...calls] },
    { role: 'user', content: user },
  ];
}

function pairsOf(messages: readonly Message[]): readonly string[] {
  return messages.flatMap(({ content }) =>
    [...content].flatMap((block: AssistantBlock | UserBlock) => {
      if (block.type === 'tool_use') return [`call ${block.id} ${block.name}`];
      if (block.type !== 'tool_result') return [];
      return [`result ${block.tool_use_id} Tool${block.tool_use_id.split('_')[2]}`];
    }),
  );
}

function pairsIn(messages: readonly ModelMessage[]): readonly string[] {
  return messages.flatMap(({ content }) => {
    if (typeof content === 'string') return [];
    return content.flatMap((part) => {
      if (part.type === 'tool-call') return [`call ${part.toolCallId} ${part.toolName}`];
      return part.type === 'tool-result' ? [`result ${part.toolCallId} ${part.toolName}`] : [];
    });
  });
}

function resultsFollowCalls(messages: readonly ModelMessage[]): boolean {
  return messages.every(
    ({ role }, index) => role !== 'tool' || messages[index - 1]?.role === 'assistant',
  );
}

test('a result with an image stays whole, except where results have no images', () => {
  const messages: readonly Message[] = [
    { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'Read', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: [IMAGE] }] },
  ];
  const result = { type: 'tool-result', toolCallId: 'a', toolName: 'Read' };

  expect(toSdkMessages(messages, 'anthropic')[1]).toEqual({
    role: 'tool',
    content: [
      {
        ...result,
        output: {
          type: 'content',
          value: [
            { type: 'text', text: '(an image)' },
            { type: 'image-data', data: 'iVBORw0K', mediaType: 'image/png' },
          ],
        },
      },
    ],
  });
  expect(toSdkMessages(messages, 'chat').slice(1)).toEqual([
    { role: 'tool', content: [{ ...result, output: { type: 'text', value: '(an image)' } }] },
    { role: 'user', content: [{ type: 'file', data: 'iVBORw0K', mediaType: 'image/png' }] },
  ]);
});

test('arguments that were no JSON go back as an object, since services accept nothing else', () => {
  const call = { type: 'tool_use', id: 'a', name: 'Grep', input: '{"pattern":' } as const;
  expect(toSdkMessages([{ role: 'assistant', content: [call] }], 'anthropic')).toEqual([
    {
      role: 'assistant',
      content: [
        {
          type: 'tool-call',
          toolCallId: 'a',
          toolName: 'Grep',
          input: { unreadable: '{"pattern":' },
        },
      ],
    },
  ]);
});

test('each service gets back only its own thoughts', () => {
  const content: readonly AssistantBlock[] = [
    { type: 'thinking', thinking: 'plain' },
    { type: 'thinking', thinking: 'claude', signature: 'c2ln' },
    { type: 'thinking', thinking: 'gpt', signature: 'openai:{"itemId":"rs_1","encrypted":"e"}' },
    { type: 'thinking', thinking: '', signature: 'google:s' },
    { type: 'tool_use', id: 'a', name: 'Read', input: {} },
  ];
  const call = { type: 'tool-call', toolCallId: 'a', toolName: 'Read', input: {} };
  const sentTo = (wire: WireFormat): unknown =>
    toSdkMessages([{ role: 'assistant', content }], wire)[0]?.content;

  expect(sentTo('anthropic')).toEqual([
    {
      type: 'reasoning',
      text: 'claude',
      providerOptions: { anthropic: { signature: 'c2ln' } },
    },
    call,
  ]);
  expect(sentTo('openai')).toEqual([
    {
      type: 'reasoning',
      text: 'gpt',
      providerOptions: { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'e' } },
    },
    call,
  ]);
  expect(sentTo('google')).toEqual([
    { ...call, providerOptions: { google: { thoughtSignature: 's' } } },
  ]);
  expect(sentTo('chat')).toEqual([{ type: 'reasoning', text: 'plain' }, call]);
});

test('messages that would be empty are left out', () => {
  const messages: readonly Message[] = [
    { role: 'user', content: [{ type: 'text', text: '  ' }] },
    { role: 'assistant', content: [{ type: 'thinking', thinking: 'of another service' }] },
    { role: 'user', content: [{ type: 'text', text: 'hello' }] },
  ];
  expect(toSdkMessages(messages, 'anthropic')).toEqual([
    { role: 'user', content: [{ type: 'text', text: 'hello' }] },
  ]);
});

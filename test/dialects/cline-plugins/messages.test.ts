import { describe, expect, it } from 'vitest';
import {
  fromProviderMessages,
  toProviderMessages,
} from '../../../src/plugins/messages/provider-messages.ts';
import { createMutableRequest } from '../../../src/dialects/cline-plugins/mutable-request.ts';
import {
  fromAgentMessages,
  toAgentMessages,
  toPluginMessages,
} from '../../../src/plugins/messages/agent-messages.ts';
import type { Message } from '../../../src/sessions/messages.ts';

const image = {
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: 'AAAA' },
} as const;

const TALK: readonly Message[] = [
  { role: 'user', content: [{ type: 'text', text: 'look' }, image] },
  {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'hm', signature: 's' },
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 'c1', name: 'read_files', input: { files: [] } },
    ],
  },
  {
    role: 'user',
    content: [
      { type: 'tool_result', tool_use_id: 'c1', content: 'nothing', is_error: true },
      { type: 'text', text: 'go on' },
    ],
  },
];

describe('a conversation as plugins see it', () => {
  it('has results of tools as messages of their own', () => {
    expect(toAgentMessages(TALK).map(({ role, content }) => ({ role, content }))).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'look' },
          { type: 'image', image: 'AAAA', mediaType: 'image/png' },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'hm', metadata: { signature: 's' } },
          { type: 'text', text: 'I look.' },
          { type: 'tool-call', toolCallId: 'c1', toolName: 'read_files', input: { files: [] } },
        ],
      },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'c1',
            toolName: 'read_files',
            output: 'nothing',
            isError: true,
          },
        ],
      },
      { role: 'user', content: [{ type: 'text', text: 'go on' }] },
    ]);
  });

  it('comes back as it was, except for messages that are now separate', () => {
    const back = fromAgentMessages(toAgentMessages(TALK));
    expect(back.flatMap(({ content }) => [...content])).toEqual(
      TALK.flatMap(({ content }) => [...content]),
    );
  });
});

describe('a conversation as message builders see it', () => {
  it('comes back as it was', () => {
    expect(fromProviderMessages(toProviderMessages(TALK))).toEqual(TALK);
  });

  it('may have plain texts and files', () => {
    expect(
      fromProviderMessages([
        { role: 'user', content: 'hello' },
        { role: 'user', content: [{ type: 'file', path: 'a.txt', content: 'A' }, { type: 'odd' }] },
      ]),
    ).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'hello' }] },
      { role: 'user', content: [{ type: 'text', text: '<file path="a.txt">\nA\n</file>' }] },
    ]);
  });

  it.each([
    [undefined, 'it did not give a list of messages'],
    [[], 'it gave no message at all'],
    [[{ role: 'system', content: 'x' }], 'message 1 of what it gave has no role and content'],
  ])('cannot be %j', (input, problem) => {
    expect(fromProviderMessages(input)).toBe(problem);
  });
});

describe('a mutable request', () => {
  const tools = [{ name: 'one', description: 'first', schema: { type: 'object' } }];
  const make = () =>
    createMutableRequest({ system: 'SYS', messages: TALK, tools }, { metadata: { iteration: 1 } });

  it('lists nothing that stayed as it was', () => {
    expect(make().listChanges()).toEqual({});
  });

  it('lists what was changed in place, and what was returned', () => {
    const live = make();
    const copy = live.copyForPlugin();
    copy.systemPrompt = 'other';
    copy.tools[0] = { name: 'one', description: 'changed', inputSchema: { type: 'object' } };
    live.applyResult(copy, { options: { temperature: 0.5, odd: 1, metadata: { more: true } } });
    live.applyResult(live.copyForPlugin(), { options: { maxTokens: 9 } });
    expect(live.copyForPlugin().options?.['metadata']).toEqual({ iteration: 1, more: true });
    expect(live.listChanges()).toEqual({
      tools: [{ name: 'one', description: 'changed', schema: { type: 'object' } }],
      options: {
        temperature: 0.5,
        maxOutputTokens: 9,
        system: 'other',
        ownOptions: {
          temperature: 0.5,
          odd: 1,
          maxTokens: 9,
          metadata: { iteration: 1, more: true },
        },
      },
    });
  });

  it.each([
    ['messages', { messages: [{ text: 'x' }] }],
    ['messages', { messages: [{ role: 'user', content: [null] }] }],
    ['tools', { tools: [{ name: 'one' }] }],
  ])('accepts no %s of a wrong type', (what, result) => {
    const live = make();
    const copy = live.copyForPlugin();
    copy.systemPrompt = 'half';
    expect(() => live.applyResult(copy, result as never)).toThrow(`"${what}"`);
    expect(live.listChanges()).toEqual({});
  });

  it('does not change any more with the objects that were passed out', () => {
    const live = make();
    const copy = live.copyForPlugin();
    live.applyResult(copy, {});
    copy.messages.length = 0;
    copy.messages.push(...live.copyForPlugin().messages.slice(1));
    expect(live.listChanges()).toEqual({});
  });
});

describe('a call that the model made in another vocabulary', () => {
  const MADE: readonly Message[] = [
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 'c1', name: 'Bash', input: { command: 'ls' } }],
    },
  ];
  const toolCall = { type: 'tool-call', toolCallId: 'c1' };

  it('is passed to plugins in their vocabulary', () => {
    const [told] = toPluginMessages(MADE, () => ({ id: 'm', createdAt: 1 }));
    expect(told?.content).toEqual([
      { ...toolCall, toolName: 'run_commands', input: { commands: ['ls'] } },
    ]);
  });

  it('stays as it is in a request, which goes back to the model', () => {
    const agentMessages = toAgentMessages(MADE);
    expect(agentMessages[0]?.content).toEqual([
      { ...toolCall, toolName: 'Bash', input: { command: 'ls' } },
    ]);
    expect(fromAgentMessages(agentMessages)).toEqual(MADE);
  });
});

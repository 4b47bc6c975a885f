import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Conversation } from '../../../src/agent/conversation/conversation.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { createSessionStore } from '../../../src/sessions/jsonl-session-store.ts';
import type { Message, ToolUseBlock } from '../../../src/sessions/messages.ts';
import { createDirectory } from '../../base/directory.ts';

const text = fc.string({ minLength: 1 }).map((each) => ({ type: 'text', text: each }) as const);
const call = fc
  .record({ id: fc.uuid(), input: fc.dictionary(fc.string(), fc.jsonValue()) })
  .map(({ id, input }): ToolUseBlock => ({ type: 'tool_use', id, name: 'Read', input }));
const result = fc
  .record({ tool_use_id: fc.uuid(), content: fc.string() })
  .map((each) => ({ type: 'tool_result', ...each }) as const);
const user = fc
  .array(fc.oneof(text, result), { minLength: 1, maxLength: 3 })
  .map((content): Message => ({ role: 'user', content }));
const assistant = fc
  .array(fc.oneof(text, call), { minLength: 1, maxLength: 3 })
  .map((content): Message => ({ role: 'assistant', content }));

type Step = (conversation: Conversation) => void;

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: user.map(
      (message): Step =>
        (all) =>
          all.add(message),
    ),
  },
  {
    weight: 6,
    arbitrary: assistant.map(
      (message): Step =>
        (all) =>
          all.add(message),
    ),
  },
  {
    weight: 1,
    arbitrary: user.map((summary): Step => (all) => {
      all.compact(summary, { trigger: 'auto', tokensBefore: 7 });
    }),
  },
  { weight: 1, arbitrary: fc.constant<Step>((all) => all.note('info', 'something')) },
  {
    weight: 1,
    arbitrary: call.map(
      (each): Step =>
        (all) =>
          all.defer(each),
    ),
  },
);

it('a resumed session always has the messages that the first one had', () => {
  const stateDirectory = createDirectory();
  const store = createSessionStore({ stateDirectory, clock: systemClock, version: '0.0.0' });
  const entryFields = {
    agentId: null,
    clock: systemClock,
    cwd: () => '/work',
    promptId: () => null,
  };
  const facts = {
    startDirectory: '/work',
    workspaceRoots: ['/work'],
    model: { provider: 'scripted', id: 'scripted' },
    permissionMode: 'default',
    createdAt: 0,
    taskId: '0',
    ulid: '0',
  };
  fc.assert(
    fc.property(fc.uuid(), fc.array(step, { maxLength: 15 }), (id, steps) => {
      const stored = store.create({ ...facts, id });
      const conversation = new Conversation({ ...entryFields, store: stored });
      for (const each of steps) each(conversation);
      stored.close();
      const resumed = store.resume(id);
      const again = new Conversation({ ...entryFields, store: resumed }, resumed.messages);
      expect(again.messages).toEqual(conversation.messages);
      again.add({ role: 'user', content: [{ type: 'text', text: 'and on' }] });
      expect(again.messages).toEqual([
        ...conversation.messages,
        { role: 'user', content: [{ type: 'text', text: 'and on' }] },
      ]);
      resumed.close();
    }),
    { numRuns: 60 },
  );
});

it('keeps nothing in memory that could not be stored', () => {
  const stateDirectory = createDirectory();
  const store = createSessionStore({ stateDirectory, clock: systemClock, version: '0.0.0' });
  const stored = store.create({
    id: 'one',
    startDirectory: '/work',
    workspaceRoots: ['/work'],
    model: { provider: 'scripted', id: 'scripted' },
    permissionMode: 'default',
    createdAt: 0,
    taskId: '0',
    ulid: '0',
  });
  const conversation = new Conversation({
    store: stored,
    agentId: null,
    clock: systemClock,
    cwd: () => '/work',
    promptId: () => null,
  });
  stored.close();
  expect(() =>
    conversation.add({ role: 'user', content: [{ type: 'text', text: 'lost' }] }),
  ).toThrow('it was closed');
  expect(conversation.messages).toEqual([]);
});

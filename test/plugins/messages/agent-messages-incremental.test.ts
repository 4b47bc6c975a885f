import { describe, expect, it } from 'vitest';
import {
  createIncrementalMessages,
  type GetNote,
  toPluginMessages,
} from '../../../src/plugins/messages/agent-messages.ts';
import type { Message } from '../../../src/sessions/messages.ts';

const noteOf: GetNote = ({ role }) => ({ id: role, createdAt: 1 });

function turn(n: number): Message[] {
  const id = `call-${n}`;
  return [
    { role: 'user', content: [{ type: 'text', text: `ask ${n}` }] },
    { role: 'assistant', content: [{ type: 'tool_use', id, name: `tool-${n}`, input: { n } }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'ok' }] },
  ];
}

describe('an incrementally converted conversation', () => {
  it('equals the whole one, and is one list that grows', () => {
    const grow = createIncrementalMessages(noteOf);
    const messages: Message[] = [];
    const list = grow(messages);
    for (const message of [1, 2, 3].flatMap(turn)) {
      messages.push(message);
      expect(grow(messages)).toBe(list);
      expect(list).toEqual(toPluginMessages(messages, noteOf));
    }
    const [first] = list;
    expect(grow([...messages])).toBe(list);
    expect(list[0]).toBe(first);
  });

  it('begins anew when it was compacted, or is another one', () => {
    const grow = createIncrementalMessages(noteOf);
    const before = grow(turn(1));
    const summed: Message[] = [{ role: 'user', content: [{ type: 'text', text: 'so far' }] }];
    const after = grow(summed);
    expect(after).not.toBe(before);
    expect(after).toEqual(toPluginMessages(summed, noteOf));
    expect(grow(turn(2))).toEqual(toPluginMessages(turn(2), noteOf));
    expect(grow([])).toEqual([]);
  });
});

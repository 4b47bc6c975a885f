import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConversation } from '../../../src/sessions/transcript/read-transcript.ts';
import { createDirectory, write } from '../../base/directory.ts';

function transcriptOf(lines: readonly object[]): string {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  return write(path.join(createDirectory(), 'transcript.jsonl'), text);
}

let count = 0;

/** The fields of every line of a transcript of Claude's own. */
function line(fields: object): object {
  count += 1;
  return {
    parentUuid: null,
    isSidechain: false,
    userType: 'external',
    cwd: '/repo',
    sessionId: 's',
    version: '2.1.12',
    gitBranch: 'main',
    ...fields,
    uuid: `00000000-0000-4000-8000-${String(count).padStart(12, '0')}`,
    timestamp: '2026-01-02T03:04:05.006Z',
  };
}

function user(content: unknown, more: object = {}): object {
  return line({ type: 'user', message: { role: 'user', content }, ...more });
}

function assistant(id: string, block: object, more: object = {}): object {
  const message = { id, type: 'message', role: 'assistant', model: 'm', content: [block], ...more };
  return line({ type: 'assistant', message, requestId: 'req' });
}

const READ = { type: 'tool_use', id: 'c1', name: 'Read', input: { file_path: '/repo/a' } };

describe('a transcript that Claude wrote', () => {
  it('is a conversation: blocks of one answer are one message, and other lines are skipped', () => {
    const usage = {
      input_tokens: 2,
      cache_read_input_tokens: 30,
      output_tokens: 4,
      service_tier: 'x',
    };
    const file = transcriptOf([
      { type: 'queue-operation', operation: 'dequeue' },
      { type: 'file-history-snapshot', snapshot: {} },
      { type: 'summary', summary: 'a title', leafUuid: 'x' },
      user('Caveat: …', { isMeta: true }),
      user('fix it'),
      assistant('m1', { type: 'thinking', thinking: 'hm', signature: 's' }),
      assistant('m1', { type: 'text', text: 'I look.' }),
      line({ type: 'system', subtype: 'turn_duration', durationMs: 5 }),
      assistant('m1', READ, { usage }),
      user([{ tool_use_id: 'c1', type: 'tool_result', content: [{ type: 'text', text: 'x' }] }]),
      line({ type: 'attachment', attachment: {} }),
      assistant('m2', { type: 'text', text: 'Done.' }),
    ]);
    expect(readConversation(file)).toEqual({
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Caveat: …' }] },
        { role: 'user', content: [{ type: 'text', text: 'fix it' }] },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 's' },
            { type: 'text', text: 'I look.' },
            READ,
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'x' }] },
          ],
        },
        { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] },
      ],
      messageCount: 5,
      cwd: '/repo',
      lastMessageAt: Date.parse('2026-01-02T03:04:05.006Z'),
      deferred: null,
      contextTokens: 36,
      problems: [],
    });
  });

  it('goes on from its last compaction', () => {
    const boundary = {
      type: 'system',
      subtype: 'compact_boundary',
      content: 'Conversation compacted',
    };
    const file = transcriptOf([
      user('one'),
      line({ ...boundary, compactMetadata: { trigger: 'auto', preTokens: 155_025 } }),
      user('first summary', { isCompactSummary: true }),
      user('two'),
      line(boundary),
      user('second summary', { isCompactSummary: true, isVisibleInTranscriptOnly: true }),
      user('three'),
    ]);
    const { messages, messageCount } = readConversation(file);
    expect(messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'second summary' }] },
      { role: 'user', content: [{ type: 'text', text: 'three' }] },
    ]);
    expect(messageCount).toBe(5);
  });

  it('counts a repeated line once, and leaves sub-agents out', () => {
    const twice = user('once');
    const file = transcriptOf([twice, twice, user('aside', { isSidechain: true })]);
    expect(readConversation(file).messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'once' }] },
    ]);
  });

  it('keeps two answers apart that have no id', () => {
    const assistantMessage = { role: 'assistant', content: [{ type: 'text', text: 'a' }] };
    const bare = { type: 'assistant', message: assistantMessage };
    const file = transcriptOf([bare, bare]);
    expect(readConversation(file)).toMatchObject({
      messageCount: 2,
      lastMessageAt: null,
      cwd: null,
    });
  });

  it('leaves out blocks that are unknown here, and lists them', () => {
    const image = {
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: 'aa' },
    };
    const file = transcriptOf([
      user([image, { type: 'document', source: {} }, { type: 'image', source: { type: 'url' } }]),
      assistant('m1', { type: 'redacted_thinking', data: 'x' }),
      user(['text', null, { type: 'tool_result' }]),
      user([{ type: 'tool_result', tool_use_id: 'c' }]),
    ]);
    const { messages, problems } = readConversation(file);
    expect(messages).toEqual([
      { role: 'user', content: [image] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: [] }] },
    ]);
    expect(problems).toEqual([
      `${file}:1 has unknown blocks (document, image), which were skipped`,
      `${file}:2 has unknown blocks (redacted_thinking), which were skipped`,
      `${file}:3 has unknown blocks (no type, no type, tool_result), which were skipped`,
    ]);
  });
});

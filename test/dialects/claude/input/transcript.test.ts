import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { isRecord } from '../../../../src/base/json.ts';
import { createTranscripts } from '../../../../src/dialects/claude/input/transcript.ts';
import type { FiredEvent } from '../../../../src/hooks/facts.ts';
import { createDirectory } from '../../../base/directory.ts';
import { eventOf } from './input-events.ts';

const BASH = { callId: 'c1', name: 'execute_command', input: { command: 'ls' } };
const LISTED = { response: undefined, text: 'a.txt', success: true };

let directory = '';

beforeEach(() => {
  directory = createDirectory();
});

function writeTranscript(...events: readonly FiredEvent[]): string {
  const reports = events.map((event, index) =>
    createTranscripts(directory)(eventOf({ at: 1_767_225_600_000 + index, ...event })),
  );
  expect(reports.map(({ note }) => note)).toEqual(events.map(() => null));
  return reports.at(-1)?.path ?? '';
}

function linesOf(file: string): Record<string, unknown>[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line): unknown => JSON.parse(line))
    .filter(isRecord);
}

function messagesOf(file: string): unknown[] {
  return linesOf(file).map(({ type, message }) => [type, isRecord(message) && message['content']]);
}

describe('a transcript', () => {
  test('lies where Claude’s would, for its owner only', () => {
    const file = writeTranscript({
      name: 'SessionStart',
      source: 'startup',
      startDirectory: '/home/user/my_project',
      sessionId: '00000001-0000-4000-8000-000000000000',
    });
    expect(path.relative(directory, file)).toBe(
      path.join('-home-user-my-project', '00000001-0000-4000-8000-000000000000.jsonl'),
    );
    expect(readFileSync(file, 'utf8')).toBe('');
    if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test('stays where it is when the current directory moves on', () => {
    const moved = { cwd: '/ws/below' };
    expect(writeTranscript({ name: 'SessionEnd', reason: 'x', ...moved })).toBe(
      writeTranscript({ name: 'SessionEnd', reason: 'x' }),
    );
  });

  test('holds the conversation as far as events contain it', () => {
    const file = writeTranscript(
      { name: 'SessionStart', source: 'startup' },
      { name: 'UserPromptSubmit', prompt: 'list the files' },
      { name: 'PreToolUse', tool: BASH },
      { name: 'PostToolUse', tool: BASH, result: LISTED, durationMs: 1 },
      { name: 'Stop', lastText: 'There is one.', again: false },
    );
    expect(messagesOf(file)).toEqual([
      ['user', 'list the files'],
      ['assistant', [{ type: 'tool_use', id: 'c1', name: 'Bash', input: { command: 'ls' } }]],
      ['user', [{ tool_use_id: 'c1', type: 'tool_result', content: 'a.txt' }]],
      ['assistant', [{ type: 'text', text: 'There is one.' }]],
    ]);
  });

  test('has the fields of Claude’s lines, each with the one before it', () => {
    const file = writeTranscript(
      { name: 'UserPromptSubmit', prompt: 'one' },
      { name: 'Stop', lastText: 'two', again: false },
    );
    const [first, second] = linesOf(file);
    expect(first).toEqual({
      parentUuid: null,
      isSidechain: false,
      userType: 'external',
      cwd: '/ws',
      sessionId: 's',
      version: '1.2.3',
      gitBranch: '',
      type: 'user',
      message: { role: 'user', content: 'one' },
      uuid: expect.stringMatching(
        /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
      ),
      timestamp: '2026-01-01T00:00:00.000Z',
    });
    expect(second).toMatchObject({ parentUuid: first?.['uuid'], type: 'assistant' });
  });

  test('holds an event once, however many hooks read it', () => {
    const long = { ...LISTED, text: 'x'.repeat(1_000_000) };
    const event = eventOf({ name: 'PostToolUse', tool: BASH, result: long, durationMs: 1 });
    const { path: file } = createTranscripts(directory)(event);
    createTranscripts(directory)(event);
    createTranscripts(directory)(event);
    expect(linesOf(file)).toHaveLength(2);
  });

  test('holds the same text again when it is sent again', () => {
    const file = writeTranscript(
      { name: 'UserPromptSubmit', prompt: 'go on' },
      { name: 'UserPromptSubmit', prompt: 'go on' },
    );
    expect(linesOf(file)).toHaveLength(2);
  });

  test('marks a failed call', () => {
    const result = { response: undefined, text: '', success: false, error: 'boom' };
    const file = writeTranscript({ name: 'PostToolUseFailure', tool: BASH, result, durationMs: 1 });
    expect(messagesOf(file).at(-1)).toEqual([
      'user',
      [{ tool_use_id: 'c1', type: 'tool_result', content: 'boom', is_error: true }],
    ]);
  });

  test('leaves a sub-agent’s messages to the sub-agent’s own', () => {
    const agent = { id: 'a1', parentId: 's', type: 'reviewer' };
    const file = writeTranscript(
      { name: 'PreToolUse', tool: BASH, agent },
      { name: 'SubagentStop', agentType: 'reviewer', lastText: 'fine', again: false, agent },
    );
    expect(linesOf(file)).toEqual([]);
    const own = path.join(directory, '-ws', 's', 'subagents', 'agent-a1.jsonl');
    expect(linesOf(own)).toMatchObject([
      { isSidechain: true, agentId: 'a1', type: 'assistant' },
      { isSidechain: true, agentId: 'a1', type: 'assistant' },
    ]);
  });

  test.skipIf(process.platform === 'win32')('can be searched without a parser', () => {
    const file = writeTranscript(
      { name: 'UserPromptSubmit', prompt: 'say "role":"assistant"' },
      { name: 'Stop', lastText: 'the last words', again: false },
    );
    const script = `grep '"role":"assistant"' "$1" | tail -n 1`;
    const found = execFileSync('/bin/sh', ['-c', script, 'sh', file], { encoding: 'utf8' });
    expect(JSON.parse(found)).toMatchObject({
      message: { content: [{ type: 'text', text: 'the last words' }] },
    });
  });

  test.each([
    ['up', '../../escape'],
    ['elsewhere', '/etc/passwd'],
    ['dots', '..'],
    ['nothing', ''],
    ['long', 'x'.repeat(5000)],
  ])('stays below its directory whatever the session is called: %s', (_, sessionId) => {
    const file = writeTranscript({ name: 'UserPromptSubmit', prompt: 'p', sessionId });
    expect(path.dirname(path.dirname(file))).toBe(directory);
    expect(existsSync(file)).toBe(true);
  });

  test('that cannot be written is a note', () => {
    writeFileSync(path.join(directory, '-ws'), '');
    const { path: file, note } = createTranscripts(directory)(
      eventOf({ name: 'UserPromptSubmit', prompt: 'p' }),
    );
    expect(file).toBe(path.join(directory, '-ws', 's.jsonl'));
    expect(note).toContain(`the transcript ${file} could not be written`);
  });

  test('that is a directory is a note', () => {
    mkdirSync(path.join(directory, '-ws', 's.jsonl'), { recursive: true });
    const event = eventOf({ name: 'UserPromptSubmit', prompt: 'p' });
    expect(createTranscripts(directory)(event).note).toContain('could not be written');
  });

  test('keeps a line with an impossible time', () => {
    const file = writeTranscript({ name: 'UserPromptSubmit', prompt: 'p', at: 9e15 });
    expect(linesOf(file)).toMatchObject([{ timestamp: '' }]);
  });
});

import { describe, expect, test } from 'vitest';
import { getTypeName } from '../../../../src/base/json.ts';
import { readClaudePayload } from '../../../../src/dialects/claude/input/read-payload.ts';
import {
  CLAUDE_EVENT_NAMES,
  CLAUDE_EVENTS,
  isClaudeEvent,
} from '../../../../src/dialects/claude/events.ts';
import { createSampleEvent } from '../../../../src/testing/sample-event.ts';
import { payloadOf, RECORDINGS, stdinsOf } from './input-events.ts';

const ALIASES: Readonly<Record<string, readonly string[]>> = {
  UserPromptSubmit: ['user_prompt'],
  SessionStart: ['session_trigger'],
  PostToolUse: ['tool_result'],
};

describe('recordings of Claude Code’s payloads', () => {
  test('is known for every event but the one of teams', () => {
    const recordedNames = new Set(RECORDINGS.map(({ name }) => name));
    expect(CLAUDE_EVENT_NAMES.filter((name) => !recordedNames.has(name))).toEqual(['TeammateIdle']);
    expect([...recordedNames].filter((name) => !isClaudeEvent(name))).toEqual([]);
  });

  test.each(RECORDINGS)('reads and writes back the same: $label', ({ name, payload }) => {
    const { [name]: aliases = [] } = ALIASES;
    const rewritten = payloadOf(readClaudePayload(payload));
    const entries = Object.entries(rewritten).filter(([key]) => !aliases.includes(key));
    // As a list of entries, so that the order of keys counts.
    expect(entries).toEqual(Object.entries(payload));
    expect(Object.keys(rewritten).slice(entries.length)).toEqual(aliases);
  });

  test.each(RECORDINGS)('is one compact line: $label', ({ payload }) => {
    const [text = ''] = stdinsOf(readClaudePayload(payload));
    expect(text).toBe(`${JSON.stringify(JSON.parse(text))}\n`);
    expect(text.indexOf('\n')).toBe(text.length - 1);
  });

  test.each(RECORDINGS)('reads facts that a case may contain: $label', ({ payload }) => {
    const { name, ...facts } = readClaudePayload(payload);
    expect(createSampleEvent(name, facts)).toMatchObject(facts);
  });
});

// What a host may not know: ids of prompts, costs, servers, how long ago, who else is there.
const OPTIONAL = new Set([
  'prompt_id',
  'command_source',
  'effort',
  'context_tokens',
  'prompt_cache_warm',
  'cache_ttl',
  'estimated_cache_write_usd',
  'pricing',
  'task_description',
  'mode',
  'requested_schema',
  'content',
]);

describe('an event of which little is known', () => {
  const records = CLAUDE_EVENT_NAMES.filter((name) => name !== 'TeammateIdle');

  test.each(records)('%s has what Claude always sends, of the same types', (name) => {
    const [first, ...others] = RECORDINGS.filter((each) => each.name === name);
    const always = Object.entries(first?.payload ?? {}).filter(
      ([key]) => !OPTIONAL.has(key) && others.every(({ payload }) => key in payload),
    );
    const payload = payloadOf(createSampleEvent(CLAUDE_EVENTS[name].event));
    const types = always.map(([key]) => [key, getTypeName(payload[key])]);
    const nullable = new Set(['custom_instructions', 'requested_model']);
    const expected = always.map(([key, value]) => [
      key,
      nullable.has(key) ? getTypeName(null) : getTypeName(value),
    ]);
    expect(types).toEqual(expected);
  });
});

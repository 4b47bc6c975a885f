import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { toClaudePayloadFile } from '../../scripts/schema/catalogue.ts';
import {
  CLAUDE_EVENT_NAMES,
  CLAUDE_EVENTS,
  listClaudeNames,
} from '../../src/dialects/claude/events.ts';
import type { FiredEvent } from '../../src/hooks/facts.ts';
import { EventTransformer } from '../../src/host/embed/hook-manager.ts';
import { createSampleEvent } from '../../src/testing/sample-event.ts';
import { MOMENT } from './payloads.ts';
import { objections } from './published.ts';

interface Recording {
  readonly events: Readonly<Record<string, readonly { readonly stdin: unknown }[]>>;
}

const recording: Recording = JSON.parse(
  readFileSync('test/conformance/claude-config/claude-payloads.json', 'utf8'),
);
const recorded = Object.entries(recording.events).flatMap(([name, payloads]) =>
  payloads.map(({ stdin }, index) => ({ title: `${name} ${index + 1}`, name, payload: stdin })),
);
const transformer = new EventTransformer(MOMENT);

/** A made-up event of this name, with the facts that make it this one. */
function sampleOf(name: (typeof CLAUDE_EVENT_NAMES)[number]): FiredEvent {
  const event = createSampleEvent(CLAUDE_EVENTS[name].event);
  return event.name === 'RunEnd' ? { ...event, status: 'failed' } : event;
}

describe('the published schema of a Claude payload', () => {
  it('fits what Claude Code itself was recorded to send', () => {
    const misfits = recorded.flatMap(({ title, name, payload }) =>
      objections(toClaudePayloadFile(name), payload).map((each) => `${title}: ${each}`),
    );
    expect(recorded.length).toBeGreaterThan(50);
    expect(misfits).toEqual([]);
  });

  it.each(CLAUDE_EVENT_NAMES)('fits what a hook of %s is sent here', async (name) => {
    const [payload] = await transformer.toClaude(sampleOf(name));
    expect(payload).toMatchObject({ hook_event_name: name, session_id: 'session-1' });
    expect(objections(toClaudePayloadFile(name), payload)).toEqual([]);
  });

  it('refuses a payload of another event, or without what all have', async () => {
    const [payload] = await transformer.toClaude(createSampleEvent('PreToolUse'));
    expect(objections(toClaudePayloadFile('Stop'), payload)).not.toEqual([]);
    const { session_id: _id, ...rest } = payload ?? { session_id: '' };
    expect(objections(toClaudePayloadFile('PreToolUse'), rest)).not.toEqual([]);
  });

  it('has a file for every name under which an event is fired', () => {
    const names = CLAUDE_EVENT_NAMES.flatMap((name) =>
      listClaudeNames({ ...MOMENT, ...sampleOf(name) }),
    );
    expect(new Set(names)).toEqual(new Set(CLAUDE_EVENT_NAMES));
  });
});

describe('the published schema of hooks.json', () => {
  const FILE = 'hooks-json.schema.json';

  it.each([
    { type: 'command', command: 'x', timeout: 5, if: 'Bash(git *)', async: true },
    { type: 'http', url: 'https://example.org', headers: { a: 'b' } },
    { type: 'mcp_tool', server: 's', tool: 't', input: {} },
    { type: 'prompt', prompt: 'p' },
    { type: 'agent', prompt: 'p', model: 'm' },
  ])('takes a handler of type $type', (handler) => {
    const file = { hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [handler] }] } };
    expect(objections(FILE, file)).toEqual([]);
  });

  it.each([
    { hooks: [] },
    { hooks: { PreToolUse: {} } },
    { hooks: { PreToolUse: [{ hooks: [{ type: 'command' }] }] } },
    { hooks: { PreToolUse: [{ hooks: [{ type: 'shell', command: 'x' }] }] } },
    { hooks: { PreToolUse: [{ matcher: 1, hooks: [] }] } },
  ])('refuses %j', (file) => {
    expect(objections(FILE, file)).not.toEqual([]);
  });
});

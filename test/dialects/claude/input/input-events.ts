import { readFileSync } from 'node:fs';
import { isRecord } from '../../../../src/base/json.ts';
import {
  encodePayload,
  type PayloadRequest,
} from '../../../../src/dialects/claude/input/payload.ts';
import {
  CLAUDE_EVENTS,
  CLAUDE_EVENT_NAMES,
  type ClaudeEvent,
} from '../../../../src/dialects/claude/events.ts';
import { EventViews } from '../../../../src/hooks/event-views.ts';
import type { FiredEvent, HookEvent } from '../../../../src/hooks/facts.ts';
import { MOMENT } from '../../../hooks/handlers.ts';

type Fields = Readonly<Record<string, unknown>>;

interface Recording {
  readonly label: string;
  readonly name: string;
  readonly payload: Fields;
}

interface RecordedTool {
  readonly name: string;
  readonly input: Fields;
  readonly response: unknown;
}

const FILE: unknown = JSON.parse(
  readFileSync(new URL('../fixtures/claude-payloads.json', import.meta.url), 'utf8'),
);

/** Every payload that Claude Code was seen to write. */
export const RECORDINGS: readonly Recording[] = Object.entries(part('events')).flatMap(
  ([name, list]) =>
    (Array.isArray(list) ? list : []).flatMap((each: unknown, index) =>
      isRecord(each) && isRecord(each['stdin'])
        ? [{ label: `${name} ${index + 1}`, name, payload: each['stdin'] }]
        : [],
    ),
);

/** Each tool's input, and its response where there was one. */
export const TOOLS: readonly RecordedTool[] = Object.entries(part('tools')).flatMap(
  ([name, tool]) =>
    isRecord(tool) && isRecord(tool['tool_input'])
      ? [{ name, input: tool['tool_input'], response: tool['tool_response'] }]
      : [],
);

function part(key: string): Fields {
  const found = isRecord(FILE) ? FILE[key] : undefined;
  return isRecord(found) ? found : {};
}

export function eventOf(fired: FiredEvent): HookEvent {
  return { ...MOMENT, model: { provider: 'unknown', id: 'unknown' }, ...fired };
}

type Options = Partial<Pick<PayloadRequest, 'transcriptPath' | 'home' | 'extras'>>;

/** What each run of a Claude hook would read on stdin, as text. */
export function stdinsOf(fired: FiredEvent, options: Options = {}): readonly string[] {
  const event = claudeName(fired);
  const payloadOptions = { transcriptPath: '/t/s.jsonl', home: '/home/user', ...options };
  return new EventViews(eventOf(fired), undefined)
    .getView('claude')
    .inputs.map((input) => encodePayload({ input, event, ...payloadOptions }));
}

export function payloadsOf(fired: FiredEvent, options: Options = {}): readonly Fields[] {
  return stdinsOf(fired, options).map((text): Fields => {
    const payload: unknown = JSON.parse(text);
    return isRecord(payload) ? payload : {};
  });
}

export function payloadOf(fired: FiredEvent, options: Options = {}): Fields {
  return payloadsOf(fired, options)[0] ?? {};
}

function claudeName(fired: FiredEvent): ClaudeEvent {
  const name = CLAUDE_EVENT_NAMES.find((each) => CLAUDE_EVENTS[each].event === fired.name);
  if (name === undefined) throw new Error(`Claude has no event for ${fired.name}`);
  return name;
}

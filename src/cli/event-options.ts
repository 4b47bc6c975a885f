import { readFileSync } from 'node:fs';
import { HooklineError, messageOf } from '../base/errors.ts';
import { isRecord, parseJson, typeName } from '../base/json.ts';
import { closestName } from '../base/spelling.ts';
import { findForeignEvent, FOREIGN_EVENT_NAMES, readForeignPayload } from '../dialects/index.ts';
import { EVENT_NAMES, isEventName } from '../hooks/events.ts';
import type { EventName, FiredEvent } from '../hooks/facts.ts';
import { sampleEvent } from '../testing/sample-event.ts';

/** The flags that describe an event to fire or to explain. */
export interface EventFlags {
  readonly tool?: string;
  readonly input?: string;
  readonly result?: string;
  readonly success?: string;
  readonly prompt?: string;
  readonly source?: string;
  readonly facts?: string;
  readonly payload?: string;
  readonly as?: string;
}

type Facts = Readonly<Record<string, unknown>>;

/** The event that the command line describes; what it does not say is filled with an example. */
export function readEvent(name: string | undefined, flags: EventFlags): FiredEvent {
  if (flags.payload !== undefined) {
    return readForeignPayload(flags.as ?? 'cline', readJsonFile(flags.payload));
  }
  if (name === undefined) {
    throw usage('an event is missing', 'Name one, such as PreToolUse, or give --payload FILE.');
  }
  const { event, facts } = resolveEvent(name, flags);
  const sample: Facts = { ...sampleEvent(event) };
  return sampleEvent(event, { ...facts, ...flagFacts(flags, sample), ...fileFacts(flags.facts) });
}

function resolveEvent(name: string, flags: EventFlags): { event: EventName; facts: Facts } {
  const event = isEventName(name) ? { event: name, facts: {} } : findForeignEvent(name);
  if (event !== null) return flags.success === 'false' ? asFailure(event) : event;
  const meant = closestName(name, [...EVENT_NAMES, ...FOREIGN_EVENT_NAMES]);
  throw new HooklineError('EVENT_UNKNOWN', {
    message: `there is no event ${JSON.stringify(name)}`,
    hint: meant === null ? `Events are: ${EVENT_NAMES.join(', ')}.` : `Did you mean ${meant}?`,
  });
}

function asFailure(event: { event: EventName; facts: Facts }): { event: EventName; facts: Facts } {
  return event.event === 'PostToolUse' ? { ...event, event: 'PostToolUseFailure' } : event;
}

function flagFacts(flags: EventFlags, sample: Facts): Facts {
  return {
    ...(flags.prompt === undefined ? {} : { prompt: flags.prompt }),
    ...(flags.source === undefined ? {} : { source: flags.source }),
    ...toolFacts(flags, sample),
    ...resultFacts(flags, sample),
  };
}

function toolFacts({ tool, input }: EventFlags, sample: Facts): Facts {
  if (tool === undefined && input === undefined) return {};
  if (!isRecord(sample['tool'])) {
    throw usage('this event is not about a tool', 'Leave --tool and --input out.');
  }
  return {
    tool: {
      ...sample['tool'],
      ...(tool === undefined ? {} : { name: tool, input: {} }),
      ...(input === undefined ? {} : { input: parseInput(input) }),
    },
  };
}

function parseInput(text: string): unknown {
  const parsed = parseJson(text);
  if (parsed.ok) return parsed.value;
  throw usage(
    `--input should be JSON, found ${JSON.stringify(text.slice(0, 80))}: ${parsed.error}`,
    `Quote it for the shell: --input '{"path":"a.js"}'.`,
  );
}

function resultFacts({ result, success }: EventFlags, sample: Facts): Facts {
  if (result === undefined && success === undefined) return {};
  if (success !== undefined && success !== 'true' && success !== 'false') {
    throw usage(`--success should be true or false, found ${JSON.stringify(success)}`);
  }
  if (!isRecord(sample['result'])) {
    throw usage('this event carries no tool result', 'Leave --result and --success out.');
  }
  const text = result ?? String(sample['result']['text']);
  const isSuccess = sample['result']['success'] === true;
  const error = isSuccess ? {} : { error: text };
  return { result: { response: undefined, text, success: isSuccess, ...error } };
}

function fileFacts(file: string | undefined): Facts {
  if (file === undefined) return {};
  const value = readJsonFile(file);
  if (isRecord(value)) return value;
  throw new HooklineError('PAYLOAD_INVALID', {
    message: `${file} should hold a JSON object of facts, found ${typeName(value)}`,
    hint: 'For example {"prompt": "hello", "cwd": "/tmp"}.',
  });
}

function readJsonFile(file: string): unknown {
  const parsed = parseJson(readText(file));
  if (parsed.ok) return parsed.value;
  throw new HooklineError('PAYLOAD_INVALID', {
    message: `${file} should be JSON: ${parsed.error}`,
    hint: 'It should hold one JSON object.',
  });
}

function readText(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw usage(`${file} cannot be read: ${messageOf(error)}`);
  }
}

function usage(message: string, hint?: string): HooklineError {
  return new HooklineError('USAGE_INVALID', hint === undefined ? { message } : { message, hint });
}

import { dropUndefined } from '../base/defined.ts';
import { HooklineError } from '../base/errors.ts';
import { isRecord } from '../base/json.ts';
import { findClosestName } from '../base/did-you-mean.ts';
import { findForeignEvent, FOREIGN_EVENT_NAMES, readForeignPayload } from '../dialects/index.ts';
import type { ForeignEvent } from '../dialects/dialect.ts';
import { EVENT_NAMES, isEventName } from '../hooks/events.ts';
import type { FiredEvent } from '../hooks/facts.ts';
import { createSampleEvent } from './sample-event.ts';

/** An event as a user describes it; absent fields have example values. */
export interface EventDescription {
  /** The canonical name, or any dialect's. */
  readonly event: string;
  /** A tool by any of its names. */
  readonly tool?: string;
  readonly input?: unknown;
  /** The tool's response. */
  readonly result?: string;
  readonly success?: boolean;
  readonly prompt?: string;
  readonly source?: string;
  /** Further fields of the event, which override the others. */
  readonly facts?: Facts;
}

/** An event as another agent wrote it to a hook's stdin. */
export interface PayloadDescription {
  readonly payload: unknown;
  /** The agent that wrote the payload. */
  readonly as: string;
}

export type FireDescription = EventDescription | PayloadDescription;

type Facts = Readonly<Record<string, unknown>>;

/** Resolves the described event. Throws PAYLOAD_INVALID or EVENT_UNKNOWN for an invalid description. */
export function resolveEvent(description: FireDescription): FiredEvent {
  if ('payload' in description) return readForeignPayload(description.as, description.payload);
  const { event, facts } = resolveName(description);
  const sample: Facts = { ...createSampleEvent(event) };
  return createSampleEvent(event, {
    ...facts,
    ...dropUndefined({ prompt: description.prompt, source: description.source }),
    ...createToolFacts(description, sample),
    ...createResultFacts(description, sample),
    ...description.facts,
  });
}

function resolveName({ event: name, success }: EventDescription): ForeignEvent {
  const foreignEvent = isEventName(name) ? { event: name, facts: {} } : findForeignEvent(name);
  if (foreignEvent !== null) return success === false ? toFailure(foreignEvent) : foreignEvent;
  const suggestion = findClosestName(name, [...EVENT_NAMES, ...FOREIGN_EVENT_NAMES]);
  throw new HooklineError('EVENT_UNKNOWN', {
    message: `event ${JSON.stringify(name)} not found`,
    hint:
      suggestion === null ? `Events: ${EVENT_NAMES.join(', ')}.` : `Did you mean ${suggestion}?`,
  });
}

function toFailure(foreignEvent: ForeignEvent): ForeignEvent {
  return foreignEvent.event === 'PostToolUse'
    ? { ...foreignEvent, event: 'PostToolUseFailure' }
    : foreignEvent;
}

function createToolFacts({ event, tool, input }: EventDescription, sample: Facts): Facts {
  if (tool === undefined && input === undefined) return {};
  if (!isRecord(sample['tool'])) {
    throw createMisfitError(`${event} is not about a tool`, 'Omit the tool and its input.');
  }
  return {
    tool: {
      ...sample['tool'],
      ...(tool === undefined ? {} : { name: tool, input: {} }),
      ...dropUndefined({ input }),
    },
  };
}

function createResultFacts({ event, result, success }: EventDescription, sample: Facts): Facts {
  if (result === undefined && success === undefined) return {};
  if (!isRecord(sample['result'])) {
    throw createMisfitError(`${event} carries no tool result`, 'Omit the result and its success.');
  }
  const isSuccess = sample['result']['success'] === true;
  if (success !== undefined && success !== isSuccess) {
    throw createMisfitError(
      `${event} means that the tool failed`,
      'Use PostToolUse for a success.',
    );
  }
  const text = result ?? String(sample['result']['text']);
  const error = isSuccess ? {} : { error: text };
  return { result: { response: undefined, text, success: isSuccess, ...error } };
}

function createMisfitError(message: string, hint: string): HooklineError {
  return new HooklineError('PAYLOAD_INVALID', { message, hint });
}

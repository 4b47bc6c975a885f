import type { FiredEvent } from '../../../hooks/facts.ts';
import { parseEnvelope, type PayloadEnvelope } from '../../payload-envelope.ts';
import { EVENT_READERS, readMoment } from '../../payload-events.ts';
import { type PayloadOwner, PayloadReader } from '../../payload-reader.ts';
import { CLAUDE_EVENT_NAMES, findClaudeEvent } from '../events.ts';

const OWNER: PayloadOwner = {
  agent: 'Claude',
  hint: 'A Claude payload is one JSON object with "hook_event_name" and the fields of that event.',
};

/** Reads a payload of Claude Code as an event. */
export function readClaudePayload(payload: unknown): FiredEvent {
  const reader = new PayloadReader(payload, OWNER);
  const name = reader.eventName('hook_event_name', CLAUDE_EVENT_NAMES);
  return { ...readMoment(reader), ...EVENT_READERS[name](reader, {}) };
}

export function readClaudeEnvelope(payload: unknown): PayloadEnvelope {
  return parseEnvelope(payload, { findEvent: (name) => findClaudeEvent(name)?.event ?? null });
}

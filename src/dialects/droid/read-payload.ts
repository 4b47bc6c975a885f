import type { FiredEvent } from '../../hooks/facts.ts';
import { type AgentPayloads, readAgentPayload } from '../agent-payload.ts';
import { parseEnvelope, type PayloadEnvelope } from '../payload-envelope.ts';
import { readResponseText } from '../payload-events.ts';
import { PayloadReader } from '../payload-reader.ts';
import { DROID_EVENTS } from './events.ts';

const PAYLOADS: AgentPayloads = {
  owner: {
    agent: 'Droid',
    hint: 'A Droid payload is one JSON object with "hook_event_name" and the fields of that event.',
  },
  provider: 'factory',
  vocabulary: 'droid',
  modes: {
    off: 'default',
    spec: 'plan',
    'auto-low': 'acceptEdits',
    'auto-medium': 'acceptEdits',
    'auto-high': 'bypassPermissions',
  },
  readResponse: (response) => ({ text: readResponseText(response) }),
};

/** Reads a payload of Droid as an event. */
export function readPayload(payload: unknown): FiredEvent {
  const reader = new PayloadReader(payload, PAYLOADS.owner);
  const name = reader.eventName('hook_event_name', DROID_EVENTS.names);
  return readAgentPayload(name, reader.fields, PAYLOADS);
}

export function readEnvelope(payload: unknown): PayloadEnvelope {
  return parseEnvelope(payload, { findEvent: DROID_EVENTS.findExact, vocabulary: 'droid' });
}

import type { FiredEvent } from '../../hooks/facts.ts';
import { type AgentPayloads, readAgentMoment, readAgentPayload } from '../agent-payload.ts';
import { parseEnvelope, type PayloadEnvelope } from '../payload-envelope.ts';
import { readResponseText } from '../payload-events.ts';
import { PayloadReader } from '../payload-reader.ts';
import { CODEX_EVENTS } from './events.ts';

const PAYLOADS: AgentPayloads = {
  owner: {
    agent: 'Codex',
    hint: 'A Codex payload is one JSON object with "hook_event_name" and the fields of that event.',
  },
  provider: 'openai',
  vocabulary: 'codex',
  readResponse: (response) => ({ text: readResponseText(response) }),
};

/** Reads a payload of Codex CLI as an event. */
export function readPayload(payload: unknown): FiredEvent {
  const reader = new PayloadReader(payload, PAYLOADS.owner);
  const name = reader.eventName('hook_event_name', CODEX_EVENTS.names);
  const fields = { ...reader.fields, prompt_id: reader.value('turn_id') };
  if (name !== 'Interrupt') return readAgentPayload(name, fields, PAYLOADS);
  const moment = readAgentMoment(fields, PAYLOADS);
  return { ...moment, name: 'RunEnd', status: 'aborted', reason: 'interrupted' };
}

export function readEnvelope(payload: unknown): PayloadEnvelope {
  return parseEnvelope(payload, { findEvent: CODEX_EVENTS.findExact, vocabulary: 'codex' });
}

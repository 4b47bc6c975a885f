import type { FiredEvent } from '../../hooks/facts.ts';
import { type AgentPayloads, readAgentPayload, readGeminiResponse } from '../agent-payload.ts';
import { parseEnvelope, type PayloadEnvelope } from '../payload-envelope.ts';
import { PayloadReader } from '../payload-reader.ts';
import { QWEN_EVENTS } from './events.ts';

const PAYLOADS: AgentPayloads = {
  owner: {
    agent: 'Qwen Code',
    hint: 'A Qwen Code payload is one JSON object with "hook_event_name" and the fields of that event.',
  },
  provider: 'qwen',
  vocabulary: 'qwen',
  modes: { auto_edit: 'acceptEdits', yolo: 'bypassPermissions' },
  readResponse: readGeminiResponse,
};

/** Reads a payload of Qwen Code as an event. */
export function readPayload(payload: unknown): FiredEvent {
  const reader = new PayloadReader(payload, PAYLOADS.owner);
  const name = reader.eventName('hook_event_name', QWEN_EVENTS.names);
  const { fields } = reader;
  if (name !== 'TodoCreated' && name !== 'TodoCompleted') {
    return readAgentPayload(name, fields, PAYLOADS);
  }
  const item = {
    ...fields,
    task_id: fields['todo_id'] ?? fields['task_id'],
    task_subject: fields['todo_content'] ?? fields['task_subject'],
  };
  return readAgentPayload(name === 'TodoCreated' ? 'TaskCreated' : 'TaskCompleted', item, PAYLOADS);
}

export function readEnvelope(payload: unknown): PayloadEnvelope {
  return parseEnvelope(payload, { findEvent: QWEN_EVENTS.findExact, vocabulary: 'qwen' });
}

import { isRecord } from '../../base/json.ts';
import type { FiredEvent } from '../../hooks/facts.ts';
import {
  type AgentPayloads,
  type PayloadFields,
  readAgentMoment,
  readAgentPayload,
} from '../agent-payload.ts';
import { findFirstText, type PayloadEnvelope, readTime } from '../payload-envelope.ts';
import { readResponseText } from '../payload-events.ts';
import { PayloadReader } from '../payload-reader.ts';
import { OPENCODE_EVENTS } from './events.ts';

const PAYLOADS: AgentPayloads = {
  owner: {
    agent: 'opencode',
    hint: 'An opencode payload is one JSON object with "hook", "directory", "input" and "output", as the installed plugin writes it.',
  },
  provider: 'opencode',
  vocabulary: 'opencode',
  readResponse: (response) => ({ text: readResponseText(response) }),
};

/**
 * Reads a payload of the plugin that is installed in opencode: `{ hook, directory, at, input, output }`,
 * where `input` and `output` are the arguments of the hook, or `input` the properties of a bus event.
 */
export function readPayload(payload: unknown): FiredEvent {
  const reader = new PayloadReader(payload, PAYLOADS.owner);
  const name = reader.eventName('hook', OPENCODE_EVENTS.names);
  const call = toParts(reader.fields);
  const { fields } = call;
  switch (name) {
    case 'tool.execute.before':
      return readAgentPayload('PreToolUse', fields, PAYLOADS);
    case 'tool.execute.after':
      return readAgentPayload('PostToolUse', fields, PAYLOADS);
    case 'permission.ask':
      return readAgentPayload('PermissionRequest', fields, PAYLOADS);
    case 'chat.message':
      return readAgentPayload('UserPromptSubmit', fields, PAYLOADS);
    case 'experimental.session.compacting':
      return readAgentPayload('PreCompact', fields, PAYLOADS);
    case 'event:session.compacted':
      return readAgentPayload('PostCompact', fields, PAYLOADS);
    case 'event:session.created':
      return readCreated(call);
    case 'event:session.idle':
      return readAgentPayload('Stop', fields, PAYLOADS);
    case 'event:session.deleted':
      return readAgentPayload('SessionEnd', fields, PAYLOADS);
    case 'event:session.error':
      return readError(call);
    case 'event:permission.asked':
    case 'event:permission.updated':
      return readAgentPayload('Notification', fields, PAYLOADS);
  }
}

export function readEnvelope(payload: unknown): PayloadEnvelope {
  const { hook, fields, info } = toParts(isRecord(payload) ? payload : {});
  const tool = findFirstText(fields, ['tool_name']);
  const event = hook === null ? null : OPENCODE_EVENTS.findExact(hook);
  return {
    event: event === 'SessionStart' && isChild(info) ? 'SubagentStart' : event,
    foreignEvent: hook,
    at: readTime(fields['timestamp']),
    sessionId: findFirstText(fields, ['session_id']),
    workspace: findFirstText(fields, ['cwd']),
    call:
      tool === null ? null : { name: tool, input: fields['tool_input'], vocabulary: 'opencode' },
  };
}

interface PayloadParts {
  readonly hook: string | null;
  /** With Claude's keys. */
  readonly fields: PayloadFields;
  /** Of a session. */
  readonly info: PayloadFields;
  readonly input: PayloadFields;
}

function toParts(payload: PayloadFields): PayloadParts {
  const input = toRecord(payload['input']);
  const output = toRecord(payload['output']);
  const info = toRecord(input['info']);
  const { sessionID: session, callID: callId, tool } = input;
  return {
    hook: findFirstText(payload, ['hook']),
    info,
    input,
    fields: {
      session_id: session ?? info['id'],
      cwd: findFirstText(payload, ['directory']) ?? info['directory'],
      timestamp: payload['at'],
      model: findFirstText(toRecord(info['model']), ['id']) ?? undefined,
      tool_name: tool ?? input['type'],
      tool_use_id: callId,
      tool_input: output['args'] ?? input['args'] ?? input['metadata'] ?? {},
      tool_response: output['output'],
      prompt: readPrompt(output),
      trigger: input['auto'] === false ? 'manual' : 'auto',
      notification_type: 'permission_prompt',
      message: findFirstText(input, ['title', 'permission']) ?? undefined,
    },
  };
}

/** Joins the texts of a message. */
function readPrompt({ parts, message }: PayloadFields): string {
  const list: unknown = parts ?? toRecord(message)['parts'];
  const texts = (Array.isArray(list) ? list : [])
    .filter(isRecord)
    .flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []));
  return texts.join('\n');
}

/** A session that another one has created is a sub-agent. */
function isChild(info: PayloadFields): boolean {
  return typeof info['parentID'] === 'string' && info['parentID'] !== '';
}

function readCreated({ fields, info }: PayloadParts): FiredEvent {
  if (!isChild(info)) return readAgentPayload('SessionStart', fields, PAYLOADS);
  const { id, parentID: parent, agent } = info;
  const child = { ...fields, session_id: parent, agent_id: id, agent_type: agent };
  return readAgentPayload('SubagentStart', child, PAYLOADS);
}

function readError({ fields, input }: PayloadParts): FiredEvent {
  const error = toRecord(input['error']);
  const message =
    findFirstText(toRecord(error['data']), ['message']) ?? findFirstText(error, ['message']) ?? '';
  return {
    ...readAgentMoment(fields, PAYLOADS),
    name: 'RunEnd',
    status: 'failed',
    error: { name: findFirstText(error, ['name']) ?? 'Error', message },
  };
}

function toRecord(value: unknown): PayloadFields {
  return isRecord(value) ? value : {};
}

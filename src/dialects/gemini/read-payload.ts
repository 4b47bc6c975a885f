import { isRecord } from '../../base/json.ts';
import type { FiredEvent } from '../../hooks/facts.ts';
import {
  type AgentPayloads,
  type PayloadFields,
  readAgentMoment,
  readAgentPayload,
  readGeminiResponse,
} from '../agent-payload.ts';
import { findFirstText, parseEnvelope, type PayloadEnvelope } from '../payload-envelope.ts';
import { PayloadReader } from '../payload-reader.ts';
import { GEMINI_EVENTS } from './events.ts';

const PAYLOADS: AgentPayloads = {
  owner: {
    agent: 'Gemini',
    hint: 'A Gemini payload is one JSON object with "hook_event_name" and the fields of that event.',
  },
  provider: 'google',
  vocabulary: 'gemini',
  readResponse: readGeminiResponse,
};

/** Reads a payload of Gemini CLI as an event. */
export function readPayload(payload: unknown): FiredEvent {
  const reader = new PayloadReader(payload, PAYLOADS.owner);
  const name = reader.eventName('hook_event_name', GEMINI_EVENTS.names);
  const { fields } = reader;
  const moment = readAgentMoment(fields, PAYLOADS);
  switch (name) {
    case 'BeforeTool':
      return readAgentPayload('PreToolUse', nameMcpTool(fields), PAYLOADS);
    case 'AfterTool':
      return readAgentPayload('PostToolUse', nameMcpTool(fields), PAYLOADS);
    case 'BeforeAgent':
      return readAgentPayload('UserPromptSubmit', fields, PAYLOADS);
    case 'AfterAgent': {
      const lastText = fields['prompt_response'];
      return readAgentPayload('Stop', { ...fields, last_assistant_message: lastText }, PAYLOADS);
    }
    case 'BeforeModel':
      return {
        ...moment,
        ...readModel(fields),
        name: 'ModelRequest',
        request: readRequest(fields),
      };
    case 'AfterModel':
      return { ...moment, ...readModel(fields), name: 'ModelResponse', ...readAnswer(fields) };
    case 'PreCompress':
      return readAgentPayload('PreCompact', fields, PAYLOADS);
    case 'Notification':
      return readAgentPayload(name, { ...fields, ...readNotification(fields) }, PAYLOADS);
    case 'SessionStart':
    case 'SessionEnd':
      return readAgentPayload(name, fields, PAYLOADS);
  }
}

export function readEnvelope(payload: unknown): PayloadEnvelope {
  const named = isRecord(payload) ? nameMcpTool(payload) : payload;
  const envelope = parseEnvelope(named, {
    findEvent: GEMINI_EVENTS.findExact,
    vocabulary: 'gemini',
  });
  const response = isRecord(payload) ? payload['tool_response'] : undefined;
  const hasFailed = isRecord(response) && (response['error'] ?? null) !== null;
  const isFailure = envelope.event === 'PostToolUse' && hasFailed;
  return isFailure ? { ...envelope, event: 'PostToolUseFailure' } : envelope;
}

/** The context of a call names server and tool, which the name of the tool joins with underscores. */
function nameMcpTool(fields: PayloadFields): PayloadFields {
  const context = fields['mcp_context'];
  if (!isRecord(context)) return fields;
  const [server, tool] = [['server_name'], ['tool_name']].map((keys) =>
    findFirstText(context, keys),
  );
  if (server === null || server === undefined || tool === null) return fields;
  return { ...fields, tool_name: `mcp__${server}__${tool}` };
}

function readNotification({ notification_type: type }: PayloadFields): PayloadFields {
  return { notification_type: type === 'ToolPermission' ? 'permission_prompt' : type };
}

function readModel({ llm_request: request }: PayloadFields) {
  const id = isRecord(request) ? request['model'] : undefined;
  return typeof id === 'string' ? { model: { provider: PAYLOADS.provider, id } } : {};
}

/** Gemini's messages are texts; here a message is a list of blocks. */
function readRequest({ llm_request: request }: PayloadFields): unknown {
  if (!isRecord(request)) return { messages: [] };
  const messages = Array.isArray(request['messages']) ? request['messages'].filter(isRecord) : [];
  return {
    messages: messages.map(({ role, content }) => ({
      role: role === 'model' ? 'assistant' : 'user',
      content: [{ type: 'text', text: typeof content === 'string' ? content : '' }],
    })),
    ...(isRecord(request['config']) ? { options: request['config'] } : {}),
  };
}

function readAnswer({ llm_response: response }: PayloadFields) {
  const { text, candidates } = isRecord(response) ? response : {};
  const first: unknown = Array.isArray(candidates) ? candidates[0] : undefined;
  const reason = isRecord(first) ? first['finishReason'] : undefined;
  const content = typeof text === 'string' && text !== '' ? [{ type: 'text', text }] : [];
  return {
    response: { role: 'assistant', content },
    finishReason: typeof reason === 'string' ? reason.toLowerCase() : 'stop',
  };
}

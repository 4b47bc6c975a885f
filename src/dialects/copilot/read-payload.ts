import { isRecord, parseJson } from '../../base/json.ts';
import type { FiredEvent } from '../../hooks/facts.ts';
import {
  type AgentPayloads,
  type PayloadFields,
  readAgentMoment,
  readAgentPayload,
} from '../agent-payload.ts';
import { findFirstText, parseEnvelope, type PayloadEnvelope } from '../payload-envelope.ts';
import { isReadableEvent, readResponseText, type ResponseText } from '../payload-events.ts';
import { PayloadReader } from '../payload-reader.ts';
import { COPILOT_EVENTS } from './events.ts';

const PAYLOADS: AgentPayloads = {
  owner: {
    agent: 'Copilot',
    hint: 'A Copilot payload is one JSON object with the fields of its event in camelCase, or with "hook_event_name" and the fields in snake_case.',
  },
  provider: 'copilot',
  vocabulary: 'copilot',
  readResponse: readResult,
};

/** Reads a payload of Copilot CLI, in either spelling, as an event. */
export function readPayload(payload: unknown): FiredEvent {
  const named = isRecord(payload)
    ? { ...payload, hook_event_name: findEventName(payload) }
    : payload;
  const reader = new PayloadReader(named, PAYLOADS.owner);
  const name = reader.eventName('hook_event_name', COPILOT_EVENTS.names);
  const fields = toSnakeCase(reader.fields);
  const event = COPILOT_EVENTS.findExact(name);
  return isReadableEvent(event) ? readAgentPayload(event, fields, PAYLOADS) : readError(fields);
}

export function readEnvelope(payload: unknown): PayloadEnvelope {
  const envelope = parseEnvelope(payload, {
    findEvent: COPILOT_EVENTS.findExact,
    findName: findEventName,
    session: ['session_id', 'sessionId'],
    tool: ['tool_name', 'toolName'],
    input: ['tool_input', 'toolArgs', 'toolInput'],
    vocabulary: 'copilot',
  });
  const result = isRecord(payload) ? (payload['toolResult'] ?? payload['tool_result']) : undefined;
  const isFailure = envelope.event === 'PostToolUse' && readResult(result).error !== undefined;
  const event = isFailure ? 'PostToolUseFailure' : envelope.event;
  const { call } = envelope;
  return { ...envelope, event, call: call && { ...call, input: parseArguments(call.input) } };
}

/** Keys that only the payload of one event in camelCase has, which does not name its event. */
const TELLING_KEYS: readonly (readonly [keys: readonly string[], event: string])[] = [
  [['toolName', 'toolResult'], 'postToolUse'],
  [['toolName', 'error'], 'postToolUseFailure'],
  [['toolName', 'permissionSuggestions'], 'permissionRequest'],
  [['toolName'], 'preToolUse'],
  [['transformedPrompt'], 'userPromptTransformed'],
  [['initialPrompt'], 'sessionStart'],
  [['prompt'], 'userPromptSubmitted'],
  [['agentName', 'stopReason'], 'subagentStop'],
  [['agentName'], 'subagentStart'],
  [['stopReason'], 'agentStop'],
  [['stop_hook_active'], 'agentStop'],
  [['error'], 'errorOccurred'],
  [['trigger'], 'preCompact'],
  [['customInstructions'], 'preCompact'],
  [['notificationType'], 'notification'],
  [['message'], 'notification'],
  [['source'], 'sessionStart'],
  [['reason'], 'sessionEnd'],
];

function findEventName(payload: PayloadFields): string | null {
  const name = findFirstText(payload, ['hook_event_name', 'hookName']);
  if (name !== null) return name;
  const isThere = (key: string): boolean => payload[key] !== undefined;
  return TELLING_KEYS.find(([keys]) => keys.every(isThere))?.[1] ?? null;
}

/** The keys of payloads in camelCase, with those of Claude's that mean the same. */
const SNAKE_KEYS: Readonly<Record<string, string>> = {
  sessionId: 'session_id',
  transcriptPath: 'transcript_path',
  toolName: 'tool_name',
  toolArgs: 'tool_input',
  toolInput: 'tool_input',
  toolResult: 'tool_result',
  toolCallId: 'tool_use_id',
  stopReason: 'stop_reason',
  stopHookActive: 'stop_hook_active',
  agentName: 'agent_type',
  agent_name: 'agent_type',
  customInstructions: 'custom_instructions',
  notificationType: 'notification_type',
  permissionSuggestions: 'permission_suggestions',
};

function toSnakeCase(fields: PayloadFields): PayloadFields {
  const renamed = Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [SNAKE_KEYS[key] ?? key, value]),
  );
  const error = renamed['error'];
  return {
    ...renamed,
    ...(renamed['tool_input'] === undefined
      ? {}
      : { tool_input: parseArguments(renamed['tool_input']) }),
    ...(isRecord(error) ? { error: findFirstText(error, ['message']) ?? '' } : {}),
  };
}

/** Some versions write the arguments of a call as JSON text. */
function parseArguments(input: unknown): unknown {
  if (typeof input !== 'string') return input;
  const parsed = parseJson(input);
  return parsed.ok && isRecord(parsed.value) ? parsed.value : input;
}

function readError(fields: PayloadFields): FiredEvent {
  const { error } = fields;
  const message = typeof error === 'string' ? error : '';
  return {
    ...readAgentMoment(fields, PAYLOADS),
    name: 'RunEnd',
    status: 'failed',
    error: { name: 'Error', message },
  };
}

function readResult(result: unknown): ResponseText {
  if (!isRecord(result)) return { text: readResponseText(result) };
  const found = findFirstText(result, ['text_result_for_llm', 'textResultForLlm']);
  const text = found ?? readResponseText(result);
  const type = findFirstText(result, ['result_type', 'resultType']);
  return type === null || type === 'success' ? { text } : { text, error: text };
}

import { createHash } from 'node:crypto';
import { invariant } from '../../base/errors.ts';
import { isRecord, parseJson } from '../../base/json.ts';
import type { FiredEvent } from '../../hooks/facts.ts';
import { summarizeCall } from '../../tool-vocabularies/tool-views.ts';
import { type AgentPayloads, type PayloadFields, readAgentPayload } from '../agent-payload.ts';
import { findFirstText, parseEnvelope, type PayloadEnvelope } from '../payload-envelope.ts';
import { isReadableEvent, type ReadableEvent, readResponseText } from '../payload-events.ts';
import { PayloadReader } from '../payload-reader.ts';
import { CURSOR_EVENTS } from './events.ts';

type CursorEvent = (typeof CURSOR_EVENTS.names)[number];

const PAYLOADS: AgentPayloads = {
  owner: {
    agent: 'Cursor',
    hint: 'A Cursor payload is one JSON object with "hook_event_name", "conversation_id" and the fields of that event.',
  },
  provider: 'cursor',
  vocabulary: 'cursor',
  readResponse: (response) => ({ text: readResponseText(parseText(response)) }),
};

/** Reads a payload of Cursor as an event. */
export function readPayload(payload: unknown): FiredEvent {
  const reader = new PayloadReader(payload, PAYLOADS.owner);
  const name = reader.eventName('hook_event_name', CURSOR_EVENTS.names);
  const fields = toClaudeKeys(reader.fields, name);
  const roots = listRoots(fields);
  const event = readAgentPayload(getReadable(name), fields, PAYLOADS);
  return roots.length === 0 ? event : { ...event, workspaceRoots: roots };
}

/** Every event of Cursor is read under its canonical name. */
function getReadable(name: CursorEvent): ReadableEvent {
  const event = CURSOR_EVENTS.findExact(name);
  invariant(isReadableEvent(event), `${name} can be read`);
  return event;
}

export function readEnvelope(payload: unknown): PayloadEnvelope {
  const name = isRecord(payload) ? findName(payload) : undefined;
  const fields = isRecord(payload) && name !== undefined ? addCall(payload, name) : payload;
  return parseEnvelope(fields, {
    findEvent: CURSOR_EVENTS.findExact,
    session: ['conversation_id', 'session_id'],
    vocabulary: 'cursor',
  });
}

function findName(payload: PayloadFields): CursorEvent | undefined {
  return CURSOR_EVENTS.names.find((each) => each === payload['hook_event_name']);
}

function toClaudeKeys(fields: PayloadFields, name: CursorEvent): PayloadFields {
  const called = addCall(fields, name);
  const durationMs = fields['duration'] ?? fields['duration_ms'];
  return {
    ...called,
    session_id: findFirstText(fields, ['conversation_id', 'session_id']) ?? undefined,
    prompt_id: fields['generation_id'],
    cwd: findFirstText(fields, ['cwd']) ?? listRoots(fields)[0],
    tool_use_id: createCallKey(called),
    tool_response:
      fields['tool_output'] ?? fields['output'] ?? fields['result_json'] ?? fields['edits'],
    error: fields['error_message'],
    duration_ms: typeof durationMs === 'number' ? durationMs : undefined,
    agent_id: fields['subagent_id'],
    agent_type: findFirstText(fields, ['subagent_type']) ?? undefined,
    delta: fields['text'],
    last_assistant_message: findFirstText(fields, ['summary']) ?? undefined,
    // Cursor counts how often a hook let the agent continue.
    stop_hook_active: typeof fields['loop_count'] === 'number' && fields['loop_count'] > 0,
  };
}

/** Writes the call of an event that is about one kind of call as preToolUse has it. */
function addCall(fields: PayloadFields, name: CursorEvent): PayloadFields {
  switch (name) {
    case 'beforeShellExecution':
    case 'afterShellExecution':
      return { ...fields, tool_name: 'Shell', tool_input: { command: fields['command'] } };
    case 'beforeReadFile':
    case 'beforeTabFileRead':
      return { ...fields, tool_name: 'Read', tool_input: { file_path: fields['file_path'] } };
    case 'afterFileEdit':
    case 'afterTabFileEdit': {
      const { file_path: file, edits } = fields;
      return { ...fields, tool_name: 'MultiEdit', tool_input: { file_path: file, edits } };
    }
    case 'beforeMCPExecution':
    case 'afterMCPExecution': {
      const tool = findFirstText(fields, ['tool_name']) ?? '';
      const qualified = tool.startsWith('MCP:') ? tool : `MCP:${tool}`;
      return { ...fields, tool_name: qualified, tool_input: parseText(fields['tool_input']) };
    }
    default:
      return { ...fields, tool_input: parseText(fields['tool_input']) };
  }
}

/**
 * Creates an id that all events of one call share. `tool_use_id` cannot be it: beforeShellExecution, which
 * fires beside preToolUse for the same command, has none.
 */
function createCallKey(fields: PayloadFields): string | undefined {
  const name = findFirstText(fields, ['tool_name']);
  if (name === null) return undefined;
  const input = fields['tool_input'];
  const cwd = findFirstText(fields, ['cwd']) ?? listRoots(fields)[0] ?? null;
  const { tool, paths } = summarizeCall({ name, input, vocabulary: 'cursor' }, cwd);
  const command = isRecord(input) ? input['command'] : undefined;
  const subject = command ?? (paths.length > 0 ? paths : input);
  const parts = [fields['conversation_id'], fields['generation_id'], tool, subject];
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  return `cursor-${hash.slice(0, 24)}`;
}

function listRoots({ workspace_roots: roots }: PayloadFields): readonly string[] {
  return Array.isArray(roots) ? roots.filter((root) => typeof root === 'string') : [];
}

/** Reads a value that is written as JSON text. */
function parseText(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const parsed = parseJson(value);
  return parsed.ok ? parsed.value : value;
}

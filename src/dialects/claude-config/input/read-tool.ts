import { isRecord } from '../../../base/json.ts';
import type { CallFacts, EventFacts, FiredEvent } from '../../../hooks/facts.ts';
import { given } from './given.ts';
import type { PayloadReader } from './payload-reader.ts';

export function readTool(payload: PayloadReader): EventFacts['PreToolUse'] {
  return { tool: readCall(payload), ...given({ mcpServer: readServer(payload) }) };
}

export function readFinishedTool(payload: PayloadReader): FiredEvent {
  const tool = readTool(payload);
  const durationMs = payload.findNumber('duration_ms') ?? 0;
  if (payload.value('hook_event_name') === 'PostToolUse') {
    const response = payload.value('tool_response') ?? payload.value('tool_result');
    const result = { response, text: textOf(response), success: true };
    return { name: 'PostToolUse', ...tool, result, durationMs };
  }
  const error = payload.textOr('error', '');
  const exitCode = /^Exit code (\d+)/u.exec(error)?.[1];
  return {
    name: 'PostToolUseFailure',
    ...tool,
    result: {
      response: undefined,
      text: error,
      success: false,
      error,
      ...(exitCode === undefined ? {} : { exitCode: Number(exitCode) }),
    },
    durationMs,
    ...given({ interrupted: payload.findFlag('is_interrupt') }),
  };
}

export function readBatch(payload: PayloadReader): FiredEvent {
  const calls = (payload.findList('tool_calls') ?? []).map((call) => ({
    ...readCall(call),
    ...given({ answer: call.value('tool_response') }),
  }));
  return { name: 'PostToolBatch', calls };
}

function readCall(payload: PayloadReader): CallFacts {
  return {
    callId: payload.textOr('tool_use_id', ''),
    name: payload.text('tool_name'),
    input: payload.value('tool_input') ?? {},
  };
}

function readServer(payload: PayloadReader): EventFacts['PreToolUse']['mcpServer'] {
  const server = payload.find('mcp_server');
  return server && { name: server.textOr('name', ''), source: server.textOr('source', '') };
}

/** What the model sees of a tool's response: the text in it, or all of it. */
function textOf(response: unknown): string {
  if (typeof response === 'string') return response;
  if (Array.isArray(response)) return response.map(blockText).join('\n');
  if (!isRecord(response)) return JSON.stringify(response) ?? '';
  const { stdout, file, result, content } = response;
  const told = [stdout, isRecord(file) ? file['content'] : undefined, result].find(
    (text) => typeof text === 'string',
  );
  if (typeof told === 'string') return told;
  return Array.isArray(content) ? content.map(blockText).join('\n') : JSON.stringify(response);
}

function blockText(block: unknown): string {
  const isText = isRecord(block) && typeof block['text'] === 'string';
  return isText ? String(block['text']) : (JSON.stringify(block) ?? '');
}

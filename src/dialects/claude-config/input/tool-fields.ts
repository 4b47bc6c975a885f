import path from 'node:path';
import { isRecord } from '../../../base/json.ts';
import { type ToolView, viewsOf, vocabularyOfName } from '../../../tool-vocabularies/tool-views.ts';
import type { AnsweredCallFacts, HookEvent } from '../../../hooks/facts.ts';
import type { HandlerInput } from '../../../hooks/handler.ts';
import type { FieldContext, Fields } from './fields.ts';
import { toolResponse } from './tool-response.ts';

type ToolEvent = HookEvent<
  'PreToolUse' | 'PermissionRequest' | 'PermissionDenied' | 'PostToolUse' | 'PostToolUseFailure'
>;

/** The tool in Claude's words, as a hook may rely on it: absolute paths and defaults filled in. */
export function toolFields(input: HandlerInput, event: ToolEvent, context: FieldContext): Fields {
  const view = shownTool(input, event);
  return { tool_name: view.name, tool_input: shownInput(view, event.cwd, context.home) };
}

export function succeededFields(
  input: HandlerInput,
  event: HookEvent<'PostToolUse'>,
  context: FieldContext,
): Fields {
  const response = toolResponse(shownTool(input, event), event);
  return {
    ...toolFields(input, event, context),
    tool_response: response,
    tool_use_id: event.tool.callId,
    duration_ms: Math.round(event.durationMs),
    mcp_server: event.mcpServer,
    // Some hooks look for it under this name.
    tool_result: response,
  };
}

export function failedFields(
  input: HandlerInput,
  event: HookEvent<'PostToolUseFailure'>,
  context: FieldContext,
): Fields {
  return {
    ...toolFields(input, event, context),
    tool_use_id: event.tool.callId,
    error: errorText(shownTool(input, event), event),
    is_interrupt: event.interrupted ?? false,
    duration_ms: Math.round(event.durationMs),
    mcp_server: event.mcpServer,
  };
}

/** All calls of one turn, with their input as the model wrote it and the answer as it saw it. */
export function batchFields(event: HookEvent<'PostToolBatch'>): Fields {
  return { tool_calls: event.calls.flatMap((call) => batchCalls(call, event)) };
}

function batchCalls(call: AnsweredCallFacts, event: HookEvent): Fields[] {
  const places = { cwd: event.cwd, root: event.workspaceRoots[0] ?? null };
  const views = isClaudes(call.name) ? [call] : viewsOf(call, 'claude', places);
  // A hook may have made other parts of it; what these answered belongs to none of the model's.
  const answers = call.answers?.length === views.length ? call.answers : [];
  return views.map(({ name, input }, index) => ({
    tool_name: name,
    tool_input: input ?? {},
    tool_use_id: call.callId,
    tool_response: answers[index] ?? call.answer,
  }));
}

function isClaudes(name: string): boolean {
  const vocabulary = vocabularyOfName(name);
  return vocabulary === null || vocabulary === 'claude';
}

function shownTool({ tool }: HandlerInput, event: ToolEvent): ToolView {
  return tool ?? { ...event.tool, part: null };
}

const PATH_KEYS: ReadonlyMap<string, string> = new Map([
  ['Read', 'file_path'],
  ['Write', 'file_path'],
  ['Edit', 'file_path'],
  ['MultiEdit', 'file_path'],
  ['NotebookEdit', 'notebook_path'],
  ['Glob', 'path'],
  ['Grep', 'path'],
]);

function shownInput({ name, input }: ToolView, cwd: string, home: string | null): unknown {
  if (!isRecord(input)) return input ?? {};
  const key = PATH_KEYS.get(name);
  const file = key === undefined ? undefined : input[key];
  const named = key !== undefined && typeof file === 'string' && file !== '';
  const found = named ? { ...input, [key]: absolutePath(file, cwd, home) } : input;
  return name === 'Edit' ? { ...found, replace_all: input['replace_all'] ?? false } : found;
}

function absolutePath(file: string, cwd: string, home: string | null): string {
  const [, below] = /^~(?:$|[\\/](.*)$)/su.exec(file) ?? [];
  const isHome = file === '~' || below !== undefined;
  if (!isHome) return path.resolve(cwd, file);
  return home === null ? file : path.join(home, below ?? '');
}

/** A command's failure begins with its exit code, where that is known. */
function errorText(view: ToolView, event: HookEvent<'PostToolUseFailure'>): string {
  const part = view.part === null ? undefined : event.result.parts?.[view.part];
  const { error, text, exitCode } = part ?? event.result;
  const message = error ?? text;
  if (view.name !== 'Bash' || exitCode === undefined || message.startsWith('Exit code ')) {
    return message;
  }
  return [`Exit code ${exitCode}`, message].filter((line) => line !== '').join('\n');
}

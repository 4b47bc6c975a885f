import path from 'node:path';
import { isRecord } from '../../../base/json.ts';
import {
  type ToolView,
  listToolViews,
  findVocabulary,
  formatResult,
} from '../../../tool-vocabularies/tool-views.ts';
import type { AnsweredCallFacts, HookEvent } from '../../../hooks/facts.ts';
import type { HandlerInput } from '../../../hooks/handler.ts';

/** Part of a payload; undefined fields are not written. */
export type Fields = Readonly<Record<string, unknown>>;

type ToolEvent = HookEvent<
  'PreToolUse' | 'PermissionRequest' | 'PermissionDenied' | 'PostToolUse' | 'PostToolUseFailure'
>;

/** Creates the tool's fields under Claude's names, with absolute paths and defaults; `home` replaces `~`. */
export function createToolFields(
  input: HandlerInput,
  event: ToolEvent,
  home: string | null,
): Fields {
  const view = getToolView(input, event);
  return { tool_name: view.name, tool_input: completeInput(view, event.cwd, home) };
}

export function createSuccessFields(
  input: HandlerInput,
  event: HookEvent<'PostToolUse'>,
  home: string | null,
): Fields {
  const response = createToolResponse(input, event);
  return {
    ...createToolFields(input, event, home),
    tool_response: response,
    tool_use_id: event.tool.callId,
    duration_ms: Math.round(event.durationMs),
    mcp_server: event.mcpServer,
    // Some hooks read the response under this name.
    tool_result: response,
  };
}

export function createFailureFields(
  input: HandlerInput,
  event: HookEvent<'PostToolUseFailure'>,
  home: string | null,
): Fields {
  return {
    ...createToolFields(input, event, home),
    tool_use_id: event.tool.callId,
    error: formatErrorText(getToolView(input, event), event),
    is_interrupt: event.interrupted ?? false,
    duration_ms: Math.round(event.durationMs),
    mcp_server: event.mcpServer,
  };
}

/** Creates all calls of a turn, with the input and the response as the model has them. */
export function createBatchFields(event: HookEvent<'PostToolBatch'>): Fields {
  return { tool_calls: event.calls.flatMap((call) => createBatchCalls(call, event)) };
}

function createBatchCalls(call: AnsweredCallFacts, event: HookEvent): Fields[] {
  const places = { cwd: event.cwd, root: event.workspaceRoots[0] ?? null };
  const views = isClaudeTool(call) ? [call] : listToolViews(call, 'claude', places);
  // After a rewrite a call may have other parts, whose answers belong to none of the model's parts.
  const answers = call.answers?.length === views.length ? call.answers : [];
  return views.map(({ name, input }, index) => ({
    tool_name: name,
    tool_input: input ?? {},
    tool_use_id: call.callId,
    tool_response: answers[index] ?? call.answer,
  }));
}

function isClaudeTool({ name, vocabulary: foreign }: AnsweredCallFacts): boolean {
  if (foreign !== undefined) return false;
  const vocabulary = findVocabulary(name);
  return vocabulary === null || vocabulary === 'claude';
}

function getToolView({ tool }: HandlerInput, event: ToolEvent): ToolView {
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

function completeInput({ name, input }: ToolView, cwd: string, home: string | null): unknown {
  if (!isRecord(input)) return input ?? {};
  const key = PATH_KEYS.get(name);
  const file = key === undefined ? undefined : input[key];
  const hasPath = key !== undefined && typeof file === 'string' && file !== '';
  const resolved = hasPath ? { ...input, [key]: resolvePath(file, cwd, home) } : input;
  return name === 'Edit' ? { ...resolved, replace_all: input['replace_all'] ?? false } : resolved;
}

function resolvePath(file: string, cwd: string, home: string | null): string {
  const [, below] = /^~(?:$|[\\/](.*)$)/su.exec(file) ?? [];
  const isHome = file === '~' || below !== undefined;
  if (!isHome) return path.resolve(cwd, file);
  return home === null ? file : path.join(home, below ?? '');
}

/** Starts the error of a command with its exit code, if known. */
function formatErrorText(view: ToolView, event: HookEvent<'PostToolUseFailure'>): string {
  const part = view.part === null ? undefined : event.result.parts?.[view.part];
  const { error, text, exitCode } = part ?? event.result;
  const message = error ?? text;
  if (view.name !== 'Bash' || exitCode === undefined || message.startsWith('Exit code ')) {
    return message;
  }
  return [`Exit code ${exitCode}`, message].filter((line) => line !== '').join('\n');
}

/** A tool's text with facts about its call. */
interface ToolAnswer {
  readonly text: string;
  readonly input: Fields;
  /** The path as the model wrote it, which Claude's responses contain instead of the absolute one. */
  readonly writtenPath: unknown;
  readonly isClaudesCall: boolean;
  readonly durationMs: number;
}

/** Creates `tool_response`, in the shape of Claude's tool of this name, also where only its text is known. */
export function createToolResponse(input: HandlerInput, event: HookEvent<'PostToolUse'>): unknown {
  const view = getToolView(input, event);
  const { tool, result } = event;
  const response = formatResult(tool, result, 'claude', view.part);
  if (typeof response !== 'string') return response;
  if (view.name.startsWith('mcp__')) return [{ type: 'text', text: response }];
  const shape = SHAPES.get(view.name);
  return shape === undefined ? response : shape(createToolAnswer(response, view, event));
}

function createToolAnswer(
  text: string,
  view: ToolView,
  { tool, durationMs }: HookEvent<'PostToolUse'>,
): ToolAnswer {
  const input = isRecord(view.input) ? view.input : {};
  const writtenInput = isRecord(tool.input) ? tool.input : {};
  return {
    text,
    input,
    writtenPath: writtenInput['file_path'] ?? writtenInput['path'] ?? input['file_path'] ?? '',
    isClaudesCall: tool.name === view.name,
    durationMs: Math.round(durationMs),
  };
}

type Shape = (answer: ToolAnswer) => unknown;

// Fields that the text does not contain, such as the file before an edit, are null or empty.
const SHAPES: ReadonlyMap<string, Shape> = new Map<string, Shape>([
  ['Read', createReadResponse],
  ['Write', createWriteResponse],
  ['Edit', createEditResponse],
  ['NotebookEdit', createNotebookEditResponse],
  ['Glob', createGlobResponse],
  ['Grep', createGrepResponse],
  ['WebFetch', createWebFetchResponse],
  ['WebSearch', createWebSearchResponse],
  ['Agent', createAgentResponse],
  ['Skill', ({ input }) => ({ success: true, commandName: input['skill'] })],
  ['TaskCreate', ({ input: { subject, description } }) => ({ task: { subject, description } })],
  ['TaskUpdate', createTaskUpdateResponse],
  ['TodoWrite', ({ input }) => ({ oldTodos: [], newTodos: input['todos'] ?? [] })],
  ['AskUserQuestion', createQuestionResponse],
  ['ExitPlanMode', createExitPlanModeResponse],
]);

function createReadResponse({ text, input, writtenPath }: ToolAnswer): Fields {
  const startLine = typeof input['offset'] === 'number' ? input['offset'] : 1;
  const numLines = text.split('\n').length;
  const totalLines = Math.max(startLine, 1) - 1 + numLines;
  return {
    type: 'text',
    file: { filePath: writtenPath, content: text, numLines, startLine, totalLines },
  };
}

function createWriteResponse({ input, writtenPath }: ToolAnswer): Fields {
  return {
    type: 'create',
    filePath: writtenPath,
    content: input['content'] ?? '',
    structuredPatch: [],
    originalFile: null,
    userModified: false,
  };
}

function createEditResponse({ input, writtenPath }: ToolAnswer): Fields {
  return {
    filePath: writtenPath,
    oldString: input['old_string'] ?? '',
    newString: input['new_string'] ?? '',
    originalFile: null,
    structuredPatch: [],
    userModified: false,
    replaceAll: input['replace_all'] === true,
  };
}

function createNotebookEditResponse({ input }: ToolAnswer): Fields {
  return {
    new_source: input['new_source'] ?? '',
    old_source: '',
    cell_type: input['cell_type'] ?? 'code',
    language: 'python',
    edit_mode: input['edit_mode'] ?? 'replace',
    cell_id: input['cell_id'],
    error: '',
    notebook_path: input['notebook_path'] ?? '',
    original_file: '',
    updated_file: '',
  };
}

function createGlobResponse({ text, durationMs }: ToolAnswer): Fields {
  const filenames = splitLines(text);
  const numFiles = filenames.length;
  return {
    filenames,
    durationMs,
    numFiles,
    truncated: false,
    totalMatches: numFiles,
    countIsComplete: true,
  };
}

function createGrepResponse({ text, input, isClaudesCall }: ToolAnswer): Fields {
  // Only Claude's own tool lists file names by default.
  const mode = input['output_mode'] ?? (isClaudesCall ? 'files_with_matches' : 'content');
  const lines = splitLines(text);
  if (mode === 'files_with_matches') {
    return { mode, numFiles: lines.length, filenames: lines, totalFiles: lines.length };
  }
  const numLines = lines.length;
  return { mode, numFiles: 0, filenames: [], content: text, numLines, totalLines: numLines };
}

function createWebFetchResponse({ text, input, durationMs }: ToolAnswer): Fields {
  const bytes = Buffer.byteLength(text);
  return { bytes, code: 200, codeText: 'OK', result: text, durationMs, url: input['url'] ?? '' };
}

function createWebSearchResponse({ text, input, durationMs }: ToolAnswer): Fields {
  return { query: input['query'] ?? '', results: [text], durationSeconds: durationMs / 1000 };
}

function createAgentResponse({ text, input, durationMs }: ToolAnswer): Fields {
  return {
    status: 'completed',
    prompt: input['prompt'] ?? '',
    agentType: input['subagent_type'] ?? 'general-purpose',
    content: [{ type: 'text', text }],
    totalDurationMs: durationMs,
  };
}

function createTaskUpdateResponse({ input: { taskId, ...updated } }: ToolAnswer): Fields {
  return { success: true, taskId, updatedFields: Object.keys(updated) };
}

function createQuestionResponse({ text, input }: ToolAnswer): Fields {
  const questions: readonly unknown[] = Array.isArray(input['questions']) ? input['questions'] : [];
  const [only, ...more] = questions;
  const isAlone = isRecord(only) && typeof only['question'] === 'string' && more.length === 0;
  return { questions, answers: isAlone ? { [String(only['question'])]: text } : {} };
}

function createExitPlanModeResponse({ input }: ToolAnswer): Fields {
  return { plan: input['plan'] ?? null, filePath: input['planFilePath'], isAgent: false };
}

function splitLines(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}

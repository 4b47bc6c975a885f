import { isRecord } from '../../../base/json.ts';
import { resultOf, type ToolView } from '../../../tool-vocabularies/tool-views.ts';
import type { HookEvent } from '../../../hooks/facts.ts';
import type { Fields } from './fields.ts';

/** A tool's text, and what is known of the call that it answers. */
interface Answered {
  readonly text: string;
  readonly input: Fields;
  /** The path as the model wrote it: Claude's responses repeat that, not the absolute one. */
  readonly writtenPath: unknown;
  readonly isClaudesCall: boolean;
  readonly durationMs: number;
}

/** What the tool answered, in the shape that Claude's tool of this name answers in. */
export function toolResponse(view: ToolView, event: HookEvent<'PostToolUse'>): unknown {
  const { tool, result } = event;
  const seen = resultOf(tool, result, { vocabulary: 'claude', part: view.part });
  if (typeof seen !== 'string') return seen;
  if (view.name.startsWith('mcp__')) return [{ type: 'text', text: seen }];
  const shape = SHAPES.get(view.name);
  return shape === undefined ? seen : shape(answered(seen, view, event));
}

function answered(
  text: string,
  view: ToolView,
  { tool, durationMs }: HookEvent<'PostToolUse'>,
): Answered {
  const input = isRecord(view.input) ? view.input : {};
  const written = isRecord(tool.input) ? tool.input : {};
  return {
    text,
    input,
    writtenPath: written['file_path'] ?? written['path'] ?? input['file_path'] ?? '',
    isClaudesCall: tool.name === view.name,
    durationMs: Math.round(durationMs),
  };
}

type Shape = (answered: Answered) => unknown;

// What a text cannot tell, such as the file before an edit, is null or empty rather than guessed.
const SHAPES: ReadonlyMap<string, Shape> = new Map<string, Shape>([
  ['Read', read],
  ['Write', write],
  ['Edit', edit],
  ['NotebookEdit', notebookEdit],
  ['Glob', glob],
  ['Grep', grep],
  ['WebFetch', webFetch],
  ['WebSearch', webSearch],
  ['Agent', agent],
  ['Skill', ({ input }) => ({ success: true, commandName: input['skill'] })],
  ['TaskCreate', ({ input: { subject, description } }) => ({ task: { subject, description } })],
  ['TaskUpdate', taskUpdate],
  ['TodoWrite', ({ input }) => ({ oldTodos: [], newTodos: input['todos'] ?? [] })],
  ['AskUserQuestion', askUserQuestion],
  ['ExitPlanMode', exitPlanMode],
]);

function read({ text, input, writtenPath }: Answered): Fields {
  const startLine = typeof input['offset'] === 'number' ? input['offset'] : 1;
  const numLines = text.split('\n').length;
  const totalLines = Math.max(startLine, 1) - 1 + numLines;
  return {
    type: 'text',
    file: { filePath: writtenPath, content: text, numLines, startLine, totalLines },
  };
}

function write({ input, writtenPath }: Answered): Fields {
  return {
    type: 'create',
    filePath: writtenPath,
    content: input['content'] ?? '',
    structuredPatch: [],
    originalFile: null,
    userModified: false,
  };
}

function edit({ input, writtenPath }: Answered): Fields {
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

function notebookEdit({ input }: Answered): Fields {
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

function glob({ text, durationMs }: Answered): Fields {
  const filenames = linesOf(text);
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

function grep({ text, input, isClaudesCall }: Answered): Fields {
  // Only Claude's own tool lists mere names unless it is told otherwise.
  const mode = input['output_mode'] ?? (isClaudesCall ? 'files_with_matches' : 'content');
  const lines = linesOf(text);
  if (mode === 'files_with_matches') {
    return { mode, numFiles: lines.length, filenames: lines, totalFiles: lines.length };
  }
  const numLines = lines.length;
  return { mode, numFiles: 0, filenames: [], content: text, numLines, totalLines: numLines };
}

function webFetch({ text, input, durationMs }: Answered): Fields {
  const bytes = Buffer.byteLength(text);
  return { bytes, code: 200, codeText: 'OK', result: text, durationMs, url: input['url'] ?? '' };
}

function webSearch({ text, input, durationMs }: Answered): Fields {
  return { query: input['query'] ?? '', results: [text], durationSeconds: durationMs / 1000 };
}

function agent({ text, input, durationMs }: Answered): Fields {
  return {
    status: 'completed',
    prompt: input['prompt'] ?? '',
    agentType: input['subagent_type'] ?? 'general-purpose',
    content: [{ type: 'text', text }],
    totalDurationMs: durationMs,
  };
}

function taskUpdate({ input: { taskId, ...updated } }: Answered): Fields {
  return { success: true, taskId, updatedFields: Object.keys(updated) };
}

function askUserQuestion({ text, input }: Answered): Fields {
  const questions: readonly unknown[] = Array.isArray(input['questions']) ? input['questions'] : [];
  const [only, ...more] = questions;
  const isAlone = isRecord(only) && typeof only['question'] === 'string' && more.length === 0;
  return { questions, answers: isAlone ? { [String(only['question'])]: text } : {} };
}

function exitPlanMode({ input }: Answered): Fields {
  return { plan: input['plan'] ?? null, filePath: input['planFilePath'], isAgent: false };
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}

import { isRecord, parseJson, type ParsedJson } from '../base/json.ts';
import {
  CLINE_WEB_SEARCH,
  createQuestionForm,
  readList,
  createRenamedForm,
  describeNonObject,
  type ToolForm,
} from './tool-form.ts';
import { findText, toPlainText, type Fields } from './fields.ts';
import { formatSearchReplace, parseSearchReplace } from './search-replace.ts';
import {
  isNormalizedRelative,
  type McpTarget,
  toRelativePath,
  type VocabularyRules,
} from './vocabulary.ts';

export const USE_MCP_TOOL = 'use_mcp_tool';
export const REPLACE_IN_FILE = 'replace_in_file';

/** The tools of Cline's VS Code extension. */
export const CLASSIC: VocabularyRules = {
  forms: {
    Read: createRenamedForm({ name: 'read_file', keys: { file_path: 'path' } }),
    Write: createRenamedForm({
      name: 'write_to_file',
      keys: { file_path: 'path', content: 'content' },
    }),
    Edit: createDiffForm({ path: 'file_path', search: 'old_string', replace: 'new_string' }),
    Bash: createRenamedForm({
      name: 'execute_command',
      keys: { command: 'command' },
      constants: { requires_approval: false },
    }),
    Grep: createRenamedForm({
      name: 'search_files',
      keys: { path: 'path', pattern: 'regex', glob: 'file_pattern' },
    }),
    Glob: createListFilesForm(),
    WebFetch: createRenamedForm({ name: 'web_fetch', keys: { url: 'url', prompt: 'prompt' } }),
    WebSearch: CLINE_WEB_SEARCH,
    Agent: createRenamedForm({ name: 'new_task', keys: { prompt: 'context' } }),
    TodoWrite: createChecklistForm(),
    AskUserQuestion: createQuestionForm('ask_followup_question', (labels) =>
      JSON.stringify(labels),
    ),
    Skill: createRenamedForm({ name: 'use_skill', keys: { skill: 'skill_name' } }),
    NotebookEdit: createDiffForm({ path: 'notebook_path', search: null, replace: 'new_source' }),
  },
  formerNames: {},
  changeNames: [],
  changeKeys: [],
  takesBareLists: false,
  alwaysSaysPath: true,
  getPathKey: () => 'path',
  getPathBase: ({ cwd, root }) => root ?? cwd,
  writePath: ({ written, absolute, base, isSameBase }) =>
    isSameBase && isNormalizedRelative(written) ? written : toRelativePath(base, absolute()),
  readMcpTarget: ({ name, input }) => (name === USE_MCP_TOOL ? readTarget(input) : null),
  createMcpForm: createUseMcpToolForm,
};

interface DiffFields {
  readonly path: string;
  readonly search: string | null;
  readonly replace: string;
}

function createDiffForm({ path, search, replace }: DiffFields): ToolForm {
  const toText = (value: unknown): string => (typeof value === 'string' ? value : '');
  return {
    name: REPLACE_IN_FILE,
    keys: ['path', 'diff'],
    constants: {},
    list: null,
    show: (fields) => ({
      path: toText(fields[path]),
      diff: formatSearchReplace({
        search: search === null ? '' : toText(fields[search]),
        replace: toText(fields[replace]),
      }),
    }),
    read: (given) => {
      if (!isRecord(given)) return describeNonObject(given);
      if (typeof given['diff'] !== 'string') return 'expected "diff" to be text';
      const [only, ...more] = parseSearchReplace(given['diff']);
      if (only === undefined || more.length > 0) {
        const found = only === undefined ? 0 : more.length + 1;
        return `expected one SEARCH/REPLACE block in "diff", found ${found}`;
      }
      const texts = { [path]: given['path'], [replace]: only.replace };
      return search === null ? texts : { ...texts, [search]: only.search };
    },
  };
}

function createListFilesForm(): ToolForm {
  return {
    name: 'list_files',
    keys: ['path', 'recursive'],
    constants: {},
    list: null,
    show: ({ path, pattern }) => ({
      ...(path === undefined ? {} : { path }),
      recursive: isRecursive(pattern),
    }),
    read: (given, base) => {
      if (!isRecord(given)) return describeNonObject(given);
      const recursive = given['recursive'] === true || given['recursive'] === 'true';
      const isKept = base['pattern'] !== undefined && isRecursive(base['pattern']) === recursive;
      const pattern = recursive ? '**/*' : '*';
      return {
        pattern: isKept ? base['pattern'] : pattern,
        ...(given['path'] === undefined ? {} : { path: given['path'] }),
      };
    },
  };
}

function isRecursive(pattern: unknown): boolean {
  return typeof pattern === 'string' && pattern.includes('**');
}

function createChecklistForm(): ToolForm {
  return {
    name: 'focus_chain',
    keys: ['task_progress'],
    constants: {},
    list: null,
    show: ({ todos }) => ({ task_progress: readList(todos).map(formatTodo).join('\n') }),
    read: (given, base) => {
      if (!isRecord(given)) return describeNonObject(given);
      const known = readList(base['todos']).filter(isRecord);
      const lines = toPlainText(given['task_progress']).split('\n');
      return { todos: lines.flatMap((line) => readTodos(line, known)) };
    },
  };
}

function formatTodo(todo: unknown): string {
  if (!isRecord(todo)) return `- [ ] ${toPlainText(todo)}`;
  const mark = todo['status'] === 'completed' ? 'x' : ' ';
  return `- [${mark}] ${findText(todo, ['content', 'activeForm']) ?? ''}`;
}

function readTodos(line: string, known: readonly Fields[]): Fields[] {
  const [, mark, rest] = /^[-*]\s*\[(.)\](.*)$/.exec(line.trim()) ?? [];
  if (mark === undefined || rest === undefined) return [];
  const content = rest.trim();
  const same = known.find((todo) => todo['content'] === content);
  const open = same === undefined || same['status'] === 'completed' ? 'pending' : same['status'];
  const status = mark === ' ' ? open : 'completed';
  return [{ content, activeForm: content, ...same, status }];
}

function readTarget(input: unknown): McpTarget | null {
  if (!isRecord(input)) return null;
  const { server_name: server, tool_name: tool } = input;
  return typeof server === 'string' && typeof tool === 'string' ? { server, tool } : null;
}

function createUseMcpToolForm({ server, tool }: McpTarget): ToolForm {
  return {
    name: USE_MCP_TOOL,
    keys: ['server_name', 'tool_name', 'arguments'],
    constants: {},
    list: null,
    show: (fields) => ({ server_name: server, tool_name: tool, arguments: toPlainText(fields) }),
    read: (given) => {
      const named = readTarget(given);
      if (!isRecord(given) || named === null) return 'expected "server_name" and "tool_name"';
      if (named.server !== server || named.tool !== tool) {
        return `a rewrite cannot turn ${server}/${tool} into ${named.server}/${named.tool}`;
      }
      return readArguments(given['arguments']);
    },
  };
}

function readArguments(given: unknown): Fields | string {
  if (given === undefined || given === '') return {};
  const parsed: ParsedJson =
    typeof given === 'string' ? parseJson(given) : { ok: true, value: given };
  if (!parsed.ok) return `"arguments" is not JSON: ${parsed.error}`;
  return isRecord(parsed.value) ? parsed.value : `"arguments": ${describeNonObject(parsed.value)}`;
}

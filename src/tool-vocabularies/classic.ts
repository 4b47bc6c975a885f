import { dropUndefined } from '../base/defined.ts';
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
    Read: createRenamedForm('read_file', { file_path: 'path' }),
    Write: createRenamedForm('write_to_file', { file_path: 'path', content: 'content' }),
    Edit: createDiffForm('file_path', 'old_string', 'new_string'),
    Bash: createRenamedForm(
      'execute_command',
      { command: 'command' },
      { requires_approval: false },
    ),
    Grep: createRenamedForm('search_files', {
      path: 'path',
      pattern: 'regex',
      glob: 'file_pattern',
    }),
    Glob: createListFilesForm(),
    WebFetch: createRenamedForm('web_fetch', { url: 'url', prompt: 'prompt' }),
    WebSearch: CLINE_WEB_SEARCH,
    Agent: createRenamedForm('new_task', { prompt: 'context' }),
    TodoWrite: createChecklistForm(),
    AskUserQuestion: createQuestionForm('ask_followup_question', (labels) =>
      JSON.stringify(labels),
    ),
    Skill: createRenamedForm('use_skill', { skill: 'skill_name' }),
    NotebookEdit: { ...createDiffForm('notebook_path', null, 'new_source'), isStandIn: true },
    ReadMcpResourceTool: createRenamedForm('access_mcp_resource', {
      server: 'server_name',
      uri: 'uri',
    }),
  },
  formerNames: {},
  pluralNames: { [REPLACE_IN_FILE]: 'search-replace' },
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

/** Creates the form of `replace_in_file`; the parameters name the fields that it holds. */
function createDiffForm(path: string, search: string | null, replace: string): ToolForm {
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
    read: (input) => {
      if (!isRecord(input)) return describeNonObject(input);
      if (typeof input['diff'] !== 'string') return 'expected "diff" to be text';
      const [only, ...more] = parseSearchReplace(input['diff']);
      if (only === undefined || more.length > 0) {
        const found = only === undefined ? 0 : more.length + 1;
        return `expected one SEARCH/REPLACE block in "diff", found ${found}`;
      }
      const texts = { [path]: input['path'], [replace]: only.replace };
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
      ...dropUndefined({ path }),
      recursive: isRecursive(pattern),
    }),
    read: (input, base) => {
      if (!isRecord(input)) return describeNonObject(input);
      const recursive = input['recursive'] === true || input['recursive'] === 'true';
      const isSamePattern =
        base['pattern'] !== undefined && isRecursive(base['pattern']) === recursive;
      const pattern = recursive ? '**/*' : '*';
      return {
        pattern: isSamePattern ? base['pattern'] : pattern,
        ...dropUndefined({ path: input['path'] }),
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
    read: (input, base) => {
      if (!isRecord(input)) return describeNonObject(input);
      const todos = readList(base['todos']).filter(isRecord);
      const lines = toPlainText(input['task_progress']).split('\n');
      return { todos: lines.flatMap((line) => readTodos(line, todos)) };
    },
  };
}

function formatTodo(todo: unknown): string {
  if (!isRecord(todo)) return `- [ ] ${toPlainText(todo)}`;
  const mark = todo['status'] === 'completed' ? 'x' : ' ';
  return `- [${mark}] ${findText(todo, ['content', 'activeForm']) ?? ''}`;
}

function readTodos(line: string, todos: readonly Fields[]): Fields[] {
  const [, mark, rest] = /^[-*]\s*\[(.)\](.*)$/.exec(line.trim()) ?? [];
  if (mark === undefined || rest === undefined) return [];
  const content = rest.trim();
  const same = todos.find((todo) => todo['content'] === content);
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
    read: (input) => {
      const newTarget = readTarget(input);
      if (!isRecord(input) || newTarget === null) return 'expected "server_name" and "tool_name"';
      if (newTarget.server !== server || newTarget.tool !== tool) {
        return `a rewrite cannot turn ${server}/${tool} into ${newTarget.server}/${newTarget.tool}`;
      }
      return readArguments(input['arguments']);
    },
  };
}

function readArguments(input: unknown): Fields | string {
  if (input === undefined || input === '') return {};
  const parsed: ParsedJson =
    typeof input === 'string' ? parseJson(input) : { ok: true, value: input };
  if (!parsed.ok) return `"arguments" is not JSON: ${parsed.error}`;
  return isRecord(parsed.value) ? parsed.value : `"arguments": ${describeNonObject(parsed.value)}`;
}

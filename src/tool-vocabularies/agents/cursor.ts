import { createPlainForm, createRenamedForm, type ToolForm } from '../tool-form.ts';
import type { McpTarget, ToolCall } from '../vocabulary.ts';
import { createAgentRules, createRenamedForms, NO_FORMS } from './agent-rules.ts';

const SHELL_KEYS = {
  command: 'command',
  description: 'description',
  timeout: 'timeout',
  run_in_background: 'is_background',
};
// Cursor documents the names of its tools, not all of their keys.
const PATH_KEYS = ['file_path', 'path', 'target_file'];
const CONTENT_KEYS = ['content', 'contents', 'file_text'];

/** The tools of Cursor; `Write` is a new file as well as an edit. */
export const CURSOR = createAgentRules({
  forms: {
    ...NO_FORMS,
    Read: createRenamedForm('Read', { file_path: 'file_path', offset: 'offset', limit: 'limit' }),
    Write: createRenamedForm('Write', { file_path: 'file_path', content: 'content' }),
    Edit: createEditForm('Write', 'file_path'),
    Bash: createRenamedForm('Shell', SHELL_KEYS),
    Grep: createRenamedForm('Grep', {
      pattern: 'pattern',
      path: 'path',
      glob: 'glob',
      output_mode: 'output_mode',
    }),
    Glob: createRenamedForm('Glob', { pattern: 'glob_pattern', path: 'target_directory' }),
    WebFetch: createPlainForm('WebFetch', ['url']),
    WebSearch: createRenamedForm('WebSearch', { query: 'search_term' }),
    Agent: createPlainForm('Task', ['description', 'prompt', 'subagent_type']),
    TodoWrite: createPlainForm('TodoWrite', ['todos']),
  },
  otherForms: {
    Read: PATH_KEYS.map((path) =>
      createRenamedForm('Read', { file_path: path, offset: 'offset', limit: 'limit' }),
    ),
    Write: PATH_KEYS.flatMap((path) =>
      CONTENT_KEYS.map((content) => createRenamedForm('Write', { file_path: path, content })),
    ),
    Edit: PATH_KEYS.flatMap((path) =>
      ['Write', 'Edit', 'StrReplace'].map((name) => createEditForm(name, path)),
    ),
    Glob: createRenamedForms(['Glob'], { pattern: 'pattern', path: 'path' }),
    WebSearch: createRenamedForms(['WebSearch'], { query: 'query' }),
    Agent: [createRenamedForm('Task', { prompt: 'task', subagent_type: 'subagent_type' })],
  },
  pluralNames: { Delete: 'deletion', MultiEdit: 'edits' },
  pathKeys: { file_path: 'file_path', path: 'path' },
  mcp: {
    readMcpTarget,
    createMcpForm: ({ tool }) => createPlainForm(`${MCP_PREFIX}${tool}`, []),
  },
});

function createEditForm(name: string, path: string): ToolForm {
  return createRenamedForm(name, {
    file_path: path,
    old_string: 'old_string',
    new_string: 'new_string',
    replace_all: 'replace_all',
  });
}

const MCP_PREFIX = 'MCP:';

/** Stands for the server, which Cursor does not name. */
const UNNAMED_SERVER = 'cursor';

function readMcpTarget({ name }: ToolCall): McpTarget | null {
  if (!name.startsWith(MCP_PREFIX)) return null;
  return { server: UNNAMED_SERVER, tool: name.slice(MCP_PREFIX.length) };
}

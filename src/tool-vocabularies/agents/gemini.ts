import { createPlainForm, createRenamedForm } from '../tool-form.ts';
import { type McpTarget, parseQualifiedName, type ToolCall } from '../vocabulary.ts';
import {
  createAgentRules,
  createDirectoryForm,
  createRenamedForms,
  NO_FORMS,
} from './agent-rules.ts';

const EDIT_KEYS = { file_path: 'file_path', old_string: 'old_string', new_string: 'new_string' };
const SHELL_KEYS = {
  command: 'command',
  description: 'description',
  run_in_background: 'is_background',
};

/** The tools of Gemini CLI, with the keys of earlier versions. */
export const GEMINI = createAgentRules({
  forms: {
    ...NO_FORMS,
    Read: createRenamedForm('read_file', {
      file_path: 'file_path',
      offset: 'offset',
      limit: 'limit',
    }),
    Write: createRenamedForm('write_file', { file_path: 'file_path', content: 'content' }),
    Edit: createRenamedForm('replace', { ...EDIT_KEYS, replace_all: 'allow_multiple' }),
    Bash: createRenamedForm('run_shell_command', SHELL_KEYS),
    Grep: createRenamedForm('grep_search', {
      pattern: 'pattern',
      path: 'dir_path',
      glob: 'include_pattern',
    }),
    Glob: createRenamedForm('glob', { pattern: 'pattern', path: 'dir_path' }),
    WebSearch: createRenamedForm('google_web_search', { query: 'query' }),
    TodoWrite: createRenamedForm('write_todos', { todos: 'todos' }),
    Skill: createRenamedForm('activate_skill', { skill: 'name' }),
  },
  otherForms: {
    Read: createRenamedForms(
      ['read_file'],
      { file_path: 'absolute_path', offset: 'offset', limit: 'limit' },
      { file_path: 'path' },
    ),
    Grep: [
      ...createRenamedForms(
        ['grep_search', 'search_file_content'],
        { pattern: 'pattern', path: 'dir_path', glob: 'include' },
        { pattern: 'pattern', path: 'path', glob: 'include' },
      ),
    ],
    Glob: [
      createRenamedForm('glob', { pattern: 'pattern', path: 'path' }),
      createDirectoryForm('list_directory', 'dir_path'),
      createDirectoryForm('list_directory', 'path'),
    ],
    Agent: [createRenamedForm('codebase_investigator', { prompt: 'objective' })],
  },
  pluralNames: { web_fetch: 'addresses' },
  pathKeys: { file_path: 'file_path', path: 'dir_path' },
  mcp: {
    readMcpTarget,
    createMcpForm: ({ server, tool }) => createPlainForm(`mcp_${server}_${tool}`, []),
  },
});

/**
 * Gemini forbids `_` in the name of a server, so that the first one ends it. Where a payload names server
 * and tool, its reader writes them as Claude does.
 */
function readMcpTarget({ name }: ToolCall): McpTarget | null {
  if (name.startsWith('mcp__')) return parseQualifiedName(name.slice('mcp__'.length));
  const [, server, tool] = /^mcp_([^_]+)_(.+)$/u.exec(name) ?? [];
  return server === undefined || tool === undefined ? null : { server, tool };
}

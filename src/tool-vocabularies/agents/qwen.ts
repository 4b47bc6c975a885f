import { createPlainForm, createRenamedForm } from '../tool-form.ts';
import { CLAUDE } from '../claude.ts';
import {
  createAgentRules,
  createDirectoryForm,
  createRenamedForms,
  NO_FORMS,
} from './agent-rules.ts';

const READ_RANGE = { offset: 'offset', limit: 'limit' };
const AGENT_KEYS = ['description', 'prompt', 'subagent_type'];

/** The tools of Qwen Code: Gemini's names, mostly with Claude's keys. */
export const QWEN = createAgentRules({
  forms: {
    ...NO_FORMS,
    Read: createRenamedForm('read_file', { file_path: 'file_path', ...READ_RANGE }),
    Write: createRenamedForm('write_file', { file_path: 'file_path', content: 'content' }),
    Edit: createPlainForm('edit', ['file_path', 'old_string', 'new_string', 'replace_all'], {
      replace_all: false,
    }),
    Bash: createRenamedForm('run_shell_command', {
      command: 'command',
      description: 'description',
      timeout: 'timeout',
      run_in_background: 'is_background',
    }),
    Grep: createPlainForm('grep_search', ['pattern', 'path', 'glob', 'limit']),
    Glob: createPlainForm('glob', ['pattern', 'path']),
    WebFetch: createPlainForm('web_fetch', ['url', 'prompt']),
    WebSearch: createPlainForm('web_search', ['query']),
    Agent: createPlainForm('agent', AGENT_KEYS),
    TodoWrite: createPlainForm('todo_write', ['todos']),
    AskUserQuestion: { ...CLAUDE.forms.AskUserQuestion, name: 'ask_user_question' },
    Skill: createPlainForm('skill', ['skill']),
  },
  otherForms: {
    Read: createRenamedForms(
      ['read_file'],
      { file_path: 'absolute_path', ...READ_RANGE },
      { file_path: 'path', ...READ_RANGE },
    ),
    Edit: createRenamedForms(['replace'], {
      file_path: 'file_path',
      old_string: 'old_string',
      new_string: 'new_string',
    }),
    Grep: [createPlainForm('search_file_content', ['pattern', 'path'])],
    Glob: [createDirectoryForm('list_directory', 'path')],
    Agent: [createPlainForm('task', AGENT_KEYS)],
  },
  pathKeys: { file_path: 'file_path', path: 'path' },
});

import { CLAUDE } from '../claude.ts';
import { createPlainForm, createRenamedForm } from '../tool-form.ts';
import { createAgentRules, createDirectoryForm, NO_FORMS } from './agent-rules.ts';

/** The tools of opencode. */
export const OPENCODE = createAgentRules({
  forms: {
    ...NO_FORMS,
    Read: createRenamedForm('read', { file_path: 'filePath', offset: 'offset', limit: 'limit' }),
    Write: createRenamedForm('write', { file_path: 'filePath', content: 'content' }),
    Edit: createRenamedForm('edit', {
      file_path: 'filePath',
      old_string: 'oldString',
      new_string: 'newString',
      replace_all: 'replaceAll',
    }),
    Bash: createPlainForm('bash', ['command', 'description', 'timeout']),
    Grep: createRenamedForm('grep', { pattern: 'pattern', path: 'path', glob: 'include' }),
    Glob: createPlainForm('glob', ['pattern', 'path']),
    WebFetch: createPlainForm('webfetch', ['url', 'prompt']),
    WebSearch: createPlainForm('websearch', ['query']),
    Agent: createPlainForm('task', ['description', 'prompt', 'subagent_type']),
    TodoWrite: createPlainForm('todowrite', ['todos']),
    AskUserQuestion: { ...CLAUDE.forms.AskUserQuestion, name: 'question' },
    Skill: createRenamedForm('skill', { skill: 'name' }),
  },
  otherForms: { Glob: [createDirectoryForm('list', 'path')] },
  pluralNames: { apply_patch: 'patch', patch: 'patch', multiedit: 'edits' },
  pathKeys: { file_path: 'filePath', path: 'path' },
  // `server_tool` cannot be told from any other name with an underscore.
  mcp: {
    readMcpTarget: () => null,
    createMcpForm: ({ server, tool }) => createPlainForm(`${server}_${tool}`, []),
  },
});

import { CLAUDE } from '../claude.ts';
import { createListForm, createPlainForm, createRenamedForm } from '../tool-form.ts';
import {
  createAgentRules,
  createDirectoryForm,
  createRenamedForms,
  NO_FORMS,
} from './agent-rules.ts';

const EDIT_KEYS = {
  file_path: 'file_path',
  old_string: 'old_str',
  new_string: 'new_str',
  replace_all: 'change_all',
};

/** The tools of Factory's Droid: Claude's but for `Execute`, `Create`, `ApplyPatch`, `LS` and `FetchUrl`. */
export const DROID = createAgentRules({
  forms: {
    ...NO_FORMS,
    Read: createPlainForm('Read', ['file_path', 'offset', 'limit']),
    Write: createPlainForm('Create', ['file_path', 'content']),
    Edit: createRenamedForm('Edit', EDIT_KEYS),
    Bash: createRenamedForm('Execute', {
      command: 'command',
      description: 'summary',
      timeout: 'timeout',
      run_in_background: 'fireAndForget',
    }),
    Grep: createRenamedForm('Grep', {
      pattern: 'pattern',
      path: 'path',
      glob: 'glob_pattern',
      output_mode: 'output_mode',
      '-i': 'case_insensitive',
    }),
    Glob: createListForm('Glob', {
      lists: ['patterns'],
      subjects: ['pattern'],
      field: 'pattern',
      element: 'text',
    }),
    WebFetch: createPlainForm('FetchUrl', ['url']),
    WebSearch: createPlainForm('WebSearch', ['query']),
    Agent: createPlainForm('Task', ['description', 'prompt', 'subagent_type']),
    TodoWrite: createPlainForm('TodoWrite', ['todos']),
    Skill: createPlainForm('Skill', ['skill']),
  },
  otherForms: {
    Write: [CLAUDE.forms.Write],
    Edit: createRenamedForms(['Edit'], {
      file_path: 'file_path',
      old_string: 'old_string',
      new_string: 'new_string',
      replace_all: 'replace_all',
    }),
    Bash: [CLAUDE.forms.Bash],
    Glob: [createDirectoryForm('LS', 'directory_path'), createDirectoryForm('LS', 'path')],
    WebFetch: [CLAUDE.forms.WebFetch],
  },
  pluralNames: { ApplyPatch: 'patch', MultiEdit: 'edits' },
  pathKeys: { file_path: 'file_path', path: 'path' },
});

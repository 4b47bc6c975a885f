import { isRecord } from '../../base/json.ts';
import { dropUndefined } from '../../base/defined.ts';
import { CLAUDE } from '../claude.ts';
import { type Fields, findArray } from '../fields.ts';
import {
  createPlainForm,
  createQuestionForm,
  createRenamedForm,
  describeNonObject,
  type ToolForm,
} from '../tool-form.ts';
import {
  createAgentRules,
  createCommandForm,
  createRenamedForms,
  NO_FORMS,
} from './agent-rules.ts';

const WRITE_KEYS = { file_path: 'path', content: 'file_text' };
const EDIT_KEYS = { file_path: 'path', old_string: 'old_str', new_string: 'new_str' };
const SHELL_KEYS = { command: 'command', description: 'description', timeout: 'timeout' };
const EDITOR = 'str_replace_editor';

/**
 * The tools of Copilot CLI. Events in Claude's spelling name them as Claude does; their input was seen
 * with Copilot's keys, and Claude's are read, too.
 */
export const COPILOT = createAgentRules({
  forms: {
    ...NO_FORMS,
    Read: createViewForm('view'),
    Write: createRenamedForm('create', WRITE_KEYS),
    Edit: createRenamedForm('edit', EDIT_KEYS),
    Bash: createRenamedForm('bash', SHELL_KEYS),
    Grep: { ...CLAUDE.forms.Grep, name: 'grep' },
    Glob: createPlainForm('glob', ['pattern', 'path']),
    WebFetch: createPlainForm('web_fetch', ['url', 'prompt']),
    WebSearch: createPlainForm('web_search', ['query']),
    Agent: createRenamedForm('task', {
      description: 'description',
      prompt: 'prompt',
      subagent_type: 'agent_type',
      model: 'model',
    }),
    TodoWrite: createRenamedForm('update_todo', { todos: 'todos' }),
    AskUserQuestion: createChoicesForm('ask_user'),
    Skill: createPlainForm('skill', ['skill']),
  },
  otherForms: {
    Read: [
      createCommandForm(createViewForm(EDITOR), 'command', 'view'),
      createViewForm('Read'),
      CLAUDE.forms.Read,
    ],
    Write: [
      createCommandForm(createRenamedForm(EDITOR, WRITE_KEYS), 'command', 'create'),
      ...createRenamedForms(['Write'], WRITE_KEYS),
      CLAUDE.forms.Write,
    ],
    Edit: [
      createCommandForm(createRenamedForm(EDITOR, EDIT_KEYS), 'command', 'str_replace'),
      createCommandForm(createInsertionForm(EDITOR), 'command', 'insert'),
      ...createRenamedForms(['Edit'], EDIT_KEYS),
      CLAUDE.forms.Edit,
    ],
    Bash: [createRenamedForm('powershell', SHELL_KEYS), CLAUDE.forms.Bash],
    Grep: [{ ...CLAUDE.forms.Grep, name: 'rg' }, CLAUDE.forms.Grep],
    Glob: [CLAUDE.forms.Glob],
    WebFetch: [CLAUDE.forms.WebFetch],
    WebSearch: [CLAUDE.forms.WebSearch],
    Agent: [CLAUDE.forms.Agent, { ...CLAUDE.forms.Agent, name: 'Task' }],
    TodoWrite: [CLAUDE.forms.TodoWrite],
    AskUserQuestion: [CLAUDE.forms.AskUserQuestion],
    Skill: [CLAUDE.forms.Skill],
  },
  pluralNames: { apply_patch: 'patch' },
  pathKeys: { file_path: 'path', path: 'path' },
});

/** `view_range` is the first and the last line; -1 stands for the end of the file. */
function createViewForm(name: string): ToolForm {
  return {
    name,
    keys: ['path', 'view_range'],
    constants: {},
    list: null,
    show: ({ file_path: path, offset, limit }) => {
      const start = typeof offset === 'number' ? offset : 1;
      const end = typeof limit === 'number' ? start + limit - 1 : -1;
      const isWhole = typeof offset !== 'number' && typeof limit !== 'number';
      return dropUndefined({ path, view_range: isWhole ? undefined : [start, end] });
    },
    read: (input) => {
      if (!isRecord(input)) return describeNonObject(input);
      const [start, end] = findArray(input['view_range']) ?? [];
      const isRange = typeof start === 'number' && typeof end === 'number';
      return dropUndefined({
        file_path: input['path'],
        offset: typeof start === 'number' ? start : undefined,
        limit: isRange && end >= start ? end - start + 1 : undefined,
      });
    },
  };
}

/** An insertion after a line is shown as an edit without a text before it. */
function createInsertionForm(name: string): ToolForm {
  return {
    name,
    keys: ['path', 'new_str', 'insert_line'],
    constants: {},
    list: null,
    show: ({ file_path: path, new_string: text }) => dropUndefined({ path, new_str: text }),
    read: (input) => {
      if (!isRecord(input)) return describeNonObject(input);
      const fields: Fields = {
        file_path: input['path'],
        old_string: '',
        new_string: input['new_str'] ?? input['insert_text'],
        replace_all: false,
      };
      return fields;
    },
  };
}

function createChoicesForm(name: string): ToolForm {
  const form = createQuestionForm(name, (labels) => labels);
  return {
    ...form,
    keys: ['question', 'choices'],
    show: (fields) => {
      const { options, ...rest } = form.show(fields);
      return dropUndefined({ ...rest, choices: options });
    },
    read: (input, base) => {
      if (!isRecord(input)) return describeNonObject(input);
      const { choices, ...rest } = input;
      return form.read(dropUndefined({ ...rest, options: choices }), base);
    },
  };
}

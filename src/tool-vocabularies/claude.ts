import { createListForm, createPlainForm } from './tool-form.ts';
import { omitField } from './fields.ts';
import { parseQualifiedName, type VocabularyRules } from './vocabulary.ts';

const MCP_PREFIX = 'mcp__';

/** Claude Code's tools; the fields of every tool are named as here. */
export const CLAUDE = {
  forms: {
    Read: createPlainForm('Read', ['file_path', 'offset', 'limit', 'pages']),
    Write: createPlainForm('Write', ['file_path', 'content']),
    Edit: createPlainForm('Edit', ['file_path', 'old_string', 'new_string', 'replace_all'], {
      replace_all: false,
    }),
    Bash: createPlainForm('Bash', [
      'command',
      'description',
      'timeout',
      'run_in_background',
      'dangerouslyDisableSandbox',
    ]),
    Grep: createPlainForm('Grep', [
      'pattern',
      'path',
      'glob',
      'type',
      'output_mode',
      '-A',
      '-B',
      '-C',
      '-n',
      '-i',
      '-o',
      'head_limit',
      'offset',
      'multiline',
    ]),
    Glob: createPlainForm('Glob', ['pattern', 'path']),
    WebFetch: createPlainForm('WebFetch', ['url', 'prompt', 'offset']),
    WebSearch: createPlainForm('WebSearch', ['query', 'allowed_domains', 'blocked_domains']),
    Agent: createPlainForm('Agent', [
      'description',
      'prompt',
      'subagent_type',
      'model',
      'run_in_background',
      'name',
      'isolation',
      'effort',
    ]),
    TodoWrite: createPlainForm('TodoWrite', ['todos']),
    AskUserQuestion: createListForm('AskUserQuestion', {
      lists: ['questions'],
      subjects: ['question'],
      field: 'question',
      element: 'object',
      toFields: (element) => omitField(element, 'question'),
      toElement: (fields) => ({
        header: '',
        multiSelect: false,
        ...omitField(fields, 'question'),
      }),
    }),
    Skill: createPlainForm('Skill', ['skill', 'args']),
    NotebookEdit: createPlainForm('NotebookEdit', [
      'notebook_path',
      'cell_id',
      'new_source',
      'cell_type',
      'edit_mode',
    ]),
    ReadMcpResourceTool: createPlainForm('ReadMcpResourceTool', ['server', 'uri']),
  },
  formerNames: { Agent: ['Task'] },
  pluralNames: {},
  changeNames: [],
  changeKeys: [],
  takesBareLists: false,
  alwaysSaysPath: false,
  getPathKey: (field) => field,
  getPathBase: ({ cwd }) => cwd,
  writePath: ({ absolute }) => absolute(),
  readMcpTarget: ({ name }) =>
    name.startsWith(MCP_PREFIX) ? parseQualifiedName(name.slice(MCP_PREFIX.length)) : null,
  createMcpForm: ({ server, tool }) => createPlainForm(`${MCP_PREFIX}${server}__${tool}`, []),
} satisfies VocabularyRules;

import path from 'node:path';
import { dropUndefined } from '../base/defined.ts';
import { quoteShellWord } from '../base/text.ts';
import {
  CLINE_WEB_SEARCH,
  createQuestionForm,
  createListForm,
  createPlainForm,
  createRenamedForm,
} from './tool-form.ts';
import { findArray, toPlainText, type Fields } from './fields.ts';
import { parseQualifiedName, toRelativePath, type VocabularyRules } from './vocabulary.ts';

export const EDITOR = 'editor';
export const APPLY_PATCH = 'apply_patch';

/** The tools of Cline's SDK. */
export const SDK: VocabularyRules = {
  forms: {
    Read: createListForm('read_files', {
      lists: ['files', 'file_paths', 'filePaths', 'paths'],
      subjects: ['path', 'file_path', 'filePath'],
      field: 'file_path',
      element: 'object',
      toFields: readLineRange,
      toElement: writeLineRange,
    }),
    Write: createRenamedForm(EDITOR, { file_path: 'path', content: 'new_text' }),
    Edit: createRenamedForm(EDITOR, {
      file_path: 'path',
      old_string: 'old_text',
      new_string: 'new_text',
    }),
    Bash: createListForm('run_commands', {
      lists: ['commands'],
      subjects: ['command', 'cmd'],
      field: 'command',
      element: 'text',
      joinedWith: { key: 'args', join: joinCommand },
    }),
    Grep: createListForm('search_codebase', {
      lists: ['queries'],
      subjects: ['query', 'pattern', 'regex'],
      field: 'pattern',
      element: 'text',
    }),
    Glob: null,
    WebFetch: createListForm('fetch_web_content', {
      lists: ['requests', 'urls'],
      subjects: ['url'],
      field: 'url',
      element: 'object',
      toFields: ({ prompt }) => dropUndefined({ prompt }),
      toElement: ({ prompt }) => dropUndefined({ prompt }),
    }),
    WebSearch: CLINE_WEB_SEARCH,
    Agent: createRenamedForm('spawn_agent', { prompt: 'task' }),
    TodoWrite: null,
    AskUserQuestion: createQuestionForm('ask_question', (labels) => labels),
    Skill: createRenamedForm('skills', { skill: 'skill', args: 'args' }),
    NotebookEdit: {
      ...createRenamedForm(
        EDITOR,
        { notebook_path: 'path', new_source: 'new_text' },
        { old_text: '' },
      ),
      isStandIn: true,
    },
    ReadMcpResourceTool: null,
  },
  formerNames: {},
  pluralNames: { [EDITOR]: 'editor', [APPLY_PATCH]: 'patch' },
  changeNames: [APPLY_PATCH],
  changeKeys: ['input', 'insert_line'],
  takesBareLists: true,
  alwaysSaysPath: false,
  getPathKey: () => null,
  getPathBase: ({ cwd }) => cwd,
  writePath: ({ written, absolute, base, isSameBase }) =>
    isSameBase || path.isAbsolute(written) ? written : toRelativePath(base, absolute()),
  // Names with this prefix are Claude's.
  readMcpTarget: ({ name }) => (name.startsWith('mcp__') ? null : parseQualifiedName(name)),
  createMcpForm: ({ server, tool }) => createPlainForm(`${server}__${tool}`, []),
};

// A program with its arguments runs without a shell; quoting keeps each argument one word.
function joinCommand(command: string, args: unknown): string {
  const words = (findArray(args) ?? []).map(toPlainText);
  return [command, ...words.map(quoteShellWord)].join(' ');
}

function readLineRange(element: Fields): Fields {
  const start = findNumber(element, 'start_line');
  const end = findNumber(element, 'end_line');
  return dropUndefined({
    offset: start,
    limit: end === undefined ? undefined : end - (start ?? 1) + 1,
  });
}

function writeLineRange(fields: Fields): Fields {
  const offset = findNumber(fields, 'offset');
  const limit = findNumber(fields, 'limit');
  return dropUndefined({
    start_line: offset,
    end_line: limit === undefined ? undefined : (offset ?? 1) + limit - 1,
  });
}

function findNumber(record: Fields, key: string): number | undefined {
  const value = record[key];
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

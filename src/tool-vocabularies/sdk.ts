import path from 'node:path';
import { quoteShellWord } from '../base/text.ts';
import { CLINE_WEB_SEARCH, createQuestionForm } from './cline-forms.ts';
import { createListForm, createPlainForm, createRenamedForm } from './tool-form.ts';
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
    Write: createRenamedForm({ name: EDITOR, keys: { file_path: 'path', content: 'new_text' } }),
    Edit: createRenamedForm({
      name: EDITOR,
      keys: { file_path: 'path', old_string: 'old_text', new_string: 'new_text' },
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
      toFields: ({ prompt }) => (prompt === undefined ? {} : { prompt }),
      toElement: ({ prompt }) => (prompt === undefined ? {} : { prompt }),
    }),
    WebSearch: CLINE_WEB_SEARCH,
    Agent: createRenamedForm({ name: 'spawn_agent', keys: { prompt: 'task' } }),
    TodoWrite: null,
    AskUserQuestion: createQuestionForm('ask_question', (labels) => labels),
    Skill: createRenamedForm({ name: 'skills', keys: { skill: 'skill', args: 'args' } }),
    NotebookEdit: createRenamedForm({
      name: EDITOR,
      keys: { notebook_path: 'path', new_source: 'new_text' },
      constants: { old_text: '' },
    }),
  },
  formerNames: {},
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
  const start = readNumber(element, 'start_line');
  const end = readNumber(element, 'end_line');
  return {
    ...(start === null ? {} : { offset: start }),
    ...(end === null ? {} : { limit: end - (start ?? 1) + 1 }),
  };
}

function writeLineRange(fields: Fields): Fields {
  const offset = readNumber(fields, 'offset');
  const limit = readNumber(fields, 'limit');
  return {
    ...(offset === null ? {} : { start_line: offset }),
    ...(limit === null ? {} : { end_line: (offset ?? 1) + limit - 1 }),
  };
}

function readNumber(record: Fields, key: string): number | null {
  const value = record[key];
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

import { isRecord } from '../../base/json.ts';
import {
  expectedObject,
  listFace,
  plainFace,
  renamedFace,
  type Face,
  type Slot,
  type Tool,
} from './face.ts';
import { findText, rawText, type Fields } from './fields.ts';
import { formatSearchReplace, parseSearchReplace } from './search-replace.ts';

export const READ: Tool = {
  claude: plainFace('Read', ['file_path', 'offset', 'limit', 'pages']),
  classic: renamedFace({ name: 'read_file', keys: { file_path: 'path' } }),
  sdk: listFace('read_files', {
    lists: ['files', 'file_paths', 'filePaths', 'paths'],
    subjects: ['path', 'file_path', 'filePath'],
    field: 'file_path',
    element: 'object',
    toFields: lineWindow,
    toElement: lineRange,
  }),
  essential: ['file_path'],
  pathField: 'file_path',
};

export const WRITE: Tool = {
  claude: plainFace('Write', ['file_path', 'content']),
  classic: renamedFace({
    name: 'write_to_file',
    keys: { file_path: 'path', content: 'content' },
  }),
  sdk: renamedFace({ name: 'editor', keys: { file_path: 'path', content: 'new_text' } }),
  essential: ['file_path', 'content'],
  pathField: 'file_path',
  changesFile: true,
};

export const EDIT: Tool = {
  claude: plainFace('Edit', ['file_path', 'old_string', 'new_string', 'replace_all'], {
    replace_all: false,
  }),
  classic: diffFace({ path: 'file_path', search: 'old_string', replace: 'new_string' }),
  sdk: renamedFace({
    name: 'editor',
    keys: { file_path: 'path', old_string: 'old_text', new_string: 'new_text' },
  }),
  essential: ['file_path', 'old_string', 'new_string'],
  pathField: 'file_path',
  changesFile: true,
};

// A guard that watches edits must see notebooks too, though only Claude has a tool for them.
export const NOTEBOOK_EDIT: Tool = {
  claude: plainFace('NotebookEdit', [
    'notebook_path',
    'cell_id',
    'new_source',
    'cell_type',
    'edit_mode',
  ]),
  classic: diffFace({ path: 'notebook_path', search: null, replace: 'new_source' }),
  sdk: renamedFace({
    name: 'editor',
    keys: { notebook_path: 'path', new_source: 'new_text' },
    constants: { old_text: '' },
  }),
  essential: ['notebook_path', 'new_source'],
  pathField: 'notebook_path',
};

const PATH_KEYS = ['path', 'file_path', 'filePath', 'notebook_path'];

export function editFields(path: string, before: string, after: string): Fields {
  return { file_path: path, old_string: before, new_string: after, replace_all: false };
}

/** A change that cannot be read still shows the path, if there is one, and all of its text. */
export function unreadableChange(input: unknown): Slot {
  const path = pathIn(input) ?? '';
  return { tool: EDIT, fields: editFields(path, '', rawText(input)), put: () => input };
}

export function pathIn(input: unknown): string | null {
  return isRecord(input) ? findText(input, PATH_KEYS) : null;
}

export function pathKeyIn(input: Fields): string {
  return PATH_KEYS.find((key) => typeof input[key] === 'string') ?? 'path';
}

interface DiffFields {
  readonly path: string;
  readonly search: string | null;
  readonly replace: string;
}

function diffFace({ path, search, replace }: DiffFields): Face {
  const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
  return {
    name: 'replace_in_file',
    keys: ['path', 'diff'],
    constants: {},
    list: null,
    show: (fields) => ({
      path: textOf(fields[path]),
      diff: formatSearchReplace({
        search: search === null ? '' : textOf(fields[search]),
        replace: textOf(fields[replace]),
      }),
    }),
    read: (given) => {
      if (!isRecord(given)) return expectedObject(given);
      if (typeof given['diff'] !== 'string') return 'expected "diff" to be text';
      const [only, ...more] = parseSearchReplace(given['diff']);
      if (only === undefined || more.length > 0) {
        const found = only === undefined ? 0 : more.length + 1;
        return `expected one SEARCH/REPLACE block in "diff", found ${found}`;
      }
      const texts = { [path]: given['path'], [replace]: only.replace };
      return search === null ? texts : { ...texts, [search]: only.search };
    },
  };
}

function lineWindow(element: Fields): Fields {
  const start = numberIn(element, 'start_line');
  const end = numberIn(element, 'end_line');
  return {
    ...(start === null ? {} : { offset: start }),
    ...(end === null ? {} : { limit: end - (start ?? 1) + 1 }),
  };
}

function lineRange(fields: Fields): Fields {
  const offset = numberIn(fields, 'offset');
  const limit = numberIn(fields, 'limit');
  return {
    ...(offset === null ? {} : { start_line: offset }),
    ...(limit === null ? {} : { end_line: (offset ?? 1) + limit - 1 }),
  };
}

function numberIn(record: Fields, key: string): number | null {
  const value = record[key];
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

import path from 'node:path';
import { defineTool } from './define-tool.ts';
import { openForEdit, saveText, type EditableFile } from './files/editable-file.ts';
import { numberLines } from './files/line-window.ts';
import { formatMissingFile, parsePathField, type ToolPath } from './files/read-path.ts';
import { replaceText, type ReplacedText } from './files/replace-text.ts';
import { diffTexts } from './files/structured-patch.ts';
import { NEW_FILE_FORMAT, normalizeLineEnds, type TextFile } from './files/text-file.ts';
import { createFailedOutput, type ToolOutput } from './tool.ts';
import type { ToolContext } from './tool-context.ts';

interface EditInput {
  readonly file: ToolPath;
  readonly oldString: string;
  readonly newString: string;
  readonly replaceAll: boolean;
}

export const editTool = defineTool<EditInput>({
  name: 'Edit',
  description: `Replaces text in a file.

- The file must have been read with Read first, and must not have changed since.
- old_string must stand in the file exactly as written, white space included and without the line numbers of Read, and only once: give enough lines around it, or set replace_all to change every place (to rename something, say).
- With an empty old_string, a new file is made that holds new_string.
- Notebooks are changed with NotebookEdit.`,
  schema: {
    type: 'object',
    properties: {
      file_path: { type: 'string', description: 'The file to change' },
      old_string: { type: 'string', description: 'The text to replace' },
      new_string: {
        type: 'string',
        description: 'The text to put there, different from old_string',
      },
      replace_all: { type: 'boolean', default: false, description: 'Replace every occurrence' },
    },
    required: ['file_path', 'old_string', 'new_string'],
    additionalProperties: false,
  },
  kind: 'edit',
  parse: (fields, context) => ({
    file: parsePathField(fields, 'file_path', context),
    oldString: fields.text('old_string'),
    newString: fields.text('new_string'),
    replaceAll: fields.flag('replace_all'),
  }),
  check(input, context) {
    const plan = planEdit(input, context);
    return typeof plan === 'string' ? plan : null;
  },
  toHookInput: ({ file, oldString, newString, replaceAll }) => ({
    file_path: file.absolute,
    old_string: oldString,
    new_string: newString,
    replace_all: replaceAll,
  }),
  async run(input, context) {
    const plan = planEdit(input, context);
    if (typeof plan === 'string') return createFailedOutput(plan);
    const { before, after } = plan;
    const content = { text: after.text, format: before.format };
    const failure = saveText(input.file.absolute, content, context);
    return failure === null ? createEditOutput(input, plan) : createFailedOutput(failure);
  },
});

interface EditPlan {
  readonly before: TextFile;
  readonly after: ReplacedText;
}

/** Computes the whole edit before anything is written; a string says why it is impossible. */
function planEdit(input: EditInput, context: ToolContext): EditPlan | string {
  const { file, oldString, newString } = input;
  if (oldString === newString) {
    return 'No changes to make: old_string and new_string are exactly the same.';
  }
  const old = openForEdit(file.absolute, context);
  if (typeof old === 'string') return old;
  if (oldString === '') return planNewFile(old, newString);
  if (old === null) return formatMissingFile(file.absolute, context.cwd());
  if (path.extname(file.absolute).toLowerCase() === '.ipynb') {
    return 'File is a Jupyter Notebook. Use the NotebookEdit tool to edit this file.';
  }
  return old.problem ?? planReplacement(input, old);
}

function planNewFile(old: EditableFile | null, text: string): EditPlan | string {
  if (old !== null && old.content.text.trim() !== '') {
    return 'Cannot create new file - file already exists. To change it, give the text to replace as old_string.';
  }
  return {
    before: { text: '', format: old?.content.format ?? NEW_FILE_FORMAT },
    after: { text, start: 0, end: text.length },
  };
}

function planReplacement(input: EditInput, { content }: EditableFile): EditPlan | string {
  const after = replaceText(content.text, {
    before: input.oldString,
    after: input.newString,
    isForAll: input.replaceAll,
    offersAll: true,
  });
  return typeof after === 'string' ? after : { before: content, after };
}

async function createEditOutput(
  input: EditInput,
  { before, after }: EditPlan,
): Promise<ToolOutput> {
  const { file, oldString, newString, replaceAll } = input;
  const originalFile = normalizeLineEnds(before.text);
  return {
    response: {
      filePath: file.written,
      oldString,
      newString,
      originalFile,
      structuredPatch: await diffTexts(originalFile, normalizeLineEnds(after.text)),
      userModified: false,
      replaceAll,
    },
    text: formatEdited(input, after),
    success: true,
  };
}

function formatEdited({ file, replaceAll }: EditInput, after: ReplacedText): string {
  const done = `The file ${file.written} has been updated.`;
  if (replaceAll) return `${done} All occurrences were successfully replaced.`;
  const intro = "Here's the result of running `cat -n` on a snippet of the edited file:";
  return `${done} ${intro}\n${formatSnippet(after)}`;
}

const LINES_AROUND = 4;
const MAX_SNIPPET_LINES = 100;

function formatSnippet({ text, start, end }: ReplacedText): string {
  const firstLine = countLinesTo(text, start);
  const first = Math.max(firstLine - LINES_AROUND, 1);
  const lines = text.split(/\r?\n/).slice(first - 1, countLinesTo(text, end) + LINES_AROUND);
  const snippet = numberLines({ lines: lines.slice(0, MAX_SNIPPET_LINES), start: first });
  return lines.length > MAX_SNIPPET_LINES ? `${snippet}\n…` : snippet;
}

function countLinesTo(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}

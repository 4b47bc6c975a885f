import path from 'node:path';
import { defineTool } from './define-tool.ts';
import { openForChange, saveText, type FileToChange } from './files/changeable-file.ts';
import { numberLines } from './files/line-window.ts';
import { sayMissing } from './files/look-into.ts';
import { replaceText, type Replaced } from './files/replace-text.ts';
import { diffTexts } from './files/structured-patch.ts';
import { NEW_FILE_FORMAT, withPlainLineEnds, type TextFile } from './files/text-file.ts';
import { readPath, type ToolPath } from './files/tool-path.ts';
import { failedOutput, type ToolOutput } from './tool.ts';
import type { Workbench } from './workbench.ts';

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
- old_string must stand in the file exactly as given, white space included and without the line numbers of Read, and only once: give enough lines around it, or set replace_all to change every place (to rename something, say).
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
  read: (given, bench) => ({
    file: readPath(given, 'file_path', bench),
    oldString: given.text('old_string'),
    newString: given.text('new_string'),
    replaceAll: given.flag('replace_all'),
  }),
  check(input, bench) {
    const plan = planEdit(input, bench);
    return typeof plan === 'string' ? plan : null;
  },
  toHookInput: ({ file, oldString, newString, replaceAll }) => ({
    file_path: file.absolute,
    old_string: oldString,
    new_string: newString,
    replace_all: replaceAll,
  }),
  async run(input, bench) {
    const plan = planEdit(input, bench);
    if (typeof plan === 'string') return failedOutput(plan);
    const { before, after } = plan;
    const content = { text: after.text, format: before.format };
    const failure = saveText(input.file.absolute, content, bench);
    return failure === null ? editOutput(input, plan) : failedOutput(failure);
  },
});

interface Plan {
  readonly before: TextFile;
  readonly after: Replaced;
}

/** The whole change, before any of it is made; a string says why it cannot be. */
function planEdit(input: EditInput, bench: Workbench): Plan | string {
  const { file, oldString, newString } = input;
  if (oldString === newString) {
    return 'No changes to make: old_string and new_string are exactly the same.';
  }
  const old = openForChange(file.absolute, bench);
  if (typeof old === 'string') return old;
  if (oldString === '') return planNewFile(old, newString);
  if (old === null) return sayMissing(file.absolute, bench.cwd());
  if (path.extname(file.absolute).toLowerCase() === '.ipynb') {
    return 'File is a Jupyter Notebook. Use the NotebookEdit tool to edit this file.';
  }
  return old.unseen ?? planReplacement(input, old);
}

function planNewFile(old: FileToChange | null, text: string): Plan | string {
  if (old !== null && old.content.text.trim() !== '') {
    return 'Cannot create new file - file already exists. To change it, give the text to replace as old_string.';
  }
  return {
    before: { text: '', format: old?.content.format ?? NEW_FILE_FORMAT },
    after: { text, start: 0, end: text.length },
  };
}

function planReplacement(input: EditInput, { content }: FileToChange): Plan | string {
  const after = replaceText(content.text, {
    before: input.oldString,
    after: input.newString,
    isForAll: input.replaceAll,
  });
  return typeof after === 'string' ? after : { before: content, after };
}

async function editOutput(input: EditInput, { before, after }: Plan): Promise<ToolOutput> {
  const { file, oldString, newString, replaceAll } = input;
  const originalFile = withPlainLineEnds(before.text);
  return {
    response: {
      filePath: file.written,
      oldString,
      newString,
      originalFile,
      structuredPatch: await diffTexts(originalFile, withPlainLineEnds(after.text)),
      userModified: false,
      replaceAll,
    },
    text: sayEdited(input, after),
    success: true,
  };
}

function sayEdited({ file, replaceAll }: EditInput, after: Replaced): string {
  const done = `The file ${file.written} has been updated.`;
  if (replaceAll) return `${done} All occurrences were successfully replaced.`;
  const intro = "Here's the result of running `cat -n` on a snippet of the edited file:";
  return `${done} ${intro}\n${snippetAround(after)}`;
}

const LINES_AROUND = 4;
const MOST_SNIPPET_LINES = 100;

function snippetAround({ text, start, end }: Replaced): string {
  const firstLine = lineOf(text, start);
  const first = Math.max(firstLine - LINES_AROUND, 1);
  const lines = text.split(/\r?\n/).slice(first - 1, lineOf(text, end) + LINES_AROUND);
  const shown = numberLines({ lines: lines.slice(0, MOST_SNIPPET_LINES), start: first });
  return lines.length > MOST_SNIPPET_LINES ? `${shown}\n…` : shown;
}

function lineOf(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}

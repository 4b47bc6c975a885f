import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { dropUndefined } from '../../base/defined.ts';
import { defineTool } from './define-tool.ts';
import { openForEdit, saveText } from './files/editable-file.ts';
import { formatMissingFile, parsePathField, type ToolPath } from './files/read-path.ts';
import {
  getCellId,
  joinText,
  parseNotebook,
  type Notebook,
  type RawCell,
} from './files/notebook.ts';
import type { TextFile } from './files/text-file.ts';
import { createFailedOutput, type ToolOutput } from './tool.ts';
import type { ToolContext } from './tool-context.ts';

const EDIT_MODES = ['replace', 'insert', 'delete'] as const;
const CELL_TYPES = ['code', 'markdown'] as const;

interface NotebookInput {
  readonly file: ToolPath;
  readonly cellId: string | null;
  readonly newSource: string;
  readonly cellType: (typeof CELL_TYPES)[number] | null;
  readonly editMode: (typeof EDIT_MODES)[number] | null;
}

export const notebookEditTool = defineTool<NotebookInput>({
  name: 'NotebookEdit',
  description: `Changes one cell of a Jupyter notebook (.ipynb).

- The notebook must have been read with Read first, and must not have changed since; Read tells the ids of cells.
- edit_mode replace (the usual) gives the cell a new source, insert puts a new cell behind the one with cell_id (or in front of all without one) and needs cell_type, delete removes the cell.`,
  schema: {
    type: 'object',
    properties: {
      notebook_path: { type: 'string', description: 'The notebook to change' },
      cell_id: { type: 'string', description: 'The cell to change, or to insert behind' },
      new_source: { type: 'string', description: 'The new source of the cell' },
      cell_type: { type: 'string', enum: CELL_TYPES, description: 'Needed for insert' },
      edit_mode: { type: 'string', enum: EDIT_MODES, description: 'replace when absent' },
    },
    required: ['notebook_path', 'new_source'],
    additionalProperties: false,
  },
  kind: 'edit',
  parse: (fields, context) => ({
    file: parsePathField(fields, 'notebook_path', context),
    cellId: fields.optionalText('cell_id'),
    newSource: fields.text('new_source'),
    cellType: fields.optionalOneOf('cell_type', CELL_TYPES),
    editMode: fields.optionalOneOf('edit_mode', EDIT_MODES),
  }),
  check(input, context) {
    const plan = planChange(input, context);
    return typeof plan === 'string' ? plan : null;
  },
  toHookInput: ({ file, cellId, newSource, cellType, editMode }) => ({
    notebook_path: file.absolute,
    ...dropUndefined({ cell_id: cellId ?? undefined }),
    new_source: newSource,
    ...dropUndefined({ cell_type: cellType ?? undefined, edit_mode: editMode ?? undefined }),
  }),
  async run(input, context) {
    const plan = planChange(input, context);
    if (typeof plan === 'string') return createFailedOutput(plan);
    const { cells, cellId, cellType } = changeCells(input, plan);
    const { text, format } = plan.content;
    const updated = formatNotebook(plan.notebook, cells, text);
    const failure = saveText(input.file.absolute, { text: updated, format }, context);
    return failure === null
      ? createNotebookOutput(input, plan, cellId, cellType, updated)
      : createFailedOutput(failure);
  },
});

interface NotebookPlan {
  readonly content: TextFile;
  readonly notebook: Notebook;
  /** The index of the cell; -1 inserts before all cells. */
  readonly index: number;
}

function planChange(input: NotebookInput, context: ToolContext): NotebookPlan | string {
  const file = input.file.absolute;
  if (path.extname(file).toLowerCase() !== '.ipynb') {
    return 'File must be a Jupyter notebook (.ipynb file). For editing other file types, use the Edit tool.';
  }
  if (input.editMode === 'insert' && input.cellType === null) {
    return 'Cell type is required when using edit_mode=insert: give cell_type.';
  }
  const old = openForEdit(file, context);
  if (old === null) return formatMissingFile(file, context.cwd());
  if (typeof old === 'string') return old;
  if (old.problem !== null) return old.problem;
  const notebook = parseNotebook(old.content.text);
  if (typeof notebook === 'string') return notebook;
  const index = findCell(input, notebook);
  return typeof index === 'string' ? index : { content: old.content, notebook, index };
}

function findCell({ cellId, editMode }: NotebookInput, { cells }: Notebook): number | string {
  if (cellId === null) {
    if (editMode === 'insert') return -1;
    return 'Cell ID must be specified when not inserting a new cell: give cell_id.';
  }
  const index = cells.findIndex((cell, at) => getCellId(cell, at) === cellId);
  if (index !== -1) return index;
  // Claude Code also accepts numbers for cells that have ids.
  const counted = Number(/^cell-(\d+)$/.exec(cellId)?.[1] ?? Number.NaN);
  if (counted < cells.length) return counted;
  const ids = cells.map(getCellId).slice(0, 50).join(', ');
  return `Cell with ID "${cellId}" not found in notebook. It has these: ${ids === '' ? 'none' : ids}.`;
}

/** `cellId` is that of the changed, new or removed cell; null when cells have no ids. */
function changeCells(input: NotebookInput, { notebook, index }: NotebookPlan) {
  const { cells } = notebook;
  const old = cells[index];
  if (input.editMode === 'insert' || old === undefined) return insertCell(input, notebook, index);
  const oldType = joinText(old['cell_type']);
  const cellId = input.cellId;
  if (input.editMode === 'delete') {
    return { cells: cells.toSpliced(index, 1), cellId, cellType: oldType };
  }
  const cellType = input.cellType ?? oldType;
  return {
    cells: cells.with(index, replaceCell(old, cellType, input.newSource)),
    cellId,
    cellType,
  };
}

function insertCell(input: NotebookInput, { cells, hasIds }: Notebook, index: number) {
  const cellType = input.cellType ?? 'code';
  const cellId = hasIds ? randomBytes(4).toString('hex') : null;
  const cell = {
    cell_type: cellType,
    ...dropUndefined({ id: cellId ?? undefined }),
    source: input.newSource,
    metadata: {},
    ...createEmptyResults(cellType),
  };
  return { cells: cells.toSpliced(index + 1, 0, cell), cellId, cellType };
}

/** The outputs are cleared, because they belong to the old source. */
function replaceCell(old: RawCell, cellType: string, source: string): RawCell {
  const changed = { ...old, cell_type: cellType, source, ...createEmptyResults(cellType) };
  if (cellType === 'code') return changed;
  const { outputs: _outputs, execution_count: _count, ...rest } = { ...EMPTY_RESULTS, ...changed };
  return rest;
}

const EMPTY_RESULTS = { execution_count: null, outputs: [] };

function createEmptyResults(cellType: string): object {
  return cellType === 'code' ? EMPTY_RESULTS : {};
}

/** One space, as Jupyter indents. */
function formatNotebook({ raw }: Notebook, cells: readonly RawCell[], before: string): string {
  const json = JSON.stringify({ ...raw, cells }, null, 1);
  return before.endsWith('\n') ? `${json}\n` : json;
}

function createNotebookOutput(
  { file, newSource, editMode }: NotebookInput,
  { content, notebook, index }: NotebookPlan,
  cellId: string | null,
  cellType: string,
  updated: string,
): ToolOutput {
  const mode = editMode ?? 'replace';
  const old = mode === 'insert' ? {} : { old_source: joinText(notebook.cells[index]?.['source']) };
  const response = {
    new_source: newSource,
    ...old,
    cell_type: cellType,
    language: notebook.language,
    edit_mode: mode,
    ...dropUndefined({ cell_id: cellId ?? undefined }),
    error: '',
    notebook_path: file.absolute,
    original_file: content.text,
    updated_file: updated,
  };
  return { response, text: formatChange(mode, cellId, newSource), success: true };
}

function formatChange(
  mode: (typeof EDIT_MODES)[number],
  id: string | null,
  source: string,
): string {
  const cell = id === null ? 'cell' : `cell ${id}`;
  if (mode === 'delete') return `Deleted ${cell}`;
  return `${mode === 'insert' ? 'Inserted' : 'Updated'} ${cell} with ${source}`;
}

import { isRecord } from '../base/json.ts';
import { MULTI_EDIT, type CalledTool } from './catalogue.ts';
import { REPLACE_IN_FILE, USE_MCP_TOOL } from './classic.ts';
import { listItems } from './tool-form.ts';
import { findArray, toPlainText, withChanges, omitField, type Fields } from './fields.ts';
import {
  createEditFields,
  createUnreadableChange,
  findPath,
  findPathKey,
  getText,
} from './file-change.ts';
import { listPatchParts } from './patch-parts.ts';
import { APPLY_PATCH, EDITOR } from './sdk.ts';
import { parseSearchReplace, replaceBlock } from './search-replace.ts';
import { readCalledFile, type ViewContext, type ToolCall } from './vocabulary.ts';
import { type CallPart, RULES, TOOLS, translatePath, type Translation } from './tools.ts';

type PartReader = (input: unknown, context: ViewContext) => readonly CallPart[];

const READERS = new Map<string, PartReader>([
  [APPLY_PATCH, listPatchParts],
  [EDITOR, listEditorParts],
  [MULTI_EDIT, listMultiEditParts],
  [REPLACE_IN_FILE, listSearchReplaceParts],
]);

/** The parts of a call, at least one, whatever its input is. */
export function listParts(
  call: ToolCall,
  called: CalledTool,
  context: ViewContext,
): readonly CallPart[] {
  const read = READERS.get(call.name);
  if (read !== undefined) return read(call.input, context);
  const { list } = called.form;
  if (list === null) return [createOnlyPart(call, called)];
  return listItems(call.input, list).map((item) => ({ tool: called.tool, ...item }));
}

/** A part's fields with its path as the other vocabulary says paths. */
export function convertFields(
  { tool, fields }: Pick<CallPart, 'tool' | 'fields'>,
  translation: Translation,
  context: ViewContext,
): Fields {
  const { pathField } = tool;
  if (pathField === undefined) return fields;
  const { from, into } = translation;
  const saysPath = RULES[from].alwaysSaysPath || RULES[into].alwaysSaysPath;
  const file = fields[pathField] ?? (saysPath ? tool.defaultPath : undefined);
  if (typeof file !== 'string') return fields;
  const converted = translatePath(file, translation, context);
  return converted === fields[pathField] ? fields : { ...fields, [pathField]: converted };
}

function createOnlyPart({ name, input }: ToolCall, { tool, form: face }: CalledTool): CallPart {
  const read = isRecord(input) ? face.read(input, {}) : describeBareInput(tool.essential[0], input);
  const fields = typeof read === 'string' ? readUnparsedArguments(input) : read;
  const isBroken = tool.essential.some((field) => typeof fields[field] !== 'string');
  if (tool.changesFile === true && isBroken) return createUnreadableChange(input);
  const put = (next: Fields): unknown => withChanges(input, face.show(fields), face.show(next));
  return { tool, fields, put: name === USE_MCP_TOOL ? keepArgumentForm(input, put) : put };
}

function describeBareInput(field: string | undefined, input: unknown): Fields {
  if (field === undefined || input === null || input === undefined) return {};
  return { [field]: toPlainText(input) };
}

// A hook must be able to search what the server would be sent.
function readUnparsedArguments(input: unknown): Fields {
  return isRecord(input) ? { arguments: toPlainText(input['arguments']) } : {};
}

// Models send the arguments as JSON text or as an object; they stay what they were.
function keepArgumentForm(input: unknown, put: CallPart['put']): CallPart['put'] {
  const isObject = isRecord(input) && isRecord(input['arguments']);
  return (next) => {
    const changed = put(next);
    return isObject && isRecord(changed) ? { ...changed, arguments: next } : changed;
  };
}

/** `replace_in_file`: one edit per SEARCH/REPLACE block. */
function listSearchReplaceParts(input: unknown): readonly CallPart[] {
  const path = findPath(input);
  if (!isRecord(input) || path === null) return [createUnreadableChange(input)];
  const { diff } = input;
  if (typeof diff !== 'string') return [createUnreadableChange(input)];
  const blocks = parseSearchReplace(diff);
  if (blocks.length === 0) return [createUnreadableDiff(input, path, diff)];
  return blocks.map(({ search, replace }, index) => ({
    tool: TOOLS.Edit,
    fields: createEditFields(path, search, replace),
    put: (next) => {
      const texts = { search: getText(next, 'old_string'), replace: getText(next, 'new_string') };
      return { ...input, ...writePathKey(input, next), diff: replaceBlock(diff, index, texts) };
    },
  }));
}

/** `MultiEdit`: one edit per entry. */
function listMultiEditParts(input: unknown): readonly CallPart[] {
  const path = findPath(input);
  const list = isRecord(input) ? findArray(input['edits']) : null;
  if (!isRecord(input) || path === null || list === null) return [createUnreadableChange(input)];
  const edits = list.filter(isEdit);
  if (edits.length === 0 || edits.length < list.length) return [createUnreadableChange(input)];
  return edits.map((edit, index) => {
    const fields = { ...createEditFields(path, '', ''), ...edit, file_path: path };
    return {
      tool: TOOLS.Edit,
      fields,
      put: (next) => {
        const changed = withChanges(
          edit,
          omitField(fields, 'file_path'),
          omitField(next, 'file_path'),
        );
        return { ...input, ...writePathKey(input, next), edits: list.with(index, changed) };
      },
    };
  });
}

/** `editor`: a whole file, a replacement, or an insertion before a line. */
function listEditorParts(input: unknown, context: ViewContext): readonly CallPart[] {
  const path = findPath(input);
  if (!isRecord(input) || path === null) return [createUnreadableChange(input)];
  const { old_text: oldText, new_text: newText, insert_line: insertLine } = input;
  if (typeof newText !== 'string') return [createUnreadableChange(input)];
  if (!isAbsent(insertLine)) return [createInsertion(input, path, context)];
  if (isAbsent(oldText)) {
    const put = (next: Fields): unknown => changeEditor(input, next, { new_text: next['content'] });
    return [{ tool: TOOLS.Write, fields: { file_path: path, content: newText }, put }];
  }
  if (typeof oldText !== 'string') return [createUnreadableChange(input)];
  return [
    {
      tool: TOOLS.Edit,
      fields: createEditFields(path, oldText, newText),
      put: (next) =>
        changeEditor(input, next, { old_text: next['old_string'], new_text: next['new_string'] }),
    },
  ];
}

function createUnreadableDiff(input: unknown, path: string, diff: string): CallPart {
  return { tool: TOOLS.Edit, fields: createEditFields(path, '', diff), put: () => input };
}

function isEdit(value: unknown): value is Fields {
  return (
    isRecord(value) &&
    typeof value['old_string'] === 'string' &&
    typeof value['new_string'] === 'string'
  );
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function changeEditor(input: Fields, next: Fields, texts: Fields): unknown {
  return { ...input, ...writePathKey(input, next), ...texts };
}

function createInsertion(input: Fields, path: string, context: ViewContext): CallPart {
  const line = Number(input['insert_line']);
  if (!Number.isInteger(line)) return createUnreadableChange(input);
  const newText = getText(input, 'new_text');
  const { neighbour, before, after } = findNeighbours(readCalledFile(path, context), line);
  return {
    tool: TOOLS.Edit,
    fields: createEditFields(path, neighbour, `${before}${newText}${after}`),
    put: (next) => {
      const wanted = getText(next, 'new_string');
      if (!wanted.startsWith(before) || !wanted.endsWith(after)) return input;
      const inserted = wanted.slice(before.length, wanted.length - after.length);
      return changeEditor(input, next, { new_text: inserted });
    },
  };
}

interface Neighbours {
  readonly neighbour: string;
  readonly before: string;
  readonly after: string;
}

function findNeighbours(text: string | null, line: number): Neighbours {
  const lines = text === null || text === '' ? [] : text.replace(/\n$/, '').split('\n');
  const following = lines[Math.max(line, 1) - 1];
  if (following !== undefined) {
    return { neighbour: following, before: '', after: `\n${following}` };
  }
  const last = lines.at(-1);
  if (last === undefined) return { neighbour: '', before: '', after: '' };
  return { neighbour: last, before: `${last}\n`, after: '' };
}

function writePathKey(input: Fields, next: Fields): Fields {
  return { [findPathKey(input)]: next['file_path'] };
}

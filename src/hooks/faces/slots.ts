import { isRecord } from '../../base/json.ts';
import { APPLY_PATCH, EDITOR, MULTI_EDIT, USE_MCP_TOOL, type CalledTool } from './catalogue.ts';
import { itemsOf, type Slot } from './face.ts';
import { findArray, rawText, withChanges, without, type Fields } from './fields.ts';
import { EDIT, WRITE, editFields, pathIn, pathKeyIn, unreadableChange } from './file-tools.ts';
import { patchSlots } from './patch-slots.ts';
import { parseSearchReplace, replaceBlock } from './search-replace.ts';
import {
  readCalledFile,
  translatePath,
  type FaceContext,
  type ToolCall,
  type Translation,
} from './tool-call.ts';

type SlotReader = (input: unknown, context: FaceContext) => readonly Slot[];

const READERS = new Map<string, SlotReader>([
  [APPLY_PATCH, patchSlots],
  [EDITOR, editorSlots],
  [MULTI_EDIT, multiEditSlots],
  ['replace_in_file', searchReplaceSlots],
]);

/** The parts of a call, at least one, whatever its input is. */
export function slotsOf(call: ToolCall, called: CalledTool, context: FaceContext): readonly Slot[] {
  const read = READERS.get(call.name);
  if (read !== undefined) return read(call.input, context);
  const { list } = called.face;
  if (list === null) return [onlySlot(call, called)];
  return itemsOf(call.input, list).map((item) => ({ tool: called.tool, ...item }));
}

/** A part's fields with its path as the other vocabulary says paths. */
export function fieldsInFace(
  { tool, fields }: Pick<Slot, 'tool' | 'fields'>,
  translation: Translation,
  context: FaceContext,
): Fields {
  const { pathField } = tool;
  if (pathField === undefined) return fields;
  const isClassic = translation.from === 'classic' || translation.into === 'classic';
  const file = fields[pathField] ?? (isClassic ? tool.defaultPath : undefined);
  if (typeof file !== 'string') return fields;
  const said = translatePath(file, translation, context);
  return said === fields[pathField] ? fields : { ...fields, [pathField]: said };
}

function onlySlot({ name, input }: ToolCall, { tool, face }: CalledTool): Slot {
  const read = isRecord(input) ? face.read(input, {}) : wordless(tool.essential[0], input);
  const fields = typeof read === 'string' ? unreadableArguments(input) : read;
  const isBroken = tool.essential.some((field) => typeof fields[field] !== 'string');
  if (tool.changesFile === true && isBroken) return unreadableChange(input);
  const put = (next: Fields): unknown => withChanges(input, face.show(fields), face.show(next));
  return { tool, fields, put: name === USE_MCP_TOOL ? putArguments(input, put) : put };
}

function wordless(field: string | undefined, input: unknown): Fields {
  if (field === undefined || input === null || input === undefined) return {};
  return { [field]: rawText(input) };
}

// A hook must be able to search what the server would be sent.
function unreadableArguments(input: unknown): Fields {
  return isRecord(input) ? { arguments: rawText(input['arguments']) } : {};
}

// Models send the arguments as JSON text or as an object; they stay what they were.
function putArguments(input: unknown, put: Slot['put']): Slot['put'] {
  const isObject = isRecord(input) && isRecord(input['arguments']);
  return (next) => {
    const changed = put(next);
    return isObject && isRecord(changed) ? { ...changed, arguments: next } : changed;
  };
}

/** `replace_in_file`: one edit per SEARCH/REPLACE block. */
function searchReplaceSlots(input: unknown): readonly Slot[] {
  const path = pathIn(input);
  if (!isRecord(input) || path === null) return [unreadableChange(input)];
  const { diff } = input;
  if (typeof diff !== 'string') return [unreadableChange(input)];
  const blocks = parseSearchReplace(diff);
  if (blocks.length === 0) return [unreadableDiff(input, path, diff)];
  return blocks.map(({ search, replace }, index) => ({
    tool: EDIT,
    fields: editFields(path, search, replace),
    put: (next) => {
      const texts = { search: textIn(next, 'old_string'), replace: textIn(next, 'new_string') };
      return { ...input, ...renamed(input, next), diff: replaceBlock(diff, index, texts) };
    },
  }));
}

/** `MultiEdit`: one edit per entry. */
function multiEditSlots(input: unknown): readonly Slot[] {
  const path = pathIn(input);
  const list = isRecord(input) ? findArray(input['edits']) : null;
  if (!isRecord(input) || path === null || list === null) return [unreadableChange(input)];
  const edits = list.filter(isEdit);
  if (edits.length === 0 || edits.length < list.length) return [unreadableChange(input)];
  return edits.map((edit, index) => {
    const fields = { ...editFields(path, '', ''), ...edit, file_path: path };
    return {
      tool: EDIT,
      fields,
      put: (next) => {
        const changed = withChanges(edit, without(fields, 'file_path'), without(next, 'file_path'));
        return { ...input, ...renamed(input, next), edits: list.with(index, changed) };
      },
    };
  });
}

/** `editor`: a whole file, a replacement, or an insertion before a line. */
function editorSlots(input: unknown, context: FaceContext): readonly Slot[] {
  const path = pathIn(input);
  if (!isRecord(input) || path === null) return [unreadableChange(input)];
  const { old_text: oldText, new_text: newText, insert_line: insertLine } = input;
  if (typeof newText !== 'string') return [unreadableChange(input)];
  if (!isAbsent(insertLine)) return [insertionSlot(input, path, context)];
  if (isAbsent(oldText)) {
    const put = (next: Fields): unknown =>
      changedEditor(input, next, { new_text: next['content'] });
    return [{ tool: WRITE, fields: { file_path: path, content: newText }, put }];
  }
  if (typeof oldText !== 'string') return [unreadableChange(input)];
  return [
    {
      tool: EDIT,
      fields: editFields(path, oldText, newText),
      put: (next) =>
        changedEditor(input, next, { old_text: next['old_string'], new_text: next['new_string'] }),
    },
  ];
}

function unreadableDiff(input: unknown, path: string, diff: string): Slot {
  return { tool: EDIT, fields: editFields(path, '', diff), put: () => input };
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

function changedEditor(input: Fields, next: Fields, texts: Fields): unknown {
  return { ...input, ...renamed(input, next), ...texts };
}

function insertionSlot(input: Fields, path: string, context: FaceContext): Slot {
  const line = Number(input['insert_line']);
  if (!Number.isInteger(line)) return unreadableChange(input);
  const newText = textIn(input, 'new_text');
  const { neighbour, before, after } = surroundings(readCalledFile(path, context), line);
  return {
    tool: EDIT,
    fields: editFields(path, neighbour, `${before}${newText}${after}`),
    put: (next) => {
      const wanted = textIn(next, 'new_string');
      if (!wanted.startsWith(before) || !wanted.endsWith(after)) return input;
      const inserted = wanted.slice(before.length, wanted.length - after.length);
      return changedEditor(input, next, { new_text: inserted });
    },
  };
}

interface Surroundings {
  readonly neighbour: string;
  readonly before: string;
  readonly after: string;
}

function surroundings(text: string | null, line: number): Surroundings {
  const lines = text === null || text === '' ? [] : text.replace(/\n$/, '').split('\n');
  const following = lines[Math.max(line, 1) - 1];
  if (following !== undefined) {
    return { neighbour: following, before: '', after: `\n${following}` };
  }
  const last = lines.at(-1);
  if (last === undefined) return { neighbour: '', before: '', after: '' };
  return { neighbour: last, before: `${last}\n`, after: '' };
}

function renamed(input: Fields, next: Fields): Fields {
  return { [pathKeyIn(input)]: next['file_path'] };
}

function textIn(fields: Fields, key: string): string {
  const value = fields[key];
  return typeof value === 'string' ? value : '';
}

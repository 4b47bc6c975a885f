import { isRecord } from '../base/json.ts';
import { type CalledTool, type CallPart, getRules, TOOLS, translatePath } from './tools.ts';
import { USE_MCP_TOOL } from './classic.ts';
import { listItems } from './tool-form.ts';
import {
  findArray,
  toPlainText,
  copyChanges,
  omitField,
  type Fields,
  findText,
  splitLines,
} from './fields.ts';
import { parseSearchReplace, replaceBlock } from './search-replace.ts';
import {
  type PluralForm,
  readCalledFile,
  type ViewContext,
  type ToolCall,
  type Vocabulary,
} from './vocabulary.ts';
import {
  applyHunks,
  formatHunk,
  parsePatch,
  replaceLines,
  type PatchHunk,
  type PatchSection,
} from './patch.ts';

type PartReader = (input: unknown, context: ViewContext) => readonly CallPart[];

const READERS: Readonly<Record<PluralForm, PartReader>> = {
  patch: listPatchParts,
  editor: listEditorParts,
  edits: listMultiEditParts,
  'search-replace': listSearchReplaceParts,
  deletion: listDeletionParts,
  addresses: listAddressParts,
};

/** Lists the parts of a call, at least one, whatever its input is. */
export function listParts(
  call: ToolCall,
  called: CalledTool,
  context: ViewContext,
): readonly CallPart[] {
  if (called.plural !== undefined) return READERS[called.plural](call.input, context);
  const { list } = called.form;
  if (list === null) return [createOnlyPart(call, called)];
  return listItems(call.input, list).map((item) => ({ tool: called.tool, ...item }));
}

/** Converts the path in a part's fields to another vocabulary. */
export function convertFields(
  { tool, fields }: Pick<CallPart, 'tool' | 'fields'>,
  from: Vocabulary,
  into: Vocabulary,
  context: ViewContext,
): Fields {
  const { pathField } = tool;
  if (pathField === undefined) return fields;
  const needsPath = getRules(from).alwaysSaysPath || getRules(into).alwaysSaysPath;
  const file = fields[pathField] ?? (needsPath ? tool.defaultPath : undefined);
  if (typeof file !== 'string') return fields;
  const converted = translatePath(file, from, into, context);
  return converted === fields[pathField] ? fields : { ...fields, [pathField]: converted };
}

function createOnlyPart({ name, input }: ToolCall, { tool, form }: CalledTool): CallPart {
  const read = isRecord(input) ? form.read(input, {}) : describeBareInput(tool.essential[0], input);
  const fields = typeof read === 'string' ? readUnparsedArguments(input) : read;
  const isBroken = tool.essential.some((field) => typeof fields[field] !== 'string');
  if (tool.changesFile === true && isBroken) return createUnreadableChange(input);
  const put = (next: Fields): unknown => copyChanges(input, form.show(fields), form.show(next));
  return { tool, fields, put: name === USE_MCP_TOOL ? preserveArgumentForm(input, put) : put };
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
function preserveArgumentForm(input: unknown, put: CallPart['put']): CallPart['put'] {
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

/** `MultiEdit`: one edit per entry, under the keys that any agent has for them. */
function listMultiEditParts(input: unknown): readonly CallPart[] {
  const path = findPath(input);
  const key = isRecord(input)
    ? EDIT_LIST_KEYS.find((each) => Array.isArray(input[each]))
    : undefined;
  if (!isRecord(input) || path === null || key === undefined) {
    return [createUnreadableChange(input)];
  }
  const list = findArray(input[key]) ?? [];
  const edits = list.map(findEditKeys).filter((edit) => edit !== null);
  if (edits.length === 0 || edits.length < list.length) return [createUnreadableChange(input)];
  return edits.map(({ entry, oldKey, newKey }, index) => {
    const toFields = (from: Fields): Fields => ({
      ...omitField(omitField(from, oldKey), newKey),
      old_string: from[oldKey],
      new_string: from[newKey],
    });
    const toEntry = ({ old_string: before, new_string: after, ...rest }: Fields): Fields => ({
      ...omitField(rest, 'file_path'),
      [oldKey]: before,
      [newKey]: after,
    });
    const fields = { ...createEditFields(path, '', ''), ...toFields(entry), file_path: path };
    return {
      tool: TOOLS.Edit,
      fields,
      put: (next) => {
        const changed = copyChanges(entry, toEntry(fields), toEntry(next));
        return { ...input, ...writePathKey(input, next), [key]: list.with(index, changed) };
      },
    };
  });
}

const EDIT_LIST_KEYS = ['edits', 'changes'];

const EDIT_KEYS: readonly (readonly [string, string])[] = [
  ['old_string', 'new_string'],
  ['oldString', 'newString'],
  ['old_str', 'new_str'],
];

/** Finds the keys under which an entry has the text before and after; null when it is no edit. */
function findEditKeys(entry: unknown) {
  if (!isRecord(entry)) return null;
  const keys = EDIT_KEYS.find((pair) => pair.every((key) => typeof entry[key] === 'string'));
  return keys === undefined ? null : { entry, oldKey: keys[0], newKey: keys[1] };
}

/** A tool that deletes a file: an edit that empties it, as the deletion in a patch. */
function listDeletionParts(input: unknown, context: ViewContext): readonly CallPart[] {
  const path = findPath(input);
  if (!isRecord(input) || path === null) return [createUnreadableChange(input)];
  return [
    {
      tool: TOOLS.Edit,
      fields: createEditFields(path, readCalledFile(path, context) ?? '', ''),
      put: (next) => ({ ...input, ...writePathKey(input, next) }),
    },
  ];
}

const ADDRESS = /https?:\/\/[^\s<>"'`)\]]+/gu;

/** A tool that is given addresses within a text: one fetch per address. */
function listAddressParts(input: unknown): readonly CallPart[] {
  const prompt = isRecord(input) ? getText(input, 'prompt') : toPlainText(input);
  const found = [...prompt.matchAll(ADDRESS)];
  if (found.length === 0) {
    return [{ tool: TOOLS.WebFetch, fields: { url: prompt, prompt }, put: () => input }];
  }
  return found.map(({ 0: url, index }) => ({
    tool: TOOLS.WebFetch,
    fields: { url, prompt },
    put: (next) => {
      const [before, after] = [prompt.slice(0, index), prompt.slice(index + url.length)];
      const text =
        next['prompt'] === prompt ? `${before}${getText(next, 'url')}${after}` : next['prompt'];
      return isRecord(input) ? { ...input, prompt: text } : text;
    },
  }));
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
      const replacement = getText(next, 'new_string');
      if (!replacement.startsWith(before) || !replacement.endsWith(after)) return input;
      const inserted = replacement.slice(before.length, replacement.length - after.length);
      return changeEditor(input, next, { new_text: inserted });
    },
  };
}

/** Finds the line beside an insertion, with the text around it that the edit repeats. */
function findNeighbours(text: string | null, line: number) {
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

const PATH_KEYS = [
  'path',
  'file_path',
  'filePath',
  'notebook_path',
  'absolute_path',
  'target_file',
];

/** Creates the fields of an edit. */
function createEditFields(path: string, before: string, after: string): Fields {
  return { file_path: path, old_string: before, new_string: after, replace_all: false };
}

/** Creates a part for an unreadable change, with its path, if there is one, and all of its text. */
function createUnreadableChange(input: unknown): CallPart {
  const path = findPath(input) ?? '';
  return {
    tool: TOOLS.Edit,
    fields: createEditFields(path, '', toPlainText(input)),
    put: () => input,
  };
}

export function findPath(input: unknown): string | null {
  return isRecord(input) ? findText(input, PATH_KEYS) : null;
}

function findPathKey(input: Fields): string {
  return PATH_KEYS.find((key) => typeof input[key] === 'string') ?? 'path';
}

/** Returns the text of a field; empty when it has none. */
function getText(fields: Fields, key: string): string {
  const value = fields[key];
  return typeof value === 'string' ? value : '';
}

/** One part of a patch; `put` gives the new patch text. */
interface PatchPart {
  readonly tool: CallPart['tool'];
  readonly fields: Fields;
  readonly put: (next: Fields) => string;
}

const PATCH_KEYS = ['input', 'patch', 'command', 'patchText'];

/** `apply_patch`: a write per added file, an edit per hunk, per deleted and per moved file. */
function listPatchParts(input: unknown, context: ViewContext): readonly CallPart[] {
  const text = isRecord(input) ? findText(input, PATCH_KEYS) : input;
  if (typeof text !== 'string') return [createUnreadableChange(input)];
  const sections = parsePatch(text);
  if (sections.length === 0) return [createUnreadablePatch(input, text)];
  return sections
    .flatMap((section) => listSectionParts(text, section, context))
    .map(({ tool, fields, put }) => ({ tool, fields, put: (next) => putPatch(input, put(next)) }));
}

function createUnreadablePatch(input: unknown, text: string): CallPart {
  return { tool: TOOLS.Edit, fields: createEditFields('', '', text), put: () => input };
}

function putPatch(input: unknown, text: string): unknown {
  if (!isRecord(input)) return text;
  const key = PATCH_KEYS.find((name) => typeof input[name] === 'string') ?? 'input';
  return { ...input, [key]: text };
}

function listSectionParts(text: string, section: PatchSection, context: ViewContext): PatchPart[] {
  if (section.kind === 'Add') return [createAddPart(text, section)];
  const readFile = (): string | null => readCalledFile(section.path, context);
  if (section.kind === 'Delete') return [createEmptyingPart(text, section, readFile() ?? '')];
  if (section.moveTo !== null) return createMoveParts(text, section, readFile());
  if (section.hunks.length === 0) return [createEmptyingPart(text, section, '')];
  return section.hunks.map((hunk) => createHunkPart(text, section, hunk));
}

function createAddPart(text: string, section: PatchSection): PatchPart {
  const content = section.added.join('\n');
  return {
    tool: TOOLS.Write,
    fields: { file_path: section.path, content },
    put: (next) => {
      const newContent = getText(next, 'content');
      const lines = splitLines(newContent).map((line) => `+${line}`);
      const patched = newContent === content ? text : replaceLines(text, section, lines);
      return replaceHeader(patched, section, next);
    },
  };
}

function createEmptyingPart(text: string, section: PatchSection, before: string): PatchPart {
  const fields = createEditFields(section.path, before, '');
  return { tool: TOOLS.Edit, fields, put: (next) => replaceHeader(text, section, next) };
}

function createHunkPart(text: string, section: PatchSection, hunk: PatchHunk): PatchPart {
  return {
    tool: TOOLS.Edit,
    fields: createEditFields(section.path, hunk.old.join('\n'), hunk.next.join('\n')),
    put: (next) => replaceHeader(replaceHunk(text, hunk, next), section, next),
  };
}

function replaceHunk(text: string, hunk: PatchHunk, newFields: Fields): string {
  const old = splitIfChanged(hunk.old, getText(newFields, 'old_string'));
  const next = splitIfChanged(hunk.next, getText(newFields, 'new_string'));
  const isUnchanged = old === hunk.old && next === hunk.next;
  return isUnchanged ? text : replaceLines(text, hunk, formatHunk(old, next));
}

function splitIfChanged(lines: readonly string[], newText: string): readonly string[] {
  return lines.join('\n') === newText ? lines : splitLines(newText);
}

function createMoveParts(text: string, section: PatchSection, file: string | null): PatchPart[] {
  const { hunks, moveTo } = section;
  const joinSide = (side: 'old' | 'next'): string =>
    hunks.map((hunk) => hunk[side].join('\n')).join('\n');
  const after = file === null ? null : applyHunks(file, hunks);
  const content = after ?? joinSide('next');
  const target: PatchPart = {
    tool: TOOLS.Write,
    fields: { file_path: moveTo?.path ?? '', content },
    put: (next) => {
      const newContent = getText(next, 'content');
      const source = after === null ? null : file;
      const patched =
        newContent === content ? text : replaceContent(text, section, source, newContent);
      return replaceTarget(patched, section, next);
    },
  };
  return [createEmptyingPart(text, section, file ?? joinSide('old')), target];
}

/** `source` is the file before the hunks, or null when it is not known or they do not fit it. */
function replaceContent(
  text: string,
  section: PatchSection,
  source: string | null,
  newContent: string,
): string {
  const [only, ...more] = section.hunks;
  if (source !== null) {
    const bothEnd = source.endsWith('\n') && newContent.endsWith('\n');
    const splitWhole = (whole: string): string[] =>
      (bothEnd ? whole.slice(0, -1) : whole).split('\n');
    return replaceLines(text, section, [
      '@@',
      ...formatHunk(splitWhole(source), splitWhole(newContent)),
    ]);
  }
  if (only === undefined || more.length > 0) return text;
  return replaceLines(text, only, formatHunk(only.old, splitLines(newContent)));
}

// Headers precede the lines that were replaced, so their numbers still hold.
function replaceHeader(text: string, section: PatchSection, next: Fields): string {
  const path = getText(next, 'file_path');
  if (path === section.path) return text;
  const line = { start: section.header, end: section.header + 1 };
  return replaceLines(text, line, [`*** ${section.kind} File: ${path}`]);
}

function replaceTarget(text: string, { moveTo }: PatchSection, next: Fields): string {
  const path = getText(next, 'file_path');
  if (moveTo === null || path === moveTo.path) return text;
  const line = { start: moveTo.line, end: moveTo.line + 1 };
  return replaceLines(text, line, [`*** Move to: ${path}`]);
}

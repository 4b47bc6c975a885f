import { isRecord } from '../../../base/json.ts';
import { findCalledTool } from '../../../tool-vocabularies/tools.ts';
import type { ListShape } from '../../../tool-vocabularies/tool-form.ts';
import type { ToolCall } from '../../../tool-vocabularies/tool-views.ts';
import { findArray, findText, type Fields } from '../../../tool-vocabularies/fields.ts';
import { findPath } from '../../../tool-vocabularies/call-parts.ts';
import { parsePatch } from '../../../tool-vocabularies/patch.ts';
import { APPLY_PATCH, EDITOR } from '../../../tool-vocabularies/sdk.ts';
import { parseSearchReplace } from '../../../tool-vocabularies/search-replace.ts';
import { describeType } from '../input-fields.ts';

/**
 * Why a call cannot be run, or null. Hooks see every call, but only a complete input may run: a truncated
 * diff or an empty list is refused.
 */
export function findInputProblem(call: ToolCall): string | null {
  const called = findCalledTool(call);
  const isOwn = called === null || called.vocabulary === 'claude';
  if (isOwn) return null;
  const { name, input } = call;
  const shape = called.form.list;
  if (shape !== null) return checkList(name, input, shape);
  if (!isRecord(input)) {
    return `expected the input of ${name} to be an object, found ${describeType(input)}`;
  }
  const check = CHECKS.get(name);
  if (check !== undefined) return check(input);
  const read = called.form.read(input, {});
  return typeof read === 'string' ? read : null;
}

const CHECKS = new Map<string, (input: Fields) => string | null>([
  [APPLY_PATCH, checkPatch],
  [EDITOR, checkEditor],
  ['MultiEdit', checkMultiEdit],
  ['replace_in_file', checkDiff],
  ['write_to_file', (input) => checkText(input, ['path', 'content'])],
]);

function checkList(name: string, input: unknown, shape: ListShape): string | null {
  const key = shape.lists[0] ?? '';
  const found = findArray(input) ?? (isRecord(input) ? findFirstValue(input, shape) : undefined);
  const items = findArray(found) ?? [found];
  const hasSubject = (item: unknown): boolean =>
    isFilled(item) || (isRecord(item) && isFilled(findText(item, shape.subjects)));
  if (items.length > 0 && items.every(hasSubject)) return null;
  const [subject = ''] = shape.subjects;
  const element = shape.element === 'text' ? 'texts' : `objects with "${subject}"`;
  return `expected "${key}" of ${name} to be a list of ${element}, found ${describeType(found)} without`;
}

function findFirstValue(input: Fields, { lists, subjects }: ListShape): unknown {
  const key = [...lists, ...subjects].find((each) => (input[each] ?? null) !== null);
  return key === undefined ? undefined : input[key];
}

function isFilled(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '';
}

function checkText(input: Fields, keys: readonly string[]): string | null {
  const wrong = keys.find((key) => typeof input[key] !== 'string');
  return wrong === undefined
    ? null
    : `expected "${wrong}" to be text, found ${describeType(input[wrong])}`;
}

function checkPath(input: Fields): string | null {
  return isFilled(findPath(input)) ? null : 'expected "path" to name a file';
}

const REPLACE_LINE = /^(?:\+{3,}|>{3,}) ?REPLACE>?[ \t]*\r?$/m;
const DIVIDER_LINE = /^={3,}[ \t]*\r?$/m;

/** A block without its end would delete everything that it searches for. */
function checkDiff(input: Fields): string | null {
  const { diff } = input;
  const problem = checkPath(input) ?? checkText(input, ['diff']);
  if (problem !== null || typeof diff !== 'string') return problem;
  const blocks = parseSearchReplace(diff);
  if (blocks.length === 0) {
    return 'expected "diff" to hold blocks of "------- SEARCH", "=======" and "+++++++ REPLACE", found none';
  }
  const bodies = diff.split(REPLACE_LINE).slice(0, blocks.length);
  const isWhole = diff.split(REPLACE_LINE).length > blocks.length;
  if (isWhole && bodies.every((body) => DIVIDER_LINE.test(body))) return null;
  return 'a SEARCH/REPLACE block in "diff" is not complete: expected "=======" and "+++++++ REPLACE" after each "------- SEARCH"';
}

function checkMultiEdit(input: Fields): string | null {
  const edits = findArray(input['edits']) ?? [];
  if (edits.length === 0) return 'expected "edits" to be a list of replacements';
  const wrong = edits
    .map((edit) =>
      isRecord(edit) ? checkText(edit, ['old_string', 'new_string']) : describeType(edit),
    )
    .findIndex((problem) => problem !== null);
  if (wrong === -1) return checkPath(input);
  return `expected "edits[${wrong}]" to have the texts "old_string" and "new_string"`;
}

function checkEditor(input: Fields): string | null {
  const { old_text: oldText, insert_line: line } = input;
  if ((line ?? null) !== null && !Number.isInteger(Number(line))) {
    return 'expected "insert_line" to be a whole number';
  }
  return (
    checkPath(input) ??
    checkText(input, ['new_text']) ??
    ((oldText ?? null) === null ? null : checkText(input, ['old_text']))
  );
}

function checkPatch(input: Fields): string | null {
  const text = findText(input, ['input', 'patch']);
  if (text === null) return checkText(input, ['input']);
  const sections = parsePatch(text);
  if (sections.length === 0) {
    return 'expected "input" to hold "*** Add File:", "*** Update File:" or "*** Delete File:" after "*** Begin Patch", found none';
  }
  return sections.some(({ path }) => path === '') ? 'a section of the patch names no file' : null;
}

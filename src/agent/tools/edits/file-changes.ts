import { isRecord } from '../../../base/json.ts';
import { findRealPath } from '../../../base/paths.ts';
import { applyHunks, parsePatch, type PatchSection } from '../../../tool-vocabularies/patch.ts';
import { APPLY_PATCH, EDITOR } from '../../../tool-vocabularies/sdk.ts';
import type { ToolCall, ToolView } from '../../../tool-vocabularies/tool-views.ts';

/** One change to a file, for one part of an edit call. */
export type FileChange = { readonly file: string } & (
  | { readonly kind: 'write'; readonly content: string }
  | { readonly kind: 'delete'; readonly isMove: boolean }
  /** A text that must occur once, or is replaced everywhere, as in Edit. */
  | {
      readonly kind: 'replace';
      readonly old: string;
      readonly next: string;
      readonly isForAll: boolean;
    }
  /** Whole lines at their first occurrence; an empty `next` deletes them. */
  | {
      readonly kind: 'lines';
      readonly old: readonly string[];
      readonly next: readonly string[];
      /** Lines after which the search starts. */
      readonly anchors: readonly string[];
    }
  /** Inserts lines before the given line number. */
  | { readonly kind: 'insert'; readonly line: number; readonly text: string }
);

export const EDIT_CALLS: readonly string[] = [APPLY_PATCH, EDITOR, 'MultiEdit', 'replace_in_file'];

/** One change for each part of a call; a string says why the input is invalid. */
export function parseFileChanges(
  call: ToolCall,
  views: readonly ToolView[],
  readText: (file: string) => string | null,
): readonly FileChange[] | string {
  if (call.name === APPLY_PATCH) return parsePatchChanges(call.input, views, readText);
  return views.map((view) => {
    const change = parseViewChange(view);
    if (change.kind !== 'replace') return change;
    if (call.name === 'replace_in_file') return toLineChange(change);
    const line = isRecord(call.input) ? call.input['insert_line'] : null;
    if (call.name !== EDITOR || line === undefined || line === null) return change;
    return toInsertion(change, { line: Number(line), text: getText(call.input, 'new_text') });
  });
}

type Replacement = Extract<FileChange, { kind: 'replace' }>;

/** The change of a single view, without the call's other fields. */
function parseViewChange({
  name,
  input,
}: ToolView): Extract<FileChange, { kind: 'replace' | 'write' }> {
  const file = getText(input, 'file_path');
  if (name === 'Write') return { kind: 'write', file, content: getText(input, 'content') };
  return {
    kind: 'replace',
    file,
    old: getText(input, 'old_string'),
    next: getText(input, 'new_string'),
    isForAll: isRecord(input) && input['replace_all'] === true,
  };
}

/** An empty SEARCH replaces the whole file. */
function toLineChange(change: Replacement): FileChange {
  const { file, old, next } = change;
  if (old === '') return { kind: 'write', file, content: next };
  const fresh = next === '' ? [] : next.split('\n');
  return { kind: 'lines', file, old: old.split('\n'), next: fresh, anchors: [] };
}

// An empty file has no line to insert before.
function toInsertion(
  change: Replacement,
  { line, text }: { line: number; text: string },
): FileChange {
  if (change.old === '') return change;
  return { kind: 'insert', file: change.file, line: Math.max(line, 1), text };
}

function parsePatchChanges(
  input: unknown,
  views: readonly ToolView[],
  readText: (file: string) => string | null,
): readonly FileChange[] | string {
  const text =
    typeof input === 'string' ? input : getText(input, 'input') || getText(input, 'patch');
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
  const changes: FileChange[] = [];
  for (const section of parsePatch(text)) {
    const file = getText(views[changes.length]?.input, 'file_path');
    const target = getText(views[changes.length + 1]?.input, 'file_path');
    const unfit = checkSection(section, file, target, readText);
    if (unfit !== null) return unfit;
    changes.push(...parseSection(section, file, lines, views[changes.length + 1]?.input));
  }
  return changes;
}

function checkSection(
  { kind, path, moveTo, hunks }: PatchSection,
  file: string,
  target: string,
  readText: (file: string) => string | null,
): string | null {
  if (kind !== 'Update') return null;
  if (moveTo === null) return hunks.length === 0 ? `the patch changes nothing in ${path}` : null;
  // Moving a file onto itself would write it and then delete it.
  if (isSameFile(file, target)) return `the patch moves ${path} to where it is`;
  const before = readText(file);
  if (before === null) return `the patch moves ${path}, which does not exist or cannot be read`;
  return applyHunks(before, hunks) === null
    ? `the patch does not fit ${path}: its lines are not there`
    : null;
}

function isSameFile(one: string, other: string): boolean {
  return one === other || (findRealPath(one) ?? one) === findRealPath(other);
}

/** `lines` are those of the whole patch, `moveTarget` is the input of the view that follows. */
function parseSection(
  section: PatchSection,
  file: string,
  lines: readonly string[],
  moveTarget: unknown,
): FileChange[] {
  const { kind, moveTo, hunks, added } = section;
  if (kind === 'Delete') return [{ kind: 'delete', file, isMove: false }];
  if (kind === 'Add') return [{ kind: 'write', file, content: joinLines(added) }];
  if (moveTo === null) {
    return hunks.map(({ old, next, start }) => {
      return { kind: 'lines', file, old, next, anchors: collectAnchors(lines, start) };
    });
  }
  const content = getText(moveTarget, 'content');
  return [
    { kind: 'delete', file, isMove: true },
    { kind: 'write', file: getText(moveTarget, 'file_path'), content },
  ];
}

function joinLines(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

/** Texts such as `@@ class A` limit where the search starts. */
function collectAnchors(lines: readonly string[], start: number): string[] {
  const anchors: string[] = [];
  for (let at = start - 1; lines[at]?.startsWith('@@') === true; at--) {
    const anchor = (lines[at] ?? '')
      .replace(/^@@/, '')
      .replace(/@@\s*$/, '')
      .trim();
    // A unified-diff line range is not a line of the file.
    if (anchor !== '' && !/^-\d+(?:,\d+)? \+\d+/.test(anchor)) anchors.unshift(anchor);
  }
  return anchors;
}

function getText(input: unknown, key: string): string {
  const value = isRecord(input) ? input[key] : undefined;
  return typeof value === 'string' ? value : '';
}

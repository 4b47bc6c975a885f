import { isRecord } from '../../base/json.ts';
import type { Slot } from './face.ts';
import { findText, linesOf, type Fields } from './fields.ts';
import { EDIT, WRITE, editFields, unreadableChange } from './file-tools.ts';
import {
  applyHunks,
  hunkLines,
  parsePatch,
  replaceLines,
  type PatchHunk,
  type PatchSection,
} from './patch.ts';
import { readCalledFile, type FaceContext } from './tool-call.ts';

/** One part of a patch; `put` gives the new patch text. */
interface PatchPart {
  readonly tool: Slot['tool'];
  readonly fields: Fields;
  readonly put: (next: Fields) => string;
}

const PATCH_KEYS = ['input', 'patch'];

/** `apply_patch`: a write per added file, an edit per hunk, per deleted and per moved file. */
export function patchSlots(input: unknown, context: FaceContext): readonly Slot[] {
  const text = isRecord(input) ? findText(input, PATCH_KEYS) : input;
  if (typeof text !== 'string') return [unreadableChange(input)];
  const sections = parsePatch(text);
  if (sections.length === 0) return [unreadablePatch(input, text)];
  return sections
    .flatMap((section) => partsOf(text, section, context))
    .map(({ tool, fields, put }) => ({ tool, fields, put: (next) => holding(input, put(next)) }));
}

function unreadablePatch(input: unknown, text: string): Slot {
  return { tool: EDIT, fields: editFields('', '', text), put: () => input };
}

function holding(input: unknown, text: string): unknown {
  if (!isRecord(input)) return text;
  const key = PATCH_KEYS.find((name) => typeof input[name] === 'string') ?? 'input';
  return { ...input, [key]: text };
}

function partsOf(text: string, section: PatchSection, context: FaceContext): PatchPart[] {
  if (section.kind === 'Add') return [addPart(text, section)];
  const file = (): string | null => readCalledFile(section.path, context);
  if (section.kind === 'Delete') return [emptyingPart(text, section, file() ?? '')];
  if (section.moveTo !== null) return moveParts(text, section, file());
  if (section.hunks.length === 0) return [emptyingPart(text, section, '')];
  return section.hunks.map((hunk) => hunkPart(text, section, hunk));
}

function addPart(text: string, section: PatchSection): PatchPart {
  const content = section.added.join('\n');
  return {
    tool: WRITE,
    fields: { file_path: section.path, content },
    put: (next) => {
      const wanted = textIn(next, 'content');
      const lines = linesOf(wanted).map((line) => `+${line}`);
      const patched = wanted === content ? text : replaceLines(text, section, lines);
      return withHeader(patched, section, next);
    },
  };
}

function emptyingPart(text: string, section: PatchSection, before: string): PatchPart {
  const fields = editFields(section.path, before, '');
  return { tool: EDIT, fields, put: (next) => withHeader(text, section, next) };
}

function hunkPart(text: string, section: PatchSection, hunk: PatchHunk): PatchPart {
  return {
    tool: EDIT,
    fields: editFields(section.path, hunk.old.join('\n'), hunk.next.join('\n')),
    put: (next) => withHeader(withHunk(text, hunk, next), section, next),
  };
}

function withHunk(text: string, hunk: PatchHunk, wanted: Fields): string {
  const old = keptLines(hunk.old, textIn(wanted, 'old_string'));
  const next = keptLines(hunk.next, textIn(wanted, 'new_string'));
  const isUnchanged = old === hunk.old && next === hunk.next;
  return isUnchanged ? text : replaceLines(text, hunk, hunkLines(old, next));
}

function keptLines(lines: readonly string[], wanted: string): readonly string[] {
  return lines.join('\n') === wanted ? lines : linesOf(wanted);
}

function moveParts(text: string, section: PatchSection, file: string | null): PatchPart[] {
  const { hunks, moveTo } = section;
  const shown = (side: 'old' | 'next'): string =>
    hunks.map((hunk) => hunk[side].join('\n')).join('\n');
  const after = file === null ? null : applyHunks(file, hunks);
  const content = after ?? shown('next');
  const target: PatchPart = {
    tool: WRITE,
    fields: { file_path: moveTo?.path ?? '', content },
    put: (next) => {
      const wanted = textIn(next, 'content');
      const source = after === null ? null : file;
      const patched = wanted === content ? text : withContent(text, section, { source, wanted });
      return withTarget(patched, section, next);
    },
  };
  return [emptyingPart(text, section, file ?? shown('old')), target];
}

interface WantedContent {
  /** The file before the hunks, or null when it is not known or they do not fit it. */
  readonly source: string | null;
  readonly wanted: string;
}

function withContent(text: string, section: PatchSection, content: WantedContent): string {
  const { source, wanted } = content;
  const [only, ...more] = section.hunks;
  if (source !== null) {
    const bothEnd = source.endsWith('\n') && wanted.endsWith('\n');
    const lines = (whole: string): string[] => (bothEnd ? whole.slice(0, -1) : whole).split('\n');
    return replaceLines(text, section, ['@@', ...hunkLines(lines(source), lines(wanted))]);
  }
  if (only === undefined || more.length > 0) return text;
  return replaceLines(text, only, hunkLines(only.old, linesOf(wanted)));
}

// Headers stand before the lines that were replaced, so their numbers still hold.
function withHeader(text: string, section: PatchSection, next: Fields): string {
  const path = textIn(next, 'file_path');
  if (path === section.path) return text;
  const line = { start: section.header, end: section.header + 1 };
  return replaceLines(text, line, [`*** ${section.kind} File: ${path}`]);
}

function withTarget(text: string, { moveTo }: PatchSection, next: Fields): string {
  const path = textIn(next, 'file_path');
  if (moveTo === null || path === moveTo.path) return text;
  const line = { start: moveTo.line, end: moveTo.line + 1 };
  return replaceLines(text, line, [`*** Move to: ${path}`]);
}

function textIn(fields: Fields, key: string): string {
  const value = fields[key];
  return typeof value === 'string' ? value : '';
}

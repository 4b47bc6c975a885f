import { isRecord } from '../base/json.ts';
import { findText, splitLines, type Fields } from './fields.ts';
import { createEditFields, createUnreadableChange, getText } from './file-change.ts';
import {
  applyHunks,
  formatHunk,
  parsePatch,
  replaceLines,
  type PatchHunk,
  type PatchSection,
} from './patch.ts';
import { readCalledFile, type ViewContext } from './vocabulary.ts';
import { type CallPart, TOOLS } from './tools.ts';

/** One part of a patch; `put` gives the new patch text. */
interface PatchPart {
  readonly tool: CallPart['tool'];
  readonly fields: Fields;
  readonly put: (next: Fields) => string;
}

const PATCH_KEYS = ['input', 'patch'];

/** `apply_patch`: a write per added file, an edit per hunk, per deleted and per moved file. */
export function listPatchParts(input: unknown, context: ViewContext): readonly CallPart[] {
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
  const file = (): string | null => readCalledFile(section.path, context);
  if (section.kind === 'Delete') return [createEmptyingPart(text, section, file() ?? '')];
  if (section.moveTo !== null) return createMoveParts(text, section, file());
  if (section.hunks.length === 0) return [createEmptyingPart(text, section, '')];
  return section.hunks.map((hunk) => createHunkPart(text, section, hunk));
}

function createAddPart(text: string, section: PatchSection): PatchPart {
  const content = section.added.join('\n');
  return {
    tool: TOOLS.Write,
    fields: { file_path: section.path, content },
    put: (next) => {
      const wanted = getText(next, 'content');
      const lines = splitLines(wanted).map((line) => `+${line}`);
      const patched = wanted === content ? text : replaceLines(text, section, lines);
      return withHeader(patched, section, next);
    },
  };
}

function createEmptyingPart(text: string, section: PatchSection, before: string): PatchPart {
  const fields = createEditFields(section.path, before, '');
  return { tool: TOOLS.Edit, fields, put: (next) => withHeader(text, section, next) };
}

function createHunkPart(text: string, section: PatchSection, hunk: PatchHunk): PatchPart {
  return {
    tool: TOOLS.Edit,
    fields: createEditFields(section.path, hunk.old.join('\n'), hunk.next.join('\n')),
    put: (next) => withHeader(withHunk(text, hunk, next), section, next),
  };
}

function withHunk(text: string, hunk: PatchHunk, wanted: Fields): string {
  const old = keepLines(hunk.old, getText(wanted, 'old_string'));
  const next = keepLines(hunk.next, getText(wanted, 'new_string'));
  const isUnchanged = old === hunk.old && next === hunk.next;
  return isUnchanged ? text : replaceLines(text, hunk, formatHunk(old, next));
}

function keepLines(lines: readonly string[], wanted: string): readonly string[] {
  return lines.join('\n') === wanted ? lines : splitLines(wanted);
}

function createMoveParts(text: string, section: PatchSection, file: string | null): PatchPart[] {
  const { hunks, moveTo } = section;
  const shown = (side: 'old' | 'next'): string =>
    hunks.map((hunk) => hunk[side].join('\n')).join('\n');
  const after = file === null ? null : applyHunks(file, hunks);
  const content = after ?? shown('next');
  const target: PatchPart = {
    tool: TOOLS.Write,
    fields: { file_path: moveTo?.path ?? '', content },
    put: (next) => {
      const wanted = getText(next, 'content');
      const source = after === null ? null : file;
      const patched = wanted === content ? text : withContent(text, section, { source, wanted });
      return withTarget(patched, section, next);
    },
  };
  return [createEmptyingPart(text, section, file ?? shown('old')), target];
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
    return replaceLines(text, section, ['@@', ...formatHunk(lines(source), lines(wanted))]);
  }
  if (only === undefined || more.length > 0) return text;
  return replaceLines(text, only, formatHunk(only.old, splitLines(wanted)));
}

// Headers stand before the lines that were replaced, so their numbers still hold.
function withHeader(text: string, section: PatchSection, next: Fields): string {
  const path = getText(next, 'file_path');
  if (path === section.path) return text;
  const line = { start: section.header, end: section.header + 1 };
  return replaceLines(text, line, [`*** ${section.kind} File: ${path}`]);
}

function withTarget(text: string, { moveTo }: PatchSection, next: Fields): string {
  const path = getText(next, 'file_path');
  if (moveTo === null || path === moveTo.path) return text;
  const line = { start: moveTo.line, end: moveTo.line + 1 };
  return replaceLines(text, line, [`*** Move to: ${path}`]);
}

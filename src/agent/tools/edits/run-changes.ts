import { isRecord } from '../../../base/json.ts';
import type { ToolView } from '../../../tool-vocabularies/tool-views.ts';
import { createInterruptedOutput } from '../define-tool.ts';
import {
  createFailedOutput,
  type PreparedCall,
  type RunningCall,
  type Tool,
  type ToolOutput,
} from '../tool.ts';
import type { ToolContext } from '../tool-context.ts';
import type { FileChange } from './file-changes.ts';
import { unlinkSync } from 'node:fs';
import { openForEdit } from '../files/editable-file.ts';
import { describeFileError, formatMissingFile } from '../files/read-path.ts';
import { diffTexts } from '../files/structured-patch.ts';
import { normalizeLineEnds } from '../files/text-file.ts';
import { replaceText } from '../files/replace-text.ts';
import { findLines, findLineStart, widenUntilUnique, type Span } from './locate-text.ts';

/** A call that edits files, one change per part. */
interface EditCall {
  readonly changes: readonly FileChange[];
  readonly views: readonly ToolView[];
  readonly context: ToolContext;
  readonly findTool: (name: string) => Tool | null;
}

/** Why the changes cannot be made at present, or null. Nothing is changed. */
export function findObstacle(call: EditCall): string | null {
  const steps = planChanges(call.changes, call.context);
  if (typeof steps === 'string') return steps;
  const touched = new Set<string>();
  for (const step of steps) {
    // Only the first change of a file can be prepared now; later ones depend on it and were simulated.
    const prepared = touched.has(step.file) ? null : prepareStep(step, call);
    if (typeof prepared === 'string') return prepared;
    touched.add(step.file);
  }
  return null;
}

/** Applies the changes in order and stops at the first that fails. Returns one output per change. */
export async function runChanges(
  call: EditCall,
  running: RunningCall,
): Promise<readonly ToolOutput[]> {
  // Planned again, because an approval may take long and files may have changed.
  const steps = planChanges(call.changes, call.context);
  if (typeof steps === 'string') return call.changes.map(() => createFailedOutput(steps));
  const outputs: ToolOutput[] = steps.map(() => createFailedOutput(NOT_DONE));
  for (const index of orderSteps(steps)) {
    const step = steps[index];
    if (step === undefined) continue;
    const output = await runStep(step, call, running);
    outputs[index] = output.success ? restoreModelTexts(call.views[index], output) : output;
    if (!output.success) break;
  }
  return outputs;
}

const NOT_DONE = 'Not done, because another change of this call failed.';

// A moved file is written to its new path before the old one is deleted.
function orderSteps(steps: readonly ChangeStep[]): readonly number[] {
  const indices = [...steps.keys()];
  return indices.flatMap((index) => {
    const isSource = (at: number): boolean => {
      const step = steps[at];
      return step?.kind === 'delete' && step.isMove;
    };
    if (isSource(index)) return [];
    return isSource(index - 1) ? [index, index - 1] : [index];
  });
}

async function runStep(
  step: ChangeStep,
  call: EditCall,
  running: RunningCall,
): Promise<ToolOutput> {
  if (running.signal.aborted) return createInterruptedOutput();
  const prepared = prepareStep(step, call);
  return typeof prepared === 'string' ? createFailedOutput(prepared) : prepared.run(running);
}

function prepareStep(step: ChangeStep, { context, findTool }: EditCall): PreparedCall | string {
  if (step.kind === 'delete') return prepareDelete(step.file, context);
  const name = step.kind === 'edit' ? 'Edit' : 'Write';
  return findTool(name)?.prepare(step.input, context) ?? `There is no ${name} tool here.`;
}

/** Edit was given extra lines to make the text unique; hooks see the texts that the model wrote. */
function restoreModelTexts(view: ToolView | undefined, output: ToolOutput): ToolOutput {
  const { response } = output;
  if (!isRecord(response) || !isRecord(view?.input) || !('oldString' in response)) return output;
  const { old_string: oldString, new_string: newString } = view.input;
  return { ...output, response: { ...response, oldString, newString } };
}

/** Deletes a file that the agent has read. Hooks see it as an Edit that replaces all text with nothing. */
function prepareDelete(file: string, context: ToolContext): PreparedCall | string {
  const found = openForEdit(file, context);
  if (typeof found === 'string') return found;
  if (found === null) return formatMissingFile(file, context.cwd());
  if (found.problem !== null) return found.problem;
  const before = normalizeLineEnds(found.content.text);
  return {
    input: { file_path: file, old_string: before, new_string: '', replace_all: false },
    run: () => deleteFile(file, before),
  };
}

async function deleteFile(file: string, before: string): Promise<ToolOutput> {
  try {
    unlinkSync(file);
  } catch (error) {
    return createFailedOutput(`Cannot delete ${file}: ${describeFileError(error)}.`);
  }
  return {
    response: {
      filePath: file,
      oldString: before,
      newString: '',
      originalFile: before,
      structuredPatch: await diffTexts(before, ''),
      userModified: false,
      replaceAll: false,
    },
    text: `Deleted ${file}`,
    success: true,
  };
}

/** A change in the form of a tool call that runs after the changes before it. */
type ChangeStep = { readonly file: string } & (
  | { readonly kind: 'edit'; readonly input: Readonly<Record<string, unknown>> }
  | { readonly kind: 'write'; readonly input: Readonly<Record<string, unknown>> }
  | { readonly kind: 'delete'; readonly isMove: boolean }
);

/** The planned state of a file. */
interface FileState {
  /** Null when the file does not exist. */
  readonly text: string | null;
  /** The offset after the previous change. */
  readonly cursor: number;
}

/**
 * Simulates all changes in order, so that either all of them apply or none is started. A string names the
 * one that does not apply.
 */
function planChanges(
  changes: readonly FileChange[],
  context: ToolContext,
): readonly ChangeStep[] | string {
  const states = new Map<string, FileState>();
  const steps: ChangeStep[] = [];
  for (const [index, change] of changes.entries()) {
    const before = states.get(change.file) ?? readState(change.file, context);
    const planned = typeof before === 'string' ? before : planChange(change, before, context);
    if (typeof planned === 'string') {
      return changes.length === 1 ? planned : formatFailedChange(index, changes, planned);
    }
    steps.push(planned.step);
    states.set(change.file, planned.after);
  }
  return steps;
}

function formatFailedChange(index: number, changes: readonly FileChange[], why: string): string {
  const place = `change ${index + 1} of ${changes.length}, in ${changes[index]?.file}`;
  return `Nothing was changed, because ${place}, does not work: ${why}`;
}

function readState(file: string, context: ToolContext): FileState | string {
  const found = openForEdit(file, context);
  if (typeof found === 'string') return found;
  return { text: found === null ? null : normalizeLineEnds(found.content.text), cursor: 0 };
}

interface PlannedChange {
  readonly step: ChangeStep;
  readonly after: FileState;
}

function planChange(
  change: FileChange,
  before: FileState,
  context: ToolContext,
): PlannedChange | string {
  const { file } = change;
  if (change.kind === 'write') return planWrite(file, change.content);
  if (change.kind === 'replace' && change.old === '') return planReplace(change, before);
  if (before.text === null) return formatMissingFile(file, context.cwd());
  if (change.kind === 'delete') {
    return {
      step: { kind: 'delete', file, isMove: change.isMove },
      after: { text: null, cursor: 0 },
    };
  }
  if (change.kind === 'replace') return planReplace(change, before);
  const placed = resolveSpan(change, { ...before, text: before.text });
  return typeof placed === 'string' ? placed : planSpanEdit(file, before.text, placed);
}

function planWrite(file: string, content: string): PlannedChange {
  const input = { file_path: file, content };
  return { step: { kind: 'write', file, input }, after: { text: content, cursor: 0 } };
}

type Kind<Name extends FileChange['kind']> = Extract<FileChange, { kind: Name }>;

/** The same rules as Edit's own. */
function planReplace(change: Kind<'replace'>, { text }: FileState): PlannedChange | string {
  const { file, old, next, isForAll } = change;
  const input = { file_path: file, old_string: old, new_string: next, replace_all: isForAll };
  const step = { kind: 'edit', file, input } as const;
  if (old === '') return { step, after: { text: next, cursor: 0 } };
  const replaced = replaceText(text ?? '', { before: old, after: next, isForAll });
  if (typeof replaced === 'string') return replaced;
  return { step, after: { text: replaced.text, cursor: 0 } };
}

/** A span of the file and its replacement. */
interface SpanEdit extends Span {
  readonly fresh: string;
}

function resolveSpan(
  change: Kind<'lines' | 'insert'>,
  state: { readonly text: string; readonly cursor: number },
): SpanEdit | string {
  return change.kind === 'insert'
    ? resolveInsertion(change, state.text)
    : resolveLines(change, state);
}

function resolveInsertion({ line, text: added }: Kind<'insert'>, text: string): SpanEdit {
  const start = findLineStart(text, line);
  const isAfterUnendedLine = start === text.length && start > 0 && !text.endsWith('\n');
  return { start, end: start, fresh: isAfterUnendedLine ? `\n${added}` : `${added}\n` };
}

function resolveLines(
  { old, next, anchors }: Kind<'lines'>,
  { text, cursor }: { readonly text: string; readonly cursor: number },
): SpanEdit | string {
  const anchored = anchors.reduce((at, line) => {
    const found = findLines(text, [line], at);
    return found === null ? at : Math.min(found.end + 1, text.length);
  }, cursor);
  const isAnchored = anchors.length > 0 && anchored !== cursor;
  if (old.length === 0) return resolveNewLines(text, isAnchored ? anchored : text.length, next);
  const span = findLines(text, old, anchored) ?? findSubstring(text, old.join('\n'));
  if (span === null) return formatLinesNotFound(old);
  return { ...(next.length === 0 ? includeLineEnd(text, span) : span), fresh: next.join('\n') };
}

function resolveNewLines(text: string, at: number, lines: readonly string[]): SpanEdit {
  const added = lines.map((line) => `${line}\n`).join('');
  const isAfterUnendedLine = at > 0 && text[at - 1] !== '\n';
  return { start: at, end: at, fresh: isAfterUnendedLine ? `\n${added}` : added };
}

/** Matches a part of a line, when no whole line matches. */
function findSubstring(text: string, sought: string): Span | null {
  const start = text.indexOf(sought);
  return start === -1 ? null : { start, end: start + sought.length };
}

// Deleting whole lines also deletes their line end.
function includeLineEnd(text: string, { start, end }: Span): Span {
  const isWhole = start === 0 || text[start - 1] === '\n';
  if (isWhole && text[end] === '\n') return { start, end: end + 1 };
  return isWhole && end === text.length && start > 0 ? { start: start - 1, end } : { start, end };
}

const MAX_SHOWN_CHARACTERS = 2000;

function formatLinesNotFound(old: readonly string[]): string {
  return `These lines are not in the file:\n${old.join('\n').slice(0, MAX_SHOWN_CHARACTERS)}`;
}

/** Edit requires a unique text, so the span is widened until it is. */
function planSpanEdit(file: string, text: string, { start, end, fresh }: SpanEdit): PlannedChange {
  const wide = widenUntilUnique(text, { start, end });
  const input = {
    file_path: file,
    old_string: text.slice(wide.start, wide.end),
    new_string: text.slice(wide.start, start) + fresh + text.slice(end, wide.end),
    replace_all: false,
  };
  const after = text.slice(0, start) + fresh + text.slice(end);
  return {
    step: { kind: 'edit', file, input },
    after: { text: after, cursor: start + fresh.length },
  };
}

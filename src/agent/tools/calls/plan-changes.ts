import { openForChange } from '../files/changeable-file.ts';
import { sayMissing } from '../files/look-into.ts';
import { replaceText } from '../files/replace-text.ts';
import { withPlainLineEnds } from '../files/text-file.ts';
import type { Workbench } from '../workbench.ts';
import type { FileChange } from './file-changes.ts';
import { findLines, startOfLine, widenUntilUnique, type Span } from './find-place.ts';

/** A change as a tool can make it once those before it are made. */
export type ChangeStep = { readonly file: string } & (
  | { readonly kind: 'edit'; readonly input: Readonly<Record<string, unknown>> }
  | { readonly kind: 'write'; readonly input: Readonly<Record<string, unknown>> }
  | { readonly kind: 'delete'; readonly isMove: boolean }
);

/** A file as it will be. */
interface FileState {
  /** Null when there is none. */
  readonly text: string | null;
  /** After the change before. */
  readonly cursor: number;
}

/**
 * Goes through all changes in thought, each on what the ones before it leave, so that either all of them
 * fit or none is begun. A string says which does not, and why.
 */
export function planChanges(
  changes: readonly FileChange[],
  bench: Workbench,
): readonly ChangeStep[] | string {
  const states = new Map<string, FileState>();
  const steps: ChangeStep[] = [];
  for (const [index, change] of changes.entries()) {
    const before = states.get(change.file) ?? readState(change.file, bench);
    const planned = typeof before === 'string' ? before : planOne(change, before, bench);
    if (typeof planned === 'string') {
      return changes.length === 1 ? planned : sayWhich(index, changes, planned);
    }
    steps.push(planned.step);
    states.set(change.file, planned.after);
  }
  return steps;
}

function sayWhich(index: number, changes: readonly FileChange[], why: string): string {
  const place = `change ${index + 1} of ${changes.length}, in ${changes[index]?.file}`;
  return `Nothing was changed, because ${place}, does not work: ${why}`;
}

function readState(file: string, bench: Workbench): FileState | string {
  const found = openForChange(file, bench);
  if (typeof found === 'string') return found;
  return { text: found === null ? null : withPlainLineEnds(found.content.text), cursor: 0 };
}

interface Planned {
  readonly step: ChangeStep;
  readonly after: FileState;
}

function planOne(change: FileChange, before: FileState, bench: Workbench): Planned | string {
  const { file } = change;
  if (change.kind === 'write') return planWrite(file, change.content);
  if (change.kind === 'replace' && change.old === '') return planReplace(change, before);
  if (before.text === null) return sayMissing(file, bench.cwd());
  if (change.kind === 'delete') {
    return {
      step: { kind: 'delete', file, isMove: change.isMove },
      after: { text: null, cursor: 0 },
    };
  }
  if (change.kind === 'replace') return planReplace(change, before);
  const placed = place(change, { ...before, text: before.text });
  return typeof placed === 'string' ? placed : planPlaced(file, before.text, placed);
}

function planWrite(file: string, content: string): Planned {
  const input = { file_path: file, content };
  return { step: { kind: 'write', file, input }, after: { text: content, cursor: 0 } };
}

type Kind<Name extends FileChange['kind']> = Extract<FileChange, { kind: Name }>;

/** Whether it fits is Edit's own judgement. */
function planReplace(change: Kind<'replace'>, { text }: FileState): Planned | string {
  const { file, old, next, isForAll } = change;
  const input = { file_path: file, old_string: old, new_string: next, replace_all: isForAll };
  const step = { kind: 'edit', file, input } as const;
  if (old === '') return { step, after: { text: next, cursor: 0 } };
  const replaced = replaceText(text ?? '', { before: old, after: next, isForAll });
  if (typeof replaced === 'string') return replaced;
  return { step, after: { text: replaced.text, cursor: 0 } };
}

/** A stretch of the file and what comes in its place. */
interface Placed extends Span {
  readonly fresh: string;
}

function place(
  change: Kind<'lines' | 'insert'>,
  state: { readonly text: string; readonly cursor: number },
): Placed | string {
  return change.kind === 'insert' ? placeInsertion(change, state.text) : placeLines(change, state);
}

function placeInsertion({ line, text: added }: Kind<'insert'>, text: string): Placed {
  const start = startOfLine(text, line);
  const isAfterUnendedLine = start === text.length && start > 0 && !text.endsWith('\n');
  return { start, end: start, fresh: isAfterUnendedLine ? `\n${added}` : `${added}\n` };
}

function placeLines(
  { old, next, anchors }: Kind<'lines'>,
  { text, cursor }: { readonly text: string; readonly cursor: number },
): Placed | string {
  const anchored = anchors.reduce((at, line) => {
    const found = findLines(text, [line], at);
    return found === null ? at : Math.min(found.end + 1, text.length);
  }, cursor);
  const isAnchored = anchors.length > 0 && anchored !== cursor;
  if (old.length === 0) return placeNewLines(text, isAnchored ? anchored : text.length, next);
  const span = findLines(text, old, anchored) ?? findWithin(text, old.join('\n'));
  if (span === null) return sayNotFound(old);
  return { ...(next.length === 0 ? withLineEnd(text, span) : span), fresh: next.join('\n') };
}

function placeNewLines(text: string, at: number, lines: readonly string[]): Placed {
  const added = lines.map((line) => `${line}\n`).join('');
  const isAfterUnendedLine = at > 0 && text[at - 1] !== '\n';
  return { start: at, end: at, fresh: isAfterUnendedLine ? `\n${added}` : added };
}

/** A part of a line, where no whole line is meant. */
function findWithin(text: string, sought: string): Span | null {
  const start = text.indexOf(sought);
  return start === -1 ? null : { start, end: start + sought.length };
}

// Lines that go leave no empty one behind.
function withLineEnd(text: string, { start, end }: Span): Span {
  const isWhole = start === 0 || text[start - 1] === '\n';
  if (isWhole && text[end] === '\n') return { start, end: end + 1 };
  return isWhole && end === text.length && start > 0 ? { start: start - 1, end } : { start, end };
}

const LONGEST_SHOWN = 2000;

function sayNotFound(old: readonly string[]): string {
  const shown = old.join('\n').slice(0, LONGEST_SHOWN);
  return `These lines are not in the file:\n${shown}`;
}

/** Edit wants text that stands only once; with enough lines round it, every stretch does. */
function planPlaced(file: string, text: string, { start, end, fresh }: Placed): Planned {
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

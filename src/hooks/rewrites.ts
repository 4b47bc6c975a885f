import { isDeepStrictEqual } from 'node:util';
import {
  type ViewContext,
  type InputChange,
  rewriteInput,
  type ToolView,
} from '../tool-vocabularies/tool-views.ts';
import { getToolCall, type HookEvent } from './facts.ts';
import type { EndedRun, HandlerRun } from './plan.ts';
import { withFailure } from './run-handler.ts';

export interface AppliedRewrites {
  /** The same runs; a rewrite that could not be used has failed its own. */
  readonly ran: readonly EndedRun[];
  /** The call's input after every rewrite, or null when it stays as it is. */
  readonly rewritten: RewrittenInput | null;
}

export interface RewrittenInput {
  readonly input: unknown;
  /** Whether it comes from hooks that changed their copy of the input in place. */
  readonly isInPlace: boolean;
}

/** Applies every rewrite in declared order, each to what the ones before it made of the call. */
export function applyRewrites(
  event: HookEvent,
  ran: readonly EndedRun[],
  context: ViewContext,
): AppliedRewrites {
  const call = getToolCall(event);
  if (call === null || !ran.some(hasRewrite)) return { ran, rewritten: null };
  let input = call.input;
  const settled = ran.map((one) => {
    if (!hasRewrite(one)) return one;
    const applied = applyRewrite({ name: call.name, input }, one, context);
    if (!applied.ok) return withoutRewrite(one, applied.error);
    input = applied.input;
    return applied.lost === undefined ? one : withLostKeys(one, applied.lost);
  });
  const rewritten = isDeepStrictEqual(input, call.input) ? null : { input, isInPlace: false };
  return { ran: settled, rewritten };
}

/** Adds what handlers changed in their copies of the input, without returning an input. */
export function applyChangesInPlace(
  event: HookEvent,
  applied: AppliedRewrites,
  context: ViewContext,
): AppliedRewrites {
  if (!('handed' in event) || event.handed === undefined) return applied;
  // A handler that returned an input has seen the changes of the others: its input counts instead.
  const changes = event.handed.changes().filter(({ view }) => !isAnswered(applied.ran, view));
  const { name } = event.tool;
  let { ran, rewritten } = applied;
  for (const change of changes) {
    if ('unusable' in change) {
      ran = withoutChange(ran, change);
    } else {
      const { vocabulary, view, input: made } = change;
      const call = { name, input: rewritten?.input ?? event.tool.input };
      const result = rewriteInput(call, { vocabulary, part: view.part, input: made }, context);
      // An input that the call cannot express is left for its tool to refuse.
      rewritten = { input: result.ok ? result.input : made, isInPlace: true };
    }
  }
  return { ran, rewritten };
}

function isAnswered(ran: readonly EndedRun[], view: ToolView): boolean {
  return ran.some((one) => one.input.tool === view && hasRewrite(one));
}

/** Which of the handlers that share a copy has changed it is not known, so the last of them has failed. */
function withoutChange(
  ran: readonly EndedRun[],
  { view, unusable }: Extract<InputChange, { unusable: string }>,
): readonly EndedRun[] {
  const last = ran.findLast(({ input }) => input.tool === view);
  return ran.map((one) => (one === last ? withoutRewrite(one, unusable) : one));
}

/** A copy of the event whose tool call has another input. */
export function withInput(event: HookEvent, input: unknown): HookEvent {
  return 'tool' in event ? { ...event, tool: { ...event.tool, input } } : event;
}

/** Whether a run's handler saw its part as it finally is, or is the one whose rewrite of it stands. */
export function hasSeenFinalInput(
  first: readonly EndedRun[],
  { handler, input: { tool } }: HandlerRun,
  isInPlace: boolean,
): boolean {
  const part = tool?.part ?? null;
  const about = first.filter(({ outcome }) => isSamePart(outcome.part, part));
  const last = isInPlace ? findLastSharer(about) : about.findLast(hasRewrite);
  if (last?.handler.id === handler.id) return true;
  return first.some(
    (run) =>
      run.handler.id === handler.id &&
      run.outcome.part === part &&
      isDeepStrictEqual(run.input.tool?.input, tool?.input),
  );
}

/** A rewrite that is lost is a failure, not a pass; but it must not take a refusal with it. */
function withoutRewrite(ran: EndedRun, error: string): EndedRun {
  const message = `its rewrite of the tool input cannot be used: ${error}`;
  const { outcome } = ran;
  const { input: _input, inputFace: _face, ...decision } = outcome.decision ?? {};
  if (outcome.effect !== 'pass' && outcome.effect !== 'allow') {
    return { ...ran, outcome: { ...outcome, decision, notes: [...outcome.notes, message] } };
  }
  return {
    ...ran,
    outcome: withFailure({ ...outcome, decision: null }, { kind: 'output', message }),
  };
}

function withLostKeys(ran: EndedRun, lost: readonly string[]): EndedRun {
  const note = `its rewrite says ${lost.join(', ')}, for which this call has no place; left out`;
  return { ...ran, outcome: { ...ran.outcome, notes: [...ran.outcome.notes, note] } };
}

function isSamePart(rewritten: number | null, part: number | null): boolean {
  return rewritten === null || part === null || rewritten === part;
}

/**
 * Of the handlers that share a copy the last has seen all changes; none has when one of them failed,
 * because that one may have gone on since.
 */
function findLastSharer(ran: readonly EndedRun[]): EndedRun | undefined {
  const sharers = ran.filter(({ handler }) => handler.isHanded === true);
  return sharers.every(({ outcome }) => outcome.status === 'decided') ? sharers.at(-1) : undefined;
}

function hasRewrite(ran: EndedRun): boolean {
  return ran.outcome.decision?.input !== undefined;
}

function applyRewrite(
  call: { readonly name: string; readonly input: unknown },
  { handler, outcome }: EndedRun,
  context: ViewContext,
): ReturnType<typeof rewriteInput> {
  const vocabulary = outcome.decision?.inputFace ?? handler.vocabulary;
  return rewriteInput(
    call,
    { vocabulary, part: outcome.part, input: outcome.decision?.input },
    context,
  );
}

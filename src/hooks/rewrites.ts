import { isDeepStrictEqual } from 'node:util';
import { type FaceContext, type InputChange, rewriteInput, type ToolView } from './faces/faces.ts';
import { callOf, type HookEvent } from './facts.ts';
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
  /** Whether hooks have changed in place what they were handed, which none of them has said. */
  readonly isInPlace: boolean;
}

/** Applies every rewrite in declared order, each to what the ones before it made of the call. */
export function applyRewrites(
  event: HookEvent,
  ran: readonly EndedRun[],
  context: FaceContext,
): AppliedRewrites {
  const call = callOf(event);
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

/** The same with what handlers changed in place of what they were handed. */
export function applyChangesInPlace(
  event: HookEvent,
  said: AppliedRewrites,
  context: FaceContext,
): AppliedRewrites {
  if (!('handed' in event) || event.handed === undefined) return said;
  // Whoever returned an input has seen what others made of it before, and says what to make of that.
  const changes = event.handed.changes().filter(({ view }) => !isAnswered(said.ran, view));
  const { name } = event.tool;
  let { ran, rewritten } = said;
  for (const change of changes) {
    if ('unusable' in change) {
      ran = withoutChange(ran, change);
    } else {
      const { vocabulary, view, input: made } = change;
      const call = { name, input: rewritten?.input ?? event.tool.input };
      const applied = rewriteInput(call, { vocabulary, part: view.part, input: made }, context);
      // What the call has no words for is for its tool to refuse.
      rewritten = { input: applied.ok ? applied.input : made, isInPlace: true };
    }
  }
  return { ran, rewritten };
}

function isAnswered(ran: readonly EndedRun[], view: ToolView): boolean {
  return ran.some((one) => one.input.tool === view && hasRewrite(one));
}

/** Who of those with the same input in hand has done it is not known: the last of them is told of. */
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
export function knowsFinalInput(
  first: readonly EndedRun[],
  { handler, input: { tool } }: HandlerRun,
  isInPlace: boolean,
): boolean {
  const part = tool?.part ?? null;
  const about = first.filter(({ outcome }) => isSamePart(outcome.part, part));
  const last = isInPlace ? findLastInHand(about) : about.findLast(hasRewrite);
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
 * Of those who share what they change in place, the last has seen what all of them made of it; nobody
 * has when one of them failed, which may have gone on since.
 */
function findLastInHand(ran: readonly EndedRun[]): EndedRun | undefined {
  const handed = ran.filter(({ handler }) => handler.isHanded === true);
  return handed.every(({ outcome }) => outcome.status === 'decided') ? handed.at(-1) : undefined;
}

function hasRewrite(ran: EndedRun): boolean {
  return ran.outcome.decision?.input !== undefined;
}

function applyRewrite(
  call: { readonly name: string; readonly input: unknown },
  { handler, outcome }: EndedRun,
  context: FaceContext,
): ReturnType<typeof rewriteInput> {
  const vocabulary = outcome.decision?.inputFace ?? handler.vocabulary;
  return rewriteInput(
    call,
    { vocabulary, part: outcome.part, input: outcome.decision?.input },
    context,
  );
}

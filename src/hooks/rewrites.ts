import { isDeepStrictEqual } from 'node:util';
import {
  type InputChange,
  rewriteInput,
  type ToolCall,
  type ToolView,
  type ViewContext,
} from '../tool-vocabularies/tool-views.ts';
import type { Failure, Outcome } from './decision.ts';
import type { HookEvent } from './facts.ts';
import { getFailedEffect, type HandlerRun } from './run-handler.ts';

/** The input of a call after every rewrite. */
export interface RewrittenInput {
  readonly input: unknown;
  /** Whether it comes from hooks that changed their copy of the input in place. */
  readonly isInPlace: boolean;
}

/**
 * The call's input after the rewrite of a run, which is applied to the result of the rewrites before
 * it. An invalid rewrite makes its run a failure.
 */
export function applyRewrite(run: HandlerRun, call: ToolCall, context: ViewContext): unknown {
  const { handler, outcome } = run;
  if (outcome?.decision?.input === undefined) return call.input;
  const own = run.input.asked?.vocabulary ?? handler.vocabulary;
  const { input, inputFace: vocabulary = own } = outcome.decision;
  const applied = rewriteInput(call, { vocabulary, part: outcome.part, input }, context);
  if (!applied.ok) {
    run.outcome = dropRewrite(outcome, applied.error);
    return call.input;
  }
  if (applied.lost !== undefined) {
    const lost = applied.lost.join(', ');
    const note = `its rewrite says ${lost}, for which this call has no place; left out`;
    run.outcome = { ...outcome, notes: [...outcome.notes, note] };
  }
  return applied.input;
}

/** Applies what handlers changed in their copies of the input, without returning an input. */
export function applyChangesInPlace(
  event: HookEvent,
  runs: readonly HandlerRun[],
  returned: RewrittenInput | null,
  context: ViewContext,
): RewrittenInput | null {
  if (!('handed' in event) || event.handed === undefined) return returned;
  // A handler that returned an input has seen the changes of the others, so its input wins.
  const changes = event.handed.changes().filter(({ view }) => !isAnswered(runs, view));
  let rewritten = returned;
  for (const change of changes) {
    if ('unusable' in change) {
      failLastSharer(runs, change);
    } else {
      const { vocabulary, view, input: changedInput } = change;
      const call = rewritten === null ? event.tool : { ...event.tool, input: rewritten.input };
      const result = rewriteInput(
        call,
        { vocabulary, part: view.part, input: changedInput },
        context,
      );
      // An input that the call cannot express is left for its tool to refuse.
      rewritten = { input: result.ok ? result.input : changedInput, isInPlace: true };
    }
  }
  return rewritten;
}

function isAnswered(runs: readonly HandlerRun[], view: ToolView): boolean {
  return runs.some((run) => run.input.tool === view && hasRewrite(run));
}

/** It is unknown which of the handlers that share a copy has changed it, so the last of them fails. */
function failLastSharer(
  runs: readonly HandlerRun[],
  { view, unusable }: Extract<InputChange, { unusable: string }>,
): void {
  const last = runs.findLast(({ input }) => input.tool === view);
  if (last !== undefined && last.outcome !== null) {
    last.outcome = dropRewrite(last.outcome, unusable);
  }
}

/** A copy of the event whose tool call has another input. */
export function withInput(event: HookEvent, input: unknown): HookEvent {
  return 'tool' in event ? { ...event, tool: { ...event.tool, input } } : event;
}

/** Whether a run's handler saw the final input of its part, or made the rewrite that is in effect. */
export function hasSeenFinalInput(
  first: readonly HandlerRun[],
  { handler, input: { tool } }: HandlerRun,
  isInPlace: boolean,
): boolean {
  const part = tool?.part ?? null;
  const about = first.filter(({ outcome }) => isSamePart(outcome?.part ?? null, part));
  const last = isInPlace ? findLastSharer(about) : about.findLast(hasRewrite);
  if (last?.handler.id === handler.id) return true;
  return first.some(
    (run) =>
      run.handler.id === handler.id &&
      run.outcome?.part === part &&
      isDeepStrictEqual(run.input.tool?.input, tool?.input),
  );
}

/** A lost rewrite is a failure, not a pass; but a refusal in the same outcome stays. */
function dropRewrite(outcome: Outcome, error: string): Outcome {
  const message = `its rewrite of the tool input cannot be used: ${error}`;
  const { input: _input, inputFace: _face, ...decision } = outcome.decision ?? {};
  if (outcome.effect !== 'pass' && outcome.effect !== 'allow') {
    return { ...outcome, decision, notes: [...outcome.notes, message] };
  }
  const failure: Failure = { kind: 'output', message };
  const effect = getFailedEffect(outcome.onFailure);
  return { ...outcome, status: 'failed', effect, failure, decision: null };
}

function isSamePart(rewritten: number | null, part: number | null): boolean {
  return rewritten === null || part === null || rewritten === part;
}

/**
 * Of the handlers that share a copy, the last has seen all changes; none has when one of them failed,
 * because that one may still be running.
 */
function findLastSharer(runs: readonly HandlerRun[]): HandlerRun | undefined {
  const sharers = runs.filter(({ handler }) => handler.isHanded === true);
  return sharers.every(({ outcome }) => outcome?.status === 'decided') ? sharers.at(-1) : undefined;
}

function hasRewrite({ outcome }: HandlerRun): boolean {
  return outcome?.decision?.input !== undefined;
}

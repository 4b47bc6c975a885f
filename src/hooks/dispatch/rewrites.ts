import { isDeepStrictEqual } from 'node:util';
import type { Failure } from '../decision.ts';
import { type FaceContext, rewriteInput } from '../faces/faces.ts';
import { callOf, type HookEvent } from '../facts.ts';
import type { Ran } from './run-handler.ts';

/** The call's input after every rewrite in declared order, or null when it stays as it is. */
export function composeRewrites(
  event: HookEvent,
  ran: readonly Ran[],
  context: FaceContext,
): { readonly input: unknown } | null {
  const call = callOf(event);
  if (call === null) return null;
  let input = call.input;
  for (const rewrite of ran.filter(hasRewrite)) {
    const applied = applyRewrite({ name: call.name, input }, rewrite, context);
    if (applied.ok) input = applied.input;
  }
  return isDeepStrictEqual(input, call.input) ? null : { input };
}

/** A copy of the event whose tool call has another input. */
export function withInput(event: HookEvent, input: unknown): HookEvent {
  return 'tool' in event ? { ...event, tool: { ...event.tool, input } } : event;
}

/** Why a rewrite cannot be applied to the call, or null. A rewrite that is lost is a failure, not a pass. */
export function rewriteFailure(event: HookEvent, ran: Ran, context: FaceContext): Failure | null {
  const call = callOf(event);
  if (call === null || !hasRewrite(ran)) return null;
  const applied = applyRewrite(call, ran, context);
  if (applied.ok) return null;
  return { kind: 'output', message: `its rewrite of the tool input cannot be used: ${applied.error}` };
}

/** Whether this handler saw the part as it finally is, or is the one whose rewrite of it stands. */
export function knowsFinalInput(
  ran: readonly Ran[],
  asked: { readonly handlerId: string; readonly part: number | null; readonly input: unknown },
): boolean {
  const lastRewrite = ran.findLast(
    (one) => hasRewrite(one) && touches(one.outcome.part, asked.part),
  );
  if (lastRewrite?.handler.id === asked.handlerId) return true;
  return ran.some(
    (one) =>
      one.handler.id === asked.handlerId &&
      one.outcome.part === asked.part &&
      isDeepStrictEqual(one.input.tool?.input, asked.input),
  );
}

function touches(rewritten: number | null, part: number | null): boolean {
  return rewritten === null || part === null || rewritten === part;
}

function hasRewrite(ran: Ran): boolean {
  return ran.outcome.decision?.input !== undefined;
}

function applyRewrite(
  call: { readonly name: string; readonly input: unknown },
  { handler, outcome }: Ran,
  context: FaceContext,
): ReturnType<typeof rewriteInput> {
  const vocabulary = outcome.decision?.inputFace ?? handler.vocabulary;
  return rewriteInput(call, { vocabulary, part: outcome.part, input: outcome.decision?.input }, context);
}

import type { Skipped } from './decision.ts';
import { EventViews, type ReadText } from './event-views.ts';
import type { HookEvent } from './facts.ts';
import type { Handler, HandlerInput } from './handler.ts';
import { type Candidate, isPlanned, Planner } from './plan.ts';

export interface PlannedRun {
  readonly hook: string;
  readonly dialect: string;
  readonly source: string;
  /** How often it would run: once, or once for each part of a plural call. */
  readonly times: number;
  readonly how: 'at once' | 'in order' | 'in the background';
  /** The tool as this hook would see it. */
  readonly tool: { readonly name: string; readonly input: unknown } | null;
  readonly onFailure: 'open' | 'closed';
}

/** Which handlers would run for an event and which not, and why. */
export interface Explanation {
  readonly event: string;
  readonly runs: readonly PlannedRun[];
  readonly skipped: readonly Skipped[];
}

export function explainEvent(
  event: HookEvent,
  candidates: readonly Candidate[],
  readText: ReadText | undefined,
): Explanation {
  const planner = new Planner(new EventViews(event, readText), candidates);
  const runs: PlannedRun[] = [];
  const skipped: Skipped[] = [];
  for (const candidate of candidates) {
    const { handler } = candidate;
    const plan = planner.plan(candidate);
    if (isPlanned(plan)) runs.push(describeRuns(handler, plan));
    else if ('why' in plan) skipped.push(plan);
    else {
      // A dispatch would report it as failed; nothing has run that could fail.
      const why = `threw when it was asked whether it fits: ${plan.message}`;
      skipped.push({ hook: handler.id, kind: 'misfit', why });
    }
  }
  return { event: event.name, runs, skipped };
}

function describeRuns(handler: Handler, inputs: readonly HandlerInput[]): PlannedRun {
  const tool = inputs[0]?.tool ?? null;
  return {
    hook: handler.id,
    dialect: handler.dialect,
    source: handler.source,
    times: inputs.length,
    how: describeOrder(handler),
    tool: tool === null ? null : { name: tool.name, input: tool.input },
    onFailure: handler.onFailure,
  };
}

function describeOrder(handler: Handler): PlannedRun['how'] {
  if (handler.background === true) return 'in the background';
  return handler.inOrder === true ? 'in order' : 'at once';
}

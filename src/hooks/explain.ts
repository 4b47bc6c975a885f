import { getErrorMessage } from '../base/errors.ts';
import type { Skipped } from './decision.ts';
import { EventViews, type ReadText } from './event-views.ts';
import type { HookEvent } from './facts.ts';
import type { Handler } from './handler.ts';
import { type Candidate, type HandlerRun, Planner } from './plan.ts';

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
  const planner = new Planner(new EventViews(event, readText), 1, candidates);
  const runs: PlannedRun[] = [];
  const skipped: Skipped[] = [];
  for (const candidate of candidates) {
    const planned: HandlerRun[] = [];
    const misfit = planQuietly(planner, candidate, planned);
    if (misfit !== null) skipped.push(misfit);
    else runs.push(describeRuns(candidate.handler, planned));
  }
  return { event: event.name, runs, skipped };
}

/** A dispatch would report a handler that throws here as failed; nothing has run that could fail. */
function planQuietly(
  planner: Planner,
  candidate: Candidate,
  planned: HandlerRun[],
): Skipped | null {
  try {
    return planner.plan(candidate, planned);
  } catch (error) {
    const why = `threw when it was asked whether it fits: ${getErrorMessage(error)}`;
    return { hook: candidate.handler.id, kind: 'misfit', why };
  }
}

function describeRuns(handler: Handler, runs: readonly HandlerRun[]): PlannedRun {
  const tool = runs[0]?.input.tool ?? null;
  return {
    hook: handler.id,
    dialect: handler.dialect,
    source: handler.source,
    times: runs.length,
    how: describeOrder(handler),
    tool: tool === null ? null : { name: tool.name, input: tool.input },
    onFailure: handler.onFailure,
  };
}

function describeOrder(handler: Handler): PlannedRun['how'] {
  if (handler.background === true) return 'in the background';
  return handler.inOrder === true ? 'in order' : 'at once';
}

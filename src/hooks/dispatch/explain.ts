import type { Skipped } from '../decision.ts';
import { planHandler } from './plan.ts';
import type { HookEvent } from '../facts.ts';
import type { Handler } from '../handler.ts';
import { type ReadText, viewEvent } from './views.ts';

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
  handlers: readonly Handler[],
  readText: ReadText | undefined,
): Explanation {
  const views = viewEvent(event, readText);
  const runs: PlannedRun[] = [];
  const skipped: Skipped[] = [];
  for (const handler of handlers) {
    const planned = planHandler(handler, views);
    if (typeof planned === 'string') skipped.push({ hook: handler.id, why: planned });
    else runs.push(describe(handler, planned.length, planned[0]?.tool ?? null));
  }
  return { event: event.name, runs, skipped };
}

function describe(
  handler: Handler,
  times: number,
  tool: { readonly name: string; readonly input: unknown } | null,
): PlannedRun {
  return {
    hook: handler.id,
    dialect: handler.dialect,
    source: handler.source,
    times,
    how: howItRuns(handler),
    tool: tool === null ? null : { name: tool.name, input: tool.input },
    onFailure: handler.onFailure,
  };
}

function howItRuns(handler: Handler): PlannedRun['how'] {
  if (handler.background === true) return 'in the background';
  return handler.inOrder === true ? 'in order' : 'at once';
}

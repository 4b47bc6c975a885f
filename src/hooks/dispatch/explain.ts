import { getErrorMessage } from '../../base/errors.ts';
import type { Skipped } from '../decision.ts';
import {
  beginWave,
  type Candidate,
  findRepeats,
  isSkipped,
  type Plan,
  type PlanOfPass,
  planHandler,
  skipRepeat,
} from './plan.ts';
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
  candidates: readonly Candidate[],
  readText: ReadText | undefined,
): Explanation {
  const views = viewEvent(event, readText);
  const wave = beginWave();
  const repeats = findRepeats(candidates, views, wave);
  const runs: PlannedRun[] = [];
  const skipped: Skipped[] = [];
  for (const candidate of candidates) {
    const planned = planQuietly(candidate, { views, repeats, wave });
    if (isSkipped(planned)) skipped.push(planned);
    else runs.push(describe(candidate.handler, planned.length, planned[0]?.tool ?? null));
  }
  return { event: event.name, runs, skipped };
}

/** A dispatch would report it as failed; nothing has run here that could fail. */
function planQuietly(
  candidate: Candidate,
  { views, repeats, wave }: Omit<PlanOfPass, 'pass'>,
): Plan {
  try {
    const planned = planHandler(candidate, views, wave);
    const running = isSkipped(planned) ? undefined : repeats.get(candidate);
    return running === undefined ? planned : skipRepeat(candidate, running);
  } catch (error) {
    const why = `threw when it was asked whether it fits: ${getErrorMessage(error)}`;
    return { hook: candidate.handler.id, kind: 'misfit', why };
  }
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

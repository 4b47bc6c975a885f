import { isRecord, parseJson } from '../base/json.ts';
import { isOfWorkspace } from './entry.ts';
import { decodePayload } from './exchange.ts';

export interface HookStats {
  readonly hook: string;
  readonly runs: number;
  readonly failures: number;
  readonly refusals: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly maxMs: number;
}

export interface TraceStats {
  readonly hooks: readonly HookStats[];
  readonly dispatches: number;
  /** Dispatches in other workspaces, which are not counted. */
  readonly elsewhere: number;
  /** Entries that cannot be read, for example one that was half written when the machine stopped. */
  readonly unreadable: number;
}

interface Tally {
  readonly durations: number[];
  failures: number;
  refusals: number;
}

/** Counts runs, failures and times per hook over stored entries, of these workspace roots or of all. */
export function countTraceEntries(
  entries: Iterable<Uint8Array>,
  roots: readonly string[] | null = null,
): TraceStats {
  const tallies = new Map<string, Tally>();
  let dispatches = 0;
  let elsewhere = 0;
  let unreadable = 0;
  for (const bytes of entries) {
    const parsed = parseJson(decodePayload(bytes));
    if (parsed.ok && isRecord(parsed.value) && parsed.value['type'] === 'call') continue;
    if (!parsed.ok || !isRecord(parsed.value) || !Array.isArray(parsed.value['outcomes'])) {
      unreadable++;
      continue;
    }
    const isDispatch = parsed.value['type'] === 'dispatch';
    if (!isOfWorkspace(parsed.value, roots)) {
      if (isDispatch) elsewhere++;
      continue;
    }
    if (isDispatch) dispatches++;
    for (const outcome of parsed.value['outcomes'].filter(isRecord)) countOutcome(tallies, outcome);
  }
  const hooks = [...tallies].map(([hook, tally]) => summarizeHook(hook, tally));
  return { hooks: hooks.toSorted((a, b) => b.p95Ms - a.p95Ms), dispatches, elsewhere, unreadable };
}

function countOutcome(
  tallies: Map<string, Tally>,
  outcome: Readonly<Record<string, unknown>>,
): void {
  const { hook, durationMs, status, effect, failure } = outcome;
  if (typeof hook !== 'string' || typeof durationMs !== 'number' || status === 'background') return;
  // A file that could not be read is no hook.
  if (isRecord(failure) && failure['kind'] === 'config') return;
  const tally = tallies.get(hook) ?? { durations: [], failures: 0, refusals: 0 };
  tallies.set(hook, tally);
  tally.durations.push(durationMs);
  if (status === 'failed') tally.failures++;
  if (effect === 'deny' || effect === 'stop') tally.refusals++;
}

function summarizeHook(hook: string, { durations, failures, refusals }: Tally): HookStats {
  const sorted = durations.toSorted((a, b) => a - b);
  return {
    hook,
    runs: sorted.length,
    failures,
    refusals,
    p50Ms: computePercentile(sorted, 0.5),
    p95Ms: computePercentile(sorted, 0.95),
    maxMs: sorted.at(-1) ?? 0,
  };
}

/** The smallest value that at least this share of all values does not exceed. */
function computePercentile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}

import { createEmptyVerdict } from '../../src/hooks/decision.ts';
import type { Verdict } from '../../src/hooks/decision.ts';
import type { DispatchRecord } from '../../src/hooks/dispatch-record.ts';
import { createDispatchEntry, type TraceEntry } from '../../src/trace/entry.ts';
import { bash, MOMENT } from '../hooks/handlers.ts';

export function recordOf(verdict: Partial<Verdict> = {}): DispatchRecord {
  return {
    id: 'd1',
    event: { ...MOMENT, ...bash('ls') },
    verdict: { ...createEmptyVerdict('PreToolUse'), ...verdict },
    aborted: false,
    exchanges: [],
  };
}

export function entryOf(verdict: Partial<Verdict> = {}): TraceEntry {
  return createDispatchEntry(recordOf(verdict));
}

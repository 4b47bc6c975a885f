import type { DiscoveredUnit } from './discovery.ts';
import type { DialectMachine } from './machine.ts';

/** Plans to copy another agent's hooks. Throws a HooklineError when there is nothing to copy. */
export type ImportHooks = (request: ImportRequest, machine: DialectMachine) => ImportPlan;

export interface ImportRequest {
  /** The user's own hooks instead of the workspace's. */
  readonly isGlobal: boolean;
  /** Where to, absolute; the usual file by default. */
  readonly to: string | null;
  /** What is switched off. */
  readonly disabled: readonly DiscoveredUnit[];
}

export interface ImportPlan {
  readonly report: ImportReport;
  write(): void;
  /** Whether an entry of the written file says the same as one that was there before. */
  readonly isCopy: (copy: DiscoveredUnit, original: DiscoveredUnit) => boolean;
}

export interface ImportReport {
  /** The files that are there. */
  readonly from: readonly string[];
  readonly to: string;
  readonly added: readonly ReportedEntry[];
  /** Those that the target has already. */
  readonly present: readonly ReportedEntry[];
  readonly leftOut: readonly LeftOut[];
  readonly notes: readonly string[];
}

export interface ReportedEntry {
  readonly event: string;
  readonly matcher: string | null;
  readonly type: string;
  readonly runs: string;
  readonly file: string;
  readonly line: number;
  /** What would be different, as sentences. */
  readonly differs: readonly string[];
}

export interface LeftOut {
  readonly file: string;
  readonly line: number;
  readonly why: string;
}

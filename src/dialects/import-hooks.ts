import type { DiscoveredUnit } from './discovery.ts';
import type { DialectMachine } from './machine.ts';

/** How `hooks import` copies another agent's hooks. */
export interface HookImport {
  /** The user's own settings, for the help: `~/.claude/settings.json`. */
  readonly ownFile: string;
  /** The file in a workspace, or in the home, that the hooks are copied to. */
  readonly target: string;
  readonly load: () => Promise<ImportHooks>;
}

/** Plans to copy another agent's hooks. Throws a HooklineError when there is nothing to copy. */
export type ImportHooks = (request: ImportRequest, machine: DialectMachine) => ImportPlan;

export interface ImportRequest {
  /** The user's own hooks instead of the workspace's. */
  readonly isGlobal: boolean;
  /** The target file, absolute; the default file when null. */
  readonly to: string | null;
  /** The disabled units. */
  readonly disabled: readonly DiscoveredUnit[];
}

export interface ImportPlan {
  readonly report: ImportReport;
  write(): void;
  /** Whether an entry of the written file says the same as one that was there before. */
  readonly isCopy: (copy: DiscoveredUnit, original: DiscoveredUnit) => boolean;
}

export interface ImportReport {
  /** The files that hooks are copied from. */
  readonly from: readonly string[];
  readonly to: string;
  readonly added: readonly ReportedEntry[];
  /** Entries that the target already has. */
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
  /** Sentences about what would be different. */
  readonly differs: readonly string[];
}

export interface LeftOut {
  readonly file: string;
  readonly line: number;
  readonly why: string;
}

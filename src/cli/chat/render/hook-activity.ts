import { awaitsTrust, type Verdict } from '../../../hooks/decision.ts';
import { colors } from '../../output/colors.ts';
import {
  formatDuration,
  toOneLine,
  formatCount,
  toPrintable,
  toPrintableLines,
} from '../../output/print.ts';
import { listFailures, formatVerdict } from '../../output/format-verdict.ts';
import type { Fold } from '../view/view.ts';

/** Collects hook verdicts for one summary line. */
export interface HookActivity {
  add(verdict: Verdict): void;
  /** The summary with folded details; null when no hook ran. */
  take(): Fold | null;
}

export function createHookActivity(): HookActivity {
  let verdicts: Verdict[] = [];
  return {
    add(verdict) {
      const relevant = {
        ...verdict,
        skipped: verdict.skipped.filter(({ kind }) => kind !== 'misfit'),
      };
      if (relevant.outcomes.length > 0 || relevant.skipped.length > 0) verdicts.push(relevant);
    },
    take() {
      const taken = verdicts;
      verdicts = [];
      return taken.length === 0 ? null : toFold(taken);
    },
  };
}

function toFold(verdicts: readonly Verdict[]): Fold {
  return {
    head: colors.dim(`${formatHead(verdicts)} (ctrl+o)`),
    details: verdicts.flatMap((verdict) => formatVerdict(verdict).split('\n')),
  };
}

function formatHead(verdicts: readonly Verdict[]): string {
  const outcomes = verdicts.flatMap((verdict) => verdict.outcomes);
  const withheld = new Set(
    verdicts.flatMap(({ skipped }) =>
      skipped.filter(({ kind }) => kind === 'withheld').map(({ hook }) => hook),
    ),
  );
  const slowest = Math.max(0, ...outcomes.map(({ durationMs }) => durationMs));
  const ran = formatCount(new Set(outcomes.map(({ hook }) => hook)).size, 'hook');
  return [
    ...(outcomes.length === 0 ? [] : [`${ran}, slowest ${formatDuration(slowest)}`]),
    ...(withheld.size === 0 ? [] : [`${formatCount(withheld.size, 'hook')} not run`]),
  ].join(', ');
}

/** Failures and messages of hooks, which are shown at once. */
export function listHookMessages({ event, outcomes, messages }: Verdict): readonly string[] {
  return [
    ...listFailures(outcomes).map(({ hook, message }) =>
      colors.red(`hook failed: ${toOneLine(hook)}: ${toPrintableLines(message)}`),
    ),
    ...messages.map(
      ({ hook, text }) =>
        `${colors.yellow(`${event} (${toOneLine(hook)}) says:`)} ${toPrintableLines(text)}`,
    ),
  ];
}

/** Ids of hooks that are not trusted. */
export function listUntrusted({ skipped }: Verdict): readonly string[] {
  return skipped.filter(awaitsTrust).map(({ hook }) => toPrintable(hook));
}

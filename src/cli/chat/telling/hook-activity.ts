import { awaitsTrust, type Verdict } from '../../../hooks/decision.ts';
import { colors } from '../../words/colors.ts';
import { milliseconds, oneLine, plural, printable, printableLines } from '../../words/print.ts';
import { failuresIn, readableVerdict } from '../../words/verdict.ts';
import type { Fold } from '../view/view.ts';

/** What hooks did since somebody last asked, to be told in one quiet line. */
export interface HookActivity {
  add(verdict: Verdict): void;
  /** The line, with everything behind it; null when no hook did anything. */
  take(): Fold | null;
}

export function createHookActivity(): HookActivity {
  let verdicts: Verdict[] = [];
  return {
    add(verdict) {
      const told = { ...verdict, skipped: verdict.skipped.filter(({ kind }) => kind !== 'misfit') };
      if (told.outcomes.length > 0 || told.skipped.length > 0) verdicts.push(told);
    },
    take() {
      const taken = verdicts;
      verdicts = [];
      return taken.length === 0 ? null : foldOf(taken);
    },
  };
}

function foldOf(verdicts: readonly Verdict[]): Fold {
  return {
    head: colors.dim(`${headOf(verdicts)} (ctrl+o)`),
    details: verdicts.flatMap((verdict) => readableVerdict(verdict).split('\n')),
  };
}

function headOf(verdicts: readonly Verdict[]): string {
  const outcomes = verdicts.flatMap((verdict) => verdict.outcomes);
  const withheld = new Set(
    verdicts.flatMap(({ skipped }) =>
      skipped.filter(({ kind }) => kind === 'withheld').map(({ hook }) => hook),
    ),
  );
  const slowest = Math.max(0, ...outcomes.map(({ durationMs }) => durationMs));
  const ran = plural(new Set(outcomes.map(({ hook }) => hook)).size, 'hook');
  return [
    ...(outcomes.length === 0 ? [] : [`${ran}, slowest ${milliseconds(slowest)}`]),
    ...(withheld.size === 0 ? [] : [`${plural(withheld.size, 'hook')} not run`]),
  ].join(', ');
}

/** What must be seen at once: failures, and what hooks say to the person. */
export function loudWords({ event, outcomes, messages }: Verdict): readonly string[] {
  return [
    ...failuresIn(outcomes).map(({ hook, message }) =>
      colors.red(`hook failed: ${oneLine(hook)}: ${printableLines(message)}`),
    ),
    ...messages.map(
      ({ hook, text }) =>
        `${colors.yellow(`${event} (${oneLine(hook)}) says:`)} ${printableLines(text)}`,
    ),
  ];
}

/** Hooks that wait for trust, by their ids. */
export function untrustedIn({ skipped }: Verdict): readonly string[] {
  return skipped.filter(awaitsTrust).map(({ hook }) => printable(hook));
}

import {
  isAwaitingTrust,
  isRefusal,
  type Outcome,
  type Skipped,
  type Verdict,
} from '../../hooks/decision.ts';
import type { LateOutcome } from '../../hooks/dispatch-record.ts';
import type { PluginStatus } from '../../plugins/registry.ts';
import type { Command, CommandContext } from '../context.ts';
import { type EventFlags, warnMisspelledTool, readEvent } from '../event-options.ts';
import { EXIT } from '../exit-codes.ts';
import { listWithheldPlugins, withPluginHooks } from '../plugins/plugin-hooks.ts';
import { toOneLine, toPrintable, toPrintableLines } from '../output/print.ts';
import { redactObject } from '../../host/redact-object.ts';
import { toLateJson, toVerdictJson, formatLate, formatVerdict } from '../output/format-verdict.ts';

/** `hookline hooks fire EVENT`: the real hooks, without an agent. */
export const fireHooks: Command<EventFlags> = async (context, options) => {
  const late: LateOutcome[] = [];
  const event = readEvent(options);
  warnMisspelledTool(context.print, options);
  return withPluginHooks(
    context,
    event,
    options,
    async (host, plugins) => {
      const verdict = await host.engine.dispatch(event, { signal: context.signal });
      const redacted = await redactObject(verdict, context.flags);
      if (context.flags.json !== true) reportVerdict(context, redacted);
      await Promise.race([host.engine.idle(), waitForAbort(context.signal)]);
      const withheld = listWithheldPlugins(host, plugins);
      await reportLate(context, redacted, late, withheld);
      if (context.signal.aborted) return EXIT.interrupted;
      if (isRefusal(verdict.effect)) return EXIT.refused;
      const isSound =
        hasRunAll(verdict, late) &&
        host.missingGuards().length === 0 &&
        !plugins.some(({ state }) => MISSING_STATES.includes(state));
      return context.flags.strict === true && !isSound ? EXIT.hookFailed : EXIT.fine;
    },
    { onLate: (outcome) => late.push(outcome) },
  );
};

/** Plugins whose hooks could not run; they count like hooks that failed or that wait for trust. */
const MISSING_STATES: readonly PluginStatus['state'][] = ['failed', 'untrusted', 'modified'];

/** An interrupted command prints what it has; closing the host ends what still runs. */
function waitForAbort(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function reportVerdict({ print }: CommandContext, verdict: Verdict): void {
  print.out(formatVerdict(verdict));
  // A user at a terminal has just read it; scripts read stderr.
  if (!print.isStdoutTerminal) noteProblems(print, verdict);
}

/** Prints late answers; as JSON also the verdict, because programs get one document. */
async function reportLate(
  { flags, print }: CommandContext,
  verdict: Verdict,
  late: readonly LateOutcome[],
  withheldPlugins: readonly Skipped[],
): Promise<void> {
  const outcomes = await redactObject(
    late.map(({ outcome }) => outcome),
    flags,
  );
  if (flags.json === true) {
    const skipped = [...verdict.skipped, ...withheldPlugins];
    print.json({ ...toVerdictJson({ ...verdict, skipped }), late: toLateJson(outcomes) });
    noteProblems(print, verdict);
  } else if (outcomes.length > 0) print.out(formatLate(outcomes));
  if (flags.json === true || !print.isStdoutTerminal) noteFailures(print, outcomes);
}

function noteProblems(print: CommandContext['print'], verdict: Verdict): void {
  for (const { hook, why } of verdict.skipped.filter(isAwaitingTrust)) {
    print.note(`not run: ${toOneLine(hook)}: ${toPrintable(why)}`);
  }
  noteFailures(print, verdict.outcomes);
}

function noteFailures(print: CommandContext['print'], outcomes: readonly Outcome[]): void {
  for (const { hook, failure } of outcomes) {
    if (failure !== null) {
      print.note(`failed: ${toOneLine(hook)}: ${toPrintableLines(failure.message)}`);
    }
  }
}

function hasRunAll(verdict: Verdict, late: readonly LateOutcome[]): boolean {
  const outcomes = [...verdict.outcomes, ...late.map(({ outcome }) => outcome)];
  const hasFailed = outcomes.some(({ status }) => status === 'failed');
  return !hasFailed && !verdict.skipped.some(isAwaitingTrust);
}

import {
  isAwaitingTrust,
  isRefusal,
  type Outcome,
  type Skipped,
  type Verdict,
} from '../../hooks/decision.ts';
import { listHookProblems } from '../../dialects/index.ts';
import type { LateOutcome } from '../../hooks/dispatch-record.ts';
import type { PluginStatus } from '../../plugins/registry.ts';
import type { Command, CommandContext } from '../context.ts';
import { type EventFlags, warnMisspelledTool, readEvent } from '../event-options.ts';
import { EXIT } from '../exit-codes.ts';
import { listWithheldPlugins, withPluginHooks } from '../plugins/plugin-hooks.ts';
import { HeldNotices } from '../output/held-notices.ts';
import { toOneLine, toPrintable } from '../output/print.ts';
import { redactObject } from '../../host/redact-object.ts';
import {
  formatLate,
  formatProblem,
  formatVerdict,
  toLateJson,
  toVerdictJson,
} from '../output/format-verdict.ts';

/** `hookline hooks fire EVENT`: the real hooks, without an agent. */
export const fireHooks: Command<EventFlags> = async (context, options) => {
  const late: LateOutcome[] = [];
  const notices = new HeldNotices(context.print);
  const event = readEvent(options);
  warnMisspelledTool(context.print, options);
  const fire = () =>
    withPluginHooks(
      context,
      event,
      options,
      async (host, plugins) => {
        const verdict = await host.engine.dispatch(event, { signal: context.signal });
        const redacted = await redactObject(verdict, context.flags);
        if (context.flags.json !== true) context.print.out(formatVerdict(redacted));
        await Promise.race([host.engine.idle(), waitForAbort(context.signal)]);
        const withheld = listWithheldPlugins(host, plugins);
        await reportLate(context, redacted, late, withheld);
        const printed = verdict.outcomes.map(formatAsNotice);
        notices.printOthers((notice) => printed.some((text) => notice.startsWith(text)));
        if (context.signal.aborted) return EXIT.interrupted;
        if (isRefusal(verdict.effect)) return EXIT.refused;
        const isSound =
          hasRunAll(verdict, late) &&
          host.missingGuards().length === 0 &&
          !plugins.some(({ state }) => MISSING_STATES.includes(state));
        return context.flags.strict === true && !isSound ? EXIT.hookFailed : EXIT.fine;
      },
      { onLate: (outcome) => late.push(outcome), onNotice: notices.add },
    );
  return notices.run(fire);
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
  const skipped = [...verdict.skipped, ...withheldPlugins];
  if (flags.json === true) {
    print.json({ ...toVerdictJson({ ...verdict, skipped }), late: toLateJson(outcomes) });
  } else if (outcomes.length > 0) print.out(formatLate(outcomes));
  // A user whose terminal shows stderr only would not see them.
  if (print.isTerminal && !print.isStdoutTerminal) {
    noteProblems(print, { ...verdict, outcomes: [...verdict.outcomes, ...outcomes] });
  }
}

function noteProblems(print: CommandContext['print'], { skipped, outcomes }: Verdict): void {
  for (const { hook, why } of skipped.filter(isAwaitingTrust)) {
    print.note(`not run: ${toOneLine(hook)}: ${toPrintable(why)}`);
  }
  for (const problem of listHookProblems(outcomes)) print.note(formatProblem(problem));
}

/** A failure as the host, or the plugin that it is of, reports it. */
function formatAsNotice({ hook, dialect, source, failure }: Outcome): string {
  const message = failure?.message ?? '';
  if (failure?.kind === 'config') return `${source.replace(/:(\d+)$/, ' line $1')}: ${message}`;
  const [, plugin, name] = /^plugin:(.*?):(\w+)/.exec(dialect === 'plugin' ? hook : '') ?? [];
  return `plugin ${plugin}: ${name} failed: ${message}`;
}

function hasRunAll(verdict: Verdict, late: readonly LateOutcome[]): boolean {
  const outcomes = [...verdict.outcomes, ...late.map(({ outcome }) => outcome)];
  const hasFailed = outcomes.some(({ status }) => status === 'failed');
  return !hasFailed && !verdict.skipped.some(isAwaitingTrust);
}

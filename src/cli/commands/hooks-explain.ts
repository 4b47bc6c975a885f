import { colors } from '../output/colors.ts';
import type { Explanation } from '../../hooks/plan.ts';
import type { Skipped } from '../../hooks/decision.ts';
import { EVENTS } from '../../hooks/events.ts';
import type { Host } from '../../host/create-host.ts';
import type { Command } from '../context.ts';
import { type EventFlags, warnMisspelledTool, readEvent } from '../event-options.ts';
import { EXIT } from '../exit-codes.ts';
import { listWithheldPlugins, withPluginHooks } from '../plugins/plugin-hooks.ts';
import { HeldNotices } from '../output/held-notices.ts';
import { toOneLine, formatCount, toPrintable } from '../output/print.ts';
import { redactObject } from '../../host/redact-object.ts';

/** `hookline hooks explain EVENT`: which hooks would run and which not, and why; loads plugins, runs no hook. */
export const explainHooks: Command<EventFlags> = async (context, options) => {
  const event = readEvent(options);
  warnMisspelledTool(context.print, options);
  const notices = new HeldNotices(context.print);
  const explain = () =>
    withPluginHooks(
      context,
      event,
      options,
      async (host, plugins) => {
        const withheld = listWithheldPlugins(host, plugins);
        const explanation = withProblems(host.engine.explain(event), host.madeHooks(), withheld);
        const redacted = await redactObject(explanation, context.flags);
        const { fires, refusal } = EVENTS[event.name];
        if (context.flags.json === true) context.print.json({ ...redacted, fires, refusal });
        else context.print.out(formatExplanation(redacted, fires, refusal));
        const printed = new Set(
          explanation.runs.map(
            ({ source, problem }) => `${source.replace(/:(\d+)$/, ' line $1')}: ${problem}`,
          ),
        );
        notices.printOthers((notice) => printed.has(notice));
        return EXIT.fine;
      },
      { onNotice: notices.add },
    );
  return notices.run(explain);
};

type FullExplanation = ReturnType<typeof withProblems>;
type FullRun = FullExplanation['runs'][number];

/** A hook that is known to be broken is still run, and fails. */
function withProblems(
  explanation: Explanation,
  hooks: ReturnType<Host['madeHooks']>,
  withheld: readonly Skipped[],
) {
  const byId = new Map(hooks.map(({ hook }) => [hook.id, hook]));
  const runs = explanation.runs.map((run) => {
    const { problem = null, isWholeFile } = byId.get(run.hook) ?? {};
    return { ...run, problem, ...(isWholeFile === true ? { isWholeFile } : {}) };
  });
  return { ...explanation, runs, skipped: [...explanation.skipped, ...withheld] };
}

function formatExplanation(
  { event, runs, skipped }: FullExplanation,
  fires: string,
  refusal: string | null,
): string {
  const total = runs.length + skipped.length;
  return [
    `${colors.bold(event)}: ${fires}. ${refusal === null ? 'It cannot be refused.' : `A refusal means: ${refusal}.`}`,
    ...(total === 0 ? ['  no hooks found for this event'] : []),
    ...runs.map((run) => `  ${formatTitle(run)} ${colors.dim(formatRun(run))}`),
    ...skipped.map(
      ({ hook, why }) => `  ${colors.yellow('would not')} ${toOneLine(hook)}: ${toPrintable(why)}`,
    ),
  ].join('\n');
}

function formatTitle({ hook, problem, isWholeFile }: FullRun): string {
  if (problem === null) return `${colors.green('would run')} ${toOneLine(hook)}`;
  // A file that cannot be read is no hook; its place is named at the end of the line.
  const what = isWholeFile === true ? 'because a file cannot be read' : toOneLine(hook);
  return `${colors.red('would fail')} ${what}: ${toPrintable(problem)}`;
}

function formatRun({
  how,
  times,
  tool,
  vocabularies,
  suspicion,
  sandbox,
  source,
  onFailure,
}: FullRun): string {
  return [
    how,
    ...(times === 1 ? [] : [formatCount(times, 'time')]),
    ...(tool === null ? [] : [`sees ${tool.name} ${JSON.stringify(tool.input)?.slice(0, 200)}`]),
    ...(vocabularies ?? []).map(formatVocabulary),
    ...(suspicion === undefined ? [] : [`suspicious: ${toPrintable(suspicion)}`]),
    ...(sandbox === undefined ? [] : [`in the sandbox ${sandbox}`]),
    onFailure === 'closed' ? 'fails closed' : 'fails open',
    toOneLine(source),
  ].join(' · ');
}

function formatVocabulary({
  vocabulary,
  tools,
  why,
}: NonNullable<FullRun['vocabularies']>[number]): string {
  return `asked in the ${vocabulary} vocabulary about ${tools.map(toOneLine).join(', ')}: ${toOneLine(why)}`;
}

import { colors } from '../words/colors.ts';
import type { Explanation } from '../../hooks/dispatch/explain.ts';
import { EVENTS } from '../../hooks/events.ts';
import { type Command, withHost } from '../context.ts';
import { type EventFlags, readEvent } from '../event-options.ts';
import { EXIT } from '../exit-codes.ts';
import { oneLine, plural, printable } from '../words/print.ts';

export interface ExplainOptions extends EventFlags {
  readonly event?: string;
}

/** `hookline hooks explain EVENT`: what would run and what not, and why; nothing runs. */
export const explainHooks: Command<ExplainOptions> = (context, options) =>
  withHost(context, (host) => {
    const event = readEvent(options.event, options);
    const explanation = host.engine.explain(event);
    const { fires, refusal } = EVENTS[event.name];
    if (context.flags.json === true) context.print.json({ ...explanation, fires, refusal });
    else context.print.out(readableExplanation(explanation, { fires, refusal }));
    return EXIT.fine;
  });

function readableExplanation(
  { event, runs, skipped }: Explanation,
  { fires, refusal }: { fires: string; refusal: string | null },
): string {
  const total = runs.length + skipped.length;
  return [
    `${colors.bold(event)}: ${fires}. ${refusal === null ? 'It cannot be refused.' : `A refusal means: ${refusal}.`}`,
    ...(total === 0 ? ['  no hook is there for it'] : []),
    ...runs.map(
      (run) => `  ${colors.green('would run')} ${oneLine(run.hook)} ${colors.dim(howLine(run))}`,
    ),
    ...skipped.map(
      ({ hook, why }) => `  ${colors.yellow('would not')} ${oneLine(hook)}: ${printable(why)}`,
    ),
  ].join('\n');
}

function howLine({ how, times, tool, source, onFailure }: Explanation['runs'][number]): string {
  return [
    how,
    ...(times === 1 ? [] : [plural(times, 'time')]),
    ...(tool === null ? [] : [`sees ${tool.name} ${JSON.stringify(tool.input)?.slice(0, 200)}`]),
    onFailure === 'closed' ? 'a failure blocks' : 'a failure lets go on',
    oneLine(source),
  ].join(' · ');
}

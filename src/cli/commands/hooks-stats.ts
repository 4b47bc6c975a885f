import path from 'node:path';
import { colors } from '../output/colors.ts';
import { HooklineError, getErrorMessage } from '../../base/errors.ts';
import type { Host } from '../../host/create-host.ts';
import { readTraceStats, type TraceStats } from '../../trace/stats.ts';
import { type Command, withHost } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { formatDuration, toOneLine, formatCount, formatTable } from '../output/print.ts';

/** `hookline hooks stats`: runs, failures and times per hook, from the trace. */
export const showStats: Command<object> = (context) =>
  withHost(context, (host) => {
    const stats = readStats(host);
    if (context.flags.json === true) context.print.json(stats);
    else context.print.out(formatStats(stats));
    return EXIT.fine;
  });

function readStats({ stateDirectory, config: { settings } }: Host): TraceStats {
  if (stateDirectory === null) return { hooks: [], dispatches: 0, unreadable: 0 };
  const directory = path.join(stateDirectory, 'trace');
  try {
    return readTraceStats(directory, settings['trace.maxFiles']);
  } catch (error) {
    throw new HooklineError('CONFIG_UNREADABLE', {
      message: `the trace in ${directory} cannot be read: ${getErrorMessage(error)}`,
      hint: 'Check the permissions of its files, or move the directory away.',
      cause: error,
    });
  }
}

function formatStats({ hooks, dispatches, unreadable }: TraceStats): string {
  if (hooks.length === 0) return 'No hook has run yet. Fire one with `hookline hooks fire EVENT`.';
  const head = ['HOOK', 'RUNS', 'FAILED', 'REFUSED', 'P50', 'P95', 'MAX'].map((title) =>
    colors.dim(title),
  );
  const rows = hooks.map((each) => [
    toOneLine(each.hook),
    String(each.runs),
    String(each.failures),
    String(each.refusals),
    formatDuration(each.p50Ms),
    formatDuration(each.p95Ms),
    formatDuration(each.maxMs),
  ]);
  const unreadableNote =
    unreadable === 0 ? '' : `, ${formatCount(unreadable, 'line')} could not be read`;
  return `${formatTable([head, ...rows])}\n${colors.dim(`${formatCount(dispatches, 'event')} in the trace${unreadableNote}`)}`;
}

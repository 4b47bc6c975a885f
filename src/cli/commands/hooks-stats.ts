import type { StoredEvent } from '../../store/event-store.ts';
import { countTraceEntries, type TraceStats } from '../../trace/stats.ts';
import { type Command, withHost } from '../context.ts';
import { colors } from '../output/colors.ts';
import { withStore } from '../with-store.ts';
import { EXIT } from '../exit-codes.ts';
import { formatDuration, toOneLine, formatCount, formatTable } from '../output/print.ts';

/** `hookline hooks stats`: runs, failures and times per hook, from the event store. */
export const showStats: Command<{ readonly all?: boolean }> = (context, { all }) =>
  withHost(context, async (host) => {
    const roots = all === true ? null : host.workspaceRoots;
    const stats =
      host.stateDirectory === null
        ? countTraceEntries([])
        : await withStore(context, (store) =>
            countTraceEntries(listPayloads(store.list({ agent: 'hookline' })), roots),
          );
    if (context.flags.json === true) context.print.json({ roots, ...stats });
    else context.print.out(formatStats(stats, roots));
    return EXIT.fine;
  });

function* listPayloads(events: Iterable<StoredEvent>): Iterable<Uint8Array> {
  for (const { payload } of events) yield payload;
}

function formatStats(
  { hooks, dispatches, elsewhere, unreadable }: TraceStats,
  roots: readonly string[] | null,
): string {
  const place = roots === null ? 'all workspaces' : roots.map((root) => toOneLine(root)).join(', ');
  const others = elsewhere === 0 ? '' : `; ${formatCount(elsewhere, 'event')} elsewhere: --all`;
  if (hooks.length === 0) {
    return `No hook has run in ${place} yet${others}. Fire one with \`hookline hooks fire EVENT\`.`;
  }
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
  const scope = `${formatCount(dispatches, 'event')} in ${place}${unreadableNote}${others}`;
  return `${formatTable([head, ...rows])}\n${colors.dim(scope)}`;
}

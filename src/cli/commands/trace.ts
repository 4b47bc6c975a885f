import { setTimeout as wait } from 'node:timers/promises';
import { HooklineError } from '../../base/errors.ts';
import { redactEvent } from '../../host/redact-event.ts';
import { readSurroundings } from '../../host/surroundings.ts';
import { type HooklineEvent, toCloudEvent } from '../../store/cloud-event.ts';
import type { EventFilter, EventStore, StoredEvent } from '../../store/event-store.ts';
import { toMonitoringEvent } from '../../store/monitoring-view.ts';
import { type Command, type CommandContext, confirm, rejectInsideSession } from '../context.ts';
import { completeSession, type FilterFlags, parseTime, toEventFilter } from '../event-filter.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { colors } from '../output/colors.ts';
import { formatEvent, formatEventLine, formatEvents } from '../output/format-event.ts';
import { formatCount, toPrintable } from '../output/print.ts';
import { withStore } from '../with-store.ts';

interface ViewFlags {
  /** Prints one line of JSON for each event in the form of another program. */
  readonly as?: 'agent-monitoring';
}

type ListFlags = FilterFlags & ViewFlags;

const DEFAULT_LIMIT = 50;

/** `hookline trace list`: the newest events, the newest last. */
export const listTrace: Command<ListFlags> = (context, flags) =>
  withStore(context, async (store) => {
    const filter = completeSession(store, { limit: DEFAULT_LIMIT, ...toEventFilter(flags) });
    if (flags.as !== undefined) return exportEvents(context, store, filter, flags.as);
    const events: HooklineEvent[] = [];
    for (const stored of store.list(filter)) {
      events.push(await redactEvent(toCloudEvent(stored), context.flags));
    }
    if (context.flags.json === true) context.print.json({ events });
    else if (events.length > 0) context.print.out(formatEvents(events, readSurroundings()));
    else context.print.out(explainNothing(store));
    return EXIT.fine;
  });

function explainNothing(store: EventStore): string {
  const { events } = store.counts();
  return events === 0
    ? 'No events yet. Fire one with `hookline hooks fire EVENT`.'
    : `No event matches; ${formatCount(events, 'event')} in all.`;
}

/** `hookline trace show`: everything about one event. */
export const showTrace: Command<ViewFlags & { readonly id: string }> = (context, { id, as }) =>
  withStore(context, async (store) => {
    const event = await redactEvent(toCloudEvent(findEvent(store, id)), context.flags);
    if (as !== undefined) printMonitored(context, event);
    else if (context.flags.json === true) context.print.json(event);
    else context.print.out(formatEvent(event));
    return EXIT.fine;
  });

function findEvent(store: EventStore, id: string): StoredEvent {
  const exact = id === 'last' ? [...store.list({ limit: 1 })][0] : store.find(id);
  if (exact !== null && exact !== undefined) return exact;
  const [first, second] = store.findByPrefix(id, 2);
  if (first !== undefined && second === undefined) return first;
  throw new HooklineError('USAGE_INVALID', {
    message:
      first === undefined
        ? `event ${JSON.stringify(id)} not found`
        : `several events have an id that begins with ${JSON.stringify(id)}`,
    hint: 'List them with `hookline trace list`.',
  });
}

/** `hookline trace export`: a line of JSON for each event, the newest last. */
export const exportTrace: Command<ListFlags> = (context, flags) =>
  withStore(context, (store) =>
    exportEvents(context, store, completeSession(store, toEventFilter(flags)), flags.as),
  );

async function exportEvents(
  context: CommandContext,
  store: EventStore,
  filter: EventFilter,
  as: ViewFlags['as'],
): Promise<ExitCode> {
  const omitted = new Set<string>();
  for (const stored of store.list(filter)) {
    if (context.signal.aborted) return EXIT.interrupted;
    const event = await redactEvent(toCloudEvent(stored), context.flags);
    if (as === undefined) context.print.jsonLine(event);
    else if (!printMonitored(context, event)) omitted.add(event.agent);
  }
  if (omitted.size > 0) {
    const agents = [...omitted].toSorted().map(toPrintable).join(', ');
    context.print.note(`note: left out, because agent-monitoring cannot read them: ${agents}`);
  }
  return EXIT.fine;
}

/** Returns false for an event that has no such form. */
function printMonitored({ print }: CommandContext, event: HooklineEvent): boolean {
  const monitored = toMonitoringEvent(event);
  if (monitored !== null) print.jsonLine(monitored);
  return monitored !== null;
}

const TAIL_LIMIT = 10;
const POLL_MS = 250;

/** `hookline trace tail`: the last events, then each new one until it is interrupted. */
export const tailTrace: Command<ListFlags> = (context, flags) =>
  withStore(context, async (store) => {
    const { limit = TAIL_LIMIT, ...filter } = completeSession(store, toEventFilter(flags));
    let last = [...store.list({ limit: 1 })][0]?.sequence ?? 0;
    await printEvents(context, store.list({ ...filter, limit }), flags.as);
    while (!context.signal.aborted && !context.print.isStdoutClosed()) {
      await wait(POLL_MS, undefined, { signal: context.signal }).catch(() => undefined);
      await store.drain();
      const newest = [...store.list({ limit: 1 })][0]?.sequence ?? 0;
      if (newest === last) continue;
      const since = store.list({ ...filter, afterSequence: last });
      await printEvents(context, since, flags.as);
      last = newest;
    }
    return EXIT.fine;
  });

async function printEvents(
  context: CommandContext,
  events: Iterable<StoredEvent>,
  as: ViewFlags['as'],
): Promise<void> {
  const place = readSurroundings();
  for (const stored of events) {
    const event = await redactEvent(toCloudEvent(stored), context.flags);
    if (as !== undefined) printMonitored(context, event);
    else if (context.flags.json === true) context.print.jsonLine(event);
    else context.print.out(formatEventLine(event, place));
  }
}

/** `hookline trace verify`: recalculates the chain; exits with 1 when something was changed or is missing. */
export const verifyTrace: Command<object> = (context) =>
  withStore(context, (store) => {
    const report = store.verify();
    if (context.flags.json === true) context.print.json(report);
    else context.print.out(formatReport(report));
    return report.isIntact ? EXIT.fine : EXIT.refused;
  });

function formatReport({
  isIntact,
  events,
  removed,
  problems,
}: ReturnType<EventStore['verify']>): string {
  const gone = removed === 0 ? '' : `, ${removed} removed by retention or \`trace purge\``;
  const scope = `${formatCount(events, 'event')}${gone}`;
  if (isIntact) return `${colors.green('The chain is intact:')} ${scope}.`;
  const lines = problems.map(({ message }) => `  ${toPrintable(message)}`);
  return `${colors.red(`${formatCount(problems.length, 'problem')} found`)} in ${scope}:\n${lines.join('\n')}`;
}

interface PurgeFlags {
  readonly session?: string;
  readonly before?: string;
  readonly all?: boolean;
  readonly yes?: boolean;
}

/** `hookline trace purge`: removes events for good. */
export const purgeTrace: Command<PurgeFlags> = async (context, flags) => {
  rejectInsideSession(context, 'trace purge');
  const { session, before, all, yes } = flags;
  if ((session === undefined && before === undefined) === (all !== true)) {
    throw new HooklineError('USAGE_INVALID', {
      message: 'expected --session ID, --before TIME or --all',
      hint: 'For example: `hookline trace purge --before 7d`.',
    });
  }
  const time = before === undefined ? undefined : parseTime('--before', before);
  return withStore(context, async (store) => {
    const chosen = session === undefined ? {} : completeSession(store, { session });
    const text = `Remove ${describePurge(chosen.session, before)} for good?`;
    if (yes !== true && !(await confirm(context, { text, flag: '--yes' }))) return EXIT.refused;
    const removed = await store.purge({
      ...(chosen.session === undefined ? {} : { session: chosen.session }),
      ...(time === undefined ? {} : { before: time }),
    });
    if (context.flags.json === true) context.print.json({ removed });
    else context.print.out(`Removed ${formatCount(removed, 'event')}.`);
    return EXIT.fine;
  });
};

function describePurge(session: string | undefined, before: string | undefined): string {
  const of = session === undefined ? 'all events' : `the events of session ${session}`;
  return before === undefined ? of : `${of} before ${before}`;
}

import { isRecord, truncateText } from '../../base/json.ts';
import { formatPath } from '../../base/paths.ts';
import type { Surroundings } from '../../dialects/machine.ts';
import type { HooklineEvent } from '../../store/cloud-event.ts';
import { colors } from './colors.ts';
import { escapeForeignText, formatDuration, formatTable, indent, toOneLine } from './print.ts';

type Place = Pick<Surroundings, 'cwd' | 'home'>;

const TITLES = ['TIME', 'AGENT', 'EVENT', 'TOOL', 'EFFECT', 'SESSION', 'ID', 'DETAILS'];
/** Enough to find one by its beginning. */
const ID_WIDTH = 13;
const DETAILS_WIDTH = 80;

/** A table with a line for each event. */
export function formatEvents(events: readonly HooklineEvent[], place: Place): string {
  return formatTable([
    TITLES.map((title) => colors.dim(title)),
    ...events.map((event) => createCells(event, place)),
  ]);
}

/** One event as a line of its own, whose columns are as wide as they are for most events. */
export function formatEventLine(event: HooklineEvent, place: Place): string {
  const [time = '', agent = '', name = '', tool = '', effect = '', , , details = ''] = createCells(
    event,
    place,
  );
  return [time, agent.padEnd(9), name.padEnd(17), tool.padEnd(9), effect.padEnd(5), details]
    .join('  ')
    .trimEnd();
}

function createCells(event: HooklineEvent, place: Place): readonly string[] {
  return [
    formatSeconds(event.time),
    toOneLine(event.agent) + (event.verified ? '' : colors.yellow(' (unverified)')),
    formatName(event),
    toOneLine(event.tool ?? '-'),
    formatEffect(event),
    toOneLine(truncateText(event.sessionid ?? '-', ID_WIDTH)),
    toOneLine(truncateText(event.id, ID_WIDTH)),
    formatDetails(event, place),
  ];
}

/** Local time with seconds: many events come in a minute. */
function formatSeconds(time: string): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return '?';
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19).replace('T', ' ');
}

function formatName({ event, foreignevent }: HooklineEvent): string {
  if (event === null) return toOneLine(foreignevent ?? '?');
  const hasOther = foreignevent !== null && foreignevent !== event;
  return toOneLine(event) + (hasOther ? colors.dim(` (${toOneLine(foreignevent)})`) : '');
}

function formatEffect({ effect, failed }: HooklineEvent): string {
  const text = effect ?? '-';
  const shown = text === 'deny' ? colors.red(text) : toOneLine(text);
  return failed ? `${shown}${colors.yellow(', failed')}` : shown;
}

/** The files of the call, else the hooks that were asked. */
function formatDetails({ paths, hooks, workspace }: HooklineEvent, place: Place): string {
  const base = { cwd: workspace ?? place.cwd, home: place.home };
  const texts = paths.length > 0 ? paths.map((file) => formatPath(file, base)) : hooks;
  return toOneLine(truncateText(texts.join(', '), DETAILS_WIDTH));
}

/** Everything about one event. */
export function formatEvent(event: HooklineEvent): string {
  const rows: readonly (readonly [string, string | null])[] = [
    ['Event', formatName(event)],
    ['Agent', event.agent + (event.verified ? '' : colors.yellow(' (unverified)'))],
    ['Time', formatSeconds(event.time)],
    ['Session', event.sessionid],
    ['Workspace', event.workspace],
    ['Tool', event.tool],
    ['Files', event.paths.length === 0 ? null : event.paths.join(', ')],
    ['Effect', event.effect === null ? null : formatEffect(event)],
    ['Hooks', event.hooks.length === 0 ? null : event.hooks.join(', ')],
    ['Id', event.id],
    ['Number', `${event.sequence}, hash ${event.hash.slice(0, 16)}…`],
  ];
  const shown = rows.flatMap(([name, value]) =>
    value === null ? [] : [[colors.dim(name), toOneLineKeepingColor(value)]],
  );
  return [formatTable(shown), ...formatOutcomes(event), formatData(event)].join('\n\n');
}

function toOneLineKeepingColor(text: string): string {
  return escapeForeignTextKeepingColor(text).replaceAll('\n', ' ');
}

const OWN_COLOR = new RegExp(`(${String.fromCodePoint(0x1b)}\\[\\d+m)`, 'u');

/** The parts between our own colors come from agents. */
function escapeForeignTextKeepingColor(text: string): string {
  return text
    .split(OWN_COLOR)
    .map((part) => (OWN_COLOR.test(part) ? part : escapeForeignText(part)))
    .join('');
}

/** What each hook of our own dispatch said, and how long it took. */
function formatOutcomes({ origin, data }: HooklineEvent): readonly string[] {
  if (origin !== 'dispatch' || !isRecord(data) || !Array.isArray(data['outcomes'])) return [];
  const rows = data['outcomes'].filter(isRecord).map((outcome) => {
    const { hook, status, effect, durationMs, failure } = outcome;
    const message = isRecord(failure) ? failure['message'] : null;
    return [
      toOneLine(String(hook)),
      String(status),
      String(effect),
      typeof durationMs === 'number' ? formatDuration(durationMs) : '',
      typeof message === 'string' ? toOneLine(message) : '',
    ];
  });
  if (rows.length === 0) return [];
  const titles = ['HOOK', 'STATUS', 'EFFECT', 'TIME', 'FAILURE'].map((title) => colors.dim(title));
  return [formatTable([titles, ...rows])];
}

function formatData({ data, datacontenttype }: HooklineEvent): string {
  const text = typeof data === 'string' ? data : (JSON.stringify(data, null, 2) ?? 'null');
  return `${colors.dim(`Payload (${datacontenttype})`)}\n${indent(escapeForeignText(text), '  ')}`;
}

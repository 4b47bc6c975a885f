import { colors } from '../words/colors.ts';
import { cutText } from '../../base/json.ts';
import { displayPath } from '../../base/paths.ts';
import type { FoundHook } from '../../dialects/dialect.ts';
import type { Host } from '../../host/create-host.ts';
import type { HookStatus } from '../../host/hook-set.ts';
import { trustUnit } from '../../host/hook-set.ts';
import { PROVIDER_KEYS } from '../../process/environment.ts';
import { describeUnbound } from '../words/unbound.ts';
import { type Command, withHost } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { oneLine, plural, printable, table } from '../words/print.ts';

/** `hookline hooks list` */
export const listHooks: Command<object> = (context) =>
  withHost(context, (host) => {
    if (context.flags.json === true) context.print.json(jsonListing(host));
    else context.print.out(readableListing(host));
    return EXIT.fine;
  });

function jsonListing(host: Host): unknown {
  return {
    roots: host.workspaceRoots,
    enabled: host.config.settings['hooks.enabled'],
    hooks: host.hooks().map((status) => jsonHook(status, host)),
    ignored: host.ignored(),
    problems: host.config.problems,
  };
}

function jsonHook({ hook, ...status }: HookStatus, host: Host): unknown {
  const pass = host.config.settings['env.pass'];
  return {
    id: hook.id,
    dialect: hook.dialect,
    event: hook.eventName,
    events: hook.events,
    matcher: hook.matcher,
    path: hook.path,
    line: hook.line,
    place: hook.place,
    root: hook.root,
    state: status.state,
    why: status.why,
    trusted: status.trustedBy !== null,
    trustedBy: status.trustedBy,
    enabled: status.isEnabled,
    timeoutMs: status.timeoutMs,
    onFailure: status.onFailure,
    notes: hook.notes,
    problem: hook.problem,
    ...hook.details,
    environment: {
      withheld:
        hook.place === 'workspace' ? PROVIDER_KEYS.filter((key) => !pass.includes(key)) : [],
    },
    notBound: hook.place === 'workspace' ? describeUnbound(trustUnit(hook)) : [],
  };
}

function readableListing(host: Host): string {
  const hooks = host.hooks();
  const sections = [
    ...(host.config.settings['hooks.enabled']
      ? []
      : ['Hooks are switched off: none is looked for.']),
    hooks.length === 0 ? noHooks(host) : hookTable(hooks, host),
    ...ignoredSection(host),
    ...advice(hooks),
  ];
  return sections.join('\n\n');
}

function noHooks(host: Host): string {
  const [root = '.'] = host.workspaceRoots;
  return [
    `No hooks found for ${oneLine(root)}.`,
    'Make one with `hookline hooks new PreToolUse`.',
  ].join('\n');
}

/**
 * One row per hook. An entry of a settings file says in a line below it where it stands and what it
 * runs, and then every hook's file is said there: the ids of such hooks leave no room beside them.
 */
function hookTable(hooks: readonly HookStatus[], host: Host): string {
  const layout = {
    hasMatchers: hooks.some(({ hook }) => hook.matcher !== null),
    hasEntries: hooks.some(({ hook }) => hook.line !== null),
  };
  const titles = [
    'HOOK',
    'EVENT',
    ...(layout.hasMatchers ? ['MATCHER'] : []),
    'STATE',
    ...(layout.hasEntries ? [] : ['FILE']),
  ];
  const rows = hooks.flatMap((status) => [...hookRows(status, host, layout), ...noteRows(status)]);
  return table([titles.map((title) => colors.dim(title)), ...rows]);
}

interface Layout {
  readonly hasMatchers: boolean;
  readonly hasEntries: boolean;
}

function hookRows({ hook, state }: HookStatus, host: Host, layout: Layout): string[][] {
  const { id, eventName, matcher, path, line } = hook;
  const file = `${oneLine(shownPath(path, host))}${line === null ? '' : `:${line}`}`;
  const row = [
    oneLine(id),
    eventName,
    ...(layout.hasMatchers ? [oneLine(shorten(matcher ?? '', MATCHER_WIDTH))] : []),
    paintState(state),
  ];
  if (!layout.hasEntries) return [[...row, file]];
  return [row, [`  ${[file, ...whatRuns(hook)].join(colors.dim(' · '))}`]];
}

const MATCHER_WIDTH = 16;
const RUNS_WIDTH = 100;

/** `command ./format.sh`, `http https://example.org/hook`, `prompt Is this safe? …`. */
function whatRuns({ details }: FoundHook): string[] {
  const { type, runs, if: condition } = details;
  if (type === undefined || runs === undefined) return [];
  const only = condition === undefined ? [] : [`if ${printable(condition)}`];
  return [`${type} ${printable(shorten(runs, RUNS_WIDTH))}`, ...only];
}

function shorten(text: string, width: number): string {
  return text.length <= width ? text : `${cutText(text, width - 1)}…`;
}

function noteRows({ hook, state, why }: HookStatus): string[][] {
  const reasons = state === 'ready' ? [] : [why];
  const unbound = hook.place === 'workspace' ? describeUnbound(trustUnit(hook)) : [];
  const notBound = unbound.length === 0 ? [] : [`trust does not cover: ${unbound.join(', ')}`];
  const notes = [...reasons, ...hook.notes, ...notBound];
  return notes.map((note) => [colors.dim(`  ${printable(note)}`)]);
}

function paintState(state: HookStatus['state']): string {
  if (state === 'ready') return colors.green(state);
  return state === 'disabled' ? colors.dim(state) : colors.yellow(state);
}

function shownPath(file: string, host: Host): string {
  return displayPath(file, { cwd: host.workspaceRoots[0] ?? '/', home: host.surroundings.home });
}

function ignoredSection(host: Host): string[] {
  const ignored = host.ignored();
  if (ignored.length === 0) return [];
  const rows = ignored.map(({ path, why }) => [
    `  ${oneLine(shownPath(path, host))}`,
    colors.dim(printable(why)),
  ]);
  return [`Ignored:\n${table(rows)}`];
}

function advice(hooks: readonly HookStatus[]): string[] {
  const waiting = hooks.filter(({ state }) => state === 'untrusted' || state === 'modified').length;
  if (waiting === 0) return [];
  const verb = waiting === 1 ? 'does' : 'do';
  return [`${plural(waiting, 'hook')} ${verb} not run until you have looked: \`hookline trust\``];
}

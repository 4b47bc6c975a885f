import { colors, formatState } from '../output/colors.ts';
import { truncateText } from '../../base/json.ts';
import { formatPath } from '../../base/paths.ts';
import type { Host } from '../../host/create-host.ts';
import type { ListedUnit } from '../../host/hook-set.ts';
import { OWN_PROVIDER_KEYS, PROVIDER_KEYS } from '../../process/environment.ts';
import {
  findUncovered,
  formatReviewHint,
  listUncoveredNames,
  NOTHING_UNCOVERED,
} from '../output/describe-hooks.ts';
import { type Command, withHost } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { MISSING_GUARD } from '../../host/missing-guards.ts';
import { toOneLine, toPrintable, formatTable } from '../output/print.ts';
import { redactObject } from '../../host/redact-object.ts';

/** `hookline hooks list` */
export const listHooks: Command<object> = (context) =>
  withHost(
    context,
    async (host) => {
      const listing = await redactObject(collectListing(host), context.flags);
      if (context.flags.json === true) context.print.json(toListingJson(listing));
      else context.print.out(formatListing(listing, host));
      const isSound = context.flags.strict !== true || host.missingGuards().length === 0;
      return isSound ? EXIT.fine : EXIT.hookFailed;
    },
    {
      // What does not count as it is written stands in the list.
      onNotice: (text) => {
        if (!text.startsWith(MISSING_GUARD)) context.print.note(`note: ${toPrintable(text)}`);
      },
    },
  );

type Listing = ReturnType<typeof collectListing>;
type ListedHook = ReturnType<typeof describeHook>;

/** The listing as plain data. */
function collectListing(host: Host) {
  return {
    roots: host.workspaceRoots,
    enabled: host.config.settings['hooks.enabled'],
    hooks: host.hooks().map((status) => describeHook(status, host)),
    ignored: host.ignored(),
    problems: host.config.problems,
  };
}

function describeHook(status: ListedUnit, host: Host) {
  const { hook, found } = status;
  return {
    id: hook.id,
    dialect: hook.dialect,
    event: hook.eventName,
    ...(found.kind === 'hook'
      ? { events: found.events, matcher: found.matcher }
      : { events: [], matcher: null }),
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
    notes: [...hook.notes, ...(status.wasDisabled ? [WAS_DISABLED] : [])],
    problem: hook.problem,
    kind: found.kind,
    details: hook.details,
    environment: {
      withheld: hook.place === 'workspace' ? listWithheldKeys(host) : [],
    },
    uncovered: hook.place === 'workspace' ? findUncovered(status, host.trust) : NOTHING_UNCOVERED,
  };
}

/** The keys of Hookline's own providers, and those of other services that are set. */
function listWithheldKeys({ config, surroundings: { env } }: Host): readonly string[] {
  const pass = config.settings['env.pass'];
  const isListed = (key: string): boolean => OWN_PROVIDER_KEYS.includes(key) || key in env;
  return PROVIDER_KEYS.filter((key) => isListed(key) && !pass.includes(key));
}

const WAS_DISABLED =
  'was disabled before it changed and is enabled again; disable it with `hookline hooks disable`';

function toListingJson({ hooks, ...rest }: Listing): unknown {
  const plain = hooks.map(({ details, kind: _kind, uncovered, ...hook }) => ({
    ...hook,
    notBound: listUncoveredNames(uncovered),
    ...details,
  }));
  return { ...rest, hooks: plain };
}

function formatListing({ enabled, hooks: found, ignored }: Listing, host: Host): string {
  const hooks = found.filter(({ kind }) => kind !== 'plugin');
  const plugins = found.filter(({ kind }) => kind === 'plugin');
  const sections = [
    ...(enabled ? [] : ['Hooks are disabled.']),
    hooks.length === 0 ? formatNoHooks(host) : formatHookTable(hooks, host),
    ...formatPlugins(plugins, host),
    ...formatIgnored(ignored, host),
    ...formatInterpreters(found),
    ...listHints(found),
  ];
  return sections.join('\n\n');
}

function formatNoHooks(host: Host): string {
  const [root = '.'] = host.workspaceRoots;
  return [
    `No hooks found for ${toOneLine(root)}.`,
    'Create one with `hookline hooks new PreToolUse`.',
  ].join('\n');
}

/**
 * One row per hook. When there are entries of settings files, file and command go on a second line, because
 * their ids leave no room.
 */
function formatHookTable(hooks: readonly ListedHook[], host: Host): string {
  const hasMatchers = hooks.some(({ matcher }) => matcher !== null);
  const hasEntries = hooks.some(({ line }) => line !== null);
  const titles = [
    'HOOK',
    'EVENT',
    ...(hasMatchers ? ['MATCHER'] : []),
    'STATE',
    ...(hasEntries ? [] : ['FILE']),
  ];
  const rows = hooks.flatMap((hook) => [
    ...formatHookRows(hook, host, hasMatchers, hasEntries),
    ...formatNotes(hook),
  ]);
  return formatTable([titles.map((title) => colors.dim(title)), ...rows]);
}

function formatHookRows(
  hook: ListedHook,
  host: Host,
  hasMatchers: boolean,
  hasEntries: boolean,
): string[][] {
  const { id, event, matcher, state, path, line } = hook;
  const file = `${toOneLine(formatHookPath(path, host))}${line === null ? '' : `:${line}`}`;
  const row = [
    toOneLine(id),
    event,
    ...(hasMatchers ? [toOneLine(truncateTo(matcher ?? '', MATCHER_WIDTH))] : []),
    formatState(state),
  ];
  if (!hasEntries) return [[...row, file]];
  return [row, [`  ${[file, ...describeRuns(hook)].join(colors.dim(' · '))}`]];
}

const MATCHER_WIDTH = 16;
const RUNS_WIDTH = 100;

/** `command ./format.sh`, `http https://example.org/hook`, `prompt Is this safe? …`. */
function describeRuns({ details }: ListedHook): string[] {
  const { type, runs, if: condition } = details;
  if (type === undefined || runs === undefined) return [];
  const only = condition === undefined ? [] : [`if ${toPrintable(condition)}`];
  return [`${type} ${toPrintable(truncateTo(runs, RUNS_WIDTH))}`, ...only];
}

function truncateTo(text: string, width: number): string {
  return text.length <= width ? text : `${truncateText(text, width - 1)}…`;
}

/** Plugins contribute hooks, too, but which ones is unknown until they are loaded. */
function formatPlugins(plugins: readonly ListedHook[], host: Host): string[] {
  if (plugins.length === 0) return [];
  const titles = ['PLUGIN', 'STATE', 'FILE'].map((title) => colors.dim(title));
  const rows = plugins.flatMap((plugin) => [
    [toOneLine(plugin.id), formatState(plugin.state), toOneLine(formatHookPath(plugin.path, host))],
    ...formatNotes(plugin),
  ]);
  return [formatTable([titles, ...rows])];
}

function formatNotes({ state, why, problem, notes, uncovered: { names } }: ListedHook): string[][] {
  const notesAndState = [
    ...(state === 'ready' ? [] : [why]),
    ...(problem === null || state === 'broken' ? [] : [`it would fail: ${problem}`]),
    ...notes,
    ...(names.length === 0 ? [] : [`trust does not cover: ${names.join(', ')}`]),
  ];
  return notesAndState.map((note) => [colors.dim(`  ${toPrintable(note)}`)]);
}

function formatHookPath(file: string, host: Host): string {
  return formatPath(file, { cwd: host.workspaceRoots[0] ?? '/', home: host.surroundings.home });
}

function formatIgnored(ignored: Listing['ignored'], host: Host): string[] {
  const visible = ignored.filter(({ isQuiet }) => isQuiet !== true);
  if (visible.length === 0) return [];
  const rows = visible.map(({ path, why, mayHideHook }) => [
    `  ${toOneLine(formatHookPath(path, host))}`,
    `${mayHideHook === true ? colors.yellow(`${MISSING_GUARD}: `) : ''}${colors.dim(toPrintable(why))}`,
  ]);
  return [`Ignored:\n${formatTable(rows)}`];
}

/** One line for all hooks, because nearly every hook has an interpreter. */
function formatInterpreters(hooks: readonly ListedHook[]): string[] {
  const names = new Set(hooks.flatMap(({ uncovered }) => uncovered.interpreters));
  if (names.size === 0) return [];
  const list = [...names].map(toOneLine).join(', ');
  return [colors.dim(`Trust does not cover interpreters outside of the workspace: ${list}`)];
}

function listHints(hooks: readonly ListedHook[]): string[] {
  const waiting = hooks.filter(({ state }) => state === 'untrusted' || state === 'modified');
  const text = formatReviewHint(waiting);
  return text === null ? [] : [text];
}

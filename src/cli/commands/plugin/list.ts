import { formatPath } from '../../../base/paths.ts';
import {
  getSearchPlace,
  describeReplacement,
  findReplacement,
} from '../../../host/plugins/check-plugins.ts';
import type { Host } from '../../../host/create-host.ts';
import { redactObject } from '../../../host/redact-object.ts';
import { type Command, withHost } from '../../context.ts';
import { EXIT } from '../../exit-codes.ts';
import { collectPlugins, type ListedPlugin } from '../../plugins/select-plugins.ts';
import { type Inspected, inspectPlugin } from '../../plugins/inspect.ts';
import { colors, formatState } from '../../output/colors.ts';
import { formatReviewHint } from '../../output/describe-hooks.ts';
import { formatContributions } from '../../output/format-plugin.ts';
import { toOneLine, toPrintable } from '../../output/print.ts';
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import type { PluginEntry } from '../../../plugins/entry.ts';

/** `hookline plugin list`: loads trusted plugins to list their contributions. */
export const listPlugins: Command<{
  /** False with --no-load. */
  readonly load?: boolean;
}> = (context, { load = true }) =>
  withHost(context, async (host) => {
    const found: Listed[] = [];
    for (const plugin of collectPlugins(host)) {
      const mayLoad = load && plugin.status.state === 'ready';
      if (mayLoad) context.print.progress(`loading ${plugin.entry.label} …`);
      const inspected = mayLoad ? await inspectPlugin(plugin, host, context) : null;
      if (inspected?.state !== 'helper') found.push(toListRow(plugin, inspected, host));
    }
    context.print.progress(null);
    const plugins = await redactObject(withRepeats(found).map(removeInternals), context.flags);
    if (context.flags.json === true) context.print.json({ roots: host.workspaceRoots, plugins });
    else context.print.out(renderPlugin(plugins));
    return EXIT.fine;
  });

type Listed = ReturnType<typeof toListRow>;

function removeInternals({
  entry: _entry,
  from: _from,
  ...listed
}: Listed): Omit<Listed, 'entry' | 'from'> {
  return listed;
}

type PluginRow = ReturnType<typeof removeInternals>;

/** Of several usable plugins with one name a session uses one; the others are marked as failed. */
function withRepeats(found: readonly Listed[]): readonly Listed[] {
  const usable = found.filter(({ state }) => state === 'ready');
  return found.map((each) => {
    const winner = findReplacement(usable, usable.indexOf(each));
    return winner === undefined
      ? each
      : { ...each, state: 'failed', why: describeReplacement(winner) };
  });
}

function toListRow(plugin: ListedPlugin, inspected: Inspected | null, host: Host) {
  const { entry, status, install } = plugin;
  const { hook } = status;
  const why = inspected?.why ?? status.why;
  return {
    entry,
    from: getSearchPlace(hook, entry),
    id: hook.id,
    label: entry.label,
    name: inspected?.name ?? entry.label,
    version: install?.record?.version ?? entry.package?.version ?? null,
    commit: install?.record?.commit ?? null,
    package: entry.package?.name ?? null,
    path: hook.path,
    at: formatPath(hook.path, {
      cwd: host.workspaceRoots[0] ?? '/',
      home: host.surroundings.home,
    }),
    place: hook.place,
    root: hook.root,
    source: install?.record?.source ?? null,
    state: getState(status.state, inspected),
    why,
    enabled: status.isEnabled,
    trusted: status.trustedBy !== null,
    capabilities: entry.capabilities,
    contributes: inspected?.contributes ?? null,
    hooks: inspected?.hooks ?? null,
    skills: listSkillNames(entry),
    madeFor: inspected?.madeFor ?? null,
    notes: [...hook.notes, ...listIssues(inspected).filter((message) => message !== why)],
  };
}

function listIssues(inspected: Inspected | null): readonly string[] {
  return (inspected?.issues ?? []).map(({ message }) => message);
}

function getState(found: ListedPlugin['status']['state'], inspected: Inspected | null): string {
  if (inspected === null) return found;
  return inspected.state === 'helper' ? 'failed' : inspected.state;
}

function renderPlugin(plugins: readonly PluginRow[]): string {
  if (plugins.length === 0) return NONE;
  const waiting = plugins.filter(({ state }) => state === 'untrusted' || state === 'modified');
  const hint = formatReviewHint(waiting.map(() => ({ kind: 'plugin' })));
  return [
    ...plugins.map((plugin) => describePlugin(plugin)),
    ...(hint === null ? [] : [hint]),
  ].join('\n\n');
}

const NONE = 'No plugins found.\nInstall one with `hookline plugin install SOURCE`.';

function describePlugin(plugin: PluginRow): string {
  const { name, state, why, notes } = plugin;
  const reason = why === '' || state === 'ready' ? '' : `: ${toPrintable(why)}`;
  return [
    `${[colors.bold(toOneLine(name)), ...renderMarks(plugin)].join(' ')}  ${formatState(state)}${reason}`,
    colors.dim(`  ${formatPlace(plugin).map(toOneLine).join(' · ')}`),
    ...describeContributions(plugin).map((each) => `  ${each}`),
    ...notes.map((note) => colors.dim(`  ${toPrintable(note)}`)),
  ].join('\n');
}

function renderMarks({ version, commit }: PluginRow): readonly string[] {
  const marks = [version, commit === null ? null : `at ${commit.slice(0, 12)}`];
  return marks.flatMap((mark) => (mark === null ? [] : [toOneLine(mark)]));
}

/** The label, where it differs from the name, the file and the source. */
function formatPlace({ name, label, at, source }: PluginRow): readonly string[] {
  return [...(label === name ? [] : [label]), at, ...(source === null ? [] : [`from ${source}`])];
}

function describeContributions({
  contributes,
  hooks,
  skills,
  madeFor,
}: PluginRow): readonly string[] {
  const words = formatContributions(contributes);
  return [
    ...(words === '' ? [] : [words]),
    ...(hooks === null || hooks.length === 0 ? [] : [`hooks: ${hooks.map(toOneLine).join(', ')}`]),
    ...(skills.length === 0 ? [] : [`skills: ${skills.map(toOneLine).join(', ')}`]),
    ...(madeFor === null || madeFor.length === 0
      ? []
      : [`only for ${madeFor.map(toOneLine).join(', ')}`]),
  ];
}

/** Lists the skills of a plugin's package by the names of their directories. */
function listSkillNames({ package: owner }: PluginEntry): readonly string[] {
  const directory = owner?.skills ?? null;
  if (directory === null) return [];
  try {
    return readdirSync(directory)
      .filter((name) => isSkill(path.join(directory, name)))
      .toSorted();
  } catch {
    // An unreadable directory is reported when its skills are offered.
    return [];
  }
}

function isSkill(directory: string): boolean {
  return statSync(path.join(directory, 'SKILL.md'), { throwIfNoEntry: false })?.isFile() === true;
}

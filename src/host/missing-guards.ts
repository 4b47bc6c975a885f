import { HooklineError } from '../base/errors.ts';
import type { DiscoveredUnit } from '../dialects/discovery.ts';
import type { HookSet } from './hook-set.ts';
import type { OpenedHooks } from './open-hooks.ts';

/** How a notice about one begins. */
export const MISSING_GUARD = 'a guard may be missing';

/** Lists what keeps a hook, a rule or a setting of the configuration from counting as it is written. */
export function listMissingGuards({
  config,
  hookSet,
}: Pick<OpenedHooks, 'config' | 'hookSet'>): readonly string[] {
  return [...config.problems, ...listUncountedGuards(hookSet)];
}

/** The same without settings of Hookline's own. */
export function listUncountedGuards(hookSet: HookSet): readonly string[] {
  const places = hookSet.ignored().filter(({ mayHideHook }) => mayHideHook);
  const units = hookSet.hooks().map(({ unit }) => unit);
  const plugins = new Map(hookSet.plugins().map(({ unit, entry }) => [unit.path, entry.label]));
  return [
    ...places.map(({ path: place, why }) => {
      const plugin = plugins.get(place);
      const loss = plugin === undefined ? '' : `; the plugin ${plugin} is not loaded`;
      return `${MISSING_GUARD}: ${place} ${why}${loss}`;
    }),
    ...new Set(units.flatMap(describeMistakes)),
  ];
}

/** An invalid entry is a unit for each event that it may guard. */
function describeMistakes({
  path: file,
  line,
  mistakes = [],
  problem,
  runsNothing,
}: DiscoveredUnit): readonly string[] {
  const invalid = runsNothing === true && problem !== null ? [problem] : [];
  const where = line === null ? file : `${file} line ${line}`;
  return [...invalid, ...mistakes].map((why) => `${MISSING_GUARD}: ${where}: ${why}`);
}

const MOST_NOTICES = 20;

/** Limits the notices, because a workspace may hold thousands of mistakes. */
export function limitNotices(notices: readonly string[]): readonly string[] {
  const more = notices.length - MOST_NOTICES;
  if (more <= 0) return notices;
  return [...notices.slice(0, MOST_NOTICES), `and ${more} more: run \`hookline hooks list\``];
}

/** Reports mistakes that a change of files brings, each once. */
export function reportNewMistakes(
  { hookSet }: Pick<OpenedHooks, 'hookSet'>,
  notice: (text: string) => void,
): void {
  let known = new Set(listUncountedGuards(hookSet));
  hookSet.subscribe?.(() => {
    const current = listUncountedGuards(hookSet);
    limitNotices(current.filter((text) => !known.has(text))).forEach((text) => notice(text));
    known = new Set(current);
  });
}

/** Rejects a session whose guards do not all count. */
export function rejectMissingGuards(opened: OpenedHooks): void {
  const missing = limitNotices(listMissingGuards(opened));
  if (missing.length === 0) return;
  throw new HooklineError('GUARD_MISSING', {
    message: `the configuration does not count as it is written:\n${missing.join('\n')}`,
    hint: 'Fix it, or start without --strict.',
  });
}

import { HooklineError } from '../../base/errors.ts';
import { findClosestName } from '../../base/spelling.ts';
import type { Host } from '../../host/create-host.ts';
import type { HookStatus } from '../../host/hook-set.ts';
import { oneLine } from '../words/print.ts';

/** The hooks with these ids, or all; an id that nothing has is an error. */
export function selectHooks(host: Host, ids: readonly string[]): readonly HookStatus[] {
  const hooks = host.hooks();
  for (const id of ids) {
    if (hooks.some(({ hook }) => hook.id === id)) continue;
    throw unknownHook(
      id,
      hooks.map(({ hook }) => hook.id),
    );
  }
  return ids.length === 0 ? hooks : hooks.filter(({ hook }) => ids.includes(hook.id));
}

const MAX_IDS_NAMED = 6;

function unknownHook(id: string, ids: readonly string[]): HooklineError {
  const meant = ids.find((known) => known.endsWith(`:${id}`)) ?? findClosestName(id, ids);
  const areFew = ids.length > 0 && ids.length <= MAX_IDS_NAMED;
  const all = areFew ? `There are: ${ids.map(oneLine).join(', ')}.` : SHOWS_IDS;
  return new HooklineError('HOOK_UNKNOWN', {
    message: `there is no hook ${JSON.stringify(id)} here`,
    hint: meant === null ? all : `Did you mean ${oneLine(meant)}?`,
  });
}

const SHOWS_IDS = '`hookline hooks list` shows the ids.';

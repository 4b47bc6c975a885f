import { HooklineError } from '../base/errors.ts';
import { findClosestName } from '../base/did-you-mean.ts';
import type { Host } from '../host/create-host.ts';
import type { ListedUnit } from '../host/hook-set.ts';
import { toOneLine } from './output/print.ts';

/** The hooks with these ids, or all; throws for an unknown id. */
export function selectHooks(host: Host, ids: readonly string[]): readonly ListedUnit[] {
  const hooks = host.hooks();
  for (const id of ids) {
    if (hooks.some(({ hook }) => hook.id === id)) continue;
    throw createUnknownHookError(
      id,
      hooks.map(({ hook }) => hook.id),
    );
  }
  return ids.length === 0 ? hooks : hooks.filter(({ hook }) => ids.includes(hook.id));
}

const MAX_LISTED_IDS = 6;

function createUnknownHookError(id: string, ids: readonly string[]): HooklineError {
  const suggestion = ids.find((hookId) => hookId.endsWith(`:${id}`)) ?? findClosestName(id, ids);
  const areFew = ids.length > 0 && ids.length <= MAX_LISTED_IDS;
  const all = areFew ? `Hooks: ${ids.map(toOneLine).join(', ')}.` : LIST_HINT;
  return new HooklineError('HOOK_UNKNOWN', {
    message: `hook ${JSON.stringify(id)} not found`,
    hint: suggestion === null ? all : `Did you mean ${toOneLine(suggestion)}?`,
  });
}

const LIST_HINT = 'Run `hookline hooks list` for the ids.';

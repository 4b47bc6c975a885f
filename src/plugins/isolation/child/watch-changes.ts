import { isRecord } from '../../../base/json.ts';
import type { HookName } from '../../contract/runtime-hooks.ts';

/** What hooks may change in place, and the field of their result that would say the same. */
const CHANGEABLE: Partial<Record<HookName, { readonly told: string; readonly returned: string }>> =
  {
    afterModel: { told: 'assistantMessage', returned: 'message' },
    beforeTool: { told: 'input', returned: 'input' },
  };

/** What a hook changes in place is told as if it had returned it: what it has is a copy. */
export function watchChanges(
  hook: HookName,
  context: Readonly<Record<string, unknown>>,
): (result: unknown) => unknown {
  const changeable = CHANGEABLE[hook];
  if (changeable === undefined) return (result) => result;
  const { told, returned } = changeable;
  const value = context[told];
  const before = JSON.stringify(value);
  return (result) => {
    const fields = isRecord(result) ? result : {};
    const isChanged = fields[returned] === undefined && JSON.stringify(value) !== before;
    return isChanged ? { ...fields, [returned]: value } : result;
  };
}

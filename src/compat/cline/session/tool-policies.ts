import { getToolCall } from '../../../hooks/facts.ts';
import {
  listNames,
  listToolNames,
  TOOL_NAMES,
  type ToolCall,
  type ToolView,
  listToolViews,
  findVocabulary,
} from '../../../tool-vocabularies/tool-views.ts';
import type { Handler } from '../../../hooks/handler.ts';
import type { ToolPolicy } from '../../../plugins/contract/runtime-hooks.ts';
import type { PermissionMode } from '../../../permissions/permissions.ts';
import type { AgentMode } from '../start-input.ts';

export type ToolPolicies = Readonly<Record<string, ToolPolicy>>;

/** The policy of all tools, overridden by that of this tool; of its names the strictest applies. */
function mergeToolPolicy(policies: ToolPolicies, names: readonly string[]): ToolPolicy {
  const namedPolicies = names.flatMap((name) =>
    Object.hasOwn(policies, name) ? (policies[name] ?? []) : [],
  );
  return {
    ...policies['*'],
    ...combineFlags('enabled', namedPolicies),
    ...combineFlags('autoApprove', namedPolicies),
  };
}

function combineFlags(key: keyof ToolPolicy, policies: readonly ToolPolicy[]): ToolPolicy {
  const values = policies.flatMap((policy) => policy[key] ?? []);
  return values.length === 0 ? {} : { [key]: !values.includes(false) };
}

/** The policy of a call, under any of its names. */
export function readCallPolicy(policies: ToolPolicies, call: ToolCall): ToolPolicy {
  const views = listToolViews(call, 'sdk', NOWHERE);
  return mergeToolPolicy(policies, [
    ...new Set(views.flatMap((view) => listCallNames(call, view))),
  ]);
}

const NOWHERE = { cwd: '/', root: null };

/** Every name of a call but other tools of the SDK: `editor` is not `apply_patch`, though both make files. */
function listCallNames(call: ToolCall, view: ToolView): readonly string[] {
  return listToolNames(call, view).filter(
    (name) => name === view.name || findVocabulary(name) !== 'sdk',
  );
}

/** Whether the model is offered a tool under this name of the SDK. */
export function isOffered(policies: ToolPolicies, name: string): boolean {
  const isEnabled = (policy: ToolPolicy): boolean => policy.enabled !== false;
  const tools = TOOL_NAMES.filter(
    ({ sdk, claude }) => sdk.includes(name) && claude !== 'MultiEdit',
  );
  if (tools.length === 0) return isEnabled(readCallPolicy(policies, { name, input: {} }));
  // `editor` is Write and Edit: it is offered as long as either is allowed.
  return tools.some((names) => {
    const others = listNames(names).filter((each) => !names.sdk.includes(each));
    return isEnabled(mergeToolPolicy(policies, [name, ...others]));
  });
}

/** The policies as a handler, before every hook of a plugin. */
export function createPolicyHandler(policies: ToolPolicies): Handler {
  return {
    id: 'sdk:tool-policies',
    dialect: 'sdk',
    source: 'toolPolicies',
    event: 'PreToolUse',
    vocabulary: 'sdk',
    onFailure: 'closed',
    run({ event, tool: view }) {
      const call = getToolCall(event);
      if (call === null || view === null) return undefined;
      const { name } = view;
      const { enabled, autoApprove } = mergeToolPolicy(policies, listCallNames(call, view));
      if (enabled === false) {
        return { decision: { effect: 'deny', reason: `Tool "${name}" is disabled by policy` } };
      }
      if (autoApprove !== false) return undefined;
      return { decision: { effect: 'ask', reason: `Tool "${name}" needs an approval by policy` } };
    },
  };
}

/** Cline's SDK asks only where a policy says so; deny rules still hold. */
export function toPermissionMode(mode: AgentMode): PermissionMode {
  return mode === 'plan' ? 'plan' : 'bypassPermissions';
}

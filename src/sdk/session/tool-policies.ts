import { TOOLS } from '../../agent/tools/index.ts';
import type { Tool } from '../../agent/tools/tool.ts';
import { specsFor } from '../../agent/tools/toolsets.ts';
import type { Handler } from '../../hooks/handler.ts';
import type { AgentToolDefinition, ToolPolicy } from '../../plugins/contract/runtime-hooks.ts';

export type ToolPolicies = Readonly<Record<string, ToolPolicy>>;

/** What is said of all tools, and over that what is said of this one. */
export function policyFor(policies: ToolPolicies, tool: string): ToolPolicy {
  return { ...policies['*'], ...policies[tool] };
}

/** Of Hookline's own tools those that Cline's SDK has, too, in its order. */
const OWN = ['Read', 'Grep', 'Bash', 'WebFetch', 'Write', 'Edit', 'Skill'];

export interface ToolChoice {
  readonly policies: ToolPolicies;
  readonly hasOwnTools: boolean;
  readonly maySpawn: boolean;
  readonly mayAsk: boolean;
  /** Told of a tool that cannot be had because one of Hookline's own has its name. */
  readonly onClash: (tool: string) => void;
}

/** Picks the tools of a session: those of plugins and of the program first, then Hookline's own. */
export function chooseTools(choice: ToolChoice): (all: readonly Tool[]) => readonly Tool[] {
  const told = new Set<string>();
  return (all) => {
    const own = ownTools(all, choice);
    const taken = new Set(specsOf(own).map(({ name }) => name));
    const others = all.filter((tool) => !TOOLS.includes(tool));
    const free = others.filter(({ name }) => {
      const isTaken = taken.has(name) || own.some((tool) => tool.name === name);
      if (isTaken && !told.has(name)) choice.onClash(name);
      if (isTaken) told.add(name);
      return !isTaken;
    });
    return [...free, ...own].filter((tool) => isEnabled(tool, choice.policies));
  };
}

function ownTools(all: readonly Tool[], choice: ToolChoice): readonly Tool[] {
  if (!choice.hasOwnTools) return [];
  const names = [
    ...OWN,
    ...(choice.mayAsk ? ['AskUserQuestion'] : []),
    ...(choice.maySpawn ? ['Agent'] : []),
  ];
  return names.flatMap((name) => all.find((tool) => tool.name === name) ?? []);
}

function isEnabled(tool: Tool, policies: ToolPolicies): boolean {
  return specsOf([tool]).some(({ name }) => policyFor(policies, name).enabled !== false);
}

/** The tools as the model is told of them. */
export function specsOf(tools: readonly Tool[]): readonly AgentToolDefinition[] {
  return specsFor('cline-sdk', tools).map(({ name, description, schema }) => ({
    name,
    description,
    inputSchema: { ...schema },
  }));
}

/** The policies as a handler, before every hook of a plugin. */
export function policyHandler(policies: ToolPolicies): Handler {
  return {
    id: 'sdk:tool-policies',
    dialect: 'sdk',
    source: 'toolPolicies',
    event: 'PreToolUse',
    vocabulary: 'sdk',
    onFailure: 'closed',
    run({ tool }) {
      const name = tool?.name ?? '';
      const { enabled, autoApprove } = policyFor(policies, name);
      if (enabled === false) {
        return { decision: { effect: 'deny', reason: `Tool "${name}" is disabled by policy` } };
      }
      if (autoApprove !== false) return undefined;
      return { decision: { effect: 'ask', reason: `Tool "${name}" needs an approval by policy` } };
    },
  };
}

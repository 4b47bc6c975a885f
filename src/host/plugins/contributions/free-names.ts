import type { Tool } from '../../../agent/tools/tool.ts';
import { vocabularyOfName } from '../../../hooks/faces/faces.ts';
import type { OnIssue, PluginIssue } from '../../../plugins/issue.ts';

const told = new WeakSet<Tool>();

/**
 * A tool of a plugin under the name of another one would never be reached, or would stand in for it:
 * it is left out, and told of once.
 */
export function withFreeNames(
  tools: readonly Tool[],
  others: readonly Tool[],
  onIssue: OnIssue,
): readonly Tool[] {
  return tools.filter((tool) => {
    const owner = ownerOf(tool.name, others);
    if (owner !== null && !told.has(tool)) onIssue(nameTaken(tool, owner));
    told.add(tool);
    return owner === null;
  });
}

/** Whose tool has this name already; null when nobody's. */
function ownerOf(name: string, others: readonly Tool[]): string | null {
  if (vocabularyOfName(name) !== null) return "one of Hookline's own";
  return others.some((other) => other.name === name) ? 'another one of this session' : null;
}

/** What its author can do about it. */
export function nameTaken(
  { name, plugin = 'config.extraTools' }: Tool,
  owner: string,
): PluginIssue {
  const message = `the tool ${name} is left out: ${owner} has this name; give it another one`;
  return { plugin, phase: 'tool', level: 'warning', message };
}

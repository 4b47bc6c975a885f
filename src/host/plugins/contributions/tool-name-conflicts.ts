import type { Tool } from '../../../agent/tools/tool.ts';
import { findTool } from '../../../agent/tools/index.ts';
import {
  listToolViews,
  findVocabulary,
  type OwnVocabulary,
} from '../../../tool-vocabularies/tool-views.ts';
import type { OnIssue, PluginIssue } from '../../../plugins/plugin-issue.ts';

/**
 * Creates a filter for the tools of one session's plugins. A tool with the name of another one would never be
 * called, or would replace the other: it is left out, and reported once.
 */
export function createConflictFilter(
  onIssue: OnIssue,
): (tools: readonly Tool[], others: readonly Tool[]) => readonly Tool[] {
  // Weak, because tools of an earlier load generation are not listed again.
  const checked = new WeakSet<Tool>();
  return (tools, others) =>
    tools.filter((tool) => {
      const owner = findOwner(tool.name, others);
      if (owner !== null && !checked.has(tool)) onIssue(explainNameTaken(tool, owner));
      checked.add(tool);
      return owner === null;
    });
}

/** The tool names that services accept. */
const TOOL_NAME = /^[\w-]{1,64}$/u;

/** One name that a service refuses would fail every request. */
export function findNameProblem({ name }: { readonly name: string }): string | null {
  if (TOOL_NAME.test(name)) return null;
  return `the tool ${JSON.stringify(name)} is left out: a name has letters, digits, "_" and "-", at most 64`;
}

/** Why no session can offer a tool under this name; null when it can. */
export function explainNeverOffered(name: string): string | null {
  return findNameProblem({ name }) ?? (isOurs(name) ? describeTaken(name, OWN) : null);
}

const OWN = "one of Hookline's own";

/** The owner of the tool with this name; null when there is none. */
function findOwner(name: string, others: readonly Tool[]): string | null {
  if (isOurs(name)) return OWN;
  const names = [name, getClaudeName(name)];
  return others.some((other) => names.includes(other.name)) ? 'another one of this session' : null;
}

/** Whether plugins may use the names of a vocabulary that none of our tools has, and those of MCP tools. */
const HAS_FREE_NAMES: Readonly<Record<OwnVocabulary, boolean>> = {
  claude: false,
  classic: false,
  sdk: true,
};

/** Names of Cline's tools that Hookline does not have are free, also those that look like a server's. */
function isOurs(name: string): boolean {
  const vocabulary = findVocabulary(name);
  if (vocabulary === null) return false;
  return !HAS_FREE_NAMES[vocabulary] || findTool(getClaudeName(name)) !== null;
}

function getClaudeName(name: string): string {
  const [view] = listToolViews({ name, input: {} }, 'claude', { cwd: '/', root: null });
  return view?.name ?? name;
}

/** How the author can resolve the conflict. */
export function explainNameTaken(
  { name, plugin = 'config.extraTools' }: Tool,
  owner: string,
): PluginIssue {
  return { plugin, phase: 'tool', level: 'warning', message: describeTaken(name, owner) };
}

function describeTaken(name: string, owner: string): string {
  return `the tool ${name} is left out: ${owner} has this name; give it another one`;
}

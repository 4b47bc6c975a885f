import { findClosestName } from '../base/did-you-mean.ts';
import { listNames, TOOL_NAMES } from '../tool-vocabularies/tool-views.ts';

/** Finds the tool that an unknown name probably means, or null. */
export function findIntendedTool(name: string): string | null {
  const isOther = OTHER_TOOLS.includes(name) || FORMER_TOOLS.has(name) || name.startsWith('mcp__');
  return isOther || isKnownTool(name) ? null : findClosestName(name, KNOWN_TOOLS);
}

/** Describes the probable misspelling of a tool's name, or null. */
export function describeMisspelledTool(name: string): string | null {
  const suggestion = findIntendedTool(name);
  const [quotedName, quotedSuggestion] = [name, suggestion].map((each) => JSON.stringify(each));
  return suggestion === null
    ? null
    : `Hookline has no tool ${quotedName}; did you mean ${quotedSuggestion}?`;
}

export function isKnownTool(name: string): boolean {
  return KNOWN_TOOLS.includes(name);
}

const KNOWN_TOOLS = [...new Set(TOOL_NAMES.flatMap(listNames)), 'Task'].filter(
  (name) => !name.includes('<'),
);

/** Removed tools, each with its replacement. */
export const FORMER_TOOLS: ReadonlyMap<string, string> = new Map([['MultiEdit', 'Edit']]);

/** Names of tools in `.cline/settings.json`, which a fork of Cline reads, each with Claude's name. */
export const FORK_TOOLS: ReadonlyMap<string, string> = new Map([
  ['Execute', 'Bash'],
  ['Search', 'Grep'],
  ['ListFiles', 'Glob'],
]);

// Tools of Claude Code that Hookline does not have, which are not misspellings.
const OTHER_TOOLS = [
  'BashOutput',
  'EnterPlanMode',
  'ExitPlanMode',
  'KillShell',
  'LS',
  'LSP',
  'NotebookRead',
  'PowerShell',
  'SendMessage',
  'SlashCommand',
  'TaskGet',
  'TaskList',
  'TaskOutput',
  'TaskStop',
  'TeamCreate',
  'TeamDelete',
  'TodoRead',
  'ToolSearch',
];

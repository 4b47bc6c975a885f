import { findClosestName } from '../base/did-you-mean.ts';
import { TOOL_NAMES } from '../tool-vocabularies/tool-views.ts';

/** The tool that a name probably means which no tool is known to have, or null. */
export function findIntendedTool(name: string): string | null {
  const isOther = OTHER_TOOLS.includes(name) || FORMER_TOOLS.has(name) || name.startsWith('mcp__');
  return isOther || isKnownTool(name) ? null : findClosestName(name, KNOWN_TOOLS);
}

/** What to tell somebody who probably misspelt the name of a tool, or null. */
export function describeMisspelledTool(name: string): string | null {
  const meant = findIntendedTool(name);
  const [written, known] = [name, meant].map((each) => JSON.stringify(each));
  return meant === null ? null : `no tool of Hookline is called ${written}; did you mean ${known}?`;
}

export function isKnownTool(name: string): boolean {
  return KNOWN_TOOLS.includes(name);
}

const KNOWN_TOOLS = [
  ...new Set(TOOL_NAMES.flatMap(({ claude, classic, sdk }) => [claude, ...classic, ...sdk])),
  'Task',
].filter((name) => !name.includes('<'));

/** Tools that are gone, each with the one that does its work now. */
export const FORMER_TOOLS: ReadonlyMap<string, string> = new Map([['MultiEdit', 'Edit']]);

// Tools of Claude Code that have no face here, and must not be taken for misspelt ones.
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

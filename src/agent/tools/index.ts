import { agentTool } from './agent.ts';
import { askUserQuestionTool, exitPlanModeTool } from './ask-user.ts';
import { bashOutputTool, killShellTool } from './background-shells.ts';
import { bashTool } from './bash.ts';
import { editTool } from './edit.ts';
import { globTool } from './glob.ts';
import { grepTool } from './grep.ts';
import { notebookEditTool } from './notebook-edit.ts';
import { readTool } from './read.ts';
import { skillTool } from './skill.ts';
import { taskCreateTool, taskUpdateTool, todoWriteTool } from './task-lists.ts';
import type { Tool } from './tool.ts';
import { webFetchTool } from './web-fetch.ts';
import { writeTool } from './write.ts';

/** Every built-in tool, in the order in which models see them. */
export const TOOLS: readonly Tool[] = [
  readTool,
  writeTool,
  editTool,
  bashTool,
  bashOutputTool,
  killShellTool,
  grepTool,
  globTool,
  webFetchTool,
  agentTool,
  todoWriteTool,
  taskCreateTool,
  taskUpdateTool,
  askUserQuestionTool,
  skillTool,
  notebookEditTool,
  exitPlanModeTool,
];

/** Finds a tool by its Claude Code name. */
export function findTool(name: string): Tool | null {
  return TOOLS.find((tool) => tool.name === name) ?? null;
}

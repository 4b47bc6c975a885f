import { systemClock } from '../../../base/clock.ts';
import { readSurroundings } from '../../../host/surroundings.ts';

/** What the prompt tells the model about its surroundings. */
export interface ClineSystemPromptOptions {
  rootPath?: string;
  workspaceRoot?: string;
  /** The program that it runs in. */
  ide?: string;
  platform?: string;
  mode?: string;
  /** Text of rules, which follows the rest. */
  rules?: string;
  /** Further text about the workspace. */
  metadata?: string;
  /** Replaces all of it. */
  overridePrompt?: string;
  [further: string]: unknown;
}

const DUTIES = `You are a coding agent. You work on the user's files with the tools that you are given, until the task is done.

- Read before you change, and keep to the conventions that you find.
- Use only libraries that the project already uses, unless you are asked for others.
- Make independent calls in one answer, so that they can run together.
- Check your work: run the tests, or the program.
- Use absolute paths for files. Say what you assume, and what you could not do.`;

const PLANNING =
  'You are in plan mode: explore, ask, and present a plan. Change nothing; the user switches the mode when they agree.';

/** The system prompt for a coding agent in a workspace; its words are Hookline's own. */
export function getClineDefaultSystemPrompt(options: ClineSystemPromptOptions = {}): string {
  const { overridePrompt, rootPath, workspaceRoot, ide, mode, rules = '', metadata = '' } = options;
  if (overridePrompt !== undefined && overridePrompt.trim() !== '') return overridePrompt;
  const surroundings = readSurroundings();
  const facts = [
    ['Platform', options.platform ?? surroundings.platform],
    ['Date', new Date(systemClock.now()).toISOString().slice(0, 10)],
    ['Program', ide],
    ['Working directory', rootPath ?? workspaceRoot ?? surroundings.cwd],
  ];
  const environment = facts.flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${value}`],
  );
  const parts = [DUTIES, environment.join('\n'), metadata, mode === 'plan' ? PLANNING : '', rules];
  return parts.filter((part) => part.trim() !== '').join('\n\n');
}

import path from 'node:path';
import { getListField, parseFrontMatter, getTextField, type FrontMatter } from './front-matter.ts';
import {
  listDirectories,
  type InstructionDirectory,
  type InstructionPaths,
  type InstructionSource,
  SourceFiles,
} from './source-files.ts';

/** A type of sub-agent. */
export interface AgentType {
  readonly name: string;
  readonly description: string;
  /** Claude Code names of the allowed tools; null for all. */
  readonly tools: readonly string[] | null;
  readonly disallowedTools: readonly string[];
  /** Null: the model of the parent agent. */
  readonly model: string | null;
  /** The system prompt; empty for the default one. */
  readonly prompt: string;
  readonly source: InstructionSource;
  readonly file: string | null;
}

export const GENERAL_PURPOSE = 'general-purpose';

const BUILT_IN: readonly AgentType[] = [
  {
    name: GENERAL_PURPOSE,
    description: 'Works on a task of several steps on its own, with all tools.',
    tools: null,
    disallowedTools: [],
    model: null,
    prompt: '',
    source: 'builtin',
    file: null,
  },
  {
    name: 'Explore',
    description: 'Searches and reads the code base to answer a question; changes nothing.',
    tools: ['Read', 'Grep', 'Glob', 'WebFetch'],
    disallowedTools: [],
    model: null,
    prompt:
      'You explore a code base to answer one question. You only read. Search widely first, then read ' +
      'what matters. Answer with what you found, with file names and line numbers, and say what you ' +
      'did not find.',
    source: 'builtin',
    file: null,
  },
];

/** Loads all sub-agent types, built-in ones last; the first of a name wins. Never throws. */
export async function loadAgents(
  paths: InstructionPaths,
): Promise<{ readonly agents: readonly AgentType[]; readonly notes: readonly string[] }> {
  const files = new SourceFiles(paths);
  const found = findAgentFiles(files, paths);
  const read = await Promise.all(
    found.map(({ directory, file }) => readAgent(files, directory, file)),
  );
  const all = [...read.flatMap(({ agent }) => (agent === null ? [] : [agent])), ...BUILT_IN];
  const agents = new Map(all.toReversed().map((agent) => [agent.name, agent]));
  return {
    agents: all.filter((agent) => agents.get(agent.name) === agent),
    notes: [...files.notes, ...read.flatMap(({ note }) => (note === null ? [] : [note]))],
  };
}

export function findAgentFiles(files: SourceFiles, paths: InstructionPaths) {
  return listDirectories('agents', paths).flatMap((directory) =>
    files
      .listNames(directory, directory.path)
      .filter((name) => name.endsWith('.md'))
      .map((name) => ({ directory, file: path.join(directory.path, name) })),
  );
}

/** Case-insensitive, because models write `explore`. */
export function findAgentType(name: string, agents: readonly AgentType[]): AgentType | null {
  const isNamed = (agent: AgentType): boolean => agent.name.toLowerCase() === name.toLowerCase();
  return agents.find((agent) => agent.name === name) ?? agents.find(isNamed) ?? null;
}

/** The tools that a sub-agent may use. Sub-agents cannot start sub-agents or ask the user. */
export function selectAgentTools(
  { tools, disallowedTools }: Pick<AgentType, 'tools' | 'disallowedTools'>,
  names: readonly string[],
): readonly string[] {
  const allowed = tools?.map(removeRule) ?? null;
  const forbidden = new Set([...disallowedTools.map(removeRule), ...MAIN_AGENT_TOOLS]);
  const isListed = (name: string): boolean =>
    allowed === null ||
    allowed.some((each) => each === '*' || each === name || isToolOfServer(each, name));
  return names.filter((name) => isListed(name) && !forbidden.has(name));
}

const MAIN_AGENT_TOOLS = ['Agent', 'AskUserQuestion', 'ExitPlanMode'];

/** `mcp__server` stands for all tools of the server. */
function isToolOfServer(listed: string, name: string): boolean {
  return listed.startsWith('mcp__') && name.startsWith(`${listed.replace(/__\*$/, '')}__`);
}

// `Bash(git log:*)` selects the tool; the rule part belongs to permissions.
function removeRule(tool: string): string {
  return tool.replace(/\(.*$/s, '').trim();
}

async function readAgent(files: SourceFiles, directory: InstructionDirectory, file: string) {
  const { text, note } = files.read(directory, file);
  if (text === null) return { agent: null, note };
  const front = await parseFrontMatter(text);
  const problem = front.problem === null ? null : `${file}: ${front.problem}`;
  return { agent: toAgentType(front, directory, file), note: note ?? problem };
}

function toAgentType(front: FrontMatter, directory: InstructionDirectory, file: string): AgentType {
  const name = getTextField(front, 'name') ?? path.basename(file, '.md');
  const model = getTextField(front, 'model');
  return {
    name: directory.prefix === null ? name : `${directory.prefix}:${name}`,
    description: getTextField(front, 'description') ?? '',
    tools: getListField(front, 'tools'),
    disallowedTools: getListField(front, 'disallowedTools') ?? [],
    model: model === 'inherit' ? null : model,
    prompt: front.body.trim(),
    source: directory.source,
    file,
  };
}

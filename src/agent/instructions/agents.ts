import path from 'node:path';
import { getListField, parseFrontMatter, getTextField, type FrontMatter } from './front-matter.ts';
import {
  listDirectories,
  type InstructionDirectory,
  type InstructionPaths,
  type InstructionSource,
} from './instruction-paths.ts';
import { createSourceFiles, type SourceFiles } from './source-files.ts';

/** A kind of sub-agent. */
export interface AgentType {
  readonly name: string;
  /** When to use it, for the model. */
  readonly description: string;
  /** Claude's names of the tools that it has; null for all. */
  readonly tools: readonly string[] | null;
  readonly disallowedTools: readonly string[];
  /** Null for the model of whoever starts it. */
  readonly model: string | null;
  /** What it is told about itself; empty for the usual. */
  readonly prompt: string;
  readonly source: InstructionSource;
  readonly file: string | null;
}

export interface LoadedAgents {
  readonly agents: readonly AgentType[];
  readonly notes: readonly string[];
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

/** All kinds of sub-agents, the built-in ones last; the first of a name wins. Never throws. */
export async function loadAgents(places: InstructionPaths): Promise<LoadedAgents> {
  const files = createSourceFiles(places);
  const found = listDirectories('agents', places).flatMap((place) =>
    files
      .listNames(place, place.directory)
      .filter((name) => name.endsWith('.md'))
      .map((name) => ({ place, file: path.join(place.directory, name) })),
  );
  const read = await Promise.all(found.map((each) => readAgent(files, each)));
  const all = [...read.flatMap(({ agent }) => (agent === null ? [] : [agent])), ...BUILT_IN];
  const agents = new Map(all.toReversed().map((agent) => [agent.name, agent]));
  return {
    agents: all.filter((agent) => agents.get(agent.name) === agent),
    notes: [...files.notes, ...read.flatMap(({ note }) => (note === null ? [] : [note]))],
  };
}

/** Letters may be of either case: models write `explore`. */
export function findAgentType(name: string, agents: readonly AgentType[]): AgentType | null {
  const isNamed = (agent: AgentType): boolean => agent.name.toLowerCase() === name.toLowerCase();
  return agents.find((agent) => agent.name === name) ?? agents.find(isNamed) ?? null;
}

/** Which of these tools a sub-agent has. None of them may start a further one or ask the person. */
export function selectAgentTools(
  { tools, disallowedTools }: Pick<AgentType, 'tools' | 'disallowedTools'>,
  names: readonly string[],
): readonly string[] {
  const listed = tools?.map(removeRule) ?? null;
  const forbidden = new Set([...disallowedTools.map(removeRule), ...MAIN_AGENT_TOOLS]);
  const isListed = (name: string): boolean =>
    listed === null ||
    listed.some((each) => each === '*' || each === name || isToolOfServer(each, name));
  return names.filter((name) => isListed(name) && !forbidden.has(name));
}

const MAIN_AGENT_TOOLS = ['Agent', 'AskUserQuestion', 'ExitPlanMode'];

/** `mcp__server` stands for all tools of the server. */
function isToolOfServer(listed: string, name: string): boolean {
  return listed.startsWith('mcp__') && name.startsWith(`${listed.replace(/__\*$/, '')}__`);
}

// `Bash(git log:*)` gives the tool; what it may do is for permission rules.
function removeRule(tool: string): string {
  return tool.replace(/\(.*$/s, '').trim();
}

interface AgentReading {
  readonly agent: AgentType | null;
  readonly note: string | null;
}

interface AgentFile {
  readonly place: InstructionDirectory;
  readonly file: string;
}

async function readAgent(files: SourceFiles, { place, file }: AgentFile): Promise<AgentReading> {
  const { text, note } = files.read(place, file);
  if (text === null) return { agent: null, note };
  const front = await parseFrontMatter(text);
  const problem = front.problem === null ? null : `${file}: ${front.problem}`;
  return { agent: toAgentType(front, place, file), note: note ?? problem };
}

function toAgentType(front: FrontMatter, place: InstructionDirectory, file: string): AgentType {
  const name = getTextField(front, 'name') ?? path.basename(file, '.md');
  const model = getTextField(front, 'model');
  return {
    name: place.prefix === null ? name : `${place.prefix}:${name}`,
    description: getTextField(front, 'description') ?? '',
    tools: getListField(front, 'tools'),
    disallowedTools: getListField(front, 'disallowedTools') ?? [],
    model: model === 'inherit' ? null : model,
    prompt: front.body.trim(),
    source: place.source,
    file,
  };
}

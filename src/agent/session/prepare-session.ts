import type { Clock } from '../../base/clock.ts';
import type { HookEngine } from '../../hooks/engine.ts';
import type { Moment } from '../../hooks/facts.ts';
import type { Permissions } from '../../permissions/permissions.ts';
import type { Message } from '../../sessions/messages.ts';
import type { ResumedSession, StoredSession } from '../../sessions/session-store.ts';
import { type Agent, createAgent } from '../agent.ts';
import { createConversation } from '../conversation/conversation.ts';
import { formatReminder } from '../conversation/hook-messages.ts';
import { type AgentType, loadAgents } from '../instructions/agents.ts';
import { loadCommands, type SlashCommand } from '../instructions/commands.ts';
import { type Instruction, loadInstructions } from '../instructions/instructions.ts';
import type { InstructionPaths } from '../instructions/source-files.ts';
import { toSkillCommand, findSkill, loadSkills, type Skill } from '../instructions/skills.ts';
import { buildSystemPrompt, type PromptOverride } from '../instructions/system-prompt.ts';
import type { Model } from '../models/model.ts';
import type { RuntimeEvent } from '../runtime-event.ts';
import { createSubagents } from '../subagent.ts';
import { askBriefly } from '../answer-hook.ts';
import { createAsides } from '../asides.ts';
import { createTaskItems } from '../task-items.ts';
import { elicit } from './elicitation.ts';
import { createTaskState, type TaskState } from './task-state.ts';
import {
  createToolContext,
  type ToolContextOptions,
  type SkillText,
  type ToolPorts,
  type ToolContext,
} from '../tools/tool-context.ts';
import { followDirectory } from '../tools/shell/working-directory.ts';
import type { Tool } from '../tools/tool.ts';
import type { Limits, Person, World } from '../world.ts';

/** Everything that a session is made of; the host brings it together. */
export interface SessionOptions {
  readonly id: string;
  readonly source: 'startup' | 'resume' | 'fork' | 'clear';
  readonly engine: HookEngine;
  readonly permissions: Permissions;
  readonly clock: Clock;
  readonly platform: string;
  readonly model: Model;
  readonly modelFor: World['modelFor'];
  /** Those that there are now; servers come and go. */
  readonly tools: () => readonly Tool[];
  /** Further slash commands; the next time there may be others. */
  readonly commands?: () => readonly SlashCommand[];
  /** Answers what a person typed, where it is a command that needs no expansion; null where it is not. */
  readonly answerCommand?: AnswerCommand;
  /** Brings up to date what may change between two runs. Must not throw. */
  readonly beforeRun?: () => Promise<void>;
  /** Said after the system prompt's own words; asked for again for each request. */
  readonly rules?: () => string;
  readonly specsOf: World['specsOf'];
  readonly limits: Limits;
  readonly person: Person | null;
  /** Null when nothing is kept. */
  readonly stored: StoredSession | null;
  /** What is gone on with; null for a new session. */
  readonly earlier: ResumedSession | null;
  readonly identity: Pick<Moment, 'taskId' | 'ulid'>;
  /** What hooks are told to be the project, also when the session works in a copy of it. */
  readonly projectDirectory: string;
  readonly places: InstructionPaths;
  readonly bench: Omit<ToolContextOptions, 'ports' | 'cwd'>;
  readonly setup: 'init' | 'maintenance' | null;
  readonly addedDirectories: readonly string[];
  /** What the person adds to the system prompt, or says instead of it. */
  readonly systemPrompt?: string | PromptOverride;
  readonly shapeRequest?: World['shapeRequest'];
  /** What a new session takes as said already. */
  readonly said?: readonly Message[];
  readonly wait?: World['wait'];
  /** Watches files for FileChanged. */
  readonly watch?: (paths: readonly string[]) => Promise<void>;
  readonly onEvent: (event: RuntimeEvent) => void;
  /** Ends what was opened for this session only, after its hooks were told of the end. */
  readonly release?: () => Promise<void>;
}

/** What a command came to: words for the person, a prompt to be run, or both. */
export interface CommandAnswer {
  readonly reply: string | null;
  readonly prompt: string | null;
}

export type AnswerCommand = (prompt: string, signal: AbortSignal) => Promise<CommandAnswer | null>;

/** A session that is ready to be opened. */
export interface PreparedSession extends TaskState {
  readonly agent: Agent;
  readonly answerCommand: AnswerCommand;
  readonly beforeRun: () => Promise<void>;
  readonly commands: readonly SlashCommand[];
  /** From now on the hooks of the command, or of the skill that it is, count. */
  readonly noteCommand: (name: string) => void;
  /** What hooks want to be run before the person's own prompt. */
  readonly initialMessages: string[];
  readonly notes: readonly string[];
  instructions(): readonly Instruction[];
}

export async function prepareSession(options: SessionOptions): Promise<PreparedSession> {
  const { places, earlier, stored } = options;
  const [instructed, commands, skills, agents] = await Promise.all([
    loadInstructions({ ...places, reason: 'session_start' }),
    loadCommands(places),
    loadSkills(places),
    loadAgents(places),
  ]);
  const known: Known = {
    instructions: instructed.instructions,
    skills: skills.skills,
    agents: agents.agents,
    usedSkills: new Set(),
    instructionsFor: (file) => instructed.loadNested(file),
  };
  return {
    agent: createSessionAgent(options, known),
    get commands() {
      const further = options.commands?.() ?? [];
      return [...commands.commands, ...skills.skills.map(toSkillCommand), ...further];
    },
    answerCommand: options.answerCommand ?? (async () => null),
    beforeRun: options.beforeRun ?? (async () => undefined),
    noteCommand: (name) => known.usedSkills.add(name),
    initialMessages: [],
    notes: [
      ...(earlier?.problems ?? []),
      ...instructed.notes,
      ...commands.notes,
      ...skills.notes,
      ...agents.notes,
    ],
    instructions: () => instructed.instructions,
    ...createTaskState(earlier, (title) => stored?.rename(title)),
  };
}

interface Known {
  readonly instructions: readonly Instruction[];
  readonly skills: readonly Skill[];
  readonly agents: readonly AgentType[];
  readonly usedSkills: Set<string>;
  readonly instructionsFor: World['instructionsFor'];
}

function createSessionAgent(options: SessionOptions, known: Known): Agent {
  const { id, stored, earlier, clock, model, tools } = options;
  // The agent's tools need the agent, which needs its tools.
  const own = (): Agent => agent;
  const taskItemsOf = createTaskItems();
  const portsOf = (asking: () => Agent): ToolPorts => ({
    taskItems: taskItemsOf(asking),
    useSkill: (name: string) => useSkill(known, name),
    askModel: askBriefly(own),
    elicit: (request, signal) => elicit(asking(), request, signal),
  });
  const benchAt = (cwd: string, ports: ToolPorts): ToolContext =>
    createToolContext({ ...options.bench, cwd, ports });
  const runAgent = createSubagents({
    parent: own,
    types: known.agents,
    get tools() {
      return tools();
    },
    store: stored,
    benchAt: (cwd, subagent) => benchAt(cwd, portsOf(subagent)),
    systemPrompt: (subagent) => promptFor(options, known, subagent),
  });
  const bench = benchAt(options.bench.startDirectory, {
    ...portsOf(own),
    ...personPorts(options.person),
    leavePlanMode: () => leavePlanMode(options.permissions),
    runAgent,
  });
  const agent: Agent = createAgent({
    facts: { id, parentId: null, type: null },
    world: createWorld(options, known),
    bench,
    tools,
    conversation: createConversation(
      {
        store: stored,
        agentId: null,
        clock,
        cwd: () => bench.cwd(),
        promptId: () => agent.promptId,
      },
      earlier?.messages,
    ),
    systemPrompt: () => promptFor(options, known, agent),
    transcriptPath: stored?.transcriptPath ?? null,
    model,
    promptId: null,
  });
  agent.contextTokens = earlier?.contextTokens ?? 0;
  for (const message of options.said ?? []) agent.conversation.add(message);
  if (earlier !== null) standWhereItStood(agent, earlier.cwd);
  return agent;
}

/** Unless that is gone, or outside of where the session is opened now. */
function standWhereItStood({ bench, waiting }: Agent, cwd: string): void {
  const { note } = followDirectory(cwd, bench);
  if (note !== '') waiting.push(formatReminder(note));
}

function createWorld(options: SessionOptions, known: Known): World {
  const { id, engine, permissions, clock, limits, person, modelFor, specsOf, wait, onEvent } =
    options;
  const { workspaceRoots } = options.bench;
  const transcriptPath = options.stored?.transcriptPath ?? null;
  return {
    sessionId: id,
    engine,
    permissions,
    clock,
    limits,
    person,
    modelFor,
    specsOf,
    ...(wait === undefined ? {} : { wait }),
    ...(options.shapeRequest === undefined ? {} : { shapeRequest: options.shapeRequest }),
    emit: onEvent,
    asides: createAsides(),
    instructions: known.instructions,
    instructionsFor: known.instructionsFor,
    watch: async (paths) => options.watch?.(paths),
    moment: () => ({
      taskId: options.identity.taskId,
      ulid: options.identity.ulid,
      sessionId: id,
      startDirectory: options.projectDirectory,
      workspaceRoots,
      transcriptPath,
      permissionMode: permissions.mode(),
      skills: [...known.usedSkills],
    }),
  };
}

function promptFor(
  options: SessionOptions,
  { instructions, skills, agents }: Known,
  { tools, bench, model, facts }: Agent,
): string {
  const { clock, platform, person, permissions } = options;
  return buildSystemPrompt({
    tools: options.specsOf(tools).map(({ name }) => name),
    cwd: bench.cwd(),
    roots: options.bench.workspaceRoots,
    platform,
    date: new Date(clock.now()).toISOString().slice(0, 10),
    instructions,
    skills,
    agents,
    model: model.id,
    isAttended: person !== null,
    mode: permissions.mode(),
    ...(facts.parentId === null ? {} : { reader: 'agent' }),
    ...(options.systemPrompt === undefined ? {} : { own: options.systemPrompt }),
    rules: options.rules?.() ?? '',
  });
}

function personPorts(person: Person | null): ToolPorts {
  return person === null
    ? {}
    : { askUser: (questions, signal) => person.answer(questions, signal) };
}

function leavePlanMode(permissions: Permissions): void {
  if (permissions.mode() === 'plan') permissions.setMode('default');
}

/** From now on the skill's hooks count. */
function useSkill({ skills, usedSkills }: Known, name: string): SkillText | null {
  const skill = findSkill(name, skills);
  if (skill === null) return null;
  usedSkills.add(skill.name);
  return { text: skill.text, directory: skill.directory };
}

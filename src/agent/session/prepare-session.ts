import type { Clock } from '../../base/clock.ts';
import { dropUndefined } from '../../base/defined.ts';
import type { HookEngine } from '../../hooks/engine.ts';
import type { Moment, FiredEvent } from '../../hooks/facts.ts';
import type { Permissions } from '../../permissions/permissions.ts';
import type { Message, ToolUseBlock } from '../../sessions/messages.ts';
import type { ResumedSession, StoredSession } from '../../sessions/session-store.ts';
import { type Agent, createAgent } from '../agent.ts';
import { Conversation } from '../conversation/conversation.ts';
import { formatReminder } from '../conversation/hook-messages.ts';
import { type AgentType, loadAgents } from '../instructions/agents.ts';
import { loadCommands, type SlashCommand } from '../instructions/commands.ts';
import { type Instruction, loadInstructions } from '../instructions/instructions.ts';
import type { InstructionPaths } from '../instructions/source-files.ts';
import { toSkillCommand, findSkill, loadSkills, type Skill } from '../instructions/skills.ts';
import { renderSystemPrompt, type PromptOverride } from '../instructions/system-prompt.ts';
import type { Model } from '../models/model.ts';
import type { RuntimeEvent } from '../runtime-event.ts';
import { createSubagentRunner } from '../subagent.ts';
import { createBriefQuestion } from '../answer-hook.ts';
import {
  BackgroundEvents,
  type Limits,
  type Person,
  type SessionContext,
} from '../session-context.ts';
import { createTaskItems } from '../task-items.ts';
import { elicit } from './elicitation.ts';
import type { PromptQueue } from './prompt-queue.ts';
import { FileWrites } from '../tools/files/read-tracker.ts';
import {
  createToolContext,
  type ToolContextOptions,
  type ToolPorts,
  type ToolContext,
  followDirectory,
} from '../tools/tool-context.ts';
import type { Tool } from '../tools/tool.ts';

/** All parts of a session; the host builds them. */
export interface SessionOptions {
  readonly id: string;
  readonly source: 'startup' | 'resume' | 'fork' | 'clear';
  readonly engine: HookEngine;
  readonly permissions: Permissions;
  readonly clock: Clock;
  readonly platform: string;
  readonly model: Model;
  readonly openModel: SessionContext['openModel'];
  /** The model that a user names: of the same provider, or `provider/model`. Throws MODEL_UNKNOWN. */
  readonly resolveModel: (name: string, isRunning: boolean) => Promise<Model>;
  /** The current tools; MCP servers connect and disconnect. */
  readonly tools: () => readonly Tool[];
  /** The current slash commands of plugins and MCP servers. */
  readonly commands?: () => readonly SlashCommand[];
  /** Runs a plugin's command; null when the prompt is none. */
  readonly answerCommand?: AnswerCommand;
  /** Reloads what may change between two runs. Must not throw. */
  readonly beforeRun?: () => Promise<void>;
  /** Appended to the system prompt; called for each request. */
  readonly rules?: () => string;
  readonly listSpecs: SessionContext['listSpecs'];
  readonly limits: Limits;
  /** The reasoning effort of all requests; that of the service by default. */
  readonly effort?: string;
  /** False by default. */
  readonly checksWholeTurn?: boolean;
  readonly person: Person | null;
  /** Null when nothing is stored. */
  readonly stored: StoredSession | null;
  readonly pendingPrompts: PromptQueue;
  /** The session that is resumed; null for a new one. */
  readonly earlier: ResumedSession | null;
  readonly identity: Pick<Moment, 'taskId' | 'ulid'>;
  /** The project directory of events, also when the session works in a worktree. */
  readonly projectDirectory: string;
  readonly places: InstructionPaths;
  readonly toolContextOptions: Omit<ToolContextOptions, 'ports' | 'cwd'>;
  readonly setup: 'init' | 'maintenance' | null;
  readonly addedDirectories: readonly string[];
  /** Appended to the system prompt, or instead of it. */
  readonly systemPrompt?: string | PromptOverride;
  readonly shapeRequest?: SessionContext['shapeRequest'];
  /** Messages that a new session begins with. */
  readonly said?: readonly Message[];
  readonly wait?: SessionContext['wait'];
  /** Watches files for FileChanged. */
  readonly watch?: (paths: readonly string[]) => Promise<void>;
  readonly onEvent: (event: RuntimeEvent) => void;
  /** Closes what was opened for this session only, after SessionEnd. */
  readonly release?: () => Promise<void>;
}

/** Resolves to a reply to the user, a prompt to run, or both; to null when the prompt is no command. */
type AnswerCommand = (
  prompt: string,
  signal: AbortSignal,
) => Promise<{ readonly reply: string | null; readonly prompt: string | null } | null>;

/** The parts of a session that is ready to start. */
export interface PreparedSession {
  readonly agent: Agent;
  readonly task: TaskState;
  readonly answerCommand: AnswerCommand;
  readonly beforeRun: () => Promise<void>;
  readonly commands: readonly SlashCommand[];
  /** Enables the hooks of the command, or of the skill that it is. */
  readonly noteCommand: (name: string) => void;
  /** Prompts of SessionStart hooks, run before the user's own. */
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
  const knowledge: Knowledge = {
    instructions: instructed.instructions,
    skills: skills.skills,
    agents: agents.agents,
    usedSkills: new Set(),
    fileInstructions: instructed,
  };
  return {
    agent: createSessionAgent(options, knowledge),
    get commands() {
      const further = options.commands?.() ?? [];
      return [...commands.commands, ...skills.skills.map(toSkillCommand), ...further];
    },
    answerCommand: options.answerCommand ?? (async () => null),
    beforeRun: options.beforeRun ?? (async () => undefined),
    noteCommand: (name) => knowledge.usedSkills.add(name),
    initialMessages: [],
    notes: [
      ...(earlier?.problems ?? []),
      ...instructed.notes,
      ...commands.notes,
      ...skills.notes,
      ...agents.notes,
    ],
    instructions: () => instructed.instructions,
    task: new TaskState(earlier, (title) => stored?.rename(title)),
  };
}

interface Knowledge {
  readonly instructions: readonly Instruction[];
  readonly skills: readonly Skill[];
  readonly agents: readonly AgentType[];
  readonly usedSkills: Set<string>;
  readonly fileInstructions: SessionContext['fileInstructions'];
}

function createSessionAgent(options: SessionOptions, knowledge: Knowledge): Agent {
  const { id, stored, earlier, clock, model, tools } = options;
  // A function, because the agent's tools need the agent, which needs its tools.
  const getAgent = (): Agent => agent;
  const createAgentTaskItems = createTaskItems();
  const createPorts = (asking: () => Agent): ToolPorts => ({
    taskItems: createAgentTaskItems(asking),
    useSkill: (name: string) => useSkill(knowledge, name),
    askModel: createBriefQuestion(getAgent),
    elicit: (request, signal) => elicit(asking(), request, signal),
  });
  const fileWrites = new FileWrites();
  const createContext = (cwd: string, ports: ToolPorts): ToolContext =>
    createToolContext({ ...options.toolContextOptions, cwd, ports, fileWrites });
  const runAgent = createSubagentRunner({
    parent: getAgent,
    types: knowledge.agents,
    get tools() {
      return tools();
    },
    store: stored,
    createToolContextAt: (cwd, subagent) => createContext(cwd, createPorts(subagent)),
    systemPrompt: (subagent) => buildSystemPrompt(options, knowledge, subagent),
  });
  const toolContext = createContext(options.toolContextOptions.startDirectory, {
    ...createPorts(getAgent),
    ...createUserPorts(options.person),
    leavePlanMode: () => leavePlanMode(options.permissions),
    runAgent,
  });
  const agent: Agent = createAgent({
    parent: null,
    facts: { id, parentId: null, type: null },
    session: createSessionContext(options, knowledge),
    toolContext,
    tools,
    conversation: new Conversation(
      {
        store: stored,
        agentId: null,
        clock,
        cwd: () => toolContext.cwd(),
        promptId: () => agent.promptId,
      },
      earlier?.messages,
    ),
    systemPrompt: () => buildSystemPrompt(options, knowledge, agent),
    transcriptPath: stored?.transcriptPath ?? null,
    model,
    promptId: null,
    ...dropUndefined({ contextTokens: earlier?.contextTokens }),
  });
  for (const message of options.said ?? []) agent.conversation.add(message);
  if (earlier !== null) restoreCwd(agent, earlier.cwd);
  return agent;
}

/** Unless the directory is gone, or outside of the workspace. */
function restoreCwd({ toolContext, pendingContext }: Agent, cwd: string): void {
  const { note } = followDirectory(cwd, toolContext);
  if (note !== '') pendingContext.push(formatReminder(note));
}

function createSessionContext(options: SessionOptions, knowledge: Knowledge): SessionContext {
  const { id, engine, permissions, clock, limits, person, openModel, listSpecs, wait, onEvent } =
    options;
  const { workspaceRoots } = options.toolContextOptions;
  const transcriptPath = options.stored?.transcriptPath ?? null;
  return {
    sessionId: id,
    agents: new Map(),
    engine,
    permissions,
    clock,
    limits,
    effort: options.effort ?? null,
    checksWholeTurn: options.checksWholeTurn === true,
    person,
    openModel,
    listSpecs,
    ...dropUndefined({ wait, shapeRequest: options.shapeRequest }),
    emit: onEvent,
    backgroundEvents: new BackgroundEvents(),
    instructions: knowledge.instructions,
    fileInstructions: knowledge.fileInstructions,
    watch: async (paths) => options.watch?.(paths),
    moment: () => ({
      taskId: options.identity.taskId,
      ulid: options.identity.ulid,
      sessionId: id,
      startDirectory: options.projectDirectory,
      workspaceRoots,
      transcriptPath,
      permissionMode: permissions.mode(),
      skills: [...knowledge.usedSkills],
    }),
  };
}

function buildSystemPrompt(
  options: SessionOptions,
  { instructions, skills, agents }: Knowledge,
  { tools, toolContext, model, facts }: Agent,
): string {
  const { clock, platform, person, permissions } = options;
  return renderSystemPrompt({
    tools: options.listSpecs(tools).map(({ name }) => name),
    cwd: toolContext.cwd(),
    roots: options.toolContextOptions.workspaceRoots,
    platform,
    date: new Date(clock.now()).toISOString().slice(0, 10),
    instructions,
    skills,
    agents,
    model: model.id,
    isAttended: person !== null,
    mode: permissions.mode(),
    reader: facts.parentId === null ? 'user' : 'agent',
    ...dropUndefined({ own: options.systemPrompt }),
    rules: options.rules?.() ?? '',
  });
}

function createUserPorts(person: Person | null): ToolPorts {
  return person === null ? {} : { askUser: (...args) => person.answer(...args) };
}

function leavePlanMode(permissions: Permissions): void {
  if (permissions.mode() === 'plan') permissions.setMode('default');
}

/** Enables the skill's hooks. */
function useSkill({ skills, usedSkills }: Knowledge, name: string) {
  const skill = findSkill(name, skills);
  if (skill === null) return null;
  usedSkills.add(skill.name);
  return { text: skill.text, directory: skill.directory };
}

type TaskEvent = FiredEvent<'TaskStart' | 'TaskResume'>;

/** The state of a task: begun, with an undecided call, its title. */
class TaskState {
  readonly #earlier: ResumedSession | null;
  readonly #storeTitle: (title: string) => void;
  #isBegun = false;
  #deferred: ToolUseBlock | null;
  #title: string | null;

  constructor(earlier: ResumedSession | null, storeTitle: (title: string) => void) {
    this.#earlier = earlier;
    this.#storeTitle = storeTitle;
    this.#deferred = earlier?.deferred ?? null;
    this.#title = earlier?.title ?? null;
  }

  /** TaskStart with the first prompt, or TaskResume with or without one; null from then on. */
  takeEvent(prompt: string | null): TaskEvent | null {
    const earlier = this.#earlier;
    if (this.#isBegun || (earlier === null && prompt === null)) return null;
    this.#isBegun = true;
    if (earlier === null) return { name: 'TaskStart', prompt: prompt ?? '' };
    const { lastMessageAt, messageCount } = earlier;
    const facts = { lastMessageAt, messageCount, historyDeleted: false };
    return { name: 'TaskResume', prompt: prompt ?? '', ...facts };
  }

  /** Called when the task was refused, so that the next prompt begins it. */
  returnEvent(): void {
    this.#isBegun = false;
  }

  /** A call that an earlier run left undecided. */
  takeDeferred(): ToolUseBlock | null {
    const deferred = this.#deferred;
    this.#deferred = null;
    return deferred;
  }

  /** Called when a run left the call undecided again. */
  deferCall(call: ToolUseBlock): void {
    this.#deferred = call;
  }

  get title(): string | null {
    return this.#title;
  }

  rename(title: string): void {
    this.#title = title;
    this.#storeTitle(title);
  }
}

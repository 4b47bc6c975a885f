import type { Clock } from '../../base/clock.ts';
import type { HookEngine } from '../../hooks/engine.ts';
import type { Moment, FiredEvent } from '../../hooks/facts.ts';
import type { Permissions } from '../../permissions/permissions.ts';
import type { Message, ToolUseBlock } from '../../sessions/messages.ts';
import type { ResumedSession, StoredSession } from '../../sessions/store.ts';
import { type Agent, createAgent } from '../agent.ts';
import { createConversation } from '../conversation/conversation.ts';
import { reminder } from '../conversation/reminder.ts';
import { type AgentType, loadAgents } from '../knowledge/agents.ts';
import { loadCommands, type SlashCommand } from '../knowledge/commands.ts';
import { type Instruction, loadInstructions } from '../knowledge/instructions.ts';
import type { KnowledgePlaces } from '../knowledge/places.ts';
import { commandOfSkill, findSkill, loadSkills, type Skill } from '../knowledge/skills.ts';
import { systemPrompt, type WholePrompt } from '../knowledge/system-prompt.ts';
import type { Model } from '../models/model.ts';
import type { RuntimeEvent } from '../runtime-event.ts';
import { createSubagentRunner } from '../subagent.ts';
import { createBriefQuestion } from '../answer-hook.ts';
import { createBackgroundEvents, type Limits, type Person, type SessionContext } from '../world.ts';
import { createTaskItems } from '../task-items.ts';
import { elicit } from './elicitation.ts';
import type { PromptQueue } from './prompt-queue.ts';
import { createWorkbench, type WorkbenchFacts } from '../tools/create-workbench.ts';
import { followTo } from '../tools/shell/directory.ts';
import type { Tool } from '../tools/tool.ts';
import type { SkillText, ToolPorts, Workbench } from '../tools/workbench.ts';

/** Everything that a session is made of; the host brings it together. */
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
  readonly listSpecs: SessionContext['listSpecs'];
  readonly limits: Limits;
  readonly person: Person | null;
  /** Null when nothing is kept. */
  readonly stored: StoredSession | null;
  readonly pendingPrompts: PromptQueue;
  /** What is gone on with; null for a new session. */
  readonly earlier: ResumedSession | null;
  readonly identity: Pick<Moment, 'taskId' | 'ulid'>;
  /** What hooks are told to be the project, also when the session works in a copy of it. */
  readonly projectDirectory: string;
  readonly places: KnowledgePlaces;
  readonly bench: Omit<WorkbenchFacts, 'ports' | 'cwd'>;
  readonly setup: 'init' | 'maintenance' | null;
  readonly addedDirectories: readonly string[];
  /** What the person adds to the system prompt, or says instead of it. */
  readonly systemPrompt?: string | WholePrompt;
  readonly shapeRequest?: SessionContext['shapeRequest'];
  /** What a new session takes as said already. */
  readonly said?: readonly Message[];
  readonly wait?: SessionContext['wait'];
  /** Watches files for FileChanged. */
  readonly watch?: (paths: readonly string[]) => Promise<void>;
  readonly onEvent: (event: RuntimeEvent) => void;
  /** Ends what was opened for this session only, after its hooks were told of the end. */
  readonly release?: () => Promise<void>;
}

/** What a command came to: words for the person, a prompt to be run, or both. */
interface CommandAnswer {
  readonly reply: string | null;
  readonly prompt: string | null;
}

type AnswerCommand = (prompt: string, signal: AbortSignal) => Promise<CommandAnswer | null>;

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
  const known: Knowledge = {
    instructions: instructed.instructions,
    skills: skills.skills,
    agents: agents.agents,
    usedSkills: new Set(),
    instructionsFor: (file) => instructed.instructionsFor(file),
  };
  return {
    agent: createSessionAgent(options, known),
    get commands() {
      const further = options.commands?.() ?? [];
      return [...commands.commands, ...skills.skills.map(commandOfSkill), ...further];
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

interface Knowledge {
  readonly instructions: readonly Instruction[];
  readonly skills: readonly Skill[];
  readonly agents: readonly AgentType[];
  readonly usedSkills: Set<string>;
  readonly instructionsFor: SessionContext['loadInstructionsFor'];
}

function createSessionAgent(options: SessionOptions, known: Knowledge): Agent {
  const { id, stored, earlier, clock, model, tools } = options;
  // The agent's tools need the agent, which needs its tools.
  const own = (): Agent => agent;
  const taskItemsOf = createTaskItems();
  const portsOf = (asking: () => Agent): ToolPorts => ({
    taskItems: taskItemsOf(asking),
    useSkill: (name: string) => useSkill(known, name),
    askModel: createBriefQuestion(own),
    elicit: (request, signal) => elicit(asking(), request, signal),
  });
  const benchAt = (cwd: string, ports: ToolPorts): Workbench =>
    createWorkbench({ ...options.bench, cwd, ports });
  const runAgent = createSubagentRunner({
    parent: own,
    types: known.agents,
    get tools() {
      return tools();
    },
    store: stored,
    benchAt: (cwd, subagent) => benchAt(cwd, portsOf(subagent)),
    systemPrompt: (subagent) => buildSystemPrompt(options, known, subagent),
  });
  const bench = benchAt(options.bench.startDirectory, {
    ...portsOf(own),
    ...createUserPorts(options.person),
    leavePlanMode: () => leavePlanMode(options.permissions),
    runAgent,
  });
  const agent: Agent = createAgent({
    facts: { id, parentId: null, type: null },
    session: createSessionContext(options, known),
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
    systemPrompt: () => buildSystemPrompt(options, known, agent),
    transcriptPath: stored?.transcriptPath ?? null,
    model,
    promptId: null,
  });
  agent.contextTokens = earlier?.contextTokens ?? 0;
  for (const message of options.said ?? []) agent.conversation.add(message);
  if (earlier !== null) restoreCwd(agent, earlier.cwd);
  return agent;
}

/** Unless that is gone, or outside of where the session is opened now. */
function restoreCwd({ bench, pendingContext: waiting }: Agent, cwd: string): void {
  const { note } = followTo(cwd, bench);
  if (note !== '') waiting.push(reminder(note));
}

function createSessionContext(options: SessionOptions, known: Knowledge): SessionContext {
  const {
    id,
    engine,
    permissions,
    clock,
    limits,
    person,
    openModel: modelFor,
    listSpecs: specsOf,
    wait,
    onEvent,
  } = options;
  const { workspaceRoots } = options.bench;
  const transcriptPath = options.stored?.transcriptPath ?? null;
  return {
    sessionId: id,
    engine,
    permissions,
    clock,
    limits,
    person,
    openModel: modelFor,
    listSpecs: specsOf,
    ...(wait === undefined ? {} : { wait }),
    ...(options.shapeRequest === undefined ? {} : { shapeRequest: options.shapeRequest }),
    emit: onEvent,
    backgroundEvents: createBackgroundEvents(),
    instructions: known.instructions,
    loadInstructionsFor: known.instructionsFor,
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

function buildSystemPrompt(
  options: SessionOptions,
  { instructions, skills, agents }: Knowledge,
  { tools, bench, model, facts }: Agent,
): string {
  const { clock, platform, person, permissions } = options;
  return systemPrompt({
    tools: options.listSpecs(tools).map(({ name }) => name),
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

function createUserPorts(person: Person | null): ToolPorts {
  return person === null
    ? {}
    : { askPerson: (questions, signal) => person.answer(questions, signal) };
}

function leavePlanMode(permissions: Permissions): void {
  if (permissions.mode() === 'plan') permissions.setMode('default');
}

/** From now on the skill's hooks count. */
function useSkill({ skills, usedSkills }: Knowledge, name: string): SkillText | null {
  const skill = findSkill(name, skills);
  if (skill === null) return null;
  usedSkills.add(skill.name);
  return { text: skill.text, directory: skill.directory };
}

type TaskEvent = FiredEvent<'TaskStart' | 'TaskResume'>;

/** How far a task has come: begun, left with a call undecided, named. */
interface TaskState {
  /** TaskStart with the first prompt, or TaskResume with or without one; null every further time. */
  takeTaskEvent(prompt: string | null): TaskEvent | null;
  /** The task was refused, so that the next prompt begins it. */
  returnTaskEvent(): void;
  /** A call that an earlier run left undecided. */
  takeDeferred(): ToolUseBlock | null;
  /** A run left it undecided again. */
  deferCall(call: ToolUseBlock): void;
  title(): string | null;
  rename(title: string): void;
}

function createTaskState(
  earlier: ResumedSession | null,
  keepTitle: (title: string) => void,
): TaskState {
  return {
    ...createTaskEvents(earlier),
    ...createDeferral(earlier),
    ...createTitle(earlier?.title ?? null, keepTitle),
  };
}

function createTaskEvents(earlier: ResumedSession | null) {
  let isBegun = false;
  return {
    takeTaskEvent(prompt: string | null): TaskEvent | null {
      if (isBegun || (earlier === null && prompt === null)) return null;
      isBegun = true;
      if (earlier === null) return { name: 'TaskStart', prompt: prompt ?? '' };
      const { lastMessageAt, messageCount } = earlier;
      const facts = { lastMessageAt, messageCount, historyDeleted: false };
      return { name: 'TaskResume', prompt: prompt ?? '', ...facts };
    },
    giveBackTaskEvent() {
      isBegun = false;
    },
  };
}

function createDeferral(earlier: ResumedSession | null) {
  let deferred = earlier?.deferred ?? null;
  return {
    takeDeferred(): ToolUseBlock | null {
      const taken = deferred;
      deferred = null;
      return taken;
    },
    leaveDeferred(call: ToolUseBlock) {
      deferred = call;
    },
  };
}

function createTitle(named: string | null, keep: (title: string) => void) {
  let current = named;
  return {
    title: () => current,
    rename(title: string) {
      current = title;
      keep(title);
    },
  };
}

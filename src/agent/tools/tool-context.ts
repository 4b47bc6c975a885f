import { type ReadTracker, createReadTracker } from './files/read-tracker.ts';
import { type Shells, createShells } from './shell/shells.ts';

/** What the tools of one agent share: where it stands, what it has read, what it has running. */
export interface ToolContext {
  /** Where relative paths and commands start; follows `cd`. */
  cwd(): string;
  changeDirectory(directory: string): void;
  readonly startDirectory: string;
  readonly workspaceRoots: readonly string[];
  /** Directories that a person added to the workspace meanwhile. */
  allowedDirectories?(): readonly string[];
  /** Tells which files, absolute, a search must not show, as seen from here; null when none. */
  createReadDenial?(cwd: string): ((file: string) => boolean) | null;
  readonly home: string | null;
  /** What was read, so that nothing is overwritten unseen. */
  readonly readFiles: ReadTracker;
  /** Commands that go on in the background. */
  readonly shells: Shells;
  /** Variables for programs that tools start. */
  environment(): Readonly<Record<string, string>>;
  /** Shell text before each command: what hooks of the session left for it. */
  shellPrelude(): string;
  /** Where output goes that is too long for the model; null when there is no place. */
  readonly spillDirectory: string | null;
  /** Loopback and private addresses may be fetched; off but in tests and by a person's setting. */
  readonly canFetchPrivate: boolean;
  readonly ports: ToolPorts;
}

/** What tools need of the agent around them. An absent one makes the tool say that it cannot. */
export interface ToolPorts {
  /** Asks the person; null when they dismissed the questions. */
  readonly askUser?: (
    questions: readonly Question[],
    signal: AbortSignal,
  ) => Promise<Readonly<Record<string, string>> | null>;
  /** Finds the answer to what an MCP server wants to know. */
  readonly elicit?: (
    request: ElicitationRequest,
    signal: AbortSignal,
  ) => Promise<ElicitationAnswer>;
  /** Runs a sub-agent to its end. */
  readonly runAgent?: (order: AgentTask, signal: AbortSignal) => Promise<AgentReport>;
  /** One small request to the model, without tools. */
  readonly askModel?: (prompt: string, signal: AbortSignal) => Promise<string>;
  /** The text of a skill, which from then on counts as used; null when there is none of that name. */
  readonly useSkill?: (name: string) => SkillText | null;
  readonly taskItems?: TaskItems;
  /** Ends plan mode, which whoever let the call of ExitPlanMode pass agreed to. */
  readonly leavePlanMode?: () => void;
}

export interface Question {
  readonly question: string;
  readonly header: string;
  readonly options: readonly { readonly label: string; readonly description: string }[];
  readonly multiSelect: boolean;
  /** Only its options count as answers. */
  readonly isClosed?: true;
}

export interface ElicitationRequest {
  readonly server: string;
  readonly message: string;
  readonly mode: 'form' | 'url';
  /** JSON Schema of a form: an object of plain fields. */
  readonly schema?: Readonly<Record<string, unknown>>;
  /** The page to open, in mode `url`. */
  readonly url?: string;
  /** What the server calls the question, in mode `url`. */
  readonly id?: string;
}

export interface ElicitationAnswer {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Readonly<Record<string, unknown>>;
}

export interface AgentTask {
  readonly callId: string;
  readonly description: string;
  readonly prompt: string;
  readonly agentType: string;
  readonly model: string | null;
}

export interface AgentReport {
  readonly agentId: string;
  readonly agentType: string;
  readonly model: string;
  readonly success: boolean;
  readonly text: string;
  readonly durationMs: number;
  readonly tokens: number;
  readonly toolCalls: number;
  readonly usage: Readonly<Record<string, number>>;
}

export interface SkillText {
  readonly text: string;
  readonly directory: string;
}

/** The list of things to do; hooks may refuse a change, and the string says why. */
export interface TaskItems {
  create(
    item: { subject: string; description: string },
    signal: AbortSignal,
  ): Promise<TaskItem | string>;
  update(id: string, change: TaskItemChange, signal: AbortSignal): Promise<TaskItem | string>;
  find(id: string): TaskItem | null;
}

export interface TaskItem {
  readonly id: string;
  readonly subject: string;
  readonly description: string;
  readonly status: 'pending' | 'in_progress' | 'completed';
}

export interface TaskItemChange {
  readonly subject?: string;
  readonly description?: string;
  readonly status?: TaskItem['status'] | 'deleted';
}

export type ToolContextOptions = Omit<ToolContext, 'cwd' | 'moveTo' | 'files' | 'shells'> & {
  /** Where it starts; the start directory unless something is gone on with. */
  readonly cwd: string;
};

export function createToolContext({ cwd: start, ...facts }: ToolContextOptions): ToolContext {
  let cwd = start;
  return {
    ...facts,
    readFiles: createReadTracker(),
    shells: createShells(),
    cwd: () => cwd,
    changeDirectory(directory) {
      cwd = directory;
    },
  };
}

import { type ReadTracker, createReadTracker } from './files/read-tracker.ts';
import { type Shells, createShells } from './shell/shells.ts';

/** The state that the tools of one agent share. */
export interface ToolContext {
  /** The directory for relative paths and commands; follows `cd`. */
  cwd(): string;
  changeDirectory(directory: string): void;
  readonly startDirectory: string;
  readonly workspaceRoots: readonly string[];
  /** Directories that the user added during the session. */
  allowedDirectories?(): readonly string[];
  /**
   * Creates a check for absolute paths that a search must not show, for this cwd; null when all may be
   * shown.
   */
  createReadDenial?(cwd: string): ((file: string) => boolean) | null;
  readonly home: string | null;
  /** Records which files were read, so that unread content is not overwritten. */
  readonly readFiles: ReadTracker;
  /** Background commands. */
  readonly shells: Shells;
  /** The environment of programs that tools start. */
  environment(): Readonly<Record<string, string>>;
  /** Shell text that runs before each command, from the session's hooks. */
  shellPrelude(): string;
  /** The directory for output that is too long for the model; null when unavailable. */
  readonly spillDirectory: string | null;
  /** Whether loopback and private addresses may be fetched; only in tests or by a user setting. */
  readonly canFetchPrivate: boolean;
  readonly ports: ToolPorts;
}

/** What tools need from the agent. A tool whose port is absent reports that it is unavailable. */
export interface ToolPorts {
  /** Asks the user; null when they dismissed the questions. */
  readonly askUser?: (
    questions: readonly Question[],
    signal: AbortSignal,
    callId: string,
  ) => Promise<Readonly<Record<string, string>> | null>;
  /** Resolves an MCP server's elicitation request. */
  readonly elicit?: (
    request: ElicitationRequest,
    signal: AbortSignal,
  ) => Promise<ElicitationAnswer>;
  /** Runs a sub-agent to its end. */
  readonly runAgent?: (order: AgentTask, signal: AbortSignal) => Promise<AgentReport>;
  /** Sends one request to the model, without tools. */
  readonly askModel?: (prompt: string, signal: AbortSignal) => Promise<string>;
  /** Returns a skill's text and marks it as used; null when it does not exist. */
  readonly useSkill?: (name: string) => SkillText | null;
  readonly taskItems?: TaskItems;
  /** Ends plan mode after the call of ExitPlanMode was approved. */
  readonly leavePlanMode?: () => void;
}

export interface Question {
  readonly question: string;
  readonly header: string;
  readonly options: readonly { readonly label: string; readonly description: string }[];
  readonly multiSelect: boolean;
  /** Free-text answers are not accepted. */
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
  /** The server's id of the request, in mode `url`. */
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

/** The agent's task list; hooks may refuse a change, and the string gives the reason. */
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

export type ToolContextOptions = Omit<
  ToolContext,
  'cwd' | 'changeDirectory' | 'readFiles' | 'shells'
> & {
  /** The initial directory, which differs from the start directory in a resumed session. */
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

import type { CommandSandbox } from './shell/shell-launch.ts';
import { type FileWrites, ReadTracker } from './files/read-tracker.ts';
import { Shells } from './shell/shells.ts';
import { isDirectory } from '../../base/files.ts';
import { findRealPath, isInside } from '../../base/paths.ts';
import { listUntrustedDirectories } from '../../process/search-path.ts';

/** The state that the tools of one agent share. */
export interface ToolContext {
  /** The directory for relative paths and commands; follows `cd`. */
  cwd(): string;
  changeDirectory(directory: string): void;
  readonly startDirectory: string;
  readonly workspaceRoots: readonly string[];
  /** More directories than those whose programs the agent may have written. */
  readonly untrusted?: readonly string[];
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
  /** Whether a file may be changed that was not read; set for single calls. */
  readonly isReadOptional?: boolean;
  /** Background commands. */
  readonly shells: Shells;
  /** The sandbox of commands; without one they have the user's rights. */
  readonly sandbox?: CommandSandbox;
  /** The environment of programs that tools start. */
  environment(): Readonly<Record<string, string>>;
  /** Shell text that runs before each command, from the session's hooks. */
  shellPrelude(): string;
  /** The directory for output that is too long for the model; null when unavailable. */
  readonly spillDirectory: string | null;
  /** How much output of one command is kept there; 64 MB by default. */
  readonly maxOutputBytes?: number;
  /** Whether `editor` works by the rules of Cline's SDK, which wants no file read before it is changed. */
  readonly followsCline?: boolean;
  /** Whether loopback and private addresses may be fetched; only in tests or by a user setting. */
  readonly canFetchPrivate: boolean;
  readonly ports: ToolPorts;
  /** The list of TodoWrite, which each call replaces. */
  todos: readonly Todo[];
}

export interface Todo {
  readonly content: string;
  readonly status: 'pending' | 'in_progress' | 'completed';
  /** The present-continuous form: `Running the tests`. */
  readonly activeForm: string;
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
  readonly useSkill?: (
    name: string,
  ) => { readonly text: string; readonly directory: string } | null;
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
  /** A hook ended it early. */
  readonly refusedByHook?: true;
}

/** The agent's task list; hooks may refuse a change. */
export interface TaskItems {
  create(
    item: { subject: string; description: string },
    signal: AbortSignal,
  ): Promise<TaskItem | TaskRefusal>;
  update(id: string, change: TaskItemChange, signal: AbortSignal): Promise<TaskItem | TaskRefusal>;
  find(id: string): TaskItem | null;
}

/** Why a task list was not changed. */
export interface TaskRefusal {
  readonly reason: string;
  readonly refusedByHook?: true;
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
  'cwd' | 'changeDirectory' | 'readFiles' | 'shells' | 'todos'
> & {
  /** The initial directory, which differs from the start directory in a resumed session. */
  readonly cwd: string;
  /** Shared by the agents of a session. */
  readonly fileWrites?: FileWrites;
};

export function createToolContext({
  cwd: start,
  fileWrites,
  ...facts
}: ToolContextOptions): ToolContext {
  let cwd = start;
  return {
    ...facts,
    readFiles: new ReadTracker(fileWrites),
    shells: new Shells(),
    todos: [],
    cwd: () => cwd,
    changeDirectory(directory) {
      cwd = directory;
    },
  };
}

/** The directories whose programs and libraries nobody trusted. */
export function listUntrusted(context: ToolContext): readonly string[] {
  return listUntrustedDirectories(
    [
      ...context.workspaceRoots,
      ...(context.untrusted ?? []),
      ...(context.allowedDirectories?.() ?? []),
    ],
    context.home,
  );
}

/**
 * The directory for the next command: reset to the start directory when the current one was deleted.
 * The note is for the model, and empty when the directory is unchanged.
 */
export function resolveDirectory(context: ToolContext) {
  const directory = context.cwd();
  if (isDirectory(directory)) return { directory, note: '' };
  return resetDirectory(context, `The directory ${directory} does not exist any more. `);
}

/** Adopts the directory in which a command ended, unless it was deleted or lies outside of the workspace. */
export function followDirectory(final: string | null, context: ToolContext) {
  if (final === null) return resolveDirectory(context);
  const directory = context.cwd();
  if (final === findRealPath(directory)) return { directory, note: '' };
  if (!isDirectory(final)) {
    return resetDirectory(context, `The directory ${final} does not exist any more. `);
  }
  if (!isAllowedDirectory(final, context)) return resetDirectory(context, '');
  context.changeDirectory(final);
  return { directory: final, note: '' };
}

function resetDirectory(context: ToolContext, why: string) {
  const { startDirectory } = context;
  if (context.cwd() !== startDirectory) context.changeDirectory(startDirectory);
  return { directory: startDirectory, note: `${why}Shell cwd was reset to ${startDirectory}` };
}

function isAllowedDirectory(directory: string, context: ToolContext): boolean {
  const added = context.allowedDirectories?.() ?? [];
  return [context.startDirectory, ...context.workspaceRoots, ...added].some((allowed) =>
    isInside(findRealPath(allowed) ?? allowed, directory),
  );
}

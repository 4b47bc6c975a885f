import type { OnIssue } from '../../plugins/plugin-issue.ts';
import type { PluginSetupContext, WorkspaceInfo } from '../../plugins/contract/plugin.ts';
import type { Message } from '../../sessions/messages.ts';
import type { AgentMessage } from '../../plugins/contract/message.ts';
import type { AgentRuntimeEvent } from '../../plugins/contract/runtime-hooks.ts';
import type { AgentTool } from '../../plugins/contract/tool.ts';
import type { ProvidedModules } from '../../plugins/load/loading.ts';

/** Fields of the setup context that the embedding program sets; it may override parts of the workspace info. */
export type GivenContext = Omit<Partial<PluginSetupContext>, 'workspaceInfo'> & {
  readonly workspaceInfo?: Partial<WorkspaceInfo> & Record<string, unknown>;
};

/** What a program says of an agent that it runs without a session. */
export interface StandaloneAgent {
  readonly agentRole?: string;
  readonly conversationId?: string;
  readonly parentAgentId?: string;
  /** The program's own name of the session that the agent belongs to. */
  readonly sessionId?: string;
  /** The model that answers are from, as their messages name it. */
  readonly messageModelInfo?: NonNullable<AgentMessage['modelInfo']>;
  readonly toolContextMetadata?: Readonly<Record<string, unknown>>;
  /** Whether calls of a turn may overlap, unless their tools forbid it. */
  readonly runsToolsInParallel: boolean;
  /** The options of a request, with its metadata. */
  requestOptions(state: {
    readonly runId?: string;
    readonly iteration: number;
  }): Record<string, unknown>;
  /** The program's message that became this prompt; null when it is not one. */
  findPrompt(message: Message): AgentMessage | null;
}

/** The plugins of a host's sessions, and how they are run. */
export interface PluginOptions {
  /** Plugins of the embedding program, before those that are found. */
  readonly objects?: readonly unknown[];
  /** The provider's name for plugins, when it differs from Hookline's. */
  readonly providerId?: string;
  /** Whether plugins of the user and the workspace are loaded; true by default. */
  readonly discovers?: boolean;
  /** The exports of `@cline/core` and related packages for plugins on disk; called when the first one is loaded. */
  readonly provided?: () => Promise<ProvidedModules>;
  /** `process`: each plugin on disk runs in its own process. */
  readonly isolation?: 'none' | 'process';
  /** Tools of the embedding program, which override those of plugins. */
  readonly extraTools?: readonly AgentTool[];
  /** Further fields of the setup context. */
  readonly context?: (sessionId: string) => GivenContext;
  /** Whether a violation of its manifest by a plugin fails the start. */
  readonly isStrict?: boolean;
  /** A failing hook refuses the call; a failing setup fails the session. */
  readonly failsClosed?: boolean;
  readonly hookTimeoutMs?: number;
  readonly importTimeoutMs?: number;
  readonly setupTimeoutMs?: number;
  readonly onIssue?: OnIssue;
  /** Gets what plugins write with `console`, which is not printed then. */
  readonly onConsole?: (text: string) => void;
  /** Whether `onConsole` gets all log records of plugins, and not their errors only. */
  readonly showsLog?: boolean;
  /** Set for an agent without a session. */
  readonly standalone?: StandaloneAgent;
  /** Gets every event that plugins get. */
  readonly onNews?: (event: AgentRuntimeEvent) => void;
}

const HOOK_TIMEOUT_MS = 60_000;
const IMPORT_TIMEOUT_MS = 30_000;
const SETUP_TIMEOUT_MS = 30_000;
const DISPOSE_TIMEOUT_MS = 3_000;

/** The time limits of calls into plugins. */
export function getTimeLimits(
  options: Pick<PluginOptions, 'hookTimeoutMs' | 'importTimeoutMs' | 'setupTimeoutMs'>,
  env: Readonly<Record<string, string | undefined>> = {},
) {
  const hookTimeoutMs = options.hookTimeoutMs ?? HOOK_TIMEOUT_MS;
  return {
    hookTimeoutMs,
    importTimeoutMs: options.importTimeoutMs ?? readImportTimeout(env) ?? IMPORT_TIMEOUT_MS,
    setupTimeoutMs: options.setupTimeoutMs ?? SETUP_TIMEOUT_MS,
    disposeTimeoutMs: Math.min(hookTimeoutMs, DISPOSE_TIMEOUT_MS),
  };
}

/** Cline's variable; null when it is no time. */
function readImportTimeout(env: Readonly<Record<string, string | undefined>>): number | null {
  const ms = Number(env['CLINE_PLUGIN_IMPORT_TIMEOUT_MS']);
  return Number.isFinite(ms) && ms > 0 ? ms : null;
}

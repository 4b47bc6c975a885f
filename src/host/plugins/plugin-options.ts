import type { OnIssue } from '../../plugins/plugin-issue.ts';
import type { PluginSetupContext, WorkspaceInfo } from '../../plugins/contract/plugin.ts';
import type { AgentRuntimeEvent } from '../../plugins/contract/runtime-hooks.ts';
import type { AgentTool } from '../../plugins/contract/tool.ts';
import type { ProvidedModules } from '../../plugins/load/loading.ts';

/** Fields of the setup context that the embedding program sets; it may override parts of the workspace info. */
export type GivenContext = Omit<Partial<PluginSetupContext>, 'workspaceInfo'> & {
  readonly workspaceInfo?: Partial<WorkspaceInfo> & Record<string, unknown>;
};

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
  /** Gets every event that plugins get. */
  readonly onNews?: (event: AgentRuntimeEvent) => void;
}

const HOOK_TIMEOUT_MS = 60_000;
const IMPORT_TIMEOUT_MS = 30_000;
const SETUP_TIMEOUT_MS = 30_000;
const DISPOSE_TIMEOUT_MS = 3_000;

/** The time limits of calls into plugins. */
export function getTimeLimits(options: PluginOptions) {
  const hookTimeoutMs = options.hookTimeoutMs ?? HOOK_TIMEOUT_MS;
  return {
    hookTimeoutMs,
    importTimeoutMs: options.importTimeoutMs ?? IMPORT_TIMEOUT_MS,
    setupTimeoutMs: options.setupTimeoutMs ?? SETUP_TIMEOUT_MS,
    disposeTimeoutMs: Math.min(hookTimeoutMs, DISPOSE_TIMEOUT_MS),
  };
}

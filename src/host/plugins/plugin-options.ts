import type { OnIssue } from '../../plugins/diagnostic.ts';
import type { PluginSetupContext, WorkspaceInfo } from '../../plugins/contract/plugin.ts';
import type { AgentRuntimeEvent } from '../../plugins/contract/runtime-hooks.ts';
import type { AgentTool } from '../../plugins/contract/tool.ts';
import type { ProvidedModules } from '../../plugins/load/loading.ts';

/** What a program tells plugins; of the workspace it may say some things otherwise. */
export type GivenContext = Omit<Partial<PluginSetupContext>, 'workspaceInfo'> & {
  readonly workspaceInfo?: Partial<WorkspaceInfo> & Record<string, unknown>;
};

/** Which plugins the sessions of a host have, and how they are treated. */
export interface PluginOptions {
  /** Plugins of the program itself, before those that are found. */
  readonly objects?: readonly unknown[];
  /** What plugins call the session's provider, where that is another name than Hookline's. */
  readonly providerId?: string;
  /** Whether the user's and the workspace's own are used; they are, by default. */
  readonly discovers?: boolean;
  /** What `@cline/core` and its like export to plugins on disk; asked for once one is loaded. */
  readonly provided?: () => Promise<ProvidedModules>;
  /** `process`: each plugin on disk runs in a process of its own. */
  readonly isolation?: 'none' | 'process';
  /** Tools of the program itself, which stand above those of plugins. */
  readonly extraTools?: readonly AgentTool[];
  /** What a session's plugins are told beside what the host knows. */
  readonly context?: (sessionId: string) => GivenContext;
  /** Whether a plugin that does not keep to its manifest fails the start. */
  readonly isStrict?: boolean;
  /** A hook that fails refuses what it was asked about; a setup that fails, fails the session. */
  readonly failsClosed?: boolean;
  readonly hookTimeoutMs?: number;
  readonly importTimeoutMs?: number;
  readonly setupTimeoutMs?: number;
  readonly onIssue?: OnIssue;
  /** Told what plugins write with `console`, which is then printed nowhere else. */
  readonly onConsole?: (text: string) => void;
  /** Whether all that plugins log is told there, too, and not their errors only. */
  readonly showsLog?: boolean;
  /** Everything that plugins hear, for others who want to hear it so. */
  readonly onNews?: (event: AgentRuntimeEvent) => void;
}

const HOOK_TIMEOUT_MS = 60_000;
const IMPORT_TIMEOUT_MS = 30_000;
const SETUP_TIMEOUT_MS = 30_000;
const DISPOSE_TIMEOUT_MS = 3_000;

/** How long plugins may take for what they do. */
export function getTimeLimits(options: PluginOptions) {
  const hookTimeoutMs = options.hookTimeoutMs ?? HOOK_TIMEOUT_MS;
  return {
    hookTimeoutMs,
    importTimeoutMs: options.importTimeoutMs ?? IMPORT_TIMEOUT_MS,
    setupTimeoutMs: options.setupTimeoutMs ?? SETUP_TIMEOUT_MS,
    disposeTimeoutMs: Math.min(hookTimeoutMs, DISPOSE_TIMEOUT_MS),
  };
}

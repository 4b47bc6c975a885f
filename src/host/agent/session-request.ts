import type { RuntimeEvent } from '../../agent/runtime-event.ts';
import type { Session } from '../../agent/session/session.ts';
import type { Clock } from '../../base/clock.ts';
import type { HookEngine } from '../../hooks/engine.ts';
import type { McpServers } from '../mcp/mcp-servers.ts';
import type { OpenedHooks } from '../open-hooks.ts';
import type { PluginSource } from '../plugins/plugin-source.ts';
import type { SessionPlugins } from '../plugins/session-plugins.ts';
import type { Worktrees } from '../worktrees.ts';
import type { AgentOptions } from './agent-options.ts';
import type { Models } from './choose-model.ts';
import type { SessionWish } from './keep-session.ts';
import type { FileWatch } from './watch-files.ts';

/** What all sessions of a host share. */
export interface SessionsRequest {
  readonly opened: OpenedHooks;
  readonly engine: HookEngine;
  readonly options: AgentOptions;
  readonly clock: Clock;
  readonly emit: (event: RuntimeEvent) => void;
  readonly notice: (text: string) => void;
  readonly mcp: McpServers;
  readonly pluginSource: PluginSource;
}

/** What one session is made from. */
export interface Making {
  /** Does what plugins of the session ask for: steering, further prompts. */
  readonly emitEvent: (sessionId: string, name: string, payload: unknown) => void;
  readonly sessions: ReadonlyMap<string, Session>;
  readonly onPlugins: (sessionId: string, plugins: SessionPlugins) => void;
  readonly signal: AbortSignal | undefined;
  readonly models: Models;
  readonly watch: FileWatch;
  readonly worktrees: Worktrees;
  readonly wish: SessionWish;
  /** What it is opened for; null when nothing is asked yet. */
  readonly prompt: string | null;
}

import type { RuntimeEvent } from '../../agent/runtime-event.ts';
import type { Session } from '../../agent/session/session.ts';
import type { Clock } from '../../base/clock.ts';
import type { HookEngine } from '../../hooks/engine.ts';
import type { HandlerSource } from '../../hooks/handler.ts';
import { McpServers } from '../mcp/mcp-servers.ts';
import type { OpenedHooks } from '../open-hooks.ts';
import type { SessionPlugins } from '../plugins/session-plugins.ts';
import { Worktrees } from '../worktrees.ts';
import type { AgentOptions } from './agent-options.ts';
import { Models } from './choose-model.ts';
import type { CallbackHost, SessionCallbacks } from './session-callbacks.ts';
import { WatchedFiles } from './watch-files.ts';

/** A session in a host, from before its first hook runs until it is ended. */
export interface OpenSession {
  readonly session: Session;
  /** Null while it has none. */
  readonly plugins: () => SessionPlugins | null;
  readonly callbacks: SessionCallbacks;
}

/** What a host gives to its sessions. */
export interface SessionHost {
  readonly opened: OpenedHooks;
  readonly options: AgentOptions;
  readonly clock: Clock;
  /** By id, in the order in which they were opened. */
  readonly sessions: Map<string, OpenSession>;
  /** The host's own, for what happens outside of a session. */
  readonly engine: HookEngine;
  /** Opens the engine of a session: the host's hooks, and after them those of the session's plugins. */
  readonly openEngine: (plugins: HandlerSource) => HookEngine;
  readonly emit: (event: RuntimeEvent) => void;
  /** Writes what is no dispatch into the trace. */
  readonly record: CallbackHost['record'];
  readonly notice: (text: string) => void;
  /** Aborts when the host is disposed: no session may be opened any more. */
  readonly disposed: AbortSignal;
}

/** What all sessions of a host share. */
export interface SessionServices extends SessionHost {
  readonly mcp: McpServers;
  readonly models: Models;
  readonly watch: WatchedFiles;
  readonly worktrees: Worktrees;
}

export function createSessionServices(host: SessionHost): SessionServices {
  const { opened, options, sessions, notice } = host;
  return {
    ...host,
    mcp: new McpServers(opened, options.mcpConfig ?? [], notice),
    models: new Models({
      selection: options.model,
      settings: opened.config.settings,
      env: opened.surroundings.env,
    }),
    worktrees: new Worktrees(),
    watch: new WatchedFiles(
      opened,
      (change) => sessions.forEach(({ session }) => session.reportFile(change)),
      notice,
    ),
  };
}

import path from 'node:path';
import type { CustomProvider } from '../../agent/models/custom-provider.ts';
import { systemClock } from '../../base/clock.ts';
import type { ServerConfig } from '../../mcp/server-config.ts';
import type { AgentToolDefinition } from '../../plugins/contract/runtime-hooks.ts';
import type { OnIssue } from '../../plugins/diagnostic.ts';
import type { PluginRegistry } from '../../plugins/registry.ts';
import type { McpServers } from '../mcp/mcp-servers.ts';
import type { OpenedHooks } from '../open-hooks.ts';
import { readPluginServers } from './contributions/mcp-servers.ts';
import { listProviders } from './contributions/providers.ts';
import type { SnapshotOptions } from './events/snapshots.ts';
import type { FoundPlugin } from './find-plugins.ts';
import type { ModelTarget } from './load-plugins.ts';
import { getTimeLimits, type PluginOptions } from './plugin-options.ts';
import { installPluginHost } from './process/plugin-host-global.ts';
import { redirectConsole } from './process/plugin-console.ts';
import { joinContributions, type SessionContributions } from './session-contributions.ts';
import { buildSetupContext, setUpPlugins } from './set-up-plugins.ts';

export { createProviders } from './contributions/providers.ts';

/** What plugins see of their session. */
export interface PluginSession extends Omit<SnapshotOptions, 'now'> {
  readonly opened: Pick<
    OpenedHooks,
    'config' | 'surroundings' | 'startDirectory' | 'stateDirectory' | 'workspaceRoots'
  >;
  readonly options: PluginOptions;
  /** The plugins on disk as they are now, in declared order. */
  readonly find: () => readonly FoundPlugin[];
  /** Runs the MCP servers of plugins; null leaves them out. */
  readonly mcp: McpServers | null;
  /** The tool definitions that the model gets, with the tool names of Cline's SDK. */
  readonly offered: () => readonly AgentToolDefinition[];
  /** Handles what plugins ask of the session: steering, further prompts. */
  readonly emitEvent: (name: string, payload: unknown) => void;
  readonly onIssue: OnIssue;
}

/** One loading of all plugins of a session. */
export interface Generation extends SessionContributions {
  readonly registry: PluginRegistry;
  readonly providers: readonly CustomProvider[];
  close(): Promise<void>;
}

export async function loadGeneration(
  session: PluginSession,
  generation: number,
  target: ModelTarget,
  signal?: AbortSignal,
): Promise<Generation> {
  const { sessionId, opened, options, onIssue } = session;
  const context = buildSetupContext(opened, options, session);
  const isStrict = options.isStrict === true;
  const found = session.find();
  const registry = await setUpPlugins({
    objects: options.objects ?? [],
    disk: { opened, found, sessionId, generation, target, requiresAll: isStrict },
    options,
    context,
    signal,
    onIssue,
  });
  try {
    const contributions = await joinContributions(registry, {
      ...session,
      context,
      extraTools: options.extraTools ?? [],
      failsClosed: options.failsClosed === true,
      hookTimeoutMs: getTimeLimits(options).hookTimeoutMs,
      now: () => systemClock.now(),
      onNews: options.onNews,
    });
    const servers = session.mcp?.add(listServers(session, registry, session.mcp));
    return {
      ...contributions,
      registry,
      providers: listProviders(registry.active, onIssue),
      async close() {
        await registry.dispose();
        await servers?.remove();
      },
    };
  } catch (error) {
    await registry.dispose();
    throw error;
  }
}

function listServers(
  { opened, onIssue }: PluginSession,
  { active }: PluginRegistry,
  mcp: McpServers,
): readonly ServerConfig[] {
  const directoryOf = (name: string): string | null => {
    const entry = active.find((each) => each.name === name)?.entry ?? null;
    return entry === null ? null : (entry.package?.directory ?? path.dirname(entry.file));
  };
  const means = { directoryOf, env: opened.surroundings.env, taken: mcp.names() };
  return readPluginServers(active, means, onIssue);
}

/** Installs what plugins of this process find in it: the global host object, and the console. */
export function installProcessPorts({ sessionId, options, emitEvent }: PluginSession): () => void {
  const given = options.context?.(sessionId).emitEvent;
  const removals = [
    installPluginHost({ sessionId, emitEvent: given ?? emitEvent }),
    ...(options.onConsole === undefined ? [] : [redirectConsole(options.onConsole)]),
  ];
  return () => {
    for (const remove of removals) remove();
  };
}

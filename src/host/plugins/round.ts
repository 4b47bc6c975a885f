import path from 'node:path';
import type { CustomProvider } from '../../agent/models/custom-provider.ts';
import { systemClock } from '../../base/clock.ts';
import { VERSION } from '../../base/version.ts';
import type { BasicLogger, PluginSetupContext } from '../../plugins/contract/plugin.ts';
import type { AgentToolDefinition } from '../../plugins/contract/runtime-hooks.ts';
import type { OnIssue } from '../../plugins/issue.ts';
import type { Message } from '../../sessions/messages.ts';
import type { AddedServers } from '../mcp/dynamic-servers.ts';
import type { McpServers } from '../mcp/mcp-servers.ts';
import { getUserId } from '../moment.ts';
import type { OpenedHooks } from '../open-hooks.ts';
import { createAutomation } from './contributions/automation.ts';
import {
  calledName,
  copyOf,
  loadPlugins,
  type LoadedPlugins,
  type ModelTarget,
} from './load-plugins.ts';
import { serversOf } from './contributions/mcp-servers.ts';
import { type OpenedPlugins, openPlugins } from './open-plugins.ts';
import type { ServingModel } from './news/told-messages.ts';
import { consoleLogger } from './process/console-logger.ts';
import type { PluginOptions } from './plugin-options.ts';
import { providersOf } from './contributions/providers.ts';
import { timeLimits } from './time-limits.ts';
import { watchUncaught } from './process/uncaught.ts';
import { readWorkspaceInfo } from './news/workspace-info.ts';

export interface RoundRequest {
  readonly sessionId: string;
  readonly opened: OpenedHooks;
  readonly options: PluginOptions;
  readonly mcp: McpServers;
  readonly messages: () => readonly Message[];
  /** Which model answers; null before the session is open. */
  readonly model: () => ServingModel | null;
  /** The tools that the model is told of, in the words of Cline's SDK. */
  readonly offered: () => readonly AgentToolDefinition[];
  /** What plugins want done: steering, further prompts. */
  readonly emitEvent: (name: string, payload: unknown) => void;
  readonly onIssue: OnIssue;
  readonly signal?: AbortSignal;
}

/** One loading of all plugins of a session, with what they brought. */
export interface Round {
  readonly found: LoadedPlugins;
  readonly plugins: OpenedPlugins;
  readonly providers: readonly CustomProvider[];
  close(): Promise<void>;
}

export async function openRound(
  request: RoundRequest,
  { round, target }: { readonly round: number; readonly target: ModelTarget },
): Promise<Round> {
  const { opened, options, sessionId, onIssue, signal } = request;
  const aborting = signal === undefined ? {} : { signal };
  const context = contextOf(request);
  const found = await loadPlugins({
    opened,
    options,
    sessionId,
    round,
    target,
    context,
    onIssue,
    ...aborting,
  });
  const release = keepLoaded(found, { copy: copyOf(sessionId, round), onIssue });
  const { objects = [] } = options;
  const opening = openPlugins({
    sessionId,
    plugins: [...objects, ...found.loaded.map(({ plugin }) => plugin)],
    labels: [...objects.map(() => null), ...found.loaded.map(({ entry }) => entry.label)],
    extraTools: options.extraTools ?? [],
    context,
    isStrict: options.isStrict === true,
    failsClosed: options.failsClosed === true,
    ...timeLimits(options),
    ...(await automationOf(context, onIssue)),
    messages: request.messages,
    model: request.model,
    now: () => systemClock.now(),
    offered: request.offered,
    onIssue,
    ...aborting,
    ...(options.onNews === undefined ? {} : { onNews: options.onNews }),
  });
  const plugins = await opening.catch(async (error: unknown) => {
    await release();
    throw error;
  });
  const servers = joinServers(request, plugins, found);
  return {
    found,
    plugins,
    providers: providersOf(plugins.registry.active, onIssue),
    async close() {
      await plugins.dispose();
      await servers.remove();
      await release();
    },
  };
}

/** What plugins left to nobody is theirs as long as they are used; those that were never set up end, too. */
function keepLoaded(
  { loaded }: LoadedPlugins,
  { copy, onIssue }: { readonly copy: string; readonly onIssue: OnIssue },
): () => Promise<void> {
  const here = loaded.filter(({ end }) => end === undefined);
  const named = here.map((each) => ({ entry: each.entry, name: calledName(each) }));
  const unwatch = watchUncaught(named, onIssue);
  return async () => {
    unwatch();
    await Promise.all(loaded.map(async (each) => each.end?.()));
    if (here.length > 0) await forgetHere(copy);
  };
}

async function forgetHere(copy: string): Promise<void> {
  const { forgetCopy } = await import('../../plugins/load/load-plugin.ts');
  await forgetCopy(copy);
}

/** Servers of plugins live as long as the plugins do. */
function joinServers(
  { mcp, opened, onIssue }: RoundRequest,
  { registry }: OpenedPlugins,
  { loaded }: LoadedPlugins,
): AddedServers {
  const directoryOf = (name: string): string | null => {
    const from = loaded.find((each) => calledName(each) === name)?.entry;
    return from === undefined ? null : (from.package?.directory ?? path.dirname(from.file));
  };
  const means = { directoryOf, env: opened.surroundings.env, taken: mcp.names() };
  return mcp.add(serversOf(registry.active, means, onIssue));
}

async function automationOf({ automation }: PluginSetupContext, onIssue: OnIssue) {
  if (automation === undefined) return {};
  const now = (): number => systemClock.now();
  return { automationFor: await createAutomation({ port: automation, now, onIssue }) };
}

function loggerOf({ onConsole, showsLog = false }: PluginOptions): BasicLogger | undefined {
  if (onConsole === undefined) return undefined;
  return consoleLogger((text, plugin) => onConsole(`plugin ${plugin}: ${text}`), { showsLog });
}

function contextOf({ sessionId, opened, options, emitEvent }: RoundRequest): PluginSetupContext {
  const given = options.context?.(sessionId) ?? {};
  const root = opened.workspaceRoots[0] ?? opened.startDirectory;
  return {
    session: { sessionId },
    client: { name: 'hookline', version: VERSION },
    cwd: opened.startDirectory,
    automation: undefined,
    telemetry: undefined,
    emitEvent,
    ...given,
    user: given.user ?? { distinctId: getUserId(opened.surroundings) },
    logger: given.logger ?? loggerOf(options),
    workspaceInfo: { ...readWorkspaceInfo(root), ...given.workspaceInfo },
  };
}

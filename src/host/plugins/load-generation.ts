import path from 'node:path';
import type { CustomProvider } from '../../agent/models/custom-provider.ts';
import { systemClock } from '../../base/clock.ts';
import type { ServerConfig } from '../../mcp/server-config.ts';
import type {
  AgentToolDefinition,
  AgentRuntimeEvent,
} from '../../plugins/contract/runtime-hooks.ts';
import type { OnIssue } from '../../plugins/diagnostic.ts';
import type { PluginRegistry } from '../../plugins/registry.ts';
import type { McpServers } from '../mcp/mcp-servers.ts';
import type { OpenedHooks } from '../open-hooks.ts';
import { readPluginServers } from './contributions/mcp-servers.ts';
import { listProviders } from './contributions/providers.ts';
import { type SnapshotOptions, Snapshots } from './events/snapshots.ts';
import type { FoundPlugin } from './find-plugins.ts';
import type { ModelTarget } from './load-plugins.ts';
import { getTimeLimits, type PluginOptions } from './plugin-options.ts';
import { installPluginHost, redirectConsole } from './process-ports.ts';
import { buildSetupContext, setUpPlugins } from './set-up-plugins.ts';
import type { ModelRequest } from '../../agent/models/model.ts';
import type { RuntimeEvent } from '../../agent/runtime-event.ts';
import type { RunningCall, Tool } from '../../agent/tools/tool.ts';
import { loadPluginHandlers } from '../../dialects/index.ts';
import type { Handler } from '../../hooks/handler.ts';
import { type CommandReply, runCommand } from '../../plugins/command.ts';
import type { PluginSetupContext } from '../../plugins/contract/plugin.ts';
import type { ActivePlugin } from '../../plugins/loaded-plugin.ts';
import { type AgentRuntimeStateSnapshot, isUnread } from '../../plugins/contract/snapshot.ts';
import type { AgentTool, AgentToolContext } from '../../plugins/contract/tool.ts';
import { buildMessages } from './contributions/builders.ts';
import { createInputChecks } from './contributions/check-input.ts';
import { findNameProblem } from './contributions/tool-name-conflicts.ts';
import { toAgentTool } from './contributions/plugin-tools.ts';
import { createRules } from './contributions/rules.ts';
import { EventDispatcher } from './events/dispatch-events.ts';

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

export interface ContributionOptions extends SnapshotOptions {
  /** Tools of the embedding program; they replace tools of plugins with the same name. */
  readonly extraTools: readonly AgentTool[];
  readonly context: Pick<PluginSetupContext, 'client' | 'user'>;
  /** A hook that fails denies what it was asked about. */
  readonly failsClosed: boolean;
  readonly hookTimeoutMs: number;
  /** The tool definitions that the model gets. */
  readonly offered: () => readonly AgentToolDefinition[];
  readonly onIssue: OnIssue;
  /** Gets every event that plugins get. */
  readonly onNews?: ((event: AgentRuntimeEvent) => void) | undefined;
}

/** What the plugins of a registry contribute to one session. */
export interface SessionContributions {
  readonly handlers: readonly Handler[];
  readonly tools: readonly Tool[];
  /** The text of all rules, as they were read when the run began. */
  rules(): string;
  shapeRequest(request: ModelRequest, signal: AbortSignal): Promise<ModelRequest>;
  /** Passes an event of the agent on to `onEvent` of the plugins. */
  notify(event: RuntimeEvent): void;
  /** Throws only when the signal aborts. */
  runCommand(prompt: string, signal: AbortSignal): Promise<CommandReply | null>;
}

export async function joinContributions(
  { active }: Pick<PluginRegistry, 'active'>,
  options: ContributionOptions,
): Promise<SessionContributions> {
  const { onIssue, sessionId, onNews, hookTimeoutMs: timeoutMs } = options;
  const parts = { plugins: active, timeoutMs, onIssue };
  const snapshots = new Snapshots(options);
  const events = new EventDispatcher(active, snapshots, timeoutMs, onNews);
  const tools = selectTools(active, options);
  const check = await createInputChecks(
    tools.map(({ tool }) => tool),
    (name, problem) => {
      const plugin = findOwner(name, active)?.name ?? EMBEDDING_PROGRAM;
      const message = `the tool ${name}: ${problem}`;
      onIssue({ plugin, phase: 'tool', level: 'warning', message });
    },
  );
  const rules = createRules({
    ...parts,
    toolNames: () => options.offered().map(({ name }) => name),
  });
  const hooks = await createHookHandlers(active, options, { snapshots, tools, events });
  return {
    handlers: [...rules.handlers, ...hooks],
    tools: tools.map(({ tool, owner }) =>
      toAgentTool(tool, {
        plugin: owner?.name ?? EMBEDDING_PROGRAM,
        file: owner?.file ?? null,
        check,
        context: (call) => buildCallContext(call, sessionId, snapshots),
        noteUpdate: (callId, update) => events.keepUpdate(callId, update),
      }),
    ),
    rules: () => rules.text(),
    shapeRequest: async (request, signal) => ({
      ...request,
      messages: await buildMessages(request.messages, parts, signal),
    }),
    notify: (event) => events.dispatch(event),
    runCommand: (prompt, signal) => runCommand(prompt, parts, signal),
  };
}

/** The owner that diagnostics name for tools of the embedding program. */
const EMBEDDING_PROGRAM = 'config.extraTools';

/** A tool and the plugin that registered it last; null for a tool of the embedding program only. */
interface OwnedTool {
  readonly tool: AgentTool;
  readonly owner: ActivePlugin | null;
}

/** Of several tools with one name, the last one is used; tools of the embedding program come last. */
function selectTools(
  active: readonly ActivePlugin[],
  { extraTools, onIssue }: ContributionOptions,
): readonly OwnedTool[] {
  const chosen = new Map<string, AgentTool>();
  for (const { name: plugin, contributions } of active) {
    for (const tool of contributions.tools) {
      const problem = findNameProblem(tool);
      const message = problem ?? explainRepeat(tool, chosen);
      if (message !== null) onIssue({ plugin, phase: 'tool', level: 'warning', message });
      if (problem === null) chosen.set(tool.name, tool);
    }
  }
  for (const tool of extraTools) {
    const message = findNameProblem(tool);
    if (message === null) chosen.set(tool.name, tool);
    else onIssue({ plugin: EMBEDDING_PROGRAM, phase: 'tool', level: 'error', message });
  }
  return [...chosen.values()].map((tool) => ({ tool, owner: findOwner(tool.name, active) }));
}

function findOwner(tool: string, active: readonly ActivePlugin[]): ActivePlugin | null {
  const hasTool = ({ contributions }: ActivePlugin): boolean =>
    contributions.tools.some(({ name }) => name === tool);
  return active.findLast(hasTool) ?? null;
}

function explainRepeat({ name }: AgentTool, chosen: ReadonlyMap<string, AgentTool>): string | null {
  return chosen.has(name)
    ? `the tool ${name} was registered before; this one takes its place`
    : null;
}

interface HandlerParts {
  readonly snapshots: Snapshots;
  readonly tools: readonly OwnedTool[];
  readonly events: EventDispatcher;
}

async function createHookHandlers(
  active: readonly ActivePlugin[],
  { context, offered, failsClosed, hookTimeoutMs }: ContributionOptions,
  { snapshots, tools, events }: HandlerParts,
): Promise<readonly Handler[]> {
  const pluginHandlers = await loadPluginHandlers();
  return pluginHandlers(active, {
    ports: {
      snapshot: (event) => snapshots.takeAt(event),
      describeAnswer: ({ agent: { id, parentId } }, answer) =>
        snapshots.messages.recordAnswer(snapshots.findAgent(id, parentId), answer),
      requester: (event) => describeRequester(context, snapshots.takeAt(event)),
      isUnread,
      runResult({ agent, status, ending = status, lastText = '', reason = null }) {
        events.endTurn(agent.id);
        return snapshots.createResult({ status, ending, text: lastText, reason });
      },
      findTool: (name) =>
        tools.find(({ tool }) => tool.name === name)?.tool ??
        offered().find((tool) => tool.name === name) ??
        null,
    },
    failsClosed,
    timeoutMs: hookTimeoutMs,
  });
}

function describeRequester(
  { client, user }: ContributionOptions['context'],
  { runId }: AgentRuntimeStateSnapshot,
): Readonly<Record<string, string>> {
  return {
    ...(user?.distinctId === undefined ? {} : { distinctId: user.distinctId }),
    ...(client === undefined ? {} : { clientName: client.name }),
    ...(client?.version === undefined ? {} : { clientVersion: client.version }),
    ...(runId === undefined ? {} : { runId }),
  };
}

function buildCallContext(
  { callId }: RunningCall,
  sessionId: string,
  snapshots: Snapshots,
): AgentToolContext {
  const snapshot = snapshots.takeForCall(callId);
  const { agentId, runId, iteration } = snapshot;
  return {
    sessionId,
    agentId,
    conversationId: sessionId,
    ...(runId === undefined ? {} : { runId }),
    iteration,
    toolCallId: callId,
    // Cline's own plugin for sub-agents looks for it there.
    metadata: { sessionId, modelSupportsImages: true },
    snapshot,
  };
}

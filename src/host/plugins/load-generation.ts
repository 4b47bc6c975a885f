import path from 'node:path';
import type { CustomProvider } from '../../agent/models/custom-provider.ts';
import { dropUndefined } from '../../base/defined.ts';
import type { HookEvent } from '../../hooks/facts.ts';
import type { AssistantMessage } from '../../sessions/messages.ts';
import type { ServerConfig } from '../../mcp/server-config.ts';
import type { AgentToolDefinition } from '../../plugins/contract/runtime-hooks.ts';
import type { OnIssue } from '../../plugins/plugin-issue.ts';
import type { PluginRegistry } from '../../plugins/registry.ts';
import type { McpServers } from '../mcp/mcp-servers.ts';
import type { OpenedHooks } from '../open-hooks.ts';
import { readPluginServers } from './contributions/mcp-servers.ts';
import { listProviders } from './contributions/providers.ts';
import { type SnapshotOptions, Snapshots } from './events/snapshots.ts';
import type { CheckedPlugin } from './check-plugins.ts';
import type { ModelTarget } from './load-plugins.ts';
import { getTimeLimits, type PluginOptions, type StandaloneAgent } from './plugin-options.ts';
import { installPluginHost, redirectConsole } from './process-ports.ts';
import { buildSetupContext, setUpPlugins } from './set-up-plugins.ts';
import type { ModelRequest } from '../../agent/models/model.ts';
import type { RuntimeEvent } from '../../agent/runtime-event.ts';
import type { RunningCall, Tool } from '../../agent/tools/tool.ts';
import { createPluginHandlers, EMBEDDED_PLUGIN_DIALECT } from '../../dialects/index.ts';
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
import { PluginRules } from './contributions/rules.ts';
import { EventDispatcher } from './events/dispatch-events.ts';

export { createProviders } from './contributions/providers.ts';

/** What plugins see of their session. */
export interface PluginSession extends SnapshotOptions {
  readonly opened: Pick<
    OpenedHooks,
    'claim' | 'config' | 'surroundings' | 'startDirectory' | 'stateDirectory' | 'workspaceRoots'
  >;
  readonly options: PluginOptions;
  /** The plugins on disk as they are now, in declared order. */
  readonly find: () => readonly CheckedPlugin[];
  /** Runs the MCP servers of plugins; null leaves them out. */
  readonly mcp: McpServers | null;
  /** The tool definitions that the model gets, with the tool names of Cline's SDK. */
  readonly offered: () => readonly AgentToolDefinition[];
  /** Handles what plugins ask of the session: steering, further prompts. */
  readonly emitEvent: (name: string, payload: unknown) => void;
  readonly onIssue: OnIssue;
}

/** One loading of all plugins of a session. */
export interface Generation {
  readonly registry: PluginRegistry;
  readonly providers: readonly CustomProvider[];
  readonly handlers: readonly Handler[];
  readonly tools: readonly Tool[];
  /** The text of all rules, as they were read when the run began. */
  rules(): string;
  shapeRequest(request: ModelRequest, signal: AbortSignal): Promise<ModelRequest>;
  /** Passes an event of the agent on to `onEvent` of the plugins. */
  notify(event: RuntimeEvent): void;
  /** Throws only when the signal aborts. */
  runCommand(prompt: string, signal: AbortSignal): Promise<CommandReply | null>;
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
    const contributions = await createSessionParts(registry, session, context, found);
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
  const findDirectory = (name: string): string | null => {
    const entry = active.find((each) => each.name === name)?.entry ?? null;
    return entry === null ? null : (entry.package?.directory ?? path.dirname(entry.file));
  };
  const serverOptions = { findDirectory, env: opened.surroundings.env, reservedNames: mcp.names() };
  return readPluginServers(active, serverOptions, onIssue);
}

/** Installs what plugins of this process find in it: the global host object, and the console. */
export function installProcessPorts({ sessionId, options, emitEvent }: PluginSession): () => void {
  const own = options.context?.(sessionId).emitEvent;
  const removals = [
    installPluginHost({ sessionId, emitEvent: own ?? emitEvent }),
    ...(options.onConsole === undefined ? [] : [redirectConsole(options.onConsole)]),
  ];
  return () => {
    for (const remove of removals) remove();
  };
}

type JoinedSession = Pick<PluginSession, keyof SnapshotOptions | 'options' | 'offered' | 'onIssue'>;

/** What the plugins of a registry contribute to one session; `found` are those on disk. */
export async function createSessionParts(
  { active }: Pick<PluginRegistry, 'active'>,
  session: JoinedSession,
  context: PluginSetupContext,
  found: readonly CheckedPlugin[] = [],
): Promise<Omit<Generation, 'registry' | 'providers' | 'close'>> {
  const { onIssue, sessionId, options, offered } = session;
  const { hookTimeoutMs: timeoutMs } = getTimeLimits(options);
  const group = { plugins: active, timeoutMs, onIssue };
  const { standalone, onNews } = options;
  const snapshots = new Snapshots(session, standalone);
  const isStandalone = standalone !== undefined;
  const events = new EventDispatcher(active, snapshots, timeoutMs, onNews, isStandalone);
  const tools = selectTools(active, options.extraTools ?? [], onIssue);
  const check = await createInputChecks(tools, (name, problem) => {
    const plugin = findOwner(name, active)?.name ?? EMBEDDING_PROGRAM;
    const message = `the tool ${name}: ${problem}`;
    onIssue({ plugin, phase: 'tool', level: 'warning', message });
  });
  const rules = new PluginRules(group, () => offered().map(({ name }) => name));
  const getDialect = ({ file }: ActivePlugin): string =>
    found.find(({ entry }) => entry.file === file)?.unit.dialect ?? EMBEDDED_PLUGIN_DIALECT;
  const hooks = await createPluginHandlers(active, getDialect, {
    ports: {
      ...createHookPorts(snapshots, events, context, standalone),
      findTool: (name) =>
        tools.find((tool) => tool.name === name) ??
        offered().find((tool) => tool.name === name) ??
        null,
    },
    failsClosed: options.failsClosed === true,
    timeoutMs,
  });
  return {
    handlers: [...rules.handlers, ...hooks],
    tools: tools.map((tool) => {
      const owner = findOwner(tool.name, active);
      return toAgentTool(tool, {
        plugin: owner?.name ?? EMBEDDING_PROGRAM,
        file: owner?.file ?? null,
        check,
        runsInParallel: standalone?.runsToolsInParallel === true,
        context: (call) => buildCallContext(call, sessionId, snapshots, standalone),
        noteUpdate: (callId, update) => events.keepUpdate(callId, update),
      });
    }),
    rules: () => rules.text,
    shapeRequest: async (request, signal) => ({
      ...request,
      messages: await buildMessages(request.messages, group, signal),
    }),
    notify: (event) => events.dispatch(event),
    runCommand: (prompt, signal) => runCommand(prompt, group, signal),
  };
}

/** The owner that diagnostics name for tools of the embedding program. */
const EMBEDDING_PROGRAM = 'config.extraTools';

/** Of several tools with one name, the last one is used; tools of the embedding program come last. */
function selectTools(
  active: readonly ActivePlugin[],
  extraTools: readonly AgentTool[],
  onIssue: OnIssue,
): readonly AgentTool[] {
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
  return [...chosen.values()];
}

/** The plugin that registered a tool last; null for a tool of the embedding program only. */
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

function createHookPorts(
  snapshots: Snapshots,
  events: EventDispatcher,
  context: PluginSetupContext,
  standalone?: StandaloneAgent,
) {
  return {
    isUnread,
    snapshot: (event: HookEvent) => snapshots.takeAt(event),
    describeAnswer: ({ agent: { id, parentId } }: HookEvent, answer: AssistantMessage) =>
      snapshots.messages.recordAnswer(snapshots.findAgent(id, parentId), answer),
    requestOptions(event: HookEvent) {
      const state = snapshots.takeAt(event);
      return standalone?.requestOptions(state) ?? { metadata: describeRequester(context, state) };
    },
    runResult(event: HookEvent<'RunEnd'>) {
      const { agent, status, ending = status, lastText = '', reason = null } = event;
      events.endTurn(agent.id, ending);
      const state = snapshots.findAgent(agent.id, agent.parentId);
      return snapshots.createResult(state, { status, ending, text: lastText, reason });
    },
  };
}

function describeRequester(
  { client, user }: PluginSetupContext,
  { runId }: AgentRuntimeStateSnapshot,
): Readonly<Record<string, string>> {
  return dropUndefined({
    distinctId: user?.distinctId,
    clientName: client?.name,
    clientVersion: client?.version,
    runId,
  });
}

function buildCallContext(
  { callId }: RunningCall,
  sessionId: string,
  snapshots: Snapshots,
  standalone?: StandaloneAgent,
): AgentToolContext {
  const snapshot = snapshots.takeForCall(callId);
  const { agentId, runId, iteration, conversationId = sessionId } = snapshot;
  return {
    sessionId: standalone?.sessionId ?? sessionId,
    agentId,
    conversationId,
    ...dropUndefined({ runId }),
    iteration,
    toolCallId: callId,
    // Cline's own plugin for sub-agents looks for it there.
    metadata: { sessionId, modelSupportsImages: true, ...standalone?.toolContextMetadata },
    snapshot,
  };
}
